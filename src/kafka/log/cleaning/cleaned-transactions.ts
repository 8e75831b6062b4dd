import type { Offset } from "../../ids.ts";
import { CONTROL_TYPES, controlTypeId } from "../control-record.ts";
import type { RecordBatch } from "../record-batch.ts";
import { RecordCursor } from "../record-cursor.ts";
import type { AbortedTransaction } from "../transaction-index-format.ts";

/**
 * Follows the transactions of a log while its batches go by in order: whose data was aborted and may
 * go at once, and which markers have no data left (Kafka's `CleanedTransactionMetadata`, KIP-98).
 */
export class CleanedTransactions {
  /** The aborted transactions whose markers stay: the transaction index of the cleaned segment. */
  readonly retained: AbortedTransaction[] = [];
  /** Not met yet, ascending by first offset. */
  readonly #ahead: AbortedTransaction[] = [];
  /** By producer; true once a batch of it was met. */
  readonly #aborted = new Map<number, { readonly transaction: AbortedTransaction; met: boolean }>();
  /** Producers of which a batch of a transaction that is not aborted was met. */
  readonly #committed = new Set<number>();

  /** Makes known what the transaction indexes say of the stretch that comes next. */
  add(aborted: readonly AbortedTransaction[]): void {
    if (aborted.length === 0) return;
    this.#ahead.push(...aborted);
    this.#ahead.sort((left, right) => left.firstOffset - right.firstOffset);
  }

  /** Is the batch, which is no marker, part of an aborted transaction? */
  meetData(batch: RecordBatch): boolean {
    this.#advanceTo(batch.lastOffset);
    if (!batch.isTransactional) return false;
    const aborted = this.#aborted.get(batch.producerId);
    if (aborted === undefined) {
      this.#committed.add(batch.producerId);
      return false;
    }
    aborted.met = true;
    return true;
  }

  /** Has the control batch outlived its use: is nothing of its transaction left before it? */
  meetControl(batch: RecordBatch): boolean {
    this.#advanceTo(batch.lastOffset);
    const { producerId } = batch;
    switch (controlTypeOf(batch)) {
      case CONTROL_TYPES.ABORT: {
        const aborted = this.#aborted.get(producerId);
        this.#aborted.delete(producerId);
        if (aborted?.met !== true) return true;
        this.retained.push(aborted.transaction);
        return false;
      }
      case CONTROL_TYPES.COMMIT:
        return !this.#committed.delete(producerId);
      case undefined:
        // An empty one: cleaned before.
        return true;
      default:
        return false;
    }
  }

  #advanceTo(offset: Offset): void {
    const ahead = this.#ahead;
    let passed = 0;
    for (; passed < ahead.length; passed++) {
      const transaction = ahead[passed] as AbortedTransaction;
      if (transaction.firstOffset > offset) break;
      const { producerId } = transaction;
      // What spans segments is told by the index of each.
      if (!this.#aborted.has(producerId)) {
        this.#aborted.set(producerId, { transaction, met: false });
      }
    }
    if (passed > 0) ahead.splice(0, passed);
  }
}

/** Undefined without a record. */
function controlTypeOf(batch: RecordBatch): number | undefined {
  const cursor = new RecordCursor(batch);
  return cursor.next() ? controlTypeId(cursor.decode().key) : undefined;
}
