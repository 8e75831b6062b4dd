import { fromMillis, toMillis } from "../../../base/time.ts";
import { TRANSACTION_STATE_TOPIC } from "../../../kafka/coordinator/internal-topics.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type { MetadataRecord } from "../../../kafka/metadata/records.ts";
import type {
  TransactionPartitions,
  TransactionTransition,
  TransactionVersion,
} from "../../../kafka/transaction/transaction-metadata.ts";
import {
  TransactionMetadata,
  transactionVersionOf,
} from "../../../kafka/transaction/transaction-metadata.ts";
import type {
  EndOfTransaction,
  ProducerIdAndEpoch,
} from "../../../kafka/transaction/transaction-rules.ts";
import {
  decideAddPartitions,
  decideEnd,
  decideInitProducerId,
  decideMarkers,
  isTransition,
  NEEDS_PRODUCER_ID,
  verifyTransaction,
} from "../../../kafka/transaction/transaction-rules.ts";
import type { TimerHandle } from "../../../ports/node.ts";
import { NO_TIMER } from "../../../ports/node.ts";
import type { BrokerContext } from "../broker-context.ts";
import { BROKER_TIMER } from "../broker-timers.ts";
import { CoordinatorRuntime } from "../coordinator/coordinator-runtime.ts";
import { MarkerChannel } from "./marker-channel.ts";
import type { ShardOwner } from "./transaction-shard.ts";
import { TransactionShard } from "./transaction-shard.ts";

/**
 * How long a record may take to be committed before who asked for it is told to ask again.
 * Simplified: Kafka waits for as long as the producer's transaction may take.
 */
const WRITE_TIMEOUT_MS = 60_000;

/** Where new producer ids come from: undefined while there is none, and one has been asked for. */
export interface ProducerIdSource {
  next(): number | undefined;
}

/** Answers are calls, since most wait for a record to be committed. Without an error they bring an identity. */
export type IdentityCallback = (
  error: ErrorCode,
  producerId: number,
  producerEpoch: number,
) => void;

/**
 * The transaction coordinator of one broker, for the transactional ids whose partition of
 * `__transaction_state` it leads (`TransactionCoordinator`). What it decides is in kafka/transaction; here it
 * is written, answered and carried out.
 */
export class TransactionCoordinator implements ShardOwner {
  readonly markers: MarkerChannel;
  readonly #context: BrokerContext;
  readonly #producerIds: ProducerIdSource;
  readonly #runtime: CoordinatorRuntime<TransactionShard>;
  /** Loaded ones. While there is none, no timer runs. */
  readonly #shards = new Set<TransactionShard>();
  #abortTimer: TimerHandle = NO_TIMER;
  #expiryTimer: TimerHandle = NO_TIMER;

