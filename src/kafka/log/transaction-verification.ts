/**
 * A producer's wish to begin a transaction in a partition, from the moment at which the coordinator is
 * asked until something of that transaction, or its marker, is in the log (Kafka's
 * `VerificationStateEntry`, KIP-890). It is the guard, too: only who holds this very object may append, so
 * that what was verified before an abort can't land after it (KAFKA-14884).
 */
export class TransactionVerification {
  /** When it was begun, milliseconds; what expiry goes by. */
  readonly timestamp: number;
  /** Does the producer get another epoch with every transaction (transaction.version 2)? */
  readonly supportsEpochBump: boolean;
  /** Of the epoch: a batch with a higher one would overtake (KAFKA-14920). */
  lowestSequence: number;
  epoch: number;

  constructor(timestamp: number, sequence: number, epoch: number, supportsEpochBump: boolean) {
    this.timestamp = timestamp;
    this.supportsEpochBump = supportsEpochBump;
    this.lowestSequence = sequence;
    this.epoch = epoch;
  }

  /** Another batch of the same producer waits for the coordinator. */
  join(sequence: number, epoch: number): void {
    if (epoch === this.epoch && sequence < this.lowestSequence) this.lowestSequence = sequence;
    if (epoch > this.epoch) {
      this.epoch = epoch;
      this.lowestSequence = sequence;
    }
  }
}
