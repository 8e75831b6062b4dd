import type { Offset } from "../../src/kafka/ids.ts";
import type { LastRecord } from "../../src/kafka/log/cleaning/batch-retention.ts";
import { retain } from "../../src/kafka/log/cleaning/batch-retention.ts";
import { CleanedTransactions } from "../../src/kafka/log/cleaning/cleaned-transactions.ts";
import { OffsetMap } from "../../src/kafka/log/cleaning/offset-map.ts";
import { mapSegment } from "../../src/kafka/log/cleaning/offset-mapping.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import type { AbortedTransaction } from "../../src/kafka/log/transaction-index-format.ts";

/** A log in memory, as far as cleaning it goes. */
export interface BatchLog {
  /** The batches of each segment that may be cleaned. */
  readonly segments: readonly (readonly RecordBatch[])[];
  /** Where the segments begin, if not with their first batches. */
  readonly bases?: readonly Offset[];
  /** Where the last of them ends. */
  readonly end: number;
  readonly aborted?: readonly AbortedTransaction[];
  readonly producers?: ReadonlyMap<number, LastRecord>;
  /** How many batches the offset index of a segment, given by its base, skips on the way to `offset`. */
  readonly skipped?: (base: Offset, offset: Offset) => number;
}

export interface CleanedBatches {
  readonly batches: readonly RecordBatch[];
  readonly aborted: readonly AbortedTransaction[];
  /** Where the next run begins. */
  readonly nextDirty: Offset;
}

/** Cleans a log in memory once, as the cleaner does one on a disk. */
export function cleanBatches(
  log: BatchLog,
  firstDirty: Offset,
  nowMs: number,
  { deleteRetentionMs = 86_400_000, mapCapacity = 1_000_000 } = {},
): CleanedBatches {
  const { segments, end, aborted = [], producers = new Map(), skipped = () => 0 } = log;
  const offsets = new OffsetMap(mapCapacity, 1);
  const ahead = new CleanedTransactions();
  const { bases = segments.map((batches) => batches[0]?.baseOffset ?? 0) } = log;
  const firstBase = bases.findLast((base) => base <= firstDirty) ?? 0;
  ahead.add(aborted.filter(({ lastOffset }) => lastOffset >= firstBase));
  for (let i = 0; i < segments.length; i++) {
    const next = bases[i + 1] ?? end;
    if (next <= firstDirty) continue;
    const unread = bases[i] === firstBase ? skipped(firstBase, firstDirty) : 0;
    const batches = (segments[i] ?? []).slice(unread);
    const result = mapSegment(batches, firstDirty, next, offsets, ahead);
    if (result === "corrupt") throw new Error("corrupt");
    if (result === "full") break;
  }
  const nextDirty = offsets.latestOffset + 1;
  const transactions = new CleanedTransactions();
  transactions.add(aborted);
  const round = {
    offsets,
    transactions,
    producers,
    upperBoundOffset: end,
    nowMs,
    deleteRetentionMs,
  };
  const left: RecordBatch[] = [];
  for (let i = 0; i < segments.length; i++) {
    const isDone = (bases[i] ?? 0) >= nextDirty;
    for (const batch of segments[i] ?? []) {
      const kept = isDone ? batch : retain(batch, round);
      if (kept === "corrupt") throw new Error("corrupt");
      if (kept !== undefined) left.push(kept);
    }
  }
  return { batches: left, aborted: transactions.retained, nextDirty };
}
