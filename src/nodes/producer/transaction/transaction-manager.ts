import { invariant } from "../../../base/invariant.ts";
import type { Duration, Instant } from "../../../base/time.ts";
import type { ProducerTransactionState } from "../../../kafka/client/producer-transaction-state.ts";
import { isLegalProducerTransition } from "../../../kafka/client/producer-transaction-state.ts";
import type { TransactionalSequences } from "../../../kafka/client/transactional-sequences.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type { BrokerId, PartitionName, TopicPartition } from "../../../kafka/ids.ts";
import { NO_EPOCH, NO_PRODUCER_ID, partitionName } from "../../../kafka/ids.ts";
import type { Api } from "../../../kafka/protocol/api.ts";
import type { TransactionVersion } from "../../../kafka/transaction/transaction-metadata.ts";
import { supportsEpochBump } from "../../../kafka/transaction/transaction-metadata.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { World } from "../../../ports/node.ts";
import type { BrokerConnections } from "../../client-metadata/broker-connections.ts";
import type { ClientMetadata } from "../../client-metadata/client-metadata.ts";
import { NO_ADDRESS } from "../../client-metadata/topic-leaders.ts";
import type { ResponseHandler, RpcClient } from "../../rpc/rpc-client.ts";
import { WakeUp } from "../../wake-up.ts";
import { AddPartitions } from "./add-partitions.ts";
import { EndTransaction } from "./end-transaction.ts";
import { FindCoordinator } from "./find-coordinator.ts";
import { InitProducer } from "./init-producer.ts";
import type { GroupMetadata, OffsetsToCommit } from "./send-offsets.ts";
import { AddOffsets, CommitOffsets } from "./send-offsets.ts";
import type { Coordination, CoordinatorKind, TransactionRequest } from "./transaction-request.ts";

export interface TransactionManagerParts {
  readonly world: World;
  readonly rpc: RpcClient;
  readonly client: string;
  readonly metadata: ClientMetadata;
  readonly connections: BrokerConnections;
  readonly sequences: TransactionalSequences;
  readonly transactionalId: string;
  readonly transactionTimeoutMs: number;
  /**
   * Simplified: the client knows the cluster's from the start, and it never changes; Kafka's learns it with the
   * versions of APIs, before each transaction.
   */
  readonly version: TransactionVersion;
  readonly requestTimeout: Duration;
  readonly backoff: Duration;
  /** The timer kind under which the owner is woken for `run`. */
  readonly timerKind: number;
}

/**
 * A producer's transactions (`TransactionManager`): where they stand, and the requests that take them on. The
 * owner calls `run` after each thing that happened, and sends no records while it tells that a request is
 * under way: to Kafka's one thread that comes first.
 *
 * Errors end a transaction (ABORTABLE_ERROR: the application aborts, and goes on) or the producer (FATAL_ERROR).
 */
