import { AbortedBatches } from "../../../kafka/client/aborted-batches.ts";
import type { Offset } from "../../../kafka/ids.ts";
import type { RecordBatch } from "../../../kafka/log/record-batch.ts";
import { RecordCursor } from "../../../kafka/log/record-cursor.ts";
import type { FetchedAbort } from "../../../kafka/protocol/fetch.ts";
import type { AssignedPartition } from "../assigned-partition.ts";

/** Records of one partition that a poll gives the application, in order. */
export interface TakenRecords {
  readonly partition: AssignedPartition;
  readonly offsets: readonly Offset[];
  readonly batches: readonly RecordBatch[];
}

/** What one fetch brought of one partition, until the application has taken all of it (`CompletedFetch`). */
export class CompletedFetch {
  readonly partition: AssignedPartition;
  readonly #batches: readonly RecordBatch[];
  readonly #aborted: AbortedBatches | undefined;
  #next = 0;
  /** Is the batch at `#next` one of an aborted transaction? Undefined until it is looked at. */
  #isUnwanted: boolean | undefined = undefined;
  /** A batch is damaged, and nothing can be read behind it. */
  isDamaged = false;

  constructor(
    partition: AssignedPartition,
    batches: readonly RecordBatch[],
    aborted: readonly FetchedAbort[] | undefined,
  ) {
    this.partition = partition;
    this.#batches = batches;
    const hasAborted = aborted !== undefined && aborted.length > 0;
    this.#aborted = hasAborted ? new AbortedBatches(aborted) : undefined;
  }

  /** Nothing is left in it. */
  get isOver(): boolean {
    return this.#next >= this.#batches.length;
  }

  /** Takes up to `limit` records; the position moves on behind them, and over what is passed over. */
  take(limit: number): TakenRecords | undefined {
    const { position } = this.partition;
    const offsets: Offset[] = [];
    const batches: RecordBatch[] = [];
    while (!this.isOver && offsets.length < limit) {
      const batch = this.#batches[this.#next] as RecordBatch;
      this.#isUnwanted ??= this.#aborted?.has(batch) ?? false;
      const isSound = batch.isValid() && (batch.compression === 0 || batch.isReadable());
      if (!isSound && batch.nextOffset > position.offset) {
        this.isDamaged = true;
        break;
      }
      const isSkipped = this.#isUnwanted || batch.isControl;
      const isWhole = isSkipped || collect(batch, position.offset, limit, offsets);
      if (!isSkipped) batches.push(batch);
      if (!isWhole) {
        const last = offsets[offsets.length - 1] as Offset;
        position.advance(last + 1, batch.partitionLeaderEpoch);
        break;
      }
      if (batch.nextOffset > position.offset) {
        position.advance(batch.nextOffset, batch.partitionLeaderEpoch);
      }
      this.#next++;
      this.#isUnwanted = undefined;
    }
    return offsets.length === 0 ? undefined : { partition: this.partition, offsets, batches };
  }
}

/** Adds the batch's offsets from `from` on; false if the limit is reached before its end. */
function collect(batch: RecordBatch, from: Offset, limit: number, offsets: Offset[]): boolean {
  if (batch.recordCount === batch.nextOffset - batch.baseOffset) {
    for (let offset = Math.max(batch.baseOffset, from); offset < batch.nextOffset; offset++) {
      if (offsets.length >= limit) return false;
      offsets.push(offset);
    }
    return true;
  }
  // Compaction took records out of it.
  const cursor = new RecordCursor(batch);
  while (cursor.next()) {
    if (cursor.offset < from) continue;
    if (offsets.length >= limit) return false;
    offsets.push(cursor.offset);
  }
  return true;
}
