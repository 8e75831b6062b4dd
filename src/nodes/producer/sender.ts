import type { Instant } from "../../base/time.ts";
import {
  BACKOFF_JITTER_HIGH,
  BACKOFF_JITTER_LOW,
  exponentialBackoff,
} from "../../kafka/client/backoff.ts";
import type { Outcome } from "../../kafka/client/outcome.ts";
import { attemptOutcome, sendOutcome } from "../../kafka/client/outcome.ts";
import type { ProducerSequences } from "../../kafka/client/producer-sequences.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { BrokerId, Offset } from "../../kafka/ids.ts";
import { PRODUCE } from "../../kafka/protocol/apis.ts";
import type {
  ProducePartition,
  ProducePartitionResponse,
  ProduceRequest,
  ProduceResponse,
} from "../../kafka/protocol/produce.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import type { BrokerConnections } from "../client-metadata/broker-connections.ts";
import type { ClientMetadata } from "../client-metadata/client-metadata.ts";
import type { TopicLeaders } from "../client-metadata/topic-leaders.ts";
import type { ResponseHandler, RpcClient } from "../rpc/rpc-client.ts";
import { NEVER, WakeUp } from "../wake-up.ts";
import type { PartitionQueue } from "./partition-queue.ts";
import type { ProducerBatch } from "./producer-batch.ts";
import type { ProducerSettings } from "./producer-options.ts";
import type { RecordAccumulator } from "./record-accumulator.ts";
import type { TransactionManager } from "./transaction/transaction-manager.ts";

/** What the sender works with. */
export interface SenderParts {
  readonly world: World;
  readonly rpc: RpcClient;
  readonly client: string;
  readonly topic: TopicLeaders;
  readonly settings: ProducerSettings;
  readonly accumulator: RecordAccumulator;
  readonly metadata: ClientMetadata;
  readonly connections: BrokerConnections;
  /** Undefined without idempotence. */
  readonly sequences: ProducerSequences | undefined;
  /** Undefined without a transactional id. */
  readonly transaction: TransactionManager | undefined;
  /** The timer kind under which the owner is woken for `run`. */
  readonly sendTimer: number;
  /** The timer kind under which the owner is woken for `expire`. */
  readonly expiryTimer: number;
}

/** A broker to which batches go. */
class Destination {
  readonly address: NodeAddress;
  /**
   * Produce requests without an answer. Simplified: Kafka also counts the rare requests for metadata
   * and for a producer id that share the connection.
   */
  inFlight = 0;
  /** Found ready in the round that is going on. */
  isReady = false;

  constructor(address: NodeAddress) {
    this.address = address;
  }
}

/** A produce request on its way, with what it carries. */
class ProduceAttempt {
  readonly destination: Destination;
  readonly broker: BrokerId;
  readonly batches: readonly ProducerBatch[];

  constructor(destination: Destination, broker: BrokerId, batches: readonly ProducerBatch[]) {
    this.destination = destination;
    this.broker = broker;
    this.batches = batches;
  }
}

/**
 * Takes batches from the accumulator to the brokers, again if need be, and tells how each ended
 * (`Sender`). It does nothing by itself: the owner calls `run` after each thing that happened.
 */