export class TransactionManager {
  readonly parts: TransactionManagerParts;
  readonly #wakeUp: WakeUp;
  #state: ProducerTransactionState = "UNINITIALIZED";
  #lastError: ErrorCode = ERRORS.NONE;
  #pending: TransactionRequest[] = [];
  #isInFlight = false;
  /** Kafka's thread sleeps until then, before it sends a request again. */
  #sleepsUntil: Instant = 0;
  readonly #coordinators: { transaction: NodeAddress; group: NodeAddress } = {
    transaction: NO_ADDRESS,
    group: NO_ADDRESS,
  };
  /** A record or offsets are in it, or may be: it must be ended by request. */
  isStarted = false;
  /** Below version 2: the coordinator is to give another epoch when the transaction is aborted. */
  isBumpRequired = false;
  /** A commit was asked for: it may come about even if no answer does. */
  wasCommitSent = false;
  /** Calls of `sendOffsetsToTransaction` without an answer. */
  #offsetsLeft = 0;
  readonly #added = new Set<PartitionName>();
  readonly #new = new Map<PartitionName, TopicPartition>();
  #adding: ReadonlyMap<PartitionName, TopicPartition> = new Map();

  constructor(parts: TransactionManagerParts) {
    this.parts = parts;
    this.#wakeUp = new WakeUp(parts.world.timers, parts.timerKind);
  }

  get state(): ProducerTransactionState {
    return this.#state;
  }

  /** Why it is in an error state; NONE otherwise. */
  get lastError(): ErrorCode {
    return this.#lastError;
  }

  get isCompleting(): boolean {
    return this.#state === "COMMITTING_TRANSACTION" || this.#state === "ABORTING_TRANSACTION";
  }

  /** Is a call of `sendOffsetsToTransaction` still on its way? It waits for its end in Kafka. */
  get isSendingOffsets(): boolean {
    return this.#offsetsLeft > 0;
  }

  /** The coordinator of its transactional id. */
  get coordination(): Coordination {
    return { kind: "transaction", key: this.parts.transactionalId };
  }

  get isV2(): boolean {
    return supportsEpochBump(this.parts.version);
  }

  // What the application calls. None of it waits: `state` tells when it is done.

  initTransactions(): void {
    this.#become("INITIALIZING");
    this.#enqueue(new InitProducer(this, NO_PRODUCER_ID, NO_EPOCH, false));
  }

  beginTransaction(): void {
    this.#become("IN_TRANSACTION");
    this.wasCommitSent = false;
    this.#offsetsLeft = 0;
  }

  commitTransaction(): void {
    this.#become("COMMITTING_TRANSACTION");
    this.#end(true);
  }

  abortTransaction(): void {
    this.#become("ABORTING_TRANSACTION");
    this.#new.clear();
    this.#end(false);
  }

  /** The offsets of a group become part of the transaction. */
  sendOffsetsToTransaction(offsets: OffsetsToCommit, group: GroupMetadata): void {
    invariant(this.#state === "IN_TRANSACTION", () => `offsets were sent in ${this.#state}`);
    this.#offsetsLeft++;
    if (this.isV2) {
      this.isStarted = true;
      this.#enqueue(new CommitOffsets(this, offsets, group));
    } else this.#enqueue(new AddOffsets(this, offsets, group));
  }

  /** A record is on its way to a partition, which thereby takes part (`maybeAddPartition`). */
  addPartition(topic: string, partition: number): void {
    const name = partitionName(topic, partition);
    if (this.#added.has(name) || this.#new.has(name) || this.#adding.has(name)) return;
    if (this.isV2) {
      // The partition's leader adds it, with the first batch (KIP-890).
      this.#added.add(name);
      this.isStarted = true;
    } else this.#new.set(name, { topic, partition });
  }

  /** May batches of the partition be sent now? */
  maySendTo(partition: PartitionName): boolean {
    return this.#state !== "FATAL_ERROR" && this.#added.has(partition);
  }

  // What the sender tells.

  /** A batch was given up (`maybeTransitionToErrorState`). */
  batchFailed(error: ErrorCode): void {
    if (FATAL.has(error)) {
      this.fatal(error);
      return;
    }
    if (!this.isV2 && !this.isCompleting) this.isBumpRequired = true;
    // An error that may pass has been given its chances (KAFKA-19176).
    const isLasting = error.retriable || error === ERRORS.INVALID_TXN_STATE;
    this.abortable(isLasting ? ERRORS.TRANSACTION_ABORTABLE : error);
  }

  // What requests tell.

  /** An answer has come: the next request may be sent. */
  arrived(): void {
    this.#isInFlight = false;
  }

  /** The connection broke before it did: the request goes again, to whoever coordinates now. */
  broken(request: TransactionRequest, from: NodeAddress): void {
    const { world, connections, metadata } = this.parts;
    const now = world.clock.now();
    this.#isInFlight = false;
    connections.disconnected(from, now);
    metadata.disconnected(now);
    if (request.coordinator !== undefined) this.lookUp(request);
    this.again(request, ERRORS.NETWORK_EXCEPTION, from);
  }

  send<Request, Response>(
    to: NodeAddress,
    api: Api<Request, Response>,
    body: Request,
    handler: ResponseHandler<Response, undefined>,
  ): void {
    const { rpc, connections, requestTimeout } = this.parts;
    this.#isInFlight = true;
    rpc.send(to, connections.purpose, api, body, requestTimeout, handler, undefined);
  }

  /** The request is to be sent again, after a pause. */
  again(request: TransactionRequest, error: ErrorCode, from: NodeAddress): void {
    this.#note(request, error, this.parts.metadata.brokerAt(from), true);
    request.isRetry = true;
    this.#enqueue(request);
  }

  /** The same after an error that may pass: first for the coordinator, if that is what has changed. */
  askAgain(request: TransactionRequest, error: ErrorCode, from: NodeAddress): void {
    const isGroup = request.coordinator?.kind === "group";
    const isMoved =
      error === ERRORS.COORDINATOR_NOT_AVAILABLE ||
      error === ERRORS.NOT_COORDINATOR ||
      (isGroup && error === ERRORS.REQUEST_TIMED_OUT);
    if (isMoved) this.lookUp(request);
    this.again(request, error, from);
  }

  /** The coordinator is another, or is to be asked for anew. */
  lookUp(request: TransactionRequest): void {
    const { coordinator } = request;
    if (coordinator === undefined) return;
    this.#coordinators[coordinator.kind] = NO_ADDRESS;
    const isAsked = this.#pending.some(
      (one) => one instanceof FindCoordinator && one.sought.kind === coordinator.kind,
    );
    if (!isAsked) this.#enqueue(new FindCoordinator(this, coordinator));
  }

  /** The connection to a broker is gone: if it coordinates, perhaps another does by now. */
  disconnected(address: NodeAddress): void {
    const coordinators = this.#coordinators;
    if (coordinators.transaction === address) coordinators.transaction = NO_ADDRESS;
    if (coordinators.group === address) coordinators.group = NO_ADDRESS;
  }

  found(kind: CoordinatorKind, address: NodeAddress): void {
    this.#coordinators[kind] = address;
  }

  /** The answer to InitProducerId, or in version 2 to EndTxn. */
  initialize(producerId: number, producerEpoch: number): void {
    this.parts.sequences.initialize(producerId, producerEpoch);
  }

  ready(): void {
    this.#become("READY");
  }

  partitionsAdded(names: readonly PartitionName[]): void {
    this.#adding = new Map();
    for (const name of names) this.#added.add(name);
    this.isStarted = true;
  }

  offsetsAdded(offsets: OffsetsToCommit, group: GroupMetadata): void {
    this.isStarted = true;
    this.#enqueue(new CommitOffsets(this, offsets, group));
  }

  offsetsCommitted(): void {
    this.#offsetsLeft--;
  }

  /** Until then the coordinator is busy with the transaction before, and asked again soon. */
  get hasNoPartition(): boolean {
    return this.#added.size === 0;
  }

  /** The transaction is over (`resetTransactionState`). */
  completed(): void {
    this.#become(this.isBumpRequired ? "INITIALIZING" : "READY");
    this.isBumpRequired = false;
    this.isStarted = false;
    this.#new.clear();
    this.#adding = new Map();
    this.#added.clear();
  }

  refused(request: TransactionRequest, error: ErrorCode, from: NodeAddress): void {
    this.#note(request, error, this.parts.metadata.brokerAt(from), false);
  }

  abortable(error: ErrorCode): void {
    // What is being aborted anyway is not aborted twice.
    if (this.#state === "ABORTING_TRANSACTION" || this.#state === "FATAL_ERROR") return;
    this.#become("ABORTABLE_ERROR");
    this.#lastError = error;
    // Nothing of it goes out any more: above all no commit, when the abort is what is asked for next.
    this.#pending = this.#pending.filter((request) => request instanceof FindCoordinator);
  }

  /** An abort helps if it brings a new epoch (`abortableErrorIfPossible`). */
  abortableWithBump(error: ErrorCode): void {
    if (!this.isV2) this.isBumpRequired = true;
    this.abortable(error);
  }

  fatal(error: ErrorCode): void {
    if (this.#state === "FATAL_ERROR") return;
    this.#become("FATAL_ERROR");
    this.#lastError = error;
    const { world, client, transactionalId, sequences } = this.parts;
    if (error !== ERRORS.PRODUCER_FENCED) return;
    const { producerId, producerEpoch } = sequences;
    const producer = { client, transactionalId, producerId, producerEpoch };
    world.facts.note({ kind: "producer-fenced", ...producer });
  }

  // Time.

  /** The timer of `timerKind` came due; `run` is to follow. */
  fired(): void {
    this.#wakeUp.fired();
  }

  /**
   * Sends the next request if one can be sent. True while one is under way, or waits for its coordinator or its
   * pause: then no records are sent. `hasIncompleteBatches` holds back the end.
   */
  run(now: Instant, hasIncompleteBatches: boolean): boolean {
    this.#settleGap();
    if (this.#state === "FATAL_ERROR") return false;
    if (this.#isInFlight) return true;
    if (now < this.#sleepsUntil) {
      this.#wakeUp.noLaterThan(this.#sleepsUntil, now);
      return true;
    }
    const request = this.#next(hasIncompleteBatches);
    if (request === undefined) return false;
    const { coordinator } = request;
    if (coordinator !== undefined && this.#coordinators[coordinator.kind] === NO_ADDRESS) {
      // As in Kafka it then counts as sent before, and waits for its pause.
      request.isRetry = true;
      this.lookUp(request);
      return this.run(now, hasIncompleteBatches);
    }
    const address = this.#addressFor(request, now);
    if (address === NO_ADDRESS) return true;
    if (request.isRetry) {
      request.isRetry = false;
      this.#sleepsUntil = now + request.backoff;
      this.#wakeUp.noLaterThan(this.#sleepsUntil, now);
      return true;
    }
    this.#pending.splice(this.#pending.indexOf(request), 1);
    request.sendTo(address);
    return true;
  }

  /** What is to be sent next; the end of what never began is not (`nextRequest`). */
  #next(hasIncompleteBatches: boolean): TransactionRequest | undefined {
    if (this.#new.size > 0) this.#addNewPartitions();
    for (let first = this.#first(); first !== undefined; first = this.#first()) {
      if (first.isEndTxn && hasIncompleteBatches) return undefined;
      if (!first.isEndTxn || this.isStarted) return first;
      // Nothing was sent: nobody knows of the transaction.
      this.#pending.splice(this.#pending.indexOf(first), 1);
      this.completed();
    }
    return undefined;
  }

  /** The one of least priority that waited longest. */
  #first(): TransactionRequest | undefined {
    let first: TransactionRequest | undefined;
    for (const request of this.#pending) {
      if (first === undefined || request.priority < first.priority) first = request;
    }
    return first;
  }

  /** A record is missing for good: the transaction cannot be committed (`maybeResolveSequences`). */
  #settleGap(): void {
    const { sequences } = this.parts;
    if (!sequences.hasGap) return;
    sequences.hasGap = false;
    if (this.#state !== "IN_TRANSACTION" && this.#state !== "COMMITTING_TRANSACTION") return;
    this.abortableWithBump(ERRORS.TRANSACTION_ABORTABLE);
  }

  /** NO_ADDRESS while there is no connection to send it on; then that is seen to. */
  #addressFor(request: TransactionRequest, now: Instant): NodeAddress {
    const { metadata, connections } = this.parts;
    const { coordinator } = request;
    const address =
      coordinator === undefined ? metadata.leastLoaded(now) : this.#coordinators[coordinator.kind];
    if (address === NO_ADDRESS) {
      this.#wakeUp.noLaterThan(metadata.nextAttempt(now), now);
      return NO_ADDRESS;
    }
    if (connections.ready(address, now)) return address;
    // Simplified: Kafka asks for the coordinator again and again while it may not connect to it.
    const notBefore = connections.notBefore(address);
    if (notBefore > now) this.#wakeUp.noLaterThan(notBefore, now);
    return NO_ADDRESS;
  }

  #addNewPartitions(): void {
    this.#adding = new Map(this.#new);
    this.#new.clear();
    this.#enqueue(new AddPartitions(this, this.#adding));
  }

  #end(commit: boolean): void {
    if (this.#new.size > 0) this.#addNewPartitions();
    this.#enqueue(new EndTransaction(this, commit));
    if (!this.isBumpRequired) return;
    const { producerId, producerEpoch } = this.parts.sequences;
    this.#enqueue(new InitProducer(this, producerId, producerEpoch, true));
  }

  #enqueue(request: TransactionRequest): void {
    this.#pending.push(request);
  }

  #become(state: ProducerTransactionState): void {
    const from = this.#state;
    invariant(
      isLegalProducerTransition(from, state),
      () => `${this.parts.client} cannot go from ${from} to ${state}`,
    );
    this.#state = state;
    this.#lastError = ERRORS.NONE;
  }

  #note(request: TransactionRequest, error: ErrorCode, broker: BrokerId, retried: boolean): void {
    this.parts.world.facts.note({
      kind: "request-failed",
      client: this.parts.client,
      api: request.api,
      broker,
      partition: "",
      error: error.name,
      retried,
    });
  }
}

const FATAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ERRORS.PRODUCER_FENCED,
  ERRORS.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
  ERRORS.UNSUPPORTED_VERSION,
  ERRORS.INVALID_PRODUCER_ID_MAPPING,
]);
