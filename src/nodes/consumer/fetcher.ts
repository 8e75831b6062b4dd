import type { Instant } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import { FETCH } from "../../kafka/protocol/apis.ts";
import type {
  FetchPartition,
  FetchPartitionResponse,
  FetchRequest,
  FetchResponse,
} from "../../kafka/protocol/fetch.ts";
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

  constructor(address: NodeAddress) {
    this.address = address;
  }
}

/** A fetch on its way. */
class FetchAttempt {
  readonly target: FetchTarget;
  readonly partitions: readonly AssignedPartition[];
  readonly requests: readonly FetchPartition[];

  constructor(
    target: FetchTarget,
    partitions: readonly AssignedPartition[],
    requests: readonly FetchPartition[],
  ) {
    this.target = target;
    this.partitions = partitions;
    this.requests = requests;
  }
}

/**
 * Reads from the leaders of the assigned partitions (`Fetcher`).
 *
 * Simplified: every request names all partitions of the broker, where Kafka keeps a session and
 * names those that changed (KIP-227); nobody fetches from followers (KIP-392).
 */
export class Fetcher implements ResponseHandler<FetchResponse, FetchAttempt> {
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
    for (const target of this.#targets) target.partitions = [];
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

  onResponse(response: FetchResponse, attempt: FetchAttempt): void {
    const { world } = this.#parts;
    const now = world.clock.now();
    attempt.target.isPending = false;
    const error = errorOf(response.errorCode);
    if (error !== ERRORS.NONE) {
      this.#failAll(attempt, error, now);
      return;
    }
    for (const topic of response.responses) {
      for (let i = 0; i < topic.partitions.length; i++) {
        const answer = topic.partitions[i] as FetchPartitionResponse;
        const at =
          attempt.requests[i]?.partition === answer.partitionIndex
            ? i
            : attempt.requests.findIndex((one) => one.partition === answer.partitionIndex);
        const partition = attempt.partitions[at];
        const request = attempt.requests[at];
        if (partition === undefined || request === undefined) continue;
        this.#take(partition, request, answer, now);
      }
    }
    this.#delivery.endPoll();
  }

  onDisconnect(attempt: FetchAttempt, from: NodeAddress): void {
    const now = this.#parts.world.clock.now();
    attempt.target.isPending = false;
    this.#connections.disconnected(from, now);
    this.#parts.metadata.disconnected(now);
    const broker = this.#parts.metadata.brokerAt(from);
    this.#parts.noteFailure(FETCH.name, broker, "", ERRORS.NETWORK_EXCEPTION, true);
  }

  #fetch(target: FetchTarget): void {
    const { rpc, settings, topic } = this.#parts;
    const { partitions } = target;
    const requests = new Array<FetchPartition>(partitions.length);
    for (let i = 0; i < partitions.length; i++) {
      const partition = partitions[i] as AssignedPartition;
      requests[i] = partition.fetchRequest(settings.partitionMaxBytes);
    }
    const body: FetchRequest = {
      clusterId: undefined,
      replicaId: -1,
      replicaEpoch: -1,
      maxWaitMs: settings.fetchMaxWaitMs,
      minBytes: settings.fetchMinBytes,
      maxBytes: settings.fetchMaxBytes,
      isolationLevel: settings.isolationLevel,
      sessionId: 0,
      sessionEpoch: -1,
      topics: [{ topicId: topic.topicId, partitions: requests }],
    };
    target.isPending = true;
    rpc.send(
      target.address,
      this.#connections.purpose,
      FETCH,
      body,
      settings.requestTimeout,
      this,
      new FetchAttempt(target, partitions, requests),
    );
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
    if (!this.#delivery.deliver(partition, answer.records)) {
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
    const isRetried = error.retriable || error === ERRORS.UNKNOWN_SERVER_ERROR;
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

  #failAll(attempt: FetchAttempt, error: ErrorCode, now: Instant): void {
    const broker = this.#parts.metadata.brokerAt(attempt.target.address);
    this.#parts.noteFailure(FETCH.name, broker, "", error, true);
    for (const partition of attempt.partitions) this.#parts.backOff(partition, now);
    this.#parts.metadata.requestUpdate();
  }

  #target(address: NodeAddress): FetchTarget {
    for (const target of this.#targets) if (target.address === address) return target;
    const target = new FetchTarget(address);
    this.#targets.push(target);
    return target;
  }
}
