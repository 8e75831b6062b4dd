import type { Instant } from "../../base/time.ts";
import { FetchSessionHandler } from "../../kafka/client/fetch-session-handler.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { TopicId } from "../../kafka/ids.ts";
import { FETCH } from "../../kafka/protocol/apis.ts";
import type {
  FetchPartition,
  FetchPartitionResponse,
  FetchRequest,
  FetchResponse,
  FetchTopic,
  ForgottenTopic,
} from "../../kafka/protocol/fetch.ts";
import { NOTHING_FORGOTTEN } from "../../kafka/protocol/fetch.ts";
import { FINAL_EPOCH } from "../../kafka/protocol/fetch-session-epoch.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { BrokerConnections } from "../client-metadata/broker-connections.ts";
import type { TopicLeaders } from "../client-metadata/topic-leaders.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import type { AssignedPartition } from "./assigned-partition.ts";
import type { ConsumerParts } from "./consumer-parts.ts";
import type { RecordTaker } from "./record-taker.ts";

/** A broker that is fetched from: one request at a time, for all that it leads. */
class FetchTarget {
  readonly address: NodeAddress;
  partitions: AssignedPartition[] = [];
  isPending = false;
  readonly session: FetchSessionHandler = new FetchSessionHandler();
  /** What the session has, topic by topic. */
  readonly sent: SessionTopic[] = [];
  /** Has `partitions` been made anew, so that the session may have some to forget? */
  isRegrouped = true;

  constructor(address: NodeAddress) {
    this.address = address;
  }
}

/** What a session has of one topic. */
class SessionTopic {
  readonly topic: TopicLeaders;
  /** By partition. */
  readonly entries: (SessionEntry | undefined)[] = [];

  constructor(topic: TopicLeaders) {
    this.topic = topic;
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
  readonly #taker: RecordTaker;
  /** In the order in which they were first needed. */
  readonly #targets: FetchTarget[] = [];

  constructor(parts: ConsumerParts, connections: BrokerConnections, taker: RecordTaker) {
    this.#parts = parts;
    this.#connections = connections;
    this.#taker = taker;
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
      // To leave a partition out would be to take it out of the session.
      if (this.#taker.isHolding && target.partitions.some(isBuffered)) continue;
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
    for (const { topicId, partitions } of response.responses) {
      const entries = findTopic(target.sent, topicId)?.entries;
      for (const answer of partitions) {
        const entry = entries?.[answer.partitionIndex];
        if (entry !== undefined) this.#take(entry.partition, entry.request, answer, now);
      }
    }
    this.#taker.endPoll();
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
    const { rpc, settings } = this.#parts;
    const { session } = target;
    const forgotten = target.isRegrouped ? forget(target) : NOTHING_FORGOTTEN;
    const body: FetchRequest = {
      clusterId: undefined,
      replicaId: -1,
      replicaEpoch: -1,
      maxWaitMs: settings.fetchMaxWaitMs,
      minBytes: settings.fetchMinBytes,
      maxBytes: settings.fetchMaxBytes,
      isolationLevel: settings.isolationLevel,
      sessionId: session.id,
      // Before KIP-74 there were no sessions, whose answers leave out what has nothing new.
      sessionEpoch: settings.getsOneBatch ? session.epoch : FINAL_EPOCH,
      topics: this.#changed(target),
      forgottenTopicsData: forgotten,
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
  #changed(target: FetchTarget): readonly FetchTopic[] {
    const { partitionMaxBytes } = this.#parts.settings;
    const { partitions, session } = target;
    const { isFull } = session;
    let topics: FetchTopic[] | undefined;
    let changed: FetchPartition[] = [];
    let last: SessionTopic | undefined;
    // All partitions of a topic stand together.
    for (const partition of partitions) {
      const known = last?.topic === partition.topic ? last : sessionTopic(target, partition.topic);
      const request = partition.fetchRequest(partitionMaxBytes);
      const entry = known.entries[partition.partition];
      if (entry === undefined) known.entries[partition.partition] = { partition, request };
      else if (entry.request !== request) entry.request = request;
      else if (!isFull) continue;
      if (known !== last) {
        changed = [];
        topics ??= [];
        topics.push({ topicId: known.topic.topicId, partitions: changed });
        last = known;
      }
      changed.push(request);
    }
    return topics ?? NO_TOPICS;
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
    if (position.state !== "fetching" || partition.isParting) return;
    // Simplified: Kafka keeps it for the next poll, or for when the partition is resumed; here it is fetched again.
    if ((partition.isPaused || this.#parts.isBlocked) && !this.#taker.keeps) return;
    if (answer.errorCode !== 0) {
      this.#handleError(partition, request, answer, errorOf(answer.errorCode), now);
      return;
    }
    if (position.offset !== request.fetchOffset) return;
    partition.failures = 0;
    if (answer.records.length === 0) {
      if (!this.#parts.settings.getsOneBatch) this.#dieIfTooLarge(partition, answer);
      return;
    }
    if (!this.#taker.deliver(partition, answer.records, answer.abortedTransactions)) {
      const broker = position.leaderId;
      this.#parts.noteFailure(FETCH.name, broker, partition.name, ERRORS.CORRUPT_MESSAGE, false);
      this.#parts.die(`${partition.name} is damaged at offset ${position.offset}`);
    }
  }

  /** Nothing comes though something is there: `RecordTooLargeException`, as before KIP-74, and at each poll anew. */
  #dieIfTooLarge({ name, position }: AssignedPartition, answer: FetchPartitionResponse): void {
    const { isolationLevel, partitionMaxBytes } = this.#parts.settings;
    const end = isolationLevel === 1 ? answer.lastStableOffset : answer.highWatermark;
    if (end <= position.offset) return;
    this.#parts.die(
      `RecordTooLargeException: ${name} has a record at offset ${position.offset} that is larger than max.partition.fetch.bytes=${partitionMaxBytes}`,
    );
  }

  #handleError(
    partition: AssignedPartition,
    request: FetchPartition,
    answer: FetchPartitionResponse,
    error: ErrorCode,
    now: Instant,
  ): void {
    const { metadata, settings } = this.#parts;
    const { position, name, topic } = partition;
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
    for (const { entries } of target.sent) {
      for (const entry of entries) {
        if (entry !== undefined) this.#parts.backOff(entry.partition, now);
      }
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
function forget(target: FetchTarget): readonly ForgottenTopic[] {
  const { partitions, sent, session } = target;
  target.isRegrouped = false;
  let topics: ForgottenTopic[] | undefined;
  for (const { topic, entries } of sent) {
    const forgotten: number[] = [];
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index];
      if (entry === undefined || partitions.includes(entry.partition)) continue;
      entries[index] = undefined;
      forgotten.push(index);
    }
    if (forgotten.length === 0) continue;
    topics ??= [];
    topics.push({ topicId: topic.topicId, partitions: forgotten });
  }
  return topics === undefined || session.isFull ? NOTHING_FORGOTTEN : topics;
}

function sessionTopic({ sent }: FetchTarget, topic: TopicLeaders): SessionTopic {
  for (const one of sent) if (one.topic === topic) return one;
  const made = new SessionTopic(topic);
  sent.push(made);
  return made;
}

function findTopic(sent: readonly SessionTopic[], topicId: TopicId): SessionTopic | undefined {
  for (const one of sent) if (one.topic.topicId === topicId) return one;
  return undefined;
}

function isBuffered(partition: AssignedPartition): boolean {
  return partition.isBuffered;
}

const NO_TOPICS: readonly FetchTopic[] = [];
