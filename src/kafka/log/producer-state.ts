import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { Offset } from "../ids.ts";
import { NO_EPOCH } from "../ids.ts";
import { decodeEndTransaction } from "./control-record.ts";
import type { CompletedTransaction } from "./open-transactions.ts";
import { OpenTransactions } from "./open-transactions.ts";
import type { RecordBatch } from "./record-batch.ts";
import { NO_SEQUENCE } from "./record-batch.ts";
import { RecordCursor } from "./record-cursor.ts";
import type { AbortedTransaction } from "./transaction-index-format.ts";
import { TransactionVerification } from "./transaction-verification.ts";

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

/** How a batch that is to be appended is judged, beside what it says itself. */
export interface BatchOrigin {
  /** Sequences are a matter of clients alone; a coordinator's records have none. */
  readonly isClient: boolean;
  /** `transaction.partition.verification.enable` */
  readonly mustBeVerified: boolean;
  /** What the batch was verified with; undefined if it was not. */
  readonly verification: TransactionVerification | undefined;
}

/** What to do with a batch that a client or a coordinator wants appended. */
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
  /** Those that are open, or that ended beyond what is replicated; read only, `add` and `load` write it. */
  readonly transactions: OpenTransactions = new OpenTransactions();
  readonly #producers = new Map<number, ProducerEntry>();
  readonly #verifications = new Map<number, TransactionVerification>();
  /** Everything below is taken note of. */
  endOffset: Offset = 0;

  get size(): number {
    return this.#producers.size;
  }

  get isEmpty(): boolean {
    return this.#producers.size === 0 && !this.transactions.hasUnreplicated;
  }

  get(producerId: number): ProducerEntry | undefined {
    return this.#producers.get(producerId);
  }

  /** In the order in which they first wrote. */
  entries(): IterableIterator<ProducerEntry> {
    return this.#producers.values();
  }

  /** Has the producer a transaction open here in that epoch? */
  hasOngoing(producerId: number, epoch: number): boolean {
    return isOngoing(this.#producers.get(producerId), epoch);
  }

  /**
   * Judges a batch of records that has a producer id, in Kafka's order: duplicate, epoch, verification,
   * sequence, transaction. Changes nothing. A producer that is unknown, or forgotten, may begin with any
   * sequence: its records may have been deleted.
   */
  check(batch: RecordBatch, origin: BatchOrigin = CLIENT): ProducerVerdict {
    const { producerEpoch: epoch, baseSequence, isTransactional } = batch;
    const entry = this.#producers.get(batch.producerId);
    if (origin.isClient && entry !== undefined) {
      const duplicateOf = entry.find(epoch, baseSequence, batch.lastSequence);
      if (duplicateOf !== undefined) return { error: ERRORS.NONE, duplicateOf };
    }
    // The epoch first, so that a zombie hears of its own mistake (KAFKA-19690).
    if (entry !== undefined && epoch < entry.epoch) return STALE_EPOCH;
    if (isTransactional && origin.mustBeVerified && !isOngoing(entry, epoch)) {
      const known = this.#verifications.get(batch.producerId);
      if (known === undefined || known !== origin.verification) return NOT_IN_TRANSACTION;
    }
    if (origin.isClient && !this.#isInOrder(batch, entry)) return OUT_OF_ORDER;
    if (!isTransactional && entry?.currentTxnFirstOffset !== undefined) return NOT_IN_TRANSACTION;
    return ACCEPTED;
  }

  #isInOrder(batch: RecordBatch, entry: ProducerEntry | undefined): boolean {
    const { producerEpoch: epoch, baseSequence } = batch;
    if (this.#verifications.size > 0) {
      const verification = this.#verifications.get(batch.producerId);
      if (verification !== undefined) {
        const isUnknown = entry?.lastBatch === undefined;
        if (verification.supportsEpochBump && baseSequence !== 0 && isUnknown) return false;
        if (baseSequence > verification.lowestSequence) return false;
      }
    }
    if (entry === undefined) return true;
    return epoch === entry.epoch ? follows(entry.lastSequence, baseSequence) : baseSequence === 0;
  }

  /**
   * Judges a coordinator's marker. From transaction.version 2 on it must bring a new epoch, unless it comes
   * again for a transaction that has ended (KIP-1228, KAFKA-19999).
   */
  checkMarker(
    producerId: number,
    epoch: number,
    coordinatorEpoch: number,
    transactionVersion: number,
  ): ErrorCode {
    const entry = this.#producers.get(producerId);
    if (entry === undefined) return ERRORS.NONE;
    if (epoch < entry.epoch) return ERRORS.INVALID_PRODUCER_EPOCH;
    const isOpen = entry.currentTxnFirstOffset !== undefined;
    if (transactionVersion >= 2 && epoch === entry.epoch && isOpen) {
      return ERRORS.INVALID_PRODUCER_EPOCH;
    }
    if (coordinatorEpoch < entry.coordinatorEpoch) return ERRORS.TRANSACTION_COORDINATOR_FENCED;
    return ERRORS.NONE;
  }

  /**
   * Begins to verify, or goes on verifying, that the coordinator knows of a transaction. Undefined if it is
   * known already, since something of it is in the log (`UnifiedLog.maybeStartTransactionVerification`).
   */
  beginVerification(
    producerId: number,
    sequence: number,
    epoch: number,
    supportsEpochBump: boolean,
    nowMs: number,
  ): TransactionVerification | undefined {
    if (this.hasOngoing(producerId, epoch)) return undefined;
    let verification = this.#verifications.get(producerId);
    if (verification === undefined) {
      verification = new TransactionVerification(nowMs, sequence, epoch, supportsEpochBump);
      this.#verifications.set(producerId, verification);
    } else {
      verification.join(sequence, epoch);
    }
    return verification;
  }

  /**
   * Takes note of a batch that is in the log. Replicas do not judge: the leader has. Returns the
   * transaction that it aborts, for the index of its segment.
   */
  add(batch: RecordBatch): AbortedTransaction | undefined {
    const completed = this.note(batch);
    return completed === undefined ? undefined : this.complete(completed);
  }

  /** As `add`, but a transaction that it ends stays open until `complete`: batches are appended in sets. */
  note(batch: RecordBatch): CompletedTransaction | undefined {
    let completed: CompletedTransaction | undefined;
    if (batch.hasProducerId) {
      if (batch.isControl) completed = this.#noteMarker(batch);
      else this.#noteRecords(batch);
      // What is in the log, or has ended, needs no guard any more.
      if (batch.isTransactional) this.#verifications.delete(batch.producerId);
    }
    this.endOffset = batch.lastOffset + 1;
    return completed;
  }

  /** Ends a transaction; returns what the index of aborted ones keeps, if it was aborted. */
  complete(completed: CompletedTransaction): AbortedTransaction | undefined {
    const { producerId, firstOffset, lastOffset } = completed;
    const lastStableOffset = this.transactions.complete(completed);
    if (!completed.isAborted) return undefined;
    return { producerId, firstOffset, lastOffset, lastStableOffset };
  }

  #noteRecords(batch: RecordBatch): void {
    const { producerId, producerEpoch, baseOffset } = batch;
    const entry =
      this.#producers.get(producerId) ??
      this.load(producerId, producerEpoch, batch.maxTimestamp, undefined);
    entry.add(producerEpoch, batch);
    if (batch.isTransactional && entry.currentTxnFirstOffset === undefined) {
      this.openTransaction(entry, baseOffset);
    }
  }

  /** A control batch without a record is what cleaning left of a transaction that is gone whole. */
  #noteMarker(batch: RecordBatch): CompletedTransaction | undefined {
    const cursor = new RecordCursor(batch);
    if (!cursor.next()) return undefined;
    const { key, value } = cursor.decode();
    const marker = decodeEndTransaction(key, value);
    if (marker === undefined) return undefined;
    const { producerId, producerEpoch } = batch;
    const entry =
      this.#producers.get(producerId) ??
      this.load(producerId, producerEpoch, cursor.timestamp, undefined);
    const firstOffset = entry.currentTxnFirstOffset;
    entry.endTransaction(producerEpoch, marker.coordinatorEpoch, cursor.timestamp);
    if (firstOffset === undefined) return undefined;
    const isAborted = marker.type === "ABORT";
    return { producerId, firstOffset, lastOffset: batch.baseOffset, isAborted };
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

  /** A producer's transaction begins at an offset, or did so as a snapshot tells. */
  openTransaction(entry: ProducerEntry, firstOffset: Offset): void {
    entry.currentTxnFirstOffset = firstOffset;
    this.transactions.begin(entry.producerId, firstOffset);
  }

  /** Forgets what the log says; verifications that are under way stay. */
  clear(): void {
    this.#producers.clear();
    this.transactions.clear();
  }

  /** Forgets the producers, and the verifications, idle for `expirationMs` (`producer.id.expiration.ms`). */
  expire(nowMs: number, expirationMs: number): void {
    for (const [producerId, entry] of this.#producers) {
      if (isExpired(entry, nowMs, expirationMs)) this.#producers.delete(producerId);
    }
    for (const [producerId, { timestamp }] of this.#verifications) {
      if (nowMs - timestamp >= expirationMs) this.#verifications.delete(producerId);
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

function isOngoing(entry: ProducerEntry | undefined, epoch: number): boolean {
  return entry?.currentTxnFirstOffset !== undefined && entry.epoch === epoch;
}

function follows(lastSequence: number, nextSequence: number): boolean {
  return nextSequence === lastSequence + 1 || (nextSequence === 0 && lastSequence === MAX_SEQUENCE);
}

const MAX_SEQUENCE = 0x7fff_ffff;

/** An ordinary client, where nothing is verified. */
const CLIENT: BatchOrigin = { isClient: true, mustBeVerified: false, verification: undefined };

const ACCEPTED: ProducerVerdict = { error: ERRORS.NONE, duplicateOf: undefined };
const STALE_EPOCH: ProducerVerdict = {
  error: ERRORS.INVALID_PRODUCER_EPOCH,
  duplicateOf: undefined,
};
const OUT_OF_ORDER: ProducerVerdict = {
  error: ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER,
  duplicateOf: undefined,
};
const NOT_IN_TRANSACTION: ProducerVerdict = {
  error: ERRORS.INVALID_TXN_STATE,
  duplicateOf: undefined,
};
