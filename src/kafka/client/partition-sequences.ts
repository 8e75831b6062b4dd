import type { Offset } from "../ids.ts";
import { NO_EPOCH, NO_PRODUCER_ID } from "../ids.ts";
import { incrementSequence } from "../log/record-batch.ts";

/** A batch as the sequences see it. The producer's state in it is NO_SEQUENCE until it is drained. */
export interface SequencedBatch {
  readonly recordCount: number;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  /** Rewritten since it was last sent (Kafka's `reopened`). */
  readonly sequenceHasBeenReset: boolean;
  /** Gives it its place among all that this producer writes to the partition. */
  setProducerState(producerId: number, producerEpoch: number, baseSequence: number): void;
  /** The same for a batch that has a place already: its bytes are to be written anew. */
  resetProducerState(producerId: number, producerEpoch: number, baseSequence: number): void;
}

export const NO_ACKED_SEQUENCE = -1;

/**
 * What an idempotent producer remembers of one partition (`TxnPartitionEntry`, KIP-98): the
 * sequence of the next new batch, and the batches that have one but no final answer.
 */
export class PartitionSequences {
  /** The identity under which the partition is written; it changes only while nothing is in flight. */
  producerId: number = NO_PRODUCER_ID;
  producerEpoch: number = NO_EPOCH;
  nextSequence = 0;
  lastAckedSequence: number = NO_ACKED_SEQUENCE;
  lastAckedOffset: Offset = -1;
  /** The sequence after that of a batch given up while its fate was open; -1 if there is none. */
  unresolvedSequence = -1;
  /** Sent or to be sent again, without a final answer; by producer id, epoch and sequence. */
  #inFlight: SequencedBatch[] = [];

  get hasInFlight(): boolean {
    return this.#inFlight.length > 0;
  }

  get isUnresolved(): boolean {
    return this.unresolvedSequence >= 0;
  }

  /** The batch that must be written before all others. */
  get first(): SequencedBatch | undefined {
    return this.#inFlight[0];
  }

  isStale(producerId: number, producerEpoch: number): boolean {
    return this.producerId !== producerId || this.producerEpoch !== producerEpoch;
  }

  /** A new batch gets its sequence, as it is drained. */
  assign(batch: SequencedBatch): void {
    batch.setProducerState(this.producerId, this.producerEpoch, this.nextSequence);
    this.nextSequence = incrementSequence(this.nextSequence, batch.recordCount);
    this.add(batch);
  }

  /** Follows a batch that has its sequence. */
  add(batch: SequencedBatch): void {
    const list = this.#inFlight;
    let at = list.length;
    while (at > 0 && isBefore(batch, list[at - 1] as SequencedBatch)) at--;
    if (at === list.length) list.push(batch);
    else list.splice(at, 0, batch);
  }

  remove(batch: SequencedBatch): void {
    const list = this.#inFlight;
    if (list[0] === batch) list.shift();
    else {
      const at = list.indexOf(batch);
      if (at > 0) list.splice(at, 1);
    }
  }

  acked(batch: SequencedBatch, baseOffset: Offset): void {
    const lastSequence = lastSequenceOf(batch);
    if (lastSequence > this.lastAckedSequence) this.lastAckedSequence = lastSequence;
    const lastOffset = baseOffset + batch.recordCount - 1;
    if (baseOffset >= 0 && lastOffset > this.lastAckedOffset) this.lastAckedOffset = lastOffset;
    this.remove(batch);
  }

  /** Is `sequence` what follows the last acknowledged one? */
  isNext(sequence: number): boolean {
    return sequence - this.lastAckedSequence === 1;
  }

  /** The batch was given up, and it is not known whether it is written. */
  markUnresolved(batch: SequencedBatch): void {
    this.unresolvedSequence = Math.max(this.unresolvedSequence, lastSequenceOf(batch) + 1);
  }

  /**
   * The broker certainly refused a batch that was given up: what follows it moves up, so that no sequence is
   * missing (`adjustSequencesDueToFailedBatch`).
   */
  closeGap(failed: SequencedBatch): void {
    const { recordCount, baseSequence } = failed;
    if (failed.producerId !== this.producerId || failed.producerEpoch !== this.producerEpoch)
      return;
    this.nextSequence = decrementSequence(this.nextSequence, recordCount);
    for (const batch of this.#inFlight) {
      if (batch.baseSequence < baseSequence) continue;
      const sequence = decrementSequence(batch.baseSequence, recordCount);
      batch.resetProducerState(batch.producerId, batch.producerEpoch, sequence);
    }
  }

  /** Under a new identity all that has no final answer is numbered anew, from 0 (KIP-360). */
  startAtBeginning(producerId: number, producerEpoch: number): void {
    let sequence = 0;
    for (const batch of this.#inFlight) {
      batch.resetProducerState(producerId, producerEpoch, sequence);
      sequence += batch.recordCount;
    }
    this.producerId = producerId;
    this.producerEpoch = producerEpoch;
    this.nextSequence = sequence;
    this.lastAckedSequence = NO_ACKED_SEQUENCE;
  }
}

function decrementSequence(sequence: number, decrement: number): number {
  return sequence < decrement ? MAX_SEQUENCE - (decrement - sequence) + 1 : sequence - decrement;
}

const MAX_SEQUENCE = 0x7fff_ffff;

function lastSequenceOf(batch: SequencedBatch): number {
  return incrementSequence(batch.baseSequence, batch.recordCount - 1);
}

function isBefore(left: SequencedBatch, right: SequencedBatch): boolean {
  if (left.producerId !== right.producerId) return left.producerId < right.producerId;
  if (left.producerEpoch !== right.producerEpoch) return left.producerEpoch < right.producerEpoch;
  return left.baseSequence < right.baseSequence;
}
