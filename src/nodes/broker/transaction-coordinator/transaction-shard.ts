import { toMillis } from "../../../base/time.ts";
import { coordinatorErrorOf } from "../../../kafka/coordinator/write-error.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type { NewRecord, RecordBatch } from "../../../kafka/log/record-batch.ts";
import {
  decodeTransactionKey,
  decodeTransactionValue,
  encodeTransactionKey,
  encodeTransactionValue,
} from "../../../kafka/transaction/transaction-log.ts";
import type { TransactionTransition } from "../../../kafka/transaction/transaction-metadata.ts";
import {
  TransactionMetadata,
  transactionVersionOf,
} from "../../../kafka/transaction/transaction-metadata.ts";
import { isAtRest, isPrepared } from "../../../kafka/transaction/transaction-state.ts";
import type { BrokerContext } from "../broker-context.ts";
import type { CoordinatorLog } from "../coordinator/coordinator-log.ts";
import type { CoordinatorShard } from "../coordinator/coordinator-shard.ts";

/** What a shard asks of the coordinator that it is part of. */
export interface ShardOwner {
  onShardLoaded(shard: TransactionShard): void;
  onShardUnloaded(shard: TransactionShard): void;
}

/**
 * The transactional ids of one partition of `__transaction_state` (`TransactionStateManager`).
 *
 * A change counts once its record is committed; until then it is pending. If that fails nothing has
 * changed here, though the record may be in the log and be found by the next coordinator.
 */
export class TransactionShard implements CoordinatorShard {
  readonly log: CoordinatorLog;
  readonly #context: BrokerContext;
  readonly #owner: ShardOwner;
  readonly #known = new Map<string, TransactionMetadata>();

  constructor(context: BrokerContext, owner: ShardOwner, log: CoordinatorLog) {
    this.#context = context;
    this.#owner = owner;
    this.log = log;
  }

  get coordinatorEpoch(): number {
    return this.log.leaderEpoch;
  }

  get(transactionalId: string): TransactionMetadata | undefined {
    return this.#known.get(transactionalId);
  }

  /** An id that was never heard of; nothing is written before its first epoch. */
  put(metadata: TransactionMetadata): void {
    this.#known.set(metadata.transactionalId, metadata);
  }

  all(): Iterable<TransactionMetadata> {
    return this.#known.values();
  }

  // What is in the log.

  replay(batch: RecordBatch): void {
    if (batch.isControl) return;
    for (const { key, value } of batch.records()) {
      const transactionalId = key === undefined ? undefined : decodeTransactionKey(key);
      if (transactionalId === undefined) continue;
      if (value === undefined) this.#known.delete(transactionalId);
      else {
        const options = decodeTransactionValue(transactionalId, value);
        this.#known.set(transactionalId, new TransactionMetadata(options));
      }
    }
  }

  onLoaded(): void {
    for (const metadata of this.#known.values()) this.#note(metadata, "", "loaded");
    this.#owner.onShardLoaded(this);
  }

  onUnloaded(): void {
    this.#owner.onShardUnloaded(this);
  }

  /** Those whose end is decided, but not yet written everywhere. */
  prepared(): TransactionMetadata[] {
    return [...this.#known.values()].filter(({ state }) => isPrepared(state));
  }

  /** Open for longer than their producer said that they would be. */
  timedOut(now: number): TransactionMetadata[] {
    return [...this.#known.values()].filter(
      ({ state, pendingState, startTimestamp, timeoutMs }) =>
        state === "Ongoing" && pendingState === undefined && startTimestamp + timeoutMs < now,
    );
  }

  /**
   * Writes a prepared change, and calls `done` once it is committed and made, or with what a client is to be
   * told. `why` is for the timeline. If the log may take it later, a change that `mayWait` stays pending.
   */
  write(
    metadata: TransactionMetadata,
    transition: TransactionTransition,
    why: string,
    done: (error: ErrorCode) => void,
    mayWait = false,
  ): void {
    const version = transactionVersionOf(this.#context.features["transaction.version"]);
    const record: NewRecord = {
      timestamp: toMillis(this.#context.now()),
      key: encodeTransactionKey(metadata.transactionalId),
      value: encodeTransactionValue(transition, version),
    };
    this.#append([record], (error) => {
      if (error === ERRORS.NONE) {
        const { state: from, producerId } = metadata;
        metadata.completeTransition(transition);
        this.#note(metadata, from, why);
        if (metadata.producerId !== producerId) this.#noteRotation(metadata, producerId);
      } else if (!mayWait || error !== ERRORS.COORDINATOR_NOT_AVAILABLE) {
        metadata.pendingState = undefined;
      }
      done(error);
    });
  }

  /** Forgets the ids that have not been used for transactional.id.expiration.ms. */
  expire(now: number, expirationMs: number): void {
    const expired = [...this.#known.values()].filter(
      ({ state, pendingState, lastUpdateTimestamp }) =>
        isAtRest(state) && pendingState === undefined && lastUpdateTimestamp <= now - expirationMs,
    );
    for (let at = 0; at < expired.length; at += EXPIRED_AT_ONCE) {
      const some = expired.slice(at, at + EXPIRED_AT_ONCE);
      for (const metadata of some) metadata.prepareDead();
      const tombstones = some.map(({ transactionalId }) => ({
        timestamp: now,
        key: encodeTransactionKey(transactionalId),
        value: undefined,
      }));
      this.#append(tombstones, (error) => this.#buried(some, error));
    }
  }

  #buried(expired: readonly TransactionMetadata[], error: ErrorCode): void {
    for (const metadata of expired) {
      if (error !== ERRORS.NONE) {
        metadata.pendingState = undefined;
        continue;
      }
      const from = metadata.state;
      metadata.state = "Dead";
      this.#known.delete(metadata.transactionalId);
      this.#note(metadata, from, "expired");
    }
  }

  #append(records: readonly NewRecord[], done: (error: ErrorCode) => void): void {
    const appended = this.log.append(records);
    if (typeof appended !== "number") done(coordinatorErrorOf(appended));
    else this.log.whenCommitted((error) => done(coordinatorErrorOf(error)));
  }

  #noteRotation({ transactionalId, producerId: to }: TransactionMetadata, from: number): void {
    const { facts, brokerId: broker } = this.#context;
    facts.note({ kind: "producer-id-rotated", broker, transactionalId, from, to });
  }

  #note(metadata: TransactionMetadata, from: string, reason: string): void {
    const { transactionalId, producerId, producerEpoch, state, partitions } = metadata;
    this.#context.facts.note({
      kind: "transaction-state-changed",
      broker: this.#context.brokerId,
      coordinatorEpoch: this.coordinatorEpoch,
      transactionalId,
      producerId,
      producerEpoch,
      from,
      to: state,
      partitions: [...partitions.keys()],
      reason,
    });
  }
}

/** Simplified: Kafka fills batches of 16 KiB. */
const EXPIRED_AT_ONCE = 100;