  constructor(context: BrokerContext, producerIds: ProducerIdSource) {
    this.#context = context;
    this.#producerIds = producerIds;
    this.markers = new MarkerChannel(context);
    this.#runtime = new CoordinatorRuntime(context, {
      topic: TRANSACTION_STATE_TOPIC,
      loadBufferSize: context.configs["transaction.state.log.load.buffer.size"],
      requiredAcks: -1,
      timeoutMs: WRITE_TIMEOUT_MS,
      open: (log) => new TransactionShard(context, this, log),
    });
  }

  publish(records: readonly MetadataRecord[]): void {
    this.#runtime.publish(records);
  }

  publishAll(): void {
    this.#runtime.publishAll();
  }

  // What producers ask.

  /** `expected` is who the producer takes itself for, if it recovers from an error. */
  initProducerId(
    transactionalId: string,
    timeoutMs: number,
    expected: ProducerIdAndEpoch | undefined,
    answer: IdentityCallback,
  ): void {
    const refuse = (error: ErrorCode): void => answer(error, -1, -1);
    if (transactionalId === "") {
      refuse(ERRORS.INVALID_REQUEST);
      return;
    }
    if (timeoutMs <= 0 || timeoutMs > this.#context.configs["transaction.max.timeout.ms"]) {
      refuse(ERRORS.INVALID_TRANSACTION_TIMEOUT);
      return;
    }
    const shard = this.#runtime.shardFor(transactionalId);
    if (!(shard instanceof TransactionShard)) {
      refuse(shard);
      return;
    }
    let metadata = shard.get(transactionalId);
    if (metadata === undefined) {
      const producerId = this.#producerIds.next();
      if (producerId === undefined) {
        // So that older clients try again too (KAFKA-14694).
        refuse(ERRORS.COORDINATOR_LOAD_IN_PROGRESS);
        return;
      }
      metadata = TransactionMetadata.create(transactionalId, producerId, timeoutMs, this.#now());
      shard.put(metadata);
    }
    const known = metadata;
    const decision = this.#withProducerId((producerId) =>
      decideInitProducerId(known, timeoutMs, expected, this.#now(), producerId),
    );
    if (!isTransition(decision)) {
      refuse(decision);
      return;
    }
    if (decision.state === "PrepareEpochFence") {
      // The epoch that fences is nobody's: the producer asks again, and gets the one after.
      this.#abort(shard, known, decision, "another producer has come", (error) =>
        refuse(error === ERRORS.NONE ? ERRORS.CONCURRENT_TRANSACTIONS : error),
      );
      return;
    }
    shard.write(known, decision, "InitProducerId", (error) => {
      if (error !== ERRORS.NONE) refuse(error);
      else answer(error, decision.producerId, decision.producerEpoch);
    });
  }

  addPartitions(
    transactionalId: string,
    producer: ProducerIdAndEpoch,
    partitions: TransactionPartitions,
    version: TransactionVersion,
    answer: (error: ErrorCode) => void,
  ): void {
    const found = this.#find(transactionalId);
    if (!("metadata" in found)) {
      answer(found);
      return;
    }
    const { shard, metadata } = found;
    const decision = decideAddPartitions(metadata, producer, partitions, this.#now(), version);
    if (!isTransition(decision)) {
      answer(decision);
      return;
    }
    shard.write(metadata, decision, "AddPartitionsToTxn", answer);
  }

  /** As a leader asks before it appends (KIP-890): of the whole transaction, then of each partition. */
  verify(transactionalId: string, producer: ProducerIdAndEpoch): ErrorCode | TransactionPartitions {
    const found = this.#find(transactionalId);
    if (!("metadata" in found)) return found;
    const error = verifyTransaction(found.metadata, producer);
    return error === ERRORS.NONE ? found.metadata.partitions : error;
  }

  endTransaction(
    transactionalId: string,
    producer: ProducerIdAndEpoch,
    commit: boolean,
    clientTransactionVersion: TransactionVersion,
    answer: IdentityCallback,
  ): void {
    const found = this.#find(transactionalId);
    if (!("metadata" in found)) {
      answer(found, -1, -1);
      return;
    }
    const { shard, metadata } = found;
    const { producerId, producerEpoch } = producer;
    const end = { producerId, producerEpoch, commit, isFromClient: true, clientTransactionVersion };
    this.#end(shard, metadata, end, "EndTxn", answer);
  }

  // What administrators ask (KIP-664).

  /** All that it coordinates, but for the dead; COORDINATOR_LOAD_IN_PROGRESS while it does not know all. */
  list(): ErrorCode | readonly TransactionMetadata[] {
    if (this.#runtime.isLoading) return ERRORS.COORDINATOR_LOAD_IN_PROGRESS;
    const all = [...this.#shards].flatMap((shard) => [...shard.all()]);
    return all.filter(({ state }) => state !== "Dead");
  }

  describe(transactionalId: string): ErrorCode | TransactionMetadata {
    const found = this.#find(transactionalId);
    if (found === ERRORS.INVALID_PRODUCER_ID_MAPPING) return ERRORS.TRANSACTIONAL_ID_NOT_FOUND;
    return "metadata" in found ? found.metadata : found;
  }

  // What time brings.

  /** Aborts what has been open for too long (`abortTimedOutTransactions`). */
  onAbortTimer(): void {
    const now = this.#now();
    for (const shard of this.#shards) {
      for (const metadata of shard.timedOut(now)) {
        const fence = metadata.prepareFenceProducerEpoch();
        this.#abort(shard, metadata, fence, "transaction.timeout.ms is over", ignore);
      }
    }
    this.#startAbortTimer();
  }

  onExpiryTimer(): void {
    const expirationMs = this.#context.configs["transactional.id.expiration.ms"];
    for (const shard of this.#shards) shard.expire(this.#now(), expirationMs);
    this.#startExpiryTimer();
  }

  onShardLoaded(shard: TransactionShard): void {
    this.#shards.add(shard);
    // Simplified: Kafka's broker does both from its start on, whether it coordinates or not.
    if (this.#abortTimer === NO_TIMER) this.#startAbortTimer();
    if (this.#expiryTimer === NO_TIMER) this.#startExpiryTimer();
    const now = this.#now();
    for (const metadata of shard.prepared()) {
      this.markers.complete(shard, metadata, metadata.prepareComplete(now));
    }
  }

  onShardUnloaded(shard: TransactionShard): void {
    this.markers.forget(shard);
    this.#shards.delete(shard);
    if (this.#shards.size > 0) return;
    const { timers } = this.#context.world;
    timers.cancel(this.#abortTimer);
    timers.cancel(this.#expiryTimer);
    this.#abortTimer = NO_TIMER;
    this.#expiryTimer = NO_TIMER;
  }

  /** Against the producer's will, under an epoch that has been taken from it. */
  #abort(
    shard: TransactionShard,
    metadata: TransactionMetadata,
    { producerId, producerEpoch }: TransactionTransition,
    why: string,
    answer: (error: ErrorCode) => void,
  ): void {
    const end = {
      producerId,
      producerEpoch,
      commit: false,
      isFromClient: false,
      clientTransactionVersion: this.#version(),
    };
    this.#end(shard, metadata, end, why, (error) => {
      if (error !== ERRORS.NONE) metadata.hasFailedEpochFence = true;
      answer(error);
    });
  }

  #end(
    shard: TransactionShard,
    metadata: TransactionMetadata,
    end: EndOfTransaction,
    why: string,
    answer: IdentityCallback,
  ): void {
    const decision = this.#withProducerId((producerId) =>
      decideEnd(metadata, end, this.#now(), producerId),
    );
    if (!isTransition(decision)) {
      // Of what is done already the answer is repeated.
      if (decision === ERRORS.NONE) this.#answerEnd(metadata, end, answer);
      else answer(decision, -1, -1);
      return;
    }
    shard.write(metadata, decision, why, (error) => {
      if (error !== ERRORS.NONE) {
        answer(error, -1, -1);
        return;
      }
      const completion = decideMarkers(metadata, end, this.#now());
      if (!isTransition(completion)) {
        answer(completion, -1, -1);
        return;
      }
      // The client need not wait for the markers; it is told who it is after them (KAFKA-18660).
      this.#answerEnd(completion, end, answer);
      this.markers.complete(shard, metadata, completion);
    });
  }

  /** Below transaction.version 2 the producer keeps its identity, and is not told. */
  #answerEnd(
    { producerId, producerEpoch }: ProducerIdAndEpoch,
    end: EndOfTransaction,
    answer: IdentityCallback,
  ): void {
    const isTold = end.clientTransactionVersion === 2;
    answer(ERRORS.NONE, isTold ? producerId : -1, isTold ? producerEpoch : -1);
  }

  #find(
    transactionalId: string,
  ): ErrorCode | { readonly shard: TransactionShard; readonly metadata: TransactionMetadata } {
    if (transactionalId === "") return ERRORS.INVALID_REQUEST;
    const shard = this.#runtime.shardFor(transactionalId);
    if (!(shard instanceof TransactionShard)) return shard;
    const metadata = shard.get(transactionalId);
    return metadata === undefined ? ERRORS.INVALID_PRODUCER_ID_MAPPING : { shard, metadata };
  }

  /** Asks once more with a new producer id, if it takes one. */
  #withProducerId<Decision extends object>(
    decide: (producerId: number | undefined) => Decision | typeof NEEDS_PRODUCER_ID,
  ): Decision | ErrorCode {
    const decision = decide(undefined);
    if (decision !== NEEDS_PRODUCER_ID) return decision;
    const producerId = this.#producerIds.next();
    if (producerId === undefined) return ERRORS.COORDINATOR_LOAD_IN_PROGRESS;
    const again = decide(producerId);
    return again === NEEDS_PRODUCER_ID ? ERRORS.UNKNOWN_SERVER_ERROR : again;
  }

  #version(): TransactionVersion {
    return transactionVersionOf(this.#context.features["transaction.version"]);
  }

  #now(): number {
    return toMillis(this.#context.now());
  }

  #startAbortTimer(): void {
    const { configs } = this.#context;
    this.#abortTimer = this.#start(
      configs["transaction.abort.timed.out.transaction.cleanup.interval.ms"],
      BROKER_TIMER.transactionAbort,
    );
  }

  #startExpiryTimer(): void {
    const { configs } = this.#context;
    this.#expiryTimer = this.#start(
      configs["transaction.remove.expired.transaction.cleanup.interval.ms"],
      BROKER_TIMER.transactionalIdExpiry,
    );
  }

  #start(periodMs: number, kind: number): TimerHandle {
    return this.#context.world.timers.start(fromMillis(periodMs), kind);
  }
}

function ignore(): void {
  // Nobody asked: the next round tries again.
}
