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
  /** Where the last of them ends. */
  readonly end: number;
  readonly aborted?: readonly AbortedTransaction[];
  readonly producers?: ReadonlyMap<number, LastRecord>;
}

export interface CleanedBatches {
  readonly batches: readonly RecordBatch[];
  readonly aborted: readonly AbortedTransaction[];
  /** Where the next run begins. */
  readonly nextDirty: number;
}

/** Cleans a log in memory once, as the cleaner does one on a disk. */
export function cleanBatches(
  log: BatchLog,
  firstDirty: number,
  nowMs: number,
  { deleteRetentionMs = 86_400_000, mapCapacity = 1_000_000 } = {},
): CleanedBatches {
  const { segments, end, aborted = [], producers = new Map() } = log;
  const offsets = new OffsetMap(mapCapacity, 1);
  const ahead = new CleanedTransactions();
  ahead.add(aborted);
  const bases = segments.map((batches) => batches[0]?.baseOffset ?? 0);
  for (let i = 0; i < segments.length; i++) {
    const next = bases[i + 1] ?? end;
    if (next <= firstDirty) continue;
    const result = mapSegment(segments[i] ?? [], firstDirty, next, offsets, ahead);
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
