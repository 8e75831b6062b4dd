import { CONTROL_TYPES, controlTypeId } from "../log/control-record.ts";
import type { RecordBatch } from "../log/record-batch.ts";
import { RecordCursor } from "../log/record-cursor.ts";
import type { FetchedAbort } from "../protocol/fetch.ts";

/**
 * Finds the batches of one fetch whose transactions were aborted, by the list that came with it: from where
 * such a transaction begins to its marker, all that its producer wrote in transactions (`CompletedFetch`).
 */
export class AbortedBatches {
  /** Not begun yet; the one that begins first is the last. */
  readonly #ahead: FetchedAbort[];
  /** Producers inside of a transaction that was aborted. */
  readonly #aborted = new Set<number>();

  constructor(aborted: readonly FetchedAbort[]) {
    this.#ahead = [...aborted].sort((left, right) => right.firstOffset - left.firstOffset);
  }

  /** To be asked of every batch, in order: is it not to be handed over? */
  has(batch: RecordBatch): boolean {
    if (!batch.hasProducerId) return false;
    let next = this.#ahead.at(-1);
    while (next !== undefined && next.firstOffset <= batch.lastOffset) {
      this.#aborted.add(next.producerId);
      this.#ahead.pop();
      next = this.#ahead.at(-1);
    }
    if (isAbortMarker(batch)) this.#aborted.delete(batch.producerId);
    else if (batch.isTransactional) return this.#aborted.has(batch.producerId);
    return false;
  }
}

function isAbortMarker(batch: RecordBatch): boolean {
  if (!batch.isControl) return false;
  const cursor = new RecordCursor(batch);
  return cursor.next() && controlTypeId(cursor.decode().key) === CONTROL_TYPES.ABORT;
}
