import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { Offset } from "../ids.ts";
import type { RecordBatch } from "./record-batch.ts";
import { NO_SEQUENCE } from "./record-batch.ts";

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
    if (epoch !== this.epoch) {
      this.#batches.length = 0;
      this.#newest = -1;
      this.epoch = epoch;
    }
    this.#newest = this.#newest === BATCHES_KEPT - 1 ? 0 : this.#newest + 1;
    this.#batches[this.#newest] = batch;
    this.lastTimestamp = batch.maxTimestamp;
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
 * twice is written once and gaps are refused (KIP-98; Kafka's `ProducerStateManager`). Transactions
 * are not kept yet.
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
      const entry = this.#producers.get(batch.producerId);
      if (entry !== undefined) entry.add(batch.producerEpoch, batch);
      else this.load(batch.producerId, batch.producerEpoch, batch.maxTimestamp, batch);
    }
    this.endOffset = batch.lastOffset + 1;
  }

  /** Puts a producer into the table, as from a snapshot. */
  load(
    producerId: number,
    epoch: number,
    lastTimestamp: number,
    lastBatch: ProducedBatch | undefined,
  ): void {
    const entry = new ProducerEntry(producerId, epoch, lastTimestamp);
    if (lastBatch !== undefined) entry.add(epoch, lastBatch);
    entry.lastTimestamp = lastTimestamp;
    this.#producers.set(producerId, entry);
  }

  clear(): void {
    this.#producers.clear();
  }

  /** Forgets the producers idle for `expirationMs` (`producer.id.expiration.ms`). */
  expire(nowMs: number, expirationMs: number): void {
    for (const [producerId, { lastTimestamp }] of this.#producers) {
      if (isExpired(lastTimestamp, nowMs, expirationMs)) this.#producers.delete(producerId);
    }
  }
}

export function isExpired(lastTimestamp: number, nowMs: number, expirationMs: number): boolean {
  return nowMs - lastTimestamp >= expirationMs;
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
