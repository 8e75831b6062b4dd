import type { Instant } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { brokerName } from "./broker-name.ts";
import type { Cleaning } from "./cleaning.ts";
import type { Gap } from "./copied-batch.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";

export const OFFSETS_NEVER_CHANGE: Guarantee = {
  name: "offsets-never-change",
  sentence:
    "A record keeps its offset, leader epoch and content for as long as any log holds it, and a log has holes only where compaction left them.",
  source: "LogCleaner, UnifiedLog.append; K4, and L1's offsets",
  kinds: ["offset-changed"],
  condition: "Always. Permitted: an earlier rule of the protocol, in what logs append.",
  testedBy: "cleanings, and appends over a hole or of what a cleaning left",
  tellsDeed: true,
  example: [
    "offset-changed   orders-0   at 45.030s, event 22810",
    "  broker-2 cleaned its log, and holds at offset 17 what it did not hold there before.",
  ],
  create: (context) => new OffsetsNeverChange(context),
};

class OffsetsNeverChange implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    const { logs } = context;
    this.#context = context;
    logs.onCleaned((cleaning) => this.#clean(cleaning));
    logs.onUneven((partition, log, batch, gap, at, event) =>
      this.#append(partition, log, batch, gap, at, event),
    );
  }

  #clean({ partition, log, stranger, at, event }: Cleaning): void {
    this.evaluations++;
    this.interesting++;
    if (stranger === undefined) return;
    const { baseOffset, lastOffset } = stranger;
    const text = `${brokerName(log.broker)} cleaned its log, and holds at offset ${baseOffset} what it did not hold there before.`;
    this.#report(partition, text, baseOffset, lastOffset, at, event);
  }

  #append(
    partition: PartitionGhost,
    log: ReplicaLog,
    batch: RecordBatch,
    gap: Gap | undefined,
    at: Instant,
    event: number,
  ): void {
    this.evaluations++;
    this.interesting++;
    if (gap === undefined) return;
    const { offset, what } = gap;
    const who = `${brokerName(log.broker)} appended offsets ${batch.baseOffset}..${batch.lastOffset}`;
    const text =
      what === "missing"
        ? `${who}, but lacks offset ${offset}, which no cleaning took.`
        : `${who}, but offset ${offset} was another record.`;
    const last = Math.max(offset, batch.baseOffset - 1);
    // A log that was not cut where it parts from the leader's goes on over what it should not hold.
    const permitted = earlierRule(partition, this.#context.setup, event)?.text;
    this.#report(partition, text, offset, last, at, event, permitted);
  }

  #report(
    partition: PartitionGhost,
    text: string,
    first: Offset,
    last: Offset,
    at: Instant,
    event: number,
    permitted?: string,
  ): void {
    this.violations.push(
      violationOf(OFFSETS_NEVER_CHANGE, {
        partition: partition.name,
        at,
        event,
        text: [text],
        offsets: [first, last],
        count: last - first + 1,
        permitted,
      }),
    );
  }
}
