import type { Instant } from "../base/time.ts";
import type { IsrAdopted, PartitionChanged } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";
import { listed } from "./wording.ts";

export const ISR_KNOWN_TO_LEADER: Guarantee = {
  name: "isr-known-to-leader",
  sentence:
    "Whoever is in the ISR as the controller has committed it, the leader counts in: as in the ISR, or about to join.",
  source: "KIP-497, Vanlightly's ValidHighWatermark; R6",
  kinds: ["isr-unknown-to-leader"],
  condition:
    "Of a leader in office whose epoch is the current one; not while metadata, coming after the answer that told the same, have undone a request that it made meanwhile, as Partition.makeLeader lets them. Permitted: an earlier rule of the protocol.",
  testedBy: "changes of an ISR while its leader stays, and answers to leaders that asked for one",
  example: [
    "isr-unknown-to-leader   orders-0   at 10.391s, event 8211",
    "  The controller has committed the ISR {1,2,3}, but broker-1, which leads in epoch 4, goes by {1,2}.",
  ],
  create: (context) => new IsrKnownToLeader(context),
};

class IsrKnownToLeader implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("partition-changed", (fact, at, event) => this.#change(fact, at, event));
    context.facts.on("isr-adopted", (fact, at, event) => this.#adopt(fact, at, event));
  }

  /** Metadata may be old when they come; answers are not. */
  #adopt(fact: IsrAdopted, at: Instant, event: number): void {
    const { logs } = this.#context;
    const partition = logs.partition(fact.partition);
    const { registration } = partition;
    if (fact.by === "metadata" || registration?.leaderEpoch !== fact.leaderEpoch) return;
    if (registration.leader === fact.broker) this.#change(registration, at, event);
  }

  #change(fact: PartitionChanged, at: Instant, event: number): void {
    const { logs, views, setup } = this.#context;
    const partition = logs.partition(fact.partition);
    const view = views.of(partition);
    this.evaluations++;
    if (view.leaderEpoch !== fact.leaderEpoch || !partition.leading || view.isUndone) return;
    this.interesting++;
    const unknown = fact.isr.filter((member) => !view.maximalIsr.includes(member));
    if (unknown.length === 0) return;
    const isr = `{${fact.isr.join(",")}}`;
    const leader = `${brokerName(view.leader)}, which leads in epoch ${view.leaderEpoch}`;
    const waiver = earlierRule(partition, setup, event);
    this.violations.push(
      violationOf(ISR_KNOWN_TO_LEADER, {
        partition: partition.name,
        at,
        event,
        text: [
          `The controller has committed the ISR ${isr}, but ${leader}, goes by {${view.maximalIsr.join(",")}}, without ${listed(unknown.map(brokerName))}.`,
        ],
        permitted: waiver?.text,
        cause: waiver?.cause,
      }),
    );
  }
}
