import type { Instant } from "../../base/time.ts";
import { FetchSessionHandler } from "../../kafka/client/fetch-session-handler.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import { FETCH } from "../../kafka/protocol/apis.ts";
import type {
  FetchPartition,
  FetchPartitionResponse,
  FetchRequest,
  FetchResponse,
  FetchTopic,
} from "../../kafka/protocol/fetch.ts";
import { NOTHING_FORGOTTEN } from "../../kafka/protocol/fetch.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { BrokerConnections } from "../client-metadata/broker-connections.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import type { AssignedPartition } from "./assigned-partition.ts";
import type { ConsumerParts } from "./consumer-parts.ts";
import { Delivery } from "./delivery.ts";

/** A broker that is fetched from: one request at a time, for all that it leads. */
class FetchTarget {
  readonly address: NodeAddress;
  partitions: AssignedPartition[] = [];
  isPending = false;
  readonly session: FetchSessionHandler = new FetchSessionHandler();
  /** By partition: what the session has of it. */
  readonly sent: (SessionEntry | undefined)[] = [];
  /** Has `partitions` been made anew, so that the session may have some to forget? */
  isRegrouped = true;

  constructor(address: NodeAddress) {
    this.address = address;
  }
}

/** A partition in a session, and what it is asked for. */
interface SessionEntry {
  readonly partition: AssignedPartition;
  request: FetchPartition;
}

/**
 * Reads from the leaders of the assigned partitions (`Fetcher`).
 *
 * Each broker keeps a session, so that a request names only what changed (KIP-227).
 *
 * Simplified: nobody fetches from followers (KIP-392); a consumer that stops does not end its sessions.
 */
export class Fetcher implements ResponseHandler<FetchResponse, FetchTarget> {
  readonly #parts: ConsumerParts;
  readonly #connections: BrokerConnections;
  readonly #delivery: Delivery;
  /** In the order in which they were first needed. */
  readonly #targets: FetchTarget[] = [];

  constructor(parts: ConsumerParts, connections: BrokerConnections) {
    this.#parts = parts;
    this.#connections = connections;
    this.#delivery = new Delivery(parts.world, parts.client, parts.settings.maxPollRecords);
  }

  /** Leaders or positions changed: finds anew which broker is asked for what. */
  regroup(now: Instant): void {
    for (const target of this.#targets) {
      target.partitions = [];
      target.isRegrouped = true;
    }
    for (const partition of this.#parts.assigned) {
      if (partition.isFetchable(now)) this.#target(partition.address).partitions.push(partition);
    }
  }

  /** Sends a fetch to each broker that has none. */
  run(now: Instant): void {
    for (const target of this.#targets) {
      if (target.isPending || target.partitions.length === 0) continue;
      if (this.#connections.ready(target.address, now)) this.#fetch(target);
      else {
        const at = this.#connections.notBefore(target.address);
        if (at > now) this.#parts.wakeUp.noLaterThan(at, now);
      }
    }
  }

  onResponse(response: FetchResponse, target: FetchTarget): void {
    const { world } = this.#parts;
    const now = world.clock.now();
    target.isPending = false;
    const error = errorOf(response.errorCode);
    if (!target.session.handleResponse(error, response.sessionId)) {
      this.#failed(target, error, now);
      return;
    }
    for (const { partitions } of response.responses) {
      for (const answer of partitions) {
        const entry = target.sent[answer.partitionIndex];
        if (entry !== undefined) this.#take(entry.partition, entry.request, answer, now);
      }
    }
    this.#delivery.endPoll();
  }

  onDisconnect(target: FetchTarget, from: NodeAddress): void {
    const now = this.#parts.world.clock.now();
    target.isPending = false;
    target.session.handleError();
    this.#connections.disconnected(from, now);
    this.#parts.metadata.disconnected(now);
    const broker = this.#parts.metadata.brokerAt(from);
    this.#parts.noteFailure(FETCH.name, broker, "", ERRORS.NETWORK_EXCEPTION, true);
  }

  #fetch(target: FetchTarget): void {
    const { rpc, settings, topic } = this.#parts;
    const { session } = target;
    const forgotten = target.isRegrouped ? forget(target) : NONE_FORGOTTEN;
    const changed = this.#changed(target);
    const { topicId } = topic;
    const body: FetchRequest = {
      clusterId: undefined,
      replicaId: -1,
      replicaEpoch: -1,
      maxWaitMs: settings.fetchMaxWaitMs,
      minBytes: settings.fetchMinBytes,
      maxBytes: settings.fetchMaxBytes,
      isolationLevel: settings.isolationLevel,
      sessionId: session.id,
      sessionEpoch: session.epoch,
      topics: changed.length === 0 ? NO_TOPICS : [{ topicId, partitions: changed }],
      forgottenTopicsData:
        forgotten.length === 0 ? NOTHING_FORGOTTEN : [{ topicId, partitions: forgotten }],
    };
    target.isPending = true;
    rpc.send(
      target.address,
      this.#connections.purpose,
      FETCH,
      body,
      settings.requestTimeout,
      this,
      target,
    );
  }

