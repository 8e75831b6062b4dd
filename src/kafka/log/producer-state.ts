import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { Offset } from "../ids.ts";
import { NO_EPOCH } from "../ids.ts";
import { decodeEndTransaction } from "./control-record.ts";
import type { RecordBatch } from "./record-batch.ts";
import { NO_SEQUENCE } from "./record-batch.ts";
import { RecordCursor } from "./record-cursor.ts";

/** Batches that are remembered of each producer: as many as it may have in flight (KIP-98). */
export const BATCHES_KEPT = 5;

/** What is remembered of an appended batch; a `RecordBatch` is one. */
export interface ProducedBatch {
  readonly baseSequence: number;
  readonly lastSequence: number;
  readonly baseOffset: Offset;
  readonly lastOffset: Offset;
  /** Milliseconds. */
  readonly maxTimestamp: number;
}

/** One idempotent producer as a partition's log knows it (Kafka's `ProducerStateEntry`). */
export class ProducerEntry {
  readonly producerId: number;
  epoch: number;
  /** Timestamp of the last batch, milliseconds; what expiry goes by. */
  lastTimestamp: number;
  /** Of the coordinator that wrote the last marker; NO_EPOCH if there was none. */
  coordinatorEpoch: number = NO_EPOCH;
  /** Where the open transaction begins, if one is open. */
  currentTxnFirstOffset: Offset | undefined = undefined;
  /** The last batches of the epoch; a ring whose newest is at `newest`. */
  readonly #batches: ProducedBatch[] = [];
  #newest = -1;

  constructor(producerId: number, epoch: number, lastTimestamp: number) {
    this.producerId = producerId;
    this.epoch = epoch;
    this.lastTimestamp = lastTimestamp;
  }

  get lastBatch(): ProducedBatch | undefined {
    return this.#batches[this.#newest];
  }

  get lastSequence(): number {
    return this.lastBatch?.lastSequence ?? NO_SEQUENCE;
  }

  /** Takes note of a batch; one of another epoch makes it forget the old epoch's. */
  add(epoch: number, batch: ProducedBatch): void {
    this.#beginEpoch(epoch);
    this.#newest = this.#newest === BATCHES_KEPT - 1 ? 0 : this.#newest + 1;
    this.#batches[this.#newest] = batch;
    this.lastTimestamp = batch.maxTimestamp;
  }

  /** Takes note of a transaction's end; the marker's epoch may be a new one (KIP-890). */
  endTransaction(epoch: number, coordinatorEpoch: number, timestamp: number): void {
    this.#beginEpoch(epoch);
    this.coordinatorEpoch = coordinatorEpoch;
    this.currentTxnFirstOffset = undefined;
    this.lastTimestamp = timestamp;
  }

  #beginEpoch(epoch: number): void {
    if (epoch === this.epoch) return;
    this.#batches.length = 0;
    this.#newest = -1;
    this.epoch = epoch;
  }

  /** The remembered batch of the same epoch with exactly these sequences. */
  find(epoch: number, firstSequence: number, lastSequence: number): ProducedBatch | undefined {
    if (epoch !== this.epoch) return undefined;
    for (const batch of this.#batches) {
      if (batch.baseSequence === firstSequence && batch.lastSequence === lastSequence) return batch;
    }
    return undefined;
  }
}

/** What to do with a batch that a client sent. */
export interface ProducerVerdict {
  readonly error: ErrorCode;
  /** The batch that this one repeats, if it does. */
  readonly duplicateOf: ProducedBatch | undefined;
}

/**
 * The idempotent producers of one partition: which sequences are in the log, so that a batch sent
 * twice is written once and gaps are refused, and which have a transaction open (KIP-98; Kafka's
 * `ProducerStateManager`).
 */
export class ProducerState {
  readonly #producers = new Map<number, ProducerEntry>();
  /** Everything below is taken note of. */
  endOffset: Offset = 0;

  get size(): number {
    return this.#producers.size;
  }

  get(producerId: number): ProducerEntry | undefined {
    return this.#producers.get(producerId);
  }

  /** In the order in which they first wrote. */
  entries(): IterableIterator<ProducerEntry> {
    return this.#producers.values();
  }

