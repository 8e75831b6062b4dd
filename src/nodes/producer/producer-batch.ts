import type { Instant } from "../../base/time.ts";
import type { CompressionRatio } from "../../kafka/client/compression-ratio.ts";
import { estimateCompressed } from "../../kafka/client/compression-ratio.ts";
import type { SequencedBatch } from "../../kafka/client/partition-sequences.ts";
import { ABSENT, recordSize, singleRecordBatchBound } from "../../kafka/client/record-size.ts";
import type { LeaderEpoch } from "../../kafka/ids.ts";
import { NO_EPOCH, NO_PRODUCER_ID } from "../../kafka/ids.ts";
import { HEADER_SIZE } from "../../kafka/log/batch-header.ts";
import { NO_COMPRESSION } from "../../kafka/log/compression/codec.ts";
import { MAX_CONTENT } from "../../kafka/log/compression/output.ts";
import type { NewRecord, RecordBatch } from "../../kafka/log/record-batch.ts";
import { buildBatch, NO_SEQUENCE } from "../../kafka/log/record-batch.ts";
import type { PartitionQueue } from "./partition-queue.ts";

/** How a producer compresses its batches. */
export interface Compressor {
  /** The number of a codec. */
  readonly codec: number;
  /** Of gzip. */
  readonly level: number;
  readonly ratio: CompressionRatio;
}

/** Records of one partition that are sent, and end, together (`ProducerBatch`). */
export class ProducerBatch implements SequencedBatch {
  readonly queue: PartitionQueue;
  /** The instant from which delivery.timeout.ms counts. */
  readonly createdAt: Instant;
  /** What it takes of buffer.memory, and how far it may grow. */
  readonly bufferSize: number;
  /** Made of one that was too large for the broker. */
  readonly isSplit: boolean;
  readonly compressor: Compressor;
  readonly isTransactional: boolean;
  records: NewRecord[] = NO_RECORDS;
  /** The application's numbers of the records. */
  values: number[] = NO_VALUES;
  /** Bytes of the batch as it stands; estimated until it is built, if it is compressed. */
  size: number = HEADER_SIZE;
  /** Bytes of the records before compression. */
  #recordBytes = 0;
  /** What was known of the ratio when the batch began. */
  readonly #estimation: number;
  #isClosed = false;

  /** How often it was put back to be sent again; what `retries` limits. */
  attempts = 0;
  /** How often it was sent. */
  sends = 0;
  /** In a request without an answer. */
  isInFlight = false;
  /** The application has been told. */
  isDone = false;
  /** An earlier attempt may have been written. */
  isUncertain = false;
  lastAttemptAt: Instant;
  backoffUntil: Instant = 0;
  #leaderEpoch: LeaderEpoch = NO_EPOCH;
  #attemptsWhenLeaderChanged = 0;

  producerId: number = NO_PRODUCER_ID;
  producerEpoch: number = NO_EPOCH;
  baseSequence: number = NO_SEQUENCE;
  sequenceHasBeenReset = false;
  #built: RecordBatch | undefined = undefined;

  constructor(
    queue: PartitionQueue,
    createdAt: Instant,
    bufferSize: number,
    compressor: Compressor,
    isSplit: boolean,
    isTransactional: boolean,
  ) {
    this.queue = queue;
    this.createdAt = createdAt;
    this.lastAttemptAt = createdAt;
    this.bufferSize = bufferSize;
    this.compressor = compressor;
    this.#estimation = compressor.ratio.estimation;
    this.isSplit = isSplit;
    this.isTransactional = isTransactional;
  }

  /** The number of its codec. */
  get compression(): number {
    return this.compressor.codec;
  }

  get compressionLevel(): number {
    return this.compressor.level;
  }

  get recordCount(): number {
    return this.values.length;
  }

  /** The most that a batch of the largest of its records alone can take. */
  get maxRecordSize(): number {
    let largest = 0;
    for (const { key, value } of this.records) {
      const bound = singleRecordBatchBound(key?.length ?? ABSENT, value?.length ?? ABSENT);
      if (bound > largest) largest = bound;
    }
    return largest;
  }

