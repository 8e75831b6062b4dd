import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { BrokerId, LeaderEpoch, PartitionName } from "../kafka/ids.ts";
import { NO_LEADER } from "../kafka/ids.ts";
import { brokerName } from "./broker-name.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const ONE_LEADER_PER_EPOCH: Guarantee = {
  name: "one-leader-per-epoch",
  sentence:
    "A partition has at most one leader in each leader epoch: by the controller's word and by the brokers'.",
  source: "KIP-101, KIP-320; M1",
  kinds: ["two-leaders-in-epoch"],
  condition:
    "Always. Two leaders in different epochs are nothing unusual: the older one does not know yet.",
  testedBy: "leader epochs after a partition's first",
  example: [
    "two-leaders-in-epoch   orders-0   at 10.391s, event 8211",
    "  broker-3 took the lead in leader epoch 5, which broker-1 has had since 9.100s.",
  ],
  create: (context) => new OneLeaderPerEpoch(context),
};

interface Term {
  readonly leader: BrokerId;
  readonly since: Instant;
}

class OneLeaderPerEpoch implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #terms = new Map<PartitionName, Map<LeaderEpoch, Term>>();

  constructor({ facts }: CheckContext) {
    facts.on("partition-changed", (fact, at, event) => {
      if (fact.leader === NO_LEADER) return;
      this.#claim(fact.partition, fact.leader, fact.leaderEpoch, "was given the lead", at, event);
    });
    facts.on("became-leader", (fact, at, event) => {
      this.#claim(fact.partition, fact.broker, fact.leaderEpoch, "took the lead", at, event);
    });
  }

  #claim(
    partition: PartitionName,
    leader: BrokerId,
    epoch: LeaderEpoch,
    verb: string,
    at: Instant,
    event: number,
  ): void {
    this.evaluations++;
    let terms = this.#terms.get(partition);
    if (terms === undefined) {
      terms = new Map();
      this.#terms.set(partition, terms);
    }
    const term = terms.get(epoch);
    if (term === undefined) {
      if (terms.size > 0) this.interesting++;
      terms.set(epoch, { leader, since: at });
      return;
    }
    if (term.leader === leader) return;
    this.violations.push({
      guarantee: ONE_LEADER_PER_EPOCH.name,
      kind: "two-leaders-in-epoch",
      partition,
      client: "",
      at,
      event,
      text: [
        `${brokerName(leader)} ${verb} in leader epoch ${epoch}, which ${brokerName(term.leader)} has had since ${formatSeconds(term.since)}.`,
      ],
      offsets: undefined,
      count: 1,
      permitted: undefined,
      cause: event,
      follows: undefined,
    });
  }
}
