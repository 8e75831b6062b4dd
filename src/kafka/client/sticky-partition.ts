/**
 * Which partition gets the records that have no key: one at a time, until it has got a batch's
 * worth of bytes (`BuiltInPartitioner`, KIP-480 and KIP-794).
 *
 * Simplified: the next one is drawn evenly among those that have a leader, as Kafka does until
 * their queues differ in length; the weighting by queue length is left out.
 */
export class StickyPartition {
  readonly #batchSize: number;
  /** The partition in use; -1 if the next is to be drawn. */
  current = -1;
  #producedBytes = 0;

  constructor(batchSize: number) {
    this.#batchSize = batchSize;
  }

  use(partition: number): void {
    this.current = partition;
    this.#producedBytes = 0;
  }

  /**
   * Counts bytes that went to the current partition. `mayLeave` is false while its last batch has
   * room: leaving it then would make a small batch, so it may get up to twice its share.
   */
  produced(bytes: number, mayLeave: boolean): void {
    this.#producedBytes += bytes;
    const share = this.#batchSize;
    if (this.#producedBytes >= (mayLeave ? share : share * 2)) this.current = -1;
  }
}