  get hasSequence(): boolean {
    return this.baseSequence !== NO_SEQUENCE;
  }

  /** No more records fit, or may be added. The first always fits. */
  get isFull(): boolean {
    return this.#isClosed || (this.values.length > 0 && this.size >= this.bufferSize);
  }

  /** What came of the compression, once it is built: compressed bytes for each that was not. */
  get compressionRatio(): number {
    if (this.#built === undefined) return 1;
    return (this.#built.sizeInBytes - HEADER_SIZE) / this.#recordBytes;
  }

  /** Adds a record if there is room; otherwise the batch is closed. Returns the bytes added, -1 if none. */
  tryAppend(record: NewRecord, value: number): number {
    if (this.isFull) return -1;
    const { records } = this;
    const keySize = record.key === undefined ? ABSENT : record.key.length;
    const valueSize = record.value === undefined ? ABSENT : record.value.length;
    const base = records.length === 0 ? record.timestamp : (records[0] as NewRecord).timestamp;
    const bytes = recordSize(keySize, valueSize, record.timestamp - base, records.length);
    if (records.length > 0 && !this.#hasRoomFor(bytes)) {
      this.#isClosed = true;
      return -1;
    }
    if (records.length === 0) {
      // Without batching it stays the only one: an empty array that grows makes room for many.
      this.records = [record];
      this.values = [value];
    } else {
      records.push(record);
      this.values.push(value);
    }
    this.#recordBytes += bytes;
    if (this.compression === NO_COMPRESSION) {
      this.size += bytes;
      return bytes;
    }
    const before = this.size;
    this.size = HEADER_SIZE + estimateCompressed(this.#recordBytes, this.#estimation);
    return this.size - before;
  }

  /** Takes no more records. */
  close(): void {
    this.#isClosed = true;
  }

  /** Takes notice of the leader that it would be sent to now. */
  followLeader(leaderEpoch: LeaderEpoch): void {
    if (leaderEpoch <= this.#leaderEpoch) return;
    this.#leaderEpoch = leaderEpoch;
    this.#attemptsWhenLeaderChanged = this.attempts;
  }

  /** Must it still wait? Not for a leader that it has not been sent to (KIP-951). */
  isBackingOff(now: Instant): boolean {
    if (this.attempts === 0 || this.attempts === this.#attemptsWhenLeaderChanged) return false;
    return now < this.backoffUntil;
  }

  /** Closes the batch and gives its bytes; they stay the same until its sequence is reset. */
  build(): RecordBatch {
    this.#isClosed = true;
    this.sequenceHasBeenReset = false;
    this.#built ??= buildBatch(this.records, this);
    if (this.compression === NO_COMPRESSION) return this.#built;
    this.size = this.#built.sizeInBytes;
    // Each time it is sent, as in Kafka.
    this.compressor.ratio.learn(this.compressionRatio);
    return this.#built;
  }

  setProducerState(producerId: number, producerEpoch: number, baseSequence: number): void {
    this.producerId = producerId;
    this.producerEpoch = producerEpoch;
    this.baseSequence = baseSequence;
  }

  resetProducerState(producerId: number, producerEpoch: number, baseSequence: number): void {
    this.setProducerState(producerId, producerEpoch, baseSequence);
    this.sequenceHasBeenReset = true;
    this.#built = undefined;
  }

  /**
   * The new record counts as if it were not compressed. Simplified: a batch never holds more than a reader
   * would decompress here; Kafka has no such bound.
   */
  #hasRoomFor(bytes: number): boolean {
    return (
      this.size + bytes <= this.bufferSize &&
      (this.compression === NO_COMPRESSION || this.#recordBytes + bytes <= MAX_CONTENT)
    );
  }

  /** The application has been told: only the numbers stay, for whoever keeps them. */
  finish(): void {
    this.isDone = true;
    this.records = NO_RECORDS;
    this.#built = undefined;
  }
}

/** What a batch without records shares with all others; never added to. */
const NO_RECORDS: NewRecord[] = [];
const NO_VALUES: number[] = [];
