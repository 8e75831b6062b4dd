import { brokerName } from "./broker-name.ts";
import type { Cleaning } from "./cleaning.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { counted } from "./wording.ts";

export const CLEANED_BELOW_HW: Guarantee = {
  name: "cleaned-below-hw",
  sentence: "Compaction touches only what is, or has been, below the replica's high watermark.",
  source: "LogCleanerManager.cleanableOffsets (KAFKA-13194); K1",
  kinds: ["uncommitted-record-cleaned"],
  condition: "Always: what is above may yet be cut off, and what it replaced is then needed.",
  testedBy: "cleanings",
  tellsDeed: true,
  example: [
    "uncommitted-record-cleaned   orders-0   at 45.030s, event 22810",
    "  broker-2 cleaned offsets 0..412, but its high watermark is 405: 8 offsets.",
  ],
  create: (context) => new CleanedBelowHw(context),
};

class CleanedBelowHw implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];

  constructor({ logs }: CheckContext) {
    logs.onCleaned((cleaning) => this.#clean(cleaning));
  }

  #clean({ partition, log, from, to, at, event }: Cleaning): void {
    this.evaluations++;
    this.interesting++;
    // A cleaning takes its time: the high watermark may have fallen since it began.
    const { peakHighWatermark } = log;
    if (to <= peakHighWatermark) return;
    const first = Math.max(from, peakHighWatermark);
    const count = to - first;
    this.violations.push(
      violationOf(CLEANED_BELOW_HW, {
        partition: partition.name,
        at,
        event,
        text: [
          `${brokerName(log.broker)} cleaned offsets ${from}..${to - 1}, but its high watermark is ${peakHighWatermark}: ${counted(count, "offset")}.`,
        ],
        offsets: [first, to - 1],
        count,
      }),
    );
  }
}
