import type { Instant } from "../base/time.ts";
import type { BrokerEpoch, BrokerId, PartitionName } from "../kafka/ids.ts";
import type { PartitionChanged } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const EPOCHS_RISE: Guarantee = {
  name: "epochs-rise",
  sentence:
    "Each change of a partition has a higher partition epoch and no lower leader epoch, a new leader a higher one, and each registration of a broker a higher broker epoch.",
  source: "PartitionRegistration.merge, KIP-903; M2 and M8",
  kinds: ["epoch-not-risen"],
  condition: "Always, of what the controller has committed.",
  testedBy: "changes of a partition after its creation, and registrations after a broker's first",
  example: [
    "epoch-not-risen   orders-0   at 10.391s, event 8211",
    "  The controller made broker-2 leader in leader epoch 4, where broker-1 was.",
  ],
  create: (context) => new EpochsRise(context),
};

class EpochsRise implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #partitions = new Map<PartitionName, PartitionChanged>();
  readonly #brokers = new Map<BrokerId, BrokerEpoch>();

  constructor({ facts }: CheckContext) {
    facts.on("partition-changed", (fact, at, event) => this.#change(fact, at, event));
    facts.on("broker-registered", ({ broker, brokerEpoch }, at, event) => {
      this.evaluations++;
      const before = this.#brokers.get(broker);
      this.#brokers.set(broker, brokerEpoch);
      if (before === undefined) return;
      this.interesting++;
      if (brokerEpoch > before) return;
      const text = `${brokerName(broker)} registered with broker epoch ${brokerEpoch}, after ${before}.`;
      this.#report("", text, at, event);
    });
  }

  #change(fact: PartitionChanged, at: Instant, event: number): void {
    this.evaluations++;
    const before = this.#partitions.get(fact.partition);
    this.#partitions.set(fact.partition, fact);
    if (before === undefined) return;
    this.interesting++;
    const { partition, leader, leaderEpoch, partitionEpoch } = fact;
    if (partitionEpoch <= before.partitionEpoch) {
      const text = `The controller changed it with partition epoch ${partitionEpoch}, after ${before.partitionEpoch}.`;
      this.#report(partition, text, at, event);
    }
    if (leaderEpoch < before.leaderEpoch) {
      const text = `The controller set leader epoch ${leaderEpoch}, after ${before.leaderEpoch}.`;
      this.#report(partition, text, at, event);
    } else if (leaderEpoch === before.leaderEpoch && leader !== before.leader) {
      const text = `The controller made ${leaderName(leader)} leader in leader epoch ${leaderEpoch}, where ${leaderName(before.leader)} was.`;
      this.#report(partition, text, at, event);
    }
  }

  #report(partition: PartitionName | "", text: string, at: Instant, event: number): void {
    this.violations.push(violationOf(EPOCHS_RISE, { partition, at, event, text: [text] }));
  }
}

function leaderName(leader: BrokerId): string {
  return leader < 0 ? "nobody" : brokerName(leader);
}
