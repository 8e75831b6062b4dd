import { invariant } from "../../base/invariant.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { PartitionName, TopicPartition } from "../ids.ts";
import { NO_EPOCH, NO_PRODUCER_ID } from "../ids.ts";
import type { TransactionState } from "./transaction-state.ts";
import { isAtRest, isLegalTransition, isPrepared } from "./transaction-state.ts";

/** The `transaction.version` feature: 1 has flexible records in the log, 2 is KIP-890's second part. */
export type TransactionVersion = 0 | 1 | 2;

/** Does each end of a transaction raise the producer's epoch? */
export function supportsEpochBump(version: TransactionVersion): boolean {
  return version >= 2;
}

/** The partitions of a transaction by their names, in the order in which they were added. */
export type TransactionPartitions = ReadonlyMap<PartitionName, TopicPartition>;

export const NO_PARTITIONS: TransactionPartitions = new Map();

/** What a transactional id is about to become: the content of a record (`TxnTransitMetadata`). */
export interface TransactionTransition {
  readonly state: TransactionState;
  readonly producerId: number;
  readonly previousProducerId: number;
  readonly nextProducerId: number;
  readonly producerEpoch: number;
  readonly lastProducerEpoch: number;
  readonly timeoutMs: number;
  readonly partitions: TransactionPartitions;
  /** Milliseconds; -1 without a transaction. */
  readonly startTimestamp: number;
  /** Milliseconds. */
  readonly lastUpdateTimestamp: number;
  readonly clientTransactionVersion: TransactionVersion;
}

/** What a decoded record tells, or what is known of an id that is new. */
export interface TransactionMetadataOptions
  extends Omit<TransactionTransition, "lastProducerEpoch"> {
  readonly transactionalId: string;
}

/**
 * What a coordinator knows of one transactional id (`TransactionMetadata`).
 *
 * A change is prepared, its record appended, and completed when the record is committed. Meanwhile it is
 * pending, and whoever asks for another is told to come back (CONCURRENT_TRANSACTIONS).
 */
export class TransactionMetadata {
  readonly transactionalId: string;
  producerId: number;
  /** The id before the last change, by which the repetition of a request that changed it is recognised. */
  previousProducerId: number;
  /** The id that follows when the markers of this transaction are written; its epochs are used up. */
  nextProducerId: number;
  producerEpoch: number;
  /** The epoch before the last bump; not written, so a new coordinator does not know it. */
  lastProducerEpoch: number = NO_EPOCH;
  timeoutMs: number;
  state: TransactionState;
  pendingState: TransactionState | undefined = undefined;
  startTimestamp: number;
  lastUpdateTimestamp: number;
  clientTransactionVersion: TransactionVersion;
  /**
   * An attempt to fence may or may not have been written: the next does not raise the epoch again. No client was
   * told of it.
   */
  hasFailedEpochFence = false;
  #partitions: Map<PartitionName, TopicPartition>;

  constructor(options: TransactionMetadataOptions) {
    this.transactionalId = options.transactionalId;
    this.producerId = options.producerId;
    this.previousProducerId = options.previousProducerId;
    this.nextProducerId = options.nextProducerId;
    this.producerEpoch = options.producerEpoch;
    this.timeoutMs = options.timeoutMs;
    this.state = options.state;
    this.#partitions = new Map(options.partitions);
    this.startTimestamp = options.startTimestamp;
    this.lastUpdateTimestamp = options.lastUpdateTimestamp;
    this.clientTransactionVersion = options.clientTransactionVersion;
  }

  /** Of an id that was never heard of; with the first InitProducerId its epoch becomes 0. */
  static create(
    transactionalId: string,
    producerId: number,
    timeoutMs: number,
    now: number,
  ): TransactionMetadata {
    return new TransactionMetadata({
      transactionalId,
      producerId,
      previousProducerId: NO_PRODUCER_ID,
      nextProducerId: NO_PRODUCER_ID,
      producerEpoch: NO_EPOCH,
      timeoutMs,
      state: "Empty",
      partitions: NO_PARTITIONS,
      startTimestamp: -1,
      lastUpdateTimestamp: now,
      clientTransactionVersion: 0,
    });
  }

  get partitions(): TransactionPartitions {
    return this.#partitions;
  }

  /** A pending fence has no record of its own: the abort that follows it replaces it. */
  get isFencing(): boolean {
    return this.pendingState === "PrepareEpochFence";
  }

  /** The last epoch stays unused, so that there is always one to fence with. */
  get isEpochExhausted(): boolean {
    return isEpochExhausted(this.producerEpoch);
  }

