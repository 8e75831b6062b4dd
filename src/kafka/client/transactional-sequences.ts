import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { Offset } from "../ids.ts";
import type { PartitionSequences, SequencedBatch } from "./partition-sequences.ts";
import { ProducerSequences } from "./producer-sequences.ts";

/**
 * The identity and sequences of a transactional producer (the other part of `TransactionManager`). It never
 * takes another epoch by itself: a gap ends the transaction, and the coordinator gives the next epoch.
 */
export class TransactionalSequences extends ProducerSequences {
  readonly #unresolved = new Set<PartitionSequences>();
  /** It will never be known whether something was written: the transaction must be aborted. */
  hasGap = false;

  override canRetry(
    partition: PartitionSequences,
    batch: SequencedBatch,
    error: ErrorCode,
    logStartOffset: Offset,
  ): boolean {
    if (error === ERRORS.UNKNOWN_PRODUCER_ID) {
      if (logStartOffset === -1 || batch.sequenceHasBeenReset) return true;
      // All that was written is gone by retention, and the broker's memory of the producer with it.
      if (partition.lastAckedOffset < logStartOffset) {
        partition.startAtBeginning(this.producerId, this.producerEpoch);
        return true;
      }
    } else if (error === ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER) {
      const mayHeal = batch.sequenceHasBeenReset || !partition.isNext(batch.baseSequence);
      if (!partition.isUnresolved && mayHeal) return true;
    }
    return error.retriable;
  }

  override failed(
    partition: PartitionSequences,
    batch: SequencedBatch,
    error: ErrorCode,
    adjust: boolean,
  ): void {
    partition.remove(batch);
    if (error === ERRORS.UNKNOWN_PRODUCER_ID) this.#restart(partition);
    else if (adjust) partition.closeGap(batch);
  }

  override markUnresolved(partition: PartitionSequences, batch: SequencedBatch): void {
    partition.markUnresolved(batch);
    this.#unresolved.add(partition);
  }

  override settle(): void {
    for (const partition of this.#unresolved) {
      if (partition.hasInFlight) continue;
      if (!partition.isNext(partition.nextSequence)) this.hasGap = true;
      partition.unresolvedSequence = -1;
      this.#unresolved.delete(partition);
    }
  }

  /** A new epoch: nothing of the old one counts (`resetSequenceNumbers`). */
  override initialize(producerId: number, producerEpoch: number): void {
    super.initialize(producerId, producerEpoch);
    for (const partition of this.#unresolved) partition.unresolvedSequence = -1;
    this.#unresolved.clear();
    this.hasGap = false;
  }

  #restart(partition: PartitionSequences): void {
    partition.startAtBeginning(this.producerId, this.producerEpoch);
    partition.unresolvedSequence = -1;
    this.#unresolved.delete(partition);
  }
}
