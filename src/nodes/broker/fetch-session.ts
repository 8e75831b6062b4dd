import type { Instant } from "../../base/time.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { Offset, TopicId } from "../../kafka/ids.ts";
import type {
  FetchPartition,
  FetchPartitionResponse,
  FetchRequest,
  FetchTopicResponse,
} from "../../kafka/protocol/fetch.ts";
import {
  INITIAL_EPOCH,
  NO_SESSION,
  nextSessionEpoch,
} from "../../kafka/protocol/fetch-session-epoch.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { DelayedFetch } from "./delayed-fetch.ts";
import { PartitionReading } from "./fetch-answer.ts";
import { clientEndOf } from "./fetch-read.ts";
import type { Partition } from "./partition.ts";

/** A partition of a session: what is asked of it, and what was last told (`CachedPartition`). */
export class SessionPartition {
  readonly session: FetchSession;
  readonly topicId: TopicId;
  request: FetchPartition;
  /** `undefined` as long as the broker has no replica of it. */
  partition: Partition | undefined = undefined;
  readonly reading: PartitionReading = new PartitionReading();
  /** The last reading found that there is nothing to tell, and did not fill in `reading`. */
  isQuiet = false;
  /** Has the partition changed since that reading? */
  isTouched = false;
  /** -1 if none was told, or an error since. */
  #toldHighWatermark: Offset = -1;
  #toldLogStart: Offset = -1;

  constructor(session: FetchSession, topicId: TopicId, request: FetchPartition) {
    this.session = session;
    this.topicId = topicId;
    this.request = request;
  }

