import type { Instant } from "../base/time.ts";
import type { LeaderEpoch } from "../kafka/ids.ts";
import type { HighWatermarkMoved } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";

export const HW_NEEDS_MIN_ISR: Guarantee = {
  name: "hw-needs-min-isr",
  sentence: "A leader's high watermark stands still while its ISR is below min.insync.replicas.",
  source: "KAFKA-15583, KIP-966; R7",
  kinds: ["hw-without-min-isr"],
  condition:
    "Of the ISR that the leader knows to be committed. Permitted: an earlier rule of the protocol.",
  testedBy: "high watermarks of partitions whose ISR has been below min.insync.replicas",
  example: [
    "hw-without-min-isr   orders-0   at 10.391s, event 8211",
    "  broker-1 moved its high watermark to 419 with the ISR {1}, of which 2 are needed.",
  ],
  create: (context) => new HwNeedsMinIsr(context),
};

class HwNeedsMinIsr implements Checker {
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By partition: the epoch in which it was last told. */
  readonly #told: LeaderEpoch[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    context.logs.watch.onTight((partition, _log, _index, fact, at, event) =>
      this.#check(partition, fact, at, event),
    );
  }

  get evaluations(): number {
    return this.#context.logs.watch.leaderMoves;
  }

  get interesting(): number {
    return this.#context.logs.watch.tightMoves;
  }

  #check(partition: PartitionGhost, fact: HighWatermarkMoved, at: Instant, event: number): void {
    const { views, setup } = this.#context;
    const view = views.of(partition);
    const { broker, leaderEpoch, highWatermark } = fact;
    if (view.leader !== broker || view.leaderEpoch !== leaderEpoch) return;
    const needed = partition.effectiveMinIsr;
    if (view.isr.length >= needed || this.#told[partition.index] === leaderEpoch) return;
    this.#told[partition.index] = leaderEpoch;
    const waiver = earlierRule(partition, setup, event);
    this.violations.push(
      violationOf(HW_NEEDS_MIN_ISR, {
        partition: partition.name,
        at,
        event,
        text: [
          `${brokerName(broker)} moved its high watermark to ${highWatermark} with the ISR {${view.isr.join(",")}}, of which ${needed} are needed.`,
        ],
        permitted: waiver?.text,
        cause: waiver?.cause,
      }),
    );
  }
}