export class Sender implements ResponseHandler<ProduceResponse, ProduceAttempt> {
  readonly #parts: SenderParts;
  readonly #world: World;
  readonly #settings: ProducerSettings;
  readonly #accumulator: RecordAccumulator;
  readonly #sequences: ProducerSequences | undefined;
  /** By address. */
  readonly #destinations: (Destination | undefined)[] = [];
  readonly #ready: Destination[] = [];
  readonly #wakeUp: WakeUp;
  readonly #expiry: WakeUp;
  /** With one request in flight nothing of a partition may overtake it (`guaranteeMessageOrder`). */
  readonly #mutes: boolean;
  /** Records that are not acknowledged, and will not be. */
  failures = 0;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#world = parts.world;
    this.#settings = parts.settings;
    this.#accumulator = parts.accumulator;
    this.#sequences = parts.sequences;
    this.#wakeUp = new WakeUp(parts.world.timers, parts.sendTimer);
    this.#expiry = new WakeUp(parts.world.timers, parts.expiryTimer);
    this.#mutes = parts.settings.maxInFlight === 1;
  }

  /** The timer of `sendTimer` came due; `run` is to follow. */
  fired(): void {
    this.#wakeUp.fired();
  }

  /** Sends all that can be sent now, and sees to being woken when more can be. */
  run(now: Instant): void {
    this.#sequences?.settle();
    if (this.#accumulator.active.length > 0) {
      let next = this.#round(now);
      while (next < 0) next = this.#round(now);
      this.#wakeUp.noLaterThan(next, now);
    }
    const { nextExpiry } = this.#accumulator;
    if (nextExpiry !== undefined) this.#expiry.noLaterThan(nextExpiry, now);
  }

  /** The timer of `expiryTimer` came due: ends what has had its delivery.timeout.ms. */
  expire(now: Instant): void {
    this.#expiry.fired();
    let { oldest } = this.#accumulator;
    while (oldest !== undefined && this.#accumulator.hasReachedDeliveryTimeout(oldest, now)) {
      this.#expireBatch(oldest);
      ({ oldest } = this.#accumulator);
    }
  }

  /** Gives up records of a transaction that will not be committed, but for what may be written already. */
  abortUnsent(error: ErrorCode): void {
    for (const batch of this.#accumulator.takeOut(true)) {
      this.#end(batch, sendOutcome("failed", batch.isUncertain), -1, error);
    }
  }

  /** The producer can do no more: gives up all that has no answer yet. */
  abortAll(error: ErrorCode): void {
    for (const batch of this.#accumulator.takeOut(false)) {
      const last = batch.isInFlight ? "unknown" : "failed";
      this.#end(batch, sendOutcome(last, batch.isUncertain), -1, error);
    }
  }

  onResponse(response: ProduceResponse, attempt: ProduceAttempt): void {
    const { batches } = attempt;
    attempt.destination.inFlight--;
    for (const batch of batches) batch.isInFlight = false;
    const { metadata, topic } = this.#parts;
    for (const { partitionResponses } of response.responses) {
      for (let i = 0; i < partitionResponses.length; i++) {
        const answer = partitionResponses[i] as ProducePartitionResponse;
        let batch = batches[i];
        if (batch?.queue.partition !== answer.index) {
          batch = batches.find((one) => one.queue.partition === answer.index);
        }
        if (batch === undefined) continue;
        const { baseOffset, logStartOffset } = answer;
        this.#complete(batch, errorOf(answer.errorCode), attempt, baseOffset, logStartOffset);
        if (answer.errorCode !== 0) {
          metadata.learnLeader(topic.name, answer.index, answer.currentLeader);
        }
      }
    }
  }

  onDisconnect(attempt: ProduceAttempt, from: NodeAddress): void {
    const now = this.#world.clock.now();
    attempt.destination.inFlight--;
    const { connections, metadata } = this.#parts;
    connections.disconnected(from, now);
    metadata.disconnected(now);
    for (const batch of attempt.batches) {
      batch.isInFlight = false;
      this.#complete(batch, ERRORS.NETWORK_EXCEPTION, attempt, -1, -1);
    }
  }

  /** One request to each broker that can take one. The instant of the next look; -1: at once. */
  #round(now: Instant): Instant {
    const ready = this.#ready;
    let next = NEVER;
    for (const queue of this.#accumulator.active) {
      const at = this.#readyAt(queue, now);
      if (at > now) {
        if (at < next) next = at;
        continue;
      }
      const destination = this.#destination(queue.leader.address);
      if (destination.isReady) continue;
      destination.isReady = true;
      ready.push(destination);
    }
    let hasSent = false;
    const { connections } = this.#parts;
    for (const destination of ready) {
      destination.isReady = false;
      const { address } = destination;
      if (!connections.ready(address, now)) {
        const at = connections.notBefore(address);
        if (at > now && at < next) next = at;
      } else if (destination.inFlight < this.#settings.maxInFlight) {
        if (this.#drain(destination, now)) hasSent = true;
      }
    }
    while (ready.length > 0) ready.pop();
    return hasSent ? -1 : next;
  }

  /** When the queue's first batch may be sent, as far as it alone decides (`batchReady`). */
  #readyAt(queue: PartitionQueue, now: Instant): Instant {
    const { leader } = queue;
    if (!leader.isKnown) {
      this.#parts.metadata.requestUpdate();
      return NEVER;
    }
    const { first } = queue;
    if (first === undefined || queue.isMuted) return NEVER;
    first.followLeader(leader.leaderEpoch);
    if (first.isBackingOff(now)) return first.backoffUntil;
    const accumulator = this.#accumulator;
    const isFull = queue.length > 1 || first.isFull;
    if (isFull || accumulator.isExhausted || accumulator.isClosed || accumulator.isCompleting) {
      return now;
    }
    return first.lastAttemptAt + this.#settings.linger;
  }

  /**
   * Sends one batch of each partition that the broker leads, as far as a request holds them.
   * Simplified: who waited longest comes first; Kafka goes on where its last round ended.
   */
  #drain(destination: Destination, now: Instant): boolean {
    const { active } = this.#accumulator;
    const { transaction } = this.#parts;
    const sequences = this.#sequences;
    let batches: ProducerBatch[] | undefined;
    let size = 0;
    for (const queue of active) {
      if (queue.leader.address !== destination.address || queue.isMuted) continue;
      if (transaction?.maySendTo(queue.name) === false) continue;
      const { first } = queue;
      if (first === undefined || first.isBackingOff(now)) continue;
      if (batches !== undefined && size + first.size > this.#settings.maxRequestSize) break;
      if (sequences !== undefined) {
        if (!sequences.mayDrain(queue.sequences, first, first.hasSequence)) continue;
        if (!first.hasSequence) sequences.assign(queue.sequences, first);
      }
      size += first.size;
      if (batches === undefined) batches = [first];
      else batches.push(first);
    }
    if (batches === undefined) return false;
    for (const { queue } of batches) {
      queue.shift();
      this.#accumulator.taken(queue);
      if (this.#mutes) queue.isMuted = true;
    }
    this.#send(destination, batches);
    return true;
  }

  #send(destination: Destination, batches: readonly ProducerBatch[]): void {
    const { connections, rpc, topic, transaction } = this.#parts;
    const { acks, requestTimeout, requestTimeoutMs } = this.#settings;
    const partitionData = new Array<ProducePartition>(batches.length);
    for (let i = 0; i < batches.length; i++) {
      const batch = batches[i] as ProducerBatch;
      batch.sends++;
      batch.isInFlight = true;
      partitionData[i] = { index: batch.queue.partition, records: batch.build() };
    }
    const body: ProduceRequest = {
      transactionalId: transaction?.parts.transactionalId,
      acks,
      timeoutMs: requestTimeoutMs,
      topicData: [{ topicId: topic.topicId, partitionData }],
    };
    const { address } = destination;
    const { purpose } = connections;
    const broker = (batches[0] as ProducerBatch).queue.leader.leaderId;
    const attempt = new ProduceAttempt(destination, broker, batches);
    if (acks !== 0) {
      destination.inFlight++;
      rpc.send(address, purpose, PRODUCE, body, requestTimeout, this, attempt);
      return;
    }
    // No answer will come: what has been handed to the connection counts as written.
    rpc.send<ProduceRequest, ProduceResponse, undefined>(
      address,
      purpose,
      PRODUCE,
      body,
      requestTimeout,
      undefined,
      undefined,
    );
    for (const batch of batches) {
      batch.isInFlight = false;
      this.#complete(batch, ERRORS.NONE, attempt, -1, -1);
    }
  }

  /** An attempt has ended: success, another attempt, or the end (`Sender.completeBatch`). */
  #complete(
    batch: ProducerBatch,
    error: ErrorCode,
    attempt: ProduceAttempt,
    baseOffset: Offset,
    logStartOffset: Offset,
  ): void {
    const outcome = attemptOutcome(error);
    if (outcome === "unknown") batch.isUncertain = true;
    if (error === ERRORS.NONE) this.#succeed(batch, baseOffset);
    else {
      const isRetried = this.#handleError(batch, error, outcome, logStartOffset);
      this.#noteFailure(batch, error, attempt.broker, isRetried);
      if (error.refreshesMetadata) this.#parts.metadata.requestUpdate();
    }
    if (this.#mutes) batch.queue.isMuted = false;
  }

  #handleError(
    batch: ProducerBatch,
    error: ErrorCode,
    outcome: Outcome,
    logStartOffset: Offset,
  ): boolean {
    if (error === ERRORS.MESSAGE_TOO_LARGE && batch.recordCount > 1 && !batch.isDone) {
      batch.queue.sequences.remove(batch);
      this.#accumulator.split(batch);
      return true;
    }
    if (this.#canRetry(batch, error, logStartOffset)) {
      this.#retry(batch);
      return true;
    }
    if (outcome === "acked") this.#succeed(batch, -1);
    else {
      // With its retries used up it is not known which sequences the broker took.
      this.#fail(batch, error, outcome, batch.attempts < this.#settings.retries);
    }
    return false;
  }

  /** In this order: asking the sequences may already decide on another epoch. */
  #canRetry(batch: ProducerBatch, error: ErrorCode, logStartOffset: Offset): boolean {
    if (this.#accumulator.hasReachedDeliveryTimeout(batch, this.#world.clock.now())) return false;
    if (batch.attempts >= this.#settings.retries || batch.isDone) return false;
    const sequences = this.#sequences;
    if (sequences === undefined) return error.retriable;
    return sequences.canRetry(batch.queue.sequences, batch, error, logStartOffset);
  }

  #retry(batch: ProducerBatch): void {
    const now = this.#world.clock.now();
    const { retryBackoff, retryBackoffMax } = this.#settings;
    const jitter = this.#world.random.between(BACKOFF_JITTER_LOW, BACKOFF_JITTER_HIGH);
    const pause = exponentialBackoff(retryBackoff, retryBackoffMax, batch.attempts, jitter);
    batch.attempts++;
    batch.lastAttemptAt = now;
    batch.backoffUntil = now + pause;
    this.#accumulator.putBack(batch);
  }

  #succeed(batch: ProducerBatch, baseOffset: Offset): void {
    // Of a batch that was given up before, at least the sequence is now known to be written.
    if (this.#sequences !== undefined) batch.queue.sequences.acked(batch, baseOffset);
    if (!batch.isDone) this.#end(batch, "acked", baseOffset, ERRORS.NONE);
  }

  #fail(batch: ProducerBatch, error: ErrorCode, last: Outcome, adjustSequences: boolean): void {
    if (batch.isDone) return;
    this.#parts.transaction?.batchFailed(error);
    this.#sequences?.failed(batch.queue.sequences, batch, error, adjustSequences);
    this.#end(batch, sendOutcome(last, batch.isUncertain), -1, error);
  }

  #expireBatch(batch: ProducerBatch): void {
    const { queue } = batch;
    this.#accumulator.removeExpired(batch);
    this.#fail(batch, ERRORS.REQUEST_TIMED_OUT, batch.isInFlight ? "unknown" : "failed", false);
    // As in Kafka: one that has never been put back is not, even if it is in flight.
    if (batch.attempts > 0) this.#sequences?.markUnresolved(queue.sequences, batch);
  }

  /** Tells the application. */
  #end(batch: ProducerBatch, outcome: Outcome, baseOffset: Offset, error: ErrorCode): void {
    this.#accumulator.finish(batch);
    if (outcome !== "acked") this.failures += batch.values.length;
    this.#world.facts.note({
      kind: "send-ended",
      client: this.#parts.client,
      partition: batch.queue.name,
      outcome,
      values: batch.values,
      baseOffset,
      acks: this.#settings.acks,
      error: error.name,
      attempts: batch.sends,
    });
  }

  #noteFailure(batch: ProducerBatch, error: ErrorCode, broker: BrokerId, retried: boolean): void {
    this.#world.facts.note({
      kind: "request-failed",
      client: this.#parts.client,
      api: PRODUCE.name,
      broker,
      partition: batch.queue.name,
      error: error.name,
      retried,
    });
  }

  #destination(address: NodeAddress): Destination {
    let destination = this.#destinations[address];
    if (destination === undefined) {
      destination = new Destination(address);
      this.#destinations[address] = destination;
    }
    return destination;
  }
}
