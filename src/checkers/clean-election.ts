import type { Instant } from "../base/time.ts";
import type { PartitionName } from "../kafka/ids.ts";
import { NO_LEADER } from "../kafka/ids.ts";
import type { PartitionChanged } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { topicOf } from "./check-setup.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const CLEAN_ELECTION: Guarantee = {
  name: "clean-election",
  sentence:
    "A new leader comes from the ISR, or from the ELR if the ISR is empty; any other is alone in the ISR, marked as recovering, and only where unclean.leader.election.enable or the last known leader allows it.",
  source: "PartitionChangeBuilder, KIP-704, KIP-966; M5",
  kinds: ["unclean-leader"],
  condition:
    "Of what the controller has committed. An election that the configuration allows is none.",
  testedBy: "elections after a partition's first",
  example: [
    "unclean-leader   orders-0   at 10.391s, event 8211",
    "  The controller made broker-3 leader in epoch 5; the ISR was {1,2}, the ELR {}.",
  ],
  create: (context) => new CleanElection(context),
};

class CleanElection implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  readonly #known = new Map<PartitionName, PartitionChanged>();

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("partition-changed", (fact, at, event) => this.#change(fact, at, event));
  }

  #change(fact: PartitionChanged, at: Instant, event: number): void {
    const before = this.#known.get(fact.partition);
    this.#known.set(fact.partition, fact);
    const isElection = fact.leader !== NO_LEADER && fact.leaderEpoch !== before?.leaderEpoch;
    if (!isElection) return;
    this.evaluations++;
    if (before === undefined) return;
    this.interesting++;
    const fault = this.#faultOf(fact, before);
    if (fault === undefined) return;
    this.violations.push(
      violationOf(CLEAN_ELECTION, { partition: fact.partition, at, event, text: [fault] }),
    );
  }

  #faultOf(fact: PartitionChanged, before: PartitionChanged): string | undefined {
    const { leader, leaderEpoch, isr, recovering } = fact;
    const who = `The controller made ${brokerName(leader)} leader in epoch ${leaderEpoch}`;
    if (before.isr.includes(leader)) return undefined;
    if (before.isr.every((member) => !isr.includes(member)) && before.elr.includes(leader)) {
      return undefined;
    }
    const was = `; the ISR was ${set(before.isr)}, the ELR ${set(before.elr)}.`;
    const topic = this.#context.setup.topics.get(topicOf(fact.partition));
    const isAllowed = topic?.uncleanLeaderElection === true || fact.election === "last-known";
    if (!isAllowed) return `${who}${was}`;
    if (isr.length > 1) return `${who}, unclean, with the ISR ${set(isr)}${was}`;
    return recovering ? undefined : `${who}, unclean, but not as one that recovers${was}`;
  }
}

function set(brokers: readonly number[]): string {
  return `{${brokers.join(",")}}`;
}
