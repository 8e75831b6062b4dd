import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { Offset } from "../ids.ts";
import { NO_EPOCH, NO_PRODUCER_ID } from "../ids.ts";
import type { PartitionSequences, SequencedBatch } from "./partition-sequences.ts";

/**
 * The identity of an idempotent producer, and when it must take another (the part of
 * `TransactionManager` that is not about transactions; KIP-98, KIP-360).
 *
 * A gap in the sequences of a partition cannot be closed. The producer then raises its own epoch
 * and numbers what is still to be written there from 0. What a broker knew of the old epoch no
 * longer helps it: a batch that was written but not acknowledged is then written twice.
 */
export class ProducerSequences {
  producerId: number = NO_PRODUCER_ID;
  producerEpoch: number = NO_EPOCH;
  #bumpRequired = false;
  /** Partitions whose batches are renumbered at the next bump. */
  readonly #toRewrite = new Set<PartitionSequences>();
  readonly #unresolved = new Set<PartitionSequences>();

  get hasProducerId(): boolean {
    return this.producerId > NO_PRODUCER_ID;
  }

  /** The answer to InitProducerId. */
  initialize(producerId: number, producerEpoch: number): void {
    this.producerId = producerId;
    this.producerEpoch = producerEpoch;
  }

  /** May the queue's first batch be sent now (`shouldStopDrainBatchesForPartition`)? */
  mayDrain(partition: PartitionSequences, batch: SequencedBatch, hasSequence: boolean): boolean {
    if (!this.hasProducerId) return false;
    if (!hasSequence) {
      // Sequence 0 of a new epoch must not be written before what is still under way under the old.
      if (partition.hasInFlight && partition.isStale(this.producerId, this.producerEpoch)) {
        return false;
      }
      return !partition.isUnresolved;
    }
    // A batch that is sent again waits until it is the oldest: one in flight until order is restored.
    const { first } = partition;
    return first === undefined || first.baseSequence === batch.baseSequence;
  }

  /** A new batch is drained: it gets its identity and sequence. */
  assign(partition: PartitionSequences, batch: SequencedBatch): void {
    if (partition.isStale(this.producerId, this.producerEpoch) && !partition.hasInFlight) {
      partition.startAtBeginning(this.producerId, this.producerEpoch);
    }
    partition.assign(batch);
  }

  /** Is there hope in sending the batch again after this error (`TransactionManager.canRetry`)? */
  canRetry(
    partition: PartitionSequences,
    batch: SequencedBatch,
    error: ErrorCode,
    logStartOffset: Offset,
  ): boolean {
    if (error === ERRORS.UNKNOWN_PRODUCER_ID) {
      // Without a log start offset the broker was not the leader any more: its word counts little.
      const isAlreadySettled = logStartOffset === -1 || batch.sequenceHasBeenReset;
      if (!isAlreadySettled) this.#requestBump(partition);
      return true;
    }
    if (error === ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER) {
      const mayHeal = batch.sequenceHasBeenReset || !partition.isNext(batch.baseSequence);
      if (!partition.isUnresolved && mayHeal) return true;
      const followsUnresolved = batch.baseSequence === partition.unresolvedSequence;
      if (!partition.isUnresolved || followsUnresolved) this.#requestBump(partition);
      return true;
    }
    return error.retriable;
  }

  /** The batch was given up (`handleFailedBatch`); `adjust` if the broker certainly refused it. */
  failed(
    partition: PartitionSequences,
    batch: SequencedBatch,
    error: ErrorCode,
    adjust: boolean,
  ): void {
    partition.remove(batch);
    if (error === ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER || adjust) this.#requestBump(partition);
  }

  /** The batch was given up in the midst of its retries: nothing new until the rest has an answer. */
  markUnresolved(partition: PartitionSequences, batch: SequencedBatch): void {
    partition.markUnresolved(batch);
    this.#unresolved.add(partition);
  }

  /** To be called before each round of sending: settles what is unresolved, and bumps the epoch. */
  settle(): void {
    if (this.#unresolved.size > 0) this.#resolve();
    if (this.#bumpRequired) this.#bump();
  }

  #resolve(): void {
    for (const partition of this.#unresolved) {
      if (partition.hasInFlight) continue;
      // If the last one acknowledged is the last one sent, what was given up had been written.
      if (!partition.isNext(partition.nextSequence)) this.#requestBump(partition);
      partition.unresolvedSequence = -1;
      this.#unresolved.delete(partition);
    }
  }

  #requestBump(partition: PartitionSequences): void {
    this.#bumpRequired = true;
    this.#toRewrite.add(partition);
  }

  #bump(): void {
    this.#bumpRequired = false;
    if (this.producerEpoch === MAX_EPOCH) {
      this.producerId = NO_PRODUCER_ID;
      this.producerEpoch = NO_EPOCH;
    } else {
      this.producerEpoch++;
    }
    for (const partition of this.#toRewrite) {
      partition.startAtBeginning(this.producerId, this.producerEpoch);
      partition.unresolvedSequence = -1;
      this.#unresolved.delete(partition);
    }
    this.#toRewrite.clear();
  }
}

const MAX_EPOCH = 32_767;
