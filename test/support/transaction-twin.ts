import type { Offset } from "../../src/kafka/ids.ts";
import {
  controlTypeId,
  controlTypeName,
  decodeEndTransaction,
} from "../../src/kafka/log/control-record.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { NO_SEQUENCE } from "../../src/kafka/log/record-batch.ts";

/** A transaction in a plain list of batches. */
export interface ListedTransaction {
  readonly producerId: number;
  readonly first: Offset;
  /** Of its marker; undefined while it is open. */
  readonly marker: Offset | undefined;
  readonly isAborted: boolean;
}

/** The transactions of a log, found by walking all of it each time: the twin of what a log remembers. */
export function transactionsIn(batches: readonly RecordBatch[]): readonly ListedTransaction[] {
  const found: ListedTransaction[] = [];
  const open = new Map<number, Offset>();
  for (const batch of batches) {
    if (!batch.isTransactional) continue;
    const { producerId, baseOffset } = batch;
    if (!batch.isControl) {
      if (!open.has(producerId)) open.set(producerId, baseOffset);
      continue;
    }
    const first = open.get(producerId);
    open.delete(producerId);
    if (first === undefined) continue;
    const type = controlTypeName(controlTypeId(batch.records()[0]?.key) ?? -1);
    found.push({ producerId, first, marker: baseOffset, isAborted: type === "ABORT" });
  }
  for (const [producerId, first] of open) {
    found.push({ producerId, first, marker: undefined, isAborted: false });
  }
  return found;
}

/** Nothing below is open, or has ended beyond the high watermark. */
export function lastStableOffsetOf(batches: readonly RecordBatch[], highWatermark: Offset): Offset {
  const firsts = transactionsIn(batches)
    .filter(({ marker }) => marker === undefined || marker >= highWatermark)
    .map(({ first }) => first);
  return Math.min(highWatermark, ...firsts);
}

/** The aborted transactions that overlap [from, to), in the order of their markers. */
export function abortedIn(
  batches: readonly RecordBatch[],
  from: Offset,
  to: Offset,
): readonly (readonly [producerId: number, first: Offset, marker: Offset])[] {
  const overlapping: [number, Offset, Offset][] = [];
  for (const { producerId, first, marker, isAborted } of transactionsIn(batches)) {
    if (isAborted && marker !== undefined && marker >= from && first < to) {
      overlapping.push([producerId, first, marker]);
    }
  }
  return overlapping;
}

/** What a reader of committed records may see of whole batches: by what became of each transaction. */
export function committedIn(batches: readonly RecordBatch[]): readonly RecordBatch[] {
  const aborted = transactionsIn(batches).filter(({ isAborted }) => isAborted);
  return batches.filter(
    (batch) =>
      !batch.isControl &&
      !(
        batch.isTransactional &&
        aborted.some(
          ({ producerId, first, marker }) =>
            producerId === batch.producerId &&
            first <= batch.baseOffset &&
            batch.lastOffset < (marker ?? 0),
        )
      ),
  );
}

/** How a leader answers a marker, from the batches of its log alone. */
export function judgeMarker(
  batches: readonly RecordBatch[],
  marker: { producerId: number; epoch: number; coordinatorEpoch: number; version: number },
): "append" | "stale-epoch" | "fenced-coordinator" {
  const mine = batches.filter(({ producerId }) => producerId === marker.producerId);
  const last = mine.at(-1);
  if (last === undefined) return "append";
  const isOpen = transactionsIn(mine).some((one) => one.marker === undefined);
  const isStale =
    marker.epoch < last.producerEpoch ||
    (marker.version >= 2 && marker.epoch === last.producerEpoch && isOpen);
  if (isStale) return "stale-epoch";
  const lastMarker = mine.findLast(({ isControl }) => isControl)?.records()[0];
  const known = decodeEndTransaction(lastMarker?.key, lastMarker?.value)?.coordinatorEpoch ?? -1;
  return marker.coordinatorEpoch < known ? "fenced-coordinator" : "append";
}

/** The sequence with which a producer goes on in an epoch. */
export function nextSequence(
  batches: readonly RecordBatch[],
  producerId: number,
  epoch: number,
): number {
  let sequence = NO_SEQUENCE;
  for (const batch of batches) {
    if (batch.producerId !== producerId || batch.producerEpoch !== epoch) continue;
    if (!batch.isControl) sequence = batch.lastSequence;
  }
  return sequence + 1;
}