  /** The markers of a partition are written. */
  removePartition(partition: PartitionName): void {
    invariant(isPrepared(this.state), () => this.#told(`has a marker written in ${partition}`));
    this.#partitions.delete(partition);
  }

  /**
   * InitProducerId found nothing under way: the next epoch. `expectedEpoch` is what a producer that recovers
   * from an error has; PRODUCER_FENCED if it is neither the current nor, as when a request comes twice,
   * the one before.
   */
  prepareIncrementProducerEpoch(
    timeoutMs: number,
    expectedEpoch: number | undefined,
    now: number,
  ): TransactionTransition | ErrorCode {
    const { producerEpoch, lastProducerEpoch } = this;
    invariant(!this.isEpochExhausted, () => this.#told("has no epoch left"));
    let epochs: { readonly producerEpoch: number; readonly lastProducerEpoch: number };
    if (expectedEpoch === undefined) {
      epochs = { producerEpoch: producerEpoch + 1, lastProducerEpoch: NO_EPOCH };
    } else if (producerEpoch === NO_EPOCH || expectedEpoch === producerEpoch) {
      epochs = { producerEpoch: producerEpoch + 1, lastProducerEpoch: producerEpoch };
    } else if (expectedEpoch === lastProducerEpoch) {
      epochs = { producerEpoch, lastProducerEpoch };
    } else return ERRORS.PRODUCER_FENCED;
    return this.#prepare("Empty", { ...epochs, ...started(timeoutMs, now) });
  }

  /** The same when no epoch is left: another producer id, at epoch 0. */
  prepareProducerIdRotation(
    producerId: number,
    timeoutMs: number,
    now: number,
    recordLastEpoch: boolean,
  ): TransactionTransition {
    invariant(isAtRest(this.state), () => this.#told("cannot change its producer id"));
    return this.#prepare("Empty", {
      producerId,
      producerEpoch: 0,
      lastProducerEpoch: recordLastEpoch ? this.producerEpoch : NO_EPOCH,
      ...started(timeoutMs, now),
    });
  }

  /** The first step of an abort against the producer's will: its epoch is taken from it. */
  prepareFenceProducerEpoch(): TransactionTransition {
    const { producerEpoch } = this;
    const isLast = this.hasFailedEpochFence || producerEpoch === MAX_EPOCH;
    return this.#prepare("PrepareEpochFence", {
      producerEpoch: isLast ? producerEpoch : producerEpoch + 1,
    });
  }

  /** The second: the pending fence gives way to the abort that follows, under the epoch it took. */
  beginFencedAbort(producerEpoch: number): void {
    this.pendingState = undefined;
    this.producerEpoch = producerEpoch;
    this.lastProducerEpoch = NO_EPOCH;
  }

  prepareAddPartitions(
    added: TransactionPartitions,
    now: number,
    clientTransactionVersion: TransactionVersion,
  ): TransactionTransition {
    return this.#prepare("Ongoing", {
      partitions: new Map([...this.#partitions, ...added]),
      startTimestamp: isAtRest(this.state) ? now : this.startTimestamp,
      lastUpdateTimestamp: now,
      clientTransactionVersion,
    });
  }

  /**
   * How the transaction ends is decided. With KIP-890 the epoch rises; `nextProducerId` if it is the last.
   * Without partitions the transaction never began, and begins now.
   */
  prepareAbortOrCommit(
    state: "PrepareAbort" | "PrepareCommit",
    clientTransactionVersion: TransactionVersion,
    nextProducerId: number,
    now: number,
    noPartitionAdded: boolean,
  ): TransactionTransition {
    let { producerEpoch, lastProducerEpoch } = this;
    if (supportsEpochBump(clientTransactionVersion)) {
      lastProducerEpoch = producerEpoch;
      if (producerEpoch !== MAX_EPOCH || state === "PrepareCommit") producerEpoch++;
    }
    return this.#prepare(state, {
      producerEpoch,
      lastProducerEpoch,
      startTimestamp: noPartitionAdded ? now : this.startTimestamp,
      nextProducerId,
      lastUpdateTimestamp: now,
      clientTransactionVersion,
    });
  }

  /** All markers will be written: what is to be noted then. */
  prepareComplete(now: number): TransactionTransition {
    // The decision was written, and the fence with it.
    this.hasFailedEpochFence = false;
    const { clientTransactionVersion, nextProducerId } = this;
    const rotates =
      supportsEpochBump(clientTransactionVersion) && nextProducerId !== NO_PRODUCER_ID;
    return this.#prepare(this.state === "PrepareCommit" ? "CompleteCommit" : "CompleteAbort", {
      producerId: rotates ? nextProducerId : this.producerId,
      producerEpoch: rotates ? 0 : this.producerEpoch,
      nextProducerId: NO_PRODUCER_ID,
      partitions: NO_PARTITIONS,
      lastUpdateTimestamp: now,
    });
  }

  /** The id has expired: it is forgotten once its tombstone is written. */
  prepareDead(): TransactionTransition {
    return this.#prepare("Dead", { partitions: NO_PARTITIONS });
  }

  /** The record of a prepared change is committed. */
  completeTransition(to: TransactionTransition): void {
    const isExpected = this.pendingState === to.state && this.#mayBecome(to);
    invariant(isExpected, () => this.#told(`cannot complete its way to ${to.state}`));
    this.producerId = to.producerId;
    this.previousProducerId = to.previousProducerId;
    this.nextProducerId = to.nextProducerId;
    this.producerEpoch = to.producerEpoch;
    this.lastProducerEpoch = to.lastProducerEpoch;
    this.timeoutMs = to.timeoutMs;
    this.#partitions = new Map(to.partitions);
    this.startTimestamp = to.startTimestamp;
    this.lastUpdateTimestamp = to.lastUpdateTimestamp;
    this.clientTransactionVersion = to.clientTransactionVersion;
    this.pendingState = undefined;
    this.state = to.state;
  }

  /** What is not named in `changed` stays. */
  #prepare(
    state: TransactionState,
    changed: Partial<TransactionTransition>,
  ): TransactionTransition {
    invariant(this.pendingState === undefined, () => this.#told(`prepares ${state}`));
    invariant(isLegalTransition(this.state, state), () => this.#told(`cannot become ${state}`));
    const to: TransactionTransition = {
      producerId: this.producerId,
      nextProducerId: this.nextProducerId,
      producerEpoch: this.producerEpoch,
      lastProducerEpoch: this.lastProducerEpoch,
      timeoutMs: this.timeoutMs,
      partitions: this.#partitions,
      startTimestamp: this.startTimestamp,
      lastUpdateTimestamp: this.lastUpdateTimestamp,
      clientTransactionVersion: this.clientTransactionVersion,
      ...changed,
      state,
      previousProducerId: this.producerId,
    };
    // An id that never was told its epoch can still expire.
    const isNamed = to.producerId >= 0 && (state === "Dead" || to.producerEpoch >= 0);
    invariant(isNamed, () => this.#told(`has no identity as ${state}`));
    this.pendingState = state;
    return to;
  }

  /** As a last resort against mixing up two changes (`completeTransitionTo`). */
  #mayBecome(to: TransactionTransition): boolean {
    switch (to.state) {
      case "Empty":
        return (
          (to.producerEpoch === this.producerEpoch || this.#isNextEpoch(to)) &&
          to.partitions.size === 0 &&
          to.startTimestamp === -1
        );
      case "Ongoing":
        return (
          this.#isSameProducer(to) &&
          to.timeoutMs === this.timeoutMs &&
          this.#isWithin(to.partitions)
        );
      case "PrepareCommit":
      case "PrepareAbort":
        return (
          this.#isSameProducer(to) &&
          to.timeoutMs === this.timeoutMs &&
          to.partitions.size === this.#partitions.size &&
          this.#isWithin(to.partitions) &&
          (to.startTimestamp === this.startTimestamp || this.#isAbortOfNothing(to))
        );
      case "CompleteCommit":
      case "CompleteAbort":
        return (
          this.#isSameProducer(to) && to.timeoutMs === this.timeoutMs && to.startTimestamp !== -1
        );
      default:
        return false;
    }
  }

  #isNextEpoch({ producerId, producerEpoch }: TransactionTransition): boolean {
    return (
      producerEpoch === this.producerEpoch + 1 ||
      (producerEpoch === 0 && producerId !== this.producerId)
    );
  }

  /** The producer is the same, but for the epoch that KIP-890 adds, and the id when it has run out. */
  #isSameProducer(to: TransactionTransition): boolean {
    if (supportsEpochBump(to.clientTransactionVersion)) {
      if (isComplete(to.state) && to.producerEpoch === 0) {
        return (
          to.lastProducerEpoch === this.lastProducerEpoch &&
          to.previousProducerId === this.producerId
        );
      }
      if (isPrepared(to.state)) {
        return to.lastProducerEpoch === this.producerEpoch && to.producerId === this.producerId;
      }
    }
    return to.producerEpoch === this.producerEpoch && to.producerId === this.producerId;
  }

  #isWithin(partitions: TransactionPartitions): boolean {
    for (const name of this.#partitions.keys()) if (!partitions.has(name)) return false;
    return true;
  }

  #isAbortOfNothing(to: TransactionTransition): boolean {
    return (
      to.state === "PrepareAbort" &&
      supportsEpochBump(to.clientTransactionVersion) &&
      isAtRest(this.state)
    );
  }

  #told(what: string): string {
    const { transactionalId, state, pendingState, producerId, producerEpoch } = this;
    const pending = pendingState === undefined ? "" : `, soon ${pendingState}`;
    return `${transactionalId} (${state}${pending}, producer ${producerId} epoch ${producerEpoch}) ${what}`;
  }
}

export function isEpochExhausted(producerEpoch: number): boolean {
  return producerEpoch >= MAX_EPOCH - 1;
}

/** The largest epoch: a signed 16-bit number. */
export const MAX_EPOCH = 32_767;

function isComplete(state: TransactionState): boolean {
  return state === "CompleteCommit" || state === "CompleteAbort";
}

/** Of an id whose producer has just come. */
function started(timeoutMs: number, now: number): Partial<TransactionTransition> {
  return { timeoutMs, partitions: NO_PARTITIONS, startTimestamp: -1, lastUpdateTimestamp: now };
}

/** The level of the feature as it is written and asked for. */
export function transactionVersionOf(level: number): TransactionVersion {
  invariant(level === 0 || level === 1 || level === 2, () => `there is no version ${level}`);
  return level;
}