  /**
   * Judges a client's batch that has a producer id. Changes nothing. A producer that is unknown, or
   * forgotten, may begin with any sequence: its records may have been deleted (transaction.version
   * below 2); with `unknownFromZero`, only with 0.
   */
  check(batch: RecordBatch, unknownFromZero: boolean = false): ProducerVerdict {
    const { producerEpoch: epoch, baseSequence } = batch;
    const entry = this.#producers.get(batch.producerId);
    if (entry === undefined) {
      return unknownFromZero && baseSequence !== 0 ? OUT_OF_ORDER : ACCEPTED;
    }
    const duplicateOf = entry.find(epoch, baseSequence, batch.lastSequence);
    if (duplicateOf !== undefined) return { error: ERRORS.NONE, duplicateOf };
    if (epoch < entry.epoch) return STALE_EPOCH;
    const inOrder =
      epoch === entry.epoch ? follows(entry.lastSequence, baseSequence) : baseSequence === 0;
    return inOrder ? ACCEPTED : OUT_OF_ORDER;
  }

  /** Takes note of a batch that is in the log. Replicas do not judge: the leader has. */
  add(batch: RecordBatch): void {
    if (batch.hasProducerId) {
      if (batch.isControl) {
        this.#addMarker(batch);
      } else {
        const entry =
          this.#producers.get(batch.producerId) ??
          this.load(batch.producerId, batch.producerEpoch, batch.maxTimestamp, undefined);
        entry.add(batch.producerEpoch, batch);
        if (batch.isTransactional) entry.currentTxnFirstOffset ??= batch.baseOffset;
      }
    }
    this.endOffset = batch.lastOffset + 1;
  }

  /** A control batch without a record is what cleaning left of a transaction that is gone whole. */
  #addMarker(batch: RecordBatch): void {
    const cursor = new RecordCursor(batch);
    if (!cursor.next()) return;
    const { key, value } = cursor.decode();
    const marker = decodeEndTransaction(key, value);
    if (marker === undefined) return;
    const { producerId, producerEpoch } = batch;
    const entry =
      this.#producers.get(producerId) ??
      this.load(producerId, producerEpoch, cursor.timestamp, undefined);
    entry.endTransaction(producerEpoch, marker.coordinatorEpoch, cursor.timestamp);
  }

  /** Puts a producer into the table, as from a snapshot. */
  load(
    producerId: number,
    epoch: number,
    lastTimestamp: number,
    lastBatch: ProducedBatch | undefined,
  ): ProducerEntry {
    const entry = new ProducerEntry(producerId, epoch, lastTimestamp);
    if (lastBatch !== undefined) entry.add(epoch, lastBatch);
    entry.lastTimestamp = lastTimestamp;
    this.#producers.set(producerId, entry);
    return entry;
  }

  clear(): void {
    this.#producers.clear();
  }

  /** Forgets the producers idle for `expirationMs` (`producer.id.expiration.ms`). */
  expire(nowMs: number, expirationMs: number): void {
    for (const [producerId, entry] of this.#producers) {
      if (isExpired(entry, nowMs, expirationMs)) this.#producers.delete(producerId);
    }
  }
}

/** Never while a transaction is open. */
export function isExpired(
  producer: Pick<ProducerEntry, "lastTimestamp" | "currentTxnFirstOffset">,
  nowMs: number,
  expirationMs: number,
): boolean {
  return (
    producer.currentTxnFirstOffset === undefined && nowMs - producer.lastTimestamp >= expirationMs
  );
}

function follows(lastSequence: number, nextSequence: number): boolean {
  return nextSequence === lastSequence + 1 || (nextSequence === 0 && lastSequence === MAX_SEQUENCE);
}

const MAX_SEQUENCE = 0x7fff_ffff;

const ACCEPTED: ProducerVerdict = { error: ERRORS.NONE, duplicateOf: undefined };
const STALE_EPOCH: ProducerVerdict = {
  error: ERRORS.INVALID_PRODUCER_EPOCH,
  duplicateOf: undefined,
};
const OUT_OF_ORDER: ProducerVerdict = {
  error: ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER,
  duplicateOf: undefined,
};