  /**
   * True if a full reading would find no records, no error and nothing else that is not told yet; it
   * is much cheaper. What the fetch tells of a follower is learned by it too, if `updateState`; its
   * broker epoch must have been checked.
   */
  passOver(body: FetchRequest, updateState: boolean, now: Instant): boolean {
    const { partition, request } = this;
    const { replicaId } = body;
    if (partition === undefined || !this.#isUnchanged(partition, body)) return false;
    if (replicaId < 0) return true;
    const replica = partition.remote(replicaId);
    if (replica === undefined) return false;
    const { logEndOffset } = partition.log;
    // Nothing but its time is learned of a follower that had all before and is in the ISR.
    if (!updateState) return true;
    if (
      replica.logEndOffset === logEndOffset &&
      replica.logStartOffset === request.logStartOffset &&
      partition.isr.isr.length > partition.remotes.length
    ) {
      const { fetchOffset, logStartOffset } = request;
      replica.fetched(fetchOffset, logStartOffset, now, logEndOffset, body.replicaEpoch);
      return true;
    }
    const { replicaEpoch } = body;
    const error = partition.followerFetched(replica, request, logEndOffset, replicaEpoch, now);
    return error === ERRORS.NONE;
  }

  #isUnchanged(partition: Partition, { replicaId, isolationLevel }: FetchRequest): boolean {
    const { fetchOffset, currentLeaderEpoch, lastFetchedEpoch } = this.request;
    const { log, highWatermark } = partition;
    if (!partition.isLeader || partition.offline) return false;
    if (partition.leaderEpoch !== currentLeaderEpoch) return false;
    if (highWatermark !== this.#toldHighWatermark) return false;
    const isFollower = replicaId >= 0;
    const end = isFollower ? log.logEndOffset : clientEndOf(partition, isolationLevel);
    if (fetchOffset !== end) return false;
    const { logStartOffset } = log;
    if (logStartOffset !== this.#toldLogStart || fetchOffset < logStartOffset) return false;
    // The newest epoch reaches to the log's end, so that the histories are one.
    return lastFetchedEpoch < 0 || (isFollower && lastFetchedEpoch === log.latestEpoch);
  }

  /** Is there something in `reading` that was not told yet (`maybeUpdateResponseData`)? */
  tell(): boolean {
    const { errorCode, highWatermark, logStartOffset, divergingEpoch, records } = this.reading;
    const isNews =
      records.length > 0 ||
      errorCode !== 0 ||
      divergingEpoch !== undefined ||
      highWatermark !== this.#toldHighWatermark ||
      logStartOffset !== this.#toldLogStart;
    // After an error all is told again, since the error is news as well when it is gone.
    this.#toldHighWatermark = errorCode === 0 ? highWatermark : -1;
    this.#toldLogStart = logStartOffset;
    return isNews;
  }

  /** For the partition's list of those who wait: has the session a parked fetch that is due? */
  tryComplete(): boolean {
    this.isTouched = true;
    return this.session.parked?.tryCompleteFor(this) ?? false;
  }
}

/**
 * What one fetcher follows here (KIP-227, `FetchSession`), so that its fetches name, and their answers have,
 * only what changed. A fetch that wants no session has one for itself.
 */
export class FetchSession {
  /** Assigned by the cache; `NO_SESSION` before, and if it was never kept. */
  id: number = NO_SESSION;
  /** Is it in the cache, for fetches to come? */
  isKept = false;
  /** Of a follower, which is worth more than a consumer. */
  readonly isPrivileged: boolean;
  createdAt: Instant = 0;
  lastUsedAt: Instant = 0;
  /** Of the fetch that is to come next. */
  epoch: number = nextSessionEpoch(INITIAL_EPOCH);
  /** In the order of reading: what had records goes to the end. */
  readonly partitions: SessionPartition[] = [];
  /** The fetch that waits. */
  parked: DelayedFetch | undefined = undefined;
  /** Of the last reading: how many bytes of records. */
  bytes = 0;
  /** Of the last reading: is there an error or a diverging epoch, which is told at once? */
  isUrgent = false;
  readonly #context: BrokerContext;
  readonly #byTopic: { topicId: TopicId; byIndex: (SessionPartition | undefined)[] }[] = [];
  /** Do appends to the partitions reach the parked fetch? */
  #isWatching = false;
  /** Used again and again while the order is changed; what is left in it means nothing. */
  readonly #served: SessionPartition[] = [];

  constructor(context: BrokerContext, isPrivileged: boolean) {
    this.#context = context;
    this.isPrivileged = isPrivileged;
  }

  /** Takes what a fetch names: new partitions, other requests for known ones, those to forget. */
  update(body: FetchRequest): void {
    for (const { topicId, partitions } of body.topics) {
      const byIndex = this.#topic(topicId);
      for (const request of partitions) {
        const known = byIndex[request.partition];
        if (known === undefined) this.#add(topicId, request, byIndex);
        else known.request = request;
      }
    }
    for (const { topicId, partitions } of body.forgottenTopicsData) {
      const byIndex = this.#topic(topicId);
      for (const index of partitions) {
        const known = byIndex[index];
        if (known === undefined) continue;
        byIndex[index] = undefined;
        this.partitions.splice(this.partitions.indexOf(known), 1);
        if (this.#isWatching) known.partition?.fetches.delete(known);
      }
    }
  }

  #add(topicId: TopicId, request: FetchPartition, byIndex: (SessionPartition | undefined)[]): void {
    const made = new SessionPartition(this, topicId, request);
    byIndex[request.partition] = made;
    this.partitions.push(made);
    this.find(made);
  }

  /** Looks for the replica of a partition that was asked for before it came here. */
  find(wanted: SessionPartition): void {
    const partition = this.#context.partition(wanted.topicId, wanted.request.partition);
    wanted.partition = partition;
    if (this.#isWatching) partition?.fetches.add(wanted);
  }

  #topic(topicId: TopicId): (SessionPartition | undefined)[] {
    for (const topic of this.#byTopic) if (topic.topicId === topicId) return topic.byIndex;
    const byIndex: (SessionPartition | undefined)[] = [];
    this.#byTopic.push({ topicId, byIndex });
    return byIndex;
  }

  /** From now on a parked fetch is looked at when one of the partitions changes. */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    for (const one of this.partitions) one.partition?.fetches.add(one);
  }

  unwatch(): void {
    if (!this.#isWatching) return;
    this.#isWatching = false;
    for (const one of this.partitions) one.partition?.fetches.delete(one);
  }

  /** The answer to the last reading: all partitions, or only those with news. */
  toResponses(onlyNews: boolean): readonly FetchTopicResponse[] {
    let responses: TopicResponse[] | undefined;
    let topic: TopicResponse | undefined;
    let hasServed = false;
    for (const one of this.partitions) {
      if (one.isQuiet) continue;
      const isNews = one.tell();
      if (onlyNews && !isNews) continue;
      const response = one.reading.toResponse(one.request.partition);
      if (one.reading.records.length > 0) hasServed = true;
      if (topic?.topicId === one.topicId) {
        topic.partitions.push(response);
        continue;
      }
      // Literals are of the right size; what is pushed into an empty array makes room for many.
      topic = { topicId: one.topicId, partitions: [response] };
      if (responses === undefined) responses = [topic];
      else responses.push(topic);
    }
    if (hasServed && onlyNews && this.partitions.length > 1) this.#rotate();
    return responses ?? NO_TOPICS;
  }

  /** Who got records stands back, so that an answer's limit does not always hit the same. */
  #rotate(): void {
    const { partitions } = this;
    const served = this.#served;
    let kept = 0;
    let back = 0;
    for (const one of partitions) {
      if (!one.isQuiet && one.reading.records.length > 0) served[back++] = one;
      else partitions[kept++] = one;
    }
    for (let i = 0; i < back; i++) partitions[kept++] = served[i] as SessionPartition;
  }
}

interface TopicResponse {
  readonly topicId: TopicId;
  readonly partitions: FetchPartitionResponse[];
}

const NO_TOPICS: readonly FetchTopicResponse[] = [];
