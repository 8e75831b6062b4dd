import type { Duration } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { TransactionVerification } from "../../kafka/log/transaction-verification.ts";
import type {
  AddPartitionsToTxnTopic,
  AddPartitionsToTxnTransaction,
} from "../../kafka/protocol/add-partitions-to-txn.ts";
import type { PartitionErrors } from "./add-partitions-to-txn-manager.ts";
import { AddPartitionsToTxnManager } from "./add-partitions-to-txn-manager.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import type { Partition } from "./partition.ts";

/** The producer of a transaction, as it names itself. */
export interface TransactionalProducer {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
}

/** What a producer wants to write to a partition; `sequence` is NO_SEQUENCE (-1) for a group's offsets. */
export interface TransactionalWrite {
  readonly partition: Partition;
  readonly sequence: number;
}

export interface VerificationOutcome {
  /** NONE: the records may be appended, with `verification` if there is one. */
  readonly error: ErrorCode;
  readonly verification: TransactionVerification | undefined;
}

/** Outcomes stand in the order of the writes. */
export type Verified = (outcomes: readonly VerificationOutcome[]) => void;

class Wish {
  readonly producer: TransactionalProducer;
  readonly writes: readonly TransactionalWrite[];
  readonly done: Verified;
  /** When CONCURRENT_TRANSACTIONS is passed on rather than asked again. */
  readonly retryUntil: Duration;

  constructor(
    producer: TransactionalProducer,
    writes: readonly TransactionalWrite[],
    done: Verified,
    retryUntil: Duration,
  ) {
    this.producer = producer;
    this.writes = writes;
    this.done = done;
    this.retryUntil = retryUntil;
  }
}

/**
 * Sees to it that the transaction coordinator knows of a partition before the first records of a
 * transaction are in it (KIP-890): asks whether it does, or, from transaction.version 2 on, adds it
 * (`ReplicaManager.maybeSendPartitionsToTransactionCoordinator`).
 */
export class TransactionVerifier {
  readonly #context: BrokerContext;
  readonly #manager: AddPartitionsToTxnManager;

  constructor(context: BrokerContext) {
    this.#context = context;
    this.#manager = new AddPartitionsToTxnManager(context);
  }

  /** Do producers get another epoch with every transaction, and so add partitions by writing to them? */
  get #supportsEpochBump(): boolean {
    return this.#context.features["transaction.version"] >= 2;
  }

  /**
   * Calls `done`, at once where nothing needs to be asked. With `retries`, and where partitions are added,
   * a transaction that is just being ended is waited for a little.
   */
  verify(
    producer: TransactionalProducer,
    writes: readonly TransactionalWrite[],
    retries: boolean,
    done: Verified,
  ): void {
    const { configs, world } = this.#context;
    if (!this.#supportsEpochBump && !configs["transaction.partition.verification.enable"]) {
      done(writes.map(() => UNVERIFIED));
      return;
    }
    const patience = configs["add.partitions.to.txn.retry.backoff.max.ms"];
    const mayRetry = retries && this.#supportsEpochBump;
    const retryUntil = mayRetry ? world.clock.elapsed() + fromMillis(patience) : 0;
    this.#ask(new Wish(producer, writes, done, retryUntil));
  }

  /** The timer came due: a transaction was just being ended. */
  onTimer(payload: unknown): void {
    if (payload instanceof Wish) this.#ask(payload);
  }

  #ask(wish: Wish): void {
    const { producer, writes, done } = wish;
    const outcomes = writes.map((write) => this.#begin(producer, write));
    const asked = writes.filter((_, i) => outcomes[i]?.verification !== undefined);
    if (asked.length === 0) {
      done(outcomes);
      return;
    }
    this.#manager.addOrVerify(this.#question(producer, asked), (errors) => {
      if (this.#mustWait(wish, errors)) return;
      done(
        outcomes.map((outcome, i) => {
          const error = errors.get((writes[i] as TransactionalWrite).partition.name);
          return error === undefined ? outcome : { error, verification: undefined };
        }),
      );
    });
  }

  /** Only the leader knows whether something of the transaction is there already. */
  #begin(
    { producerId, producerEpoch }: TransactionalProducer,
    { partition, sequence }: TransactionalWrite,
  ): VerificationOutcome {
    const error = partition.checkLeader(-1);
    if (error !== ERRORS.NONE) return { error, verification: undefined };
    const verification = partition.log.beginVerification(
      producerId,
      sequence,
      producerEpoch,
      this.#supportsEpochBump,
    );
    return verification === undefined ? UNVERIFIED : { error, verification };
  }

  #question(
    { transactionalId, producerId, producerEpoch }: TransactionalProducer,
    writes: readonly TransactionalWrite[],
  ): AddPartitionsToTxnTransaction {
    const topics = new Map<string, number[]>();
    for (const { partition } of writes) {
      const known = topics.get(partition.topic);
      if (known === undefined) topics.set(partition.topic, [partition.index]);
      else known.push(partition.index);
    }
    const toTopic = ([name, partitions]: [string, number[]]): AddPartitionsToTxnTopic => {
      return { name, partitions };
    };
    return {
      transactionalId,
      producerId,
      producerEpoch,
      verifyOnly: !this.#supportsEpochBump,
      topics: Array.from(topics, toTopic),
    };
  }

  /** A producer that begins its next transaction is often faster than the markers of its last. */
  #mustWait(wish: Wish, errors: PartitionErrors): boolean {
    const { configs, world } = this.#context;
    if (world.clock.elapsed() >= wish.retryUntil) return false;
    const isConcurrent = (error: ErrorCode): boolean => error === ERRORS.CONCURRENT_TRANSACTIONS;
    if (![...errors.values()].some(isConcurrent)) return false;
    const pause = fromMillis(configs["add.partitions.to.txn.retry.backoff.ms"]);
    world.timers.start(pause, BROKER_TIMER.transactionVerification, wish);
    return true;
  }
}

/** Nothing had to be asked. */
const UNVERIFIED: VerificationOutcome = { error: ERRORS.NONE, verification: undefined };

/**
 * What a producer is told of a coordinator's error. Old clients do not try again on most of them, but do on
 * NOT_ENOUGH_REPLICAS, which makes them ask for no metadata either (`handleProduceAppend`).
 */
export function produceErrorOf(error: ErrorCode, transactionVersion: number): ErrorCode {
  switch (error) {
    case ERRORS.NETWORK_EXCEPTION:
    case ERRORS.COORDINATOR_LOAD_IN_PROGRESS:
    case ERRORS.COORDINATOR_NOT_AVAILABLE:
    case ERRORS.NOT_COORDINATOR:
      return ERRORS.NOT_ENOUGH_REPLICAS;
    case ERRORS.CONCURRENT_TRANSACTIONS:
      return transactionVersion >= 2 ? error : ERRORS.NOT_ENOUGH_REPLICAS;
    default:
      return error;
  }
}