  /** What is asked for and the session does not have yet; it is taken to have it from now on. */
  #changed(target: FetchTarget): readonly FetchPartition[] {
    const { partitionMaxBytes } = this.#parts.settings;
    const { partitions, sent, session } = target;
    const { isFull } = session;
    let changed: FetchPartition[] | undefined;
    for (const partition of partitions) {
      const request = partition.fetchRequest(partitionMaxBytes);
      const entry = sent[partition.partition];
      if (entry === undefined) sent[partition.partition] = { partition, request };
      else if (entry.request !== request) entry.request = request;
      else if (!isFull) continue;
      if (changed === undefined) changed = [request];
      else changed.push(request);
    }
    return changed ?? NOTHING_CHANGED;
  }

  /** One partition of a response (`FetchCollector.initialize`). */
  #take(
    partition: AssignedPartition,
    request: FetchPartition,
    answer: FetchPartitionResponse,
    now: Instant,
  ): void {
    const { position } = partition;
    // It may have begun to look for its offset, or for proof of it, since it asked.
    if (position.state !== "fetching") return;
    if (answer.errorCode !== 0) {
      this.#handleError(partition, request, answer, errorOf(answer.errorCode), now);
      return;
    }
    if (position.offset !== request.fetchOffset) return;
    partition.failures = 0;
    if (answer.records.length === 0) return;
    if (!this.#delivery.deliver(partition, answer.records, answer.abortedTransactions)) {
      const broker = position.leaderId;
      this.#parts.noteFailure(FETCH.name, broker, partition.name, ERRORS.CORRUPT_MESSAGE, false);
      this.#parts.die(`${partition.name} is damaged at offset ${position.offset}`);
    }
  }

  #handleError(
    partition: AssignedPartition,
    request: FetchPartition,
    answer: FetchPartitionResponse,
    error: ErrorCode,
    now: Instant,
  ): void {
    const { metadata, settings, topic } = this.#parts;
    const { position, name } = partition;
    const broker = position.leaderId;
    if (error === ERRORS.OFFSET_OUT_OF_RANGE) {
      if (position.offset !== request.fetchOffset) return;
      const hasPolicy = settings.resetPolicy !== "none";
      this.#parts.noteFailure(FETCH.name, broker, name, error, hasPolicy);
      if (!hasPolicy) this.#parts.die(`${name} has no offset ${position.offset}`);
      else partition.awaitReset(settings.resetPolicy, "out-of-range");
      this.#parts.isChanged = true;
      return;
    }
    // Of what the leader itself cannot tell apart the application hears (`handleInitializeErrors`).
    const isDamaged = error === ERRORS.CORRUPT_MESSAGE;
    const isRetried = !isDamaged && (error.retriable || error === ERRORS.UNKNOWN_SERVER_ERROR);
    this.#parts.noteFailure(FETCH.name, broker, name, error, isRetried);
    if (!isRetried) {
      this.#parts.die(`fetching ${name} failed with ${error.name}`);
      return;
    }
    // Kafka tries again as fast as answers come, while its metadata are on the way.
    // Simplified: the partition waits retry.backoff.ms, or until another leader is heard of.
    this.#parts.backOff(partition, now);
    if (error.refreshesMetadata || error === ERRORS.OFFSET_NOT_AVAILABLE) metadata.requestUpdate();
    metadata.learnLeader(topic.name, partition.partition, answer.currentLeader);
  }

  /** If only the session is lost, the next fetch begins another at once. */
  #failed(target: FetchTarget, error: ErrorCode, now: Instant): void {
    const broker = this.#parts.metadata.brokerAt(target.address);
    this.#parts.noteFailure(FETCH.name, broker, "", error, true);
    if (error === ERRORS.FETCH_SESSION_ID_NOT_FOUND) return;
    if (error === ERRORS.INVALID_FETCH_SESSION_EPOCH) return;
    for (const entry of target.sent) {
      if (entry !== undefined) this.#parts.backOff(entry.partition, now);
    }
    this.#parts.metadata.requestUpdate();
  }

  #target(address: NodeAddress): FetchTarget {
    for (const target of this.#targets) if (target.address === address) return target;
    const target = new FetchTarget(address);
    this.#targets.push(target);
    return target;
  }
}

/** Takes what is not fetched from this broker now out of its session; returns what that has to be told. */
function forget(target: FetchTarget): readonly number[] {
  const { partitions, sent, session } = target;
  target.isRegrouped = false;
  let forgotten: number[] | undefined;
  for (let index = 0; index < sent.length; index++) {
    const entry = sent[index];
    if (entry === undefined || partitions.includes(entry.partition)) continue;
    sent[index] = undefined;
    forgotten ??= [];
    forgotten.push(index);
  }
  return forgotten === undefined || session.isFull ? NONE_FORGOTTEN : forgotten;
}

const NONE_FORGOTTEN: readonly number[] = [];
const NOTHING_CHANGED: readonly FetchPartition[] = [];
const NO_TOPICS: readonly FetchTopic[] = [];
