import type { Instant } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import { FetchSessionHandler } from "../../kafka/client/fetch-session-handler.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { BrokerId, LeaderEpoch, Offset, TopicId } from "../../kafka/ids.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import { FETCH, LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH } from "../../kafka/protocol/apis.ts";
import type {
  FetchPartition,
  FetchPartitionResponse,
  FetchResponse,
  FetchTopic,
  ForgottenTopic,
} from "../../kafka/protocol/fetch.ts";
import { NOTHING_FORGOTTEN } from "../../kafka/protocol/fetch.ts";
import type { ListOffsetsResponse } from "../../kafka/protocol/list-offsets.ts";
import { EARLIEST_TIMESTAMP, LATEST_TIMESTAMP } from "../../kafka/protocol/list-offsets.ts";
import type { OffsetForLeaderEpochResponse } from "../../kafka/protocol/offset-for-leader-epoch.ts";
import { DiskError } from "../../ports/disk.ts";
import type { TimerHandle } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";
import type { PartitionLog } from "../../storage/partition-log.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import type { Partition } from "./partition.ts";

/** A partition as its fetcher sees it (Kafka's `PartitionFetchState`). */
export class FetchState {
  readonly partition: Partition;
  readonly currentLeaderEpoch: LeaderEpoch;
  /** `resetting`: out of the leader's range, which it is being asked for. */
  phase: "fetching" | "truncating" | "resetting";
  fetchOffset: Offset;
  /** -1 if the fetch does not say: the log is empty, or an older protocol. */
  lastFetchedEpoch: LeaderEpoch;
  /** Left alone until then, after an error. */
  delayedUntil: Instant = 0;
  /** Fenced in its own epoch, or not to be written: waits for new metadata. */
  failed = false;
  /** False once it was given up, or replaced by a state of a newer epoch. */
  isFollowed = true;
  /** Has the leader's session the partition? */
  isInSession = false;
  /** What the session has of this very state; undefined if nothing. */
  sent: FetchPartition | undefined = undefined;

  constructor(
    partition: Partition,
    phase: "fetching" | "truncating",
    fetchOffset: Offset,
    lastFetchedEpoch: LeaderEpoch,
  ) {
    this.partition = partition;
    this.currentLeaderEpoch = partition.leaderEpoch;
    this.phase = phase;
    this.fetchOffset = fetchOffset;
    this.lastFetchedEpoch = lastFetchedEpoch;
  }

  /** Does the session have what is to be asked now? */
  get isSent(): boolean {
    const { sent } = this;
    return (
      sent !== undefined &&
      sent.fetchOffset === this.fetchOffset &&
      sent.lastFetchedEpoch === this.lastFetchedEpoch &&
      sent.logStartOffset === this.partition.log.logStartOffset
    );
  }
}

/** Of a request for epochs: whose, in its order. A fetch goes for all that the session has. */
type Asked = readonly FetchState[] | undefined;

/**
 * Copies from one leading broker (Kafka's `ReplicaFetcherThread`): find where the histories part,
 * cut there, then fetch, one request at a time over all partitions it follows there. A fetch names only those
 * whose fetch is not the same as before (KIP-227).
 */
export class ReplicaFetcher
  implements
    ResponseHandler<FetchResponse, Asked>,
    ResponseHandler<OffsetForLeaderEpochResponse, Asked>
{
  readonly #context: BrokerContext;
  readonly #leader: BrokerId;
  readonly #states = new Map<Partition, FetchState>();
  /** The same in a row; made anew with each change, so that requests can keep it. */
  #all: readonly FetchState[] = [];
  readonly #session: FetchSessionHandler = new FetchSessionHandler();
  /** Followed no more, but still in the session. */
  readonly #dropped: Partition[] = [];
  readonly #backoff: number;
  readonly #timeout: number;
  readonly #maxWaitMs: number;
  readonly #minBytes: number;
  readonly #maxBytes: number;
  readonly #partitionMaxBytes: number;
  readonly #resetter: OffsetResetter;
  #busy = false;
  #timer: TimerHandle = NO_TIMER;

  constructor(context: BrokerContext, leader: BrokerId) {
    this.#context = context;
    this.#leader = leader;
    const { configs } = context;
    this.#backoff = fromMillis(configs["replica.fetch.backoff.ms"]);
    this.#timeout = fromMillis(configs["replica.socket.timeout.ms"]);
    this.#maxWaitMs = configs["replica.fetch.wait.max.ms"];
    this.#minBytes = configs["replica.fetch.min.bytes"];
    this.#maxBytes = configs["replica.fetch.response.max.bytes"];
    this.#partitionMaxBytes = configs["replica.fetch.max.bytes"];
    this.#resetter = new OffsetResetter(context, this);
  }

  get leader(): BrokerId {
    return this.#leader;
  }

  /** Begins to follow; where it starts depends on the protocol's way to truncate. */
  add(partition: Partition): void {
    const known = this.#states.get(partition);
    if (known !== undefined && known.currentLeaderEpoch === partition.leaderEpoch) return;
    const state = this.#initialState(partition);
    if (known !== undefined) {
      known.isFollowed = false;
      state.isInSession = known.isInSession;
    } else {
      const at = this.#dropped.indexOf(partition);
      if (at >= 0) {
        this.#dropped.splice(at, 1);
        state.isInSession = true;
      }
    }
    this.#states.set(partition, state);
    this.#all = [...this.#states.values()];
    this.wake();
  }

  remove(partition: Partition): void {
    const known = this.#states.get(partition);
    if (known === undefined) return;
    known.isFollowed = false;
    if (known.isInSession) this.#dropped.push(partition);
    this.#states.delete(partition);
    this.#all = [...this.#states.values()];
  }

  #initialState(partition: Partition): FetchState {
    const { log, highWatermark } = partition;
    const latest = log.latestEpoch ?? -1;
    const { truncation } = this.#context.rules.switches;
    if (truncation === "on-fetch" && latest >= 0) {
      return new FetchState(partition, "fetching", log.logEndOffset, latest);
    }
    // Without epochs the high watermark is all there is to go by (before KIP-101).
    return new FetchState(partition, "truncating", highWatermark, -1);
  }

  /** Goes on, if there is something to do and no request is out. */
  wake(): void {
    if (this.#busy) return;
    this.#context.world.timers.cancel(this.#timer);
    this.#timer = NO_TIMER;
    this.#work();
  }

  /** The back-off is over. */
  onTimer(): void {
    this.#timer = NO_TIMER;
    if (!this.#busy) this.#work();
  }

  #work(): void {
    const now = this.#context.now();
    const asking = this.#cutOrAsk(now);
    if (asking.length > 0) this.#askEpochs(asking);
    else this.#fetch(now);
  }

  /** Cuts what needs no question to the leader; returns the partitions that need one. */
  #cutOrAsk(now: Instant): readonly FetchState[] {
    let asking: FetchState[] | undefined;
    for (const state of this.#all) {
      if (state.phase !== "truncating" || state.delayedUntil > now || state.failed) continue;
      // One of those before may have taken the disk of this one with it.
      if (!state.isFollowed) continue;
      const latest = state.partition.log.latestEpoch ?? -1;
      if (this.#context.rules.switches.truncation === "high-watermark" || latest < 0) {
        this.#cutToHighWatermark(state);
      } else if (asking === undefined) {
        asking = [state];
      } else {
        asking.push(state);
      }
    }
    return asking ?? NO_STATES;
  }

  #cutToHighWatermark(state: FetchState): void {
    try {
      this.#truncate(state, state.fetchOffset, "high-watermark");
      state.phase = "fetching";
    } catch (problem) {
      this.#failed(state, problem);
    }
  }

  #fetch(now: Instant): void {
    const isAnyReady = this.#isAnyReady(now);
    const address = this.#context.addressOf(this.#leader);
    if (!isAnyReady || address === undefined) {
      const pause = isAnyReady ? this.#backoff : this.#soonest() - now;
      if (this.#states.size > 0) this.#sleep(Math.min(pause, this.#backoff));
      return;
    }
    this.#busy = true;
    const forgottenTopicsData = this.#forget(now);
    const topics = fetchTopics(this.#toSend(now), this.#partitionMaxBytes);
    this.#context.rpc.send(
      address,
      "fetcher",
      FETCH,
      {
        clusterId: undefined,
        replicaId: this.#context.brokerId,
        replicaEpoch: this.#context.brokerEpoch,
        maxWaitMs: this.#maxWaitMs,
        minBytes: this.#minBytes,
        maxBytes: this.#maxBytes,
        isolationLevel: 0,
        sessionId: this.#session.id,
        sessionEpoch: this.#session.epoch,
        topics,
        forgottenTopicsData,
      },
      this.#timeout,
      this,
      undefined,
    );
  }

  #isAnyReady(now: Instant): boolean {
    for (const state of this.#all) if (isReady(state, now)) return true;
    return false;
  }

  /** The partitions that can be fetched now, without those of which the session has all. */
  #toSend(now: Instant): readonly FetchState[] {
    const { isFull } = this.#session;
    let some: FetchState[] | undefined;
    for (const state of this.#all) {
      if (!isReady(state, now) || (!isFull && state.isSent)) continue;
      if (some === undefined) some = [state];
      else some.push(state);
    }
    return some ?? NO_STATES;
  }

  /** Takes out of the session what is not to be fetched now; a full fetch needs not say so. */
  #forget(now: Instant): readonly ForgottenTopic[] {
    let forgotten: ForgottenTopic[] | undefined;
    for (const state of this.#all) {
      if (!state.isInSession || isReady(state, now)) continue;
      state.isInSession = false;
      state.sent = undefined;
      forgotten ??= [];
      forgotten.push(forgetting(state.partition));
    }
    if (this.#dropped.length > 0) {
      forgotten ??= [];
      for (const partition of this.#dropped) forgotten.push(forgetting(partition));
      this.#dropped.splice(0);
    }
    return forgotten === undefined || this.#session.isFull ? NOTHING_FORGOTTEN : forgotten;
  }

  /** When the first of those that wait to be fetched may be. */
  #soonest(): Instant {
    let soonest = Number.POSITIVE_INFINITY;
    for (const state of this.#all) {
      if (state.failed || state.phase !== "fetching") continue;
      if (state.delayedUntil < soonest) soonest = state.delayedUntil;
    }
    return soonest;
  }

  /** The explicit epoch question that came before truncation on fetch (KIP-101, KIP-279). */
  #askEpochs(asking: readonly FetchState[]): void {
    const address = this.#context.addressOf(this.#leader);
    if (address === undefined) {
      this.#sleep(this.#backoff);
      return;
    }
    this.#busy = true;
    this.#context.rpc.send(
      address,
      "fetcher",
      OFFSET_FOR_LEADER_EPOCH,
      {
        replicaId: this.#context.brokerId,
        topics: asking.map(({ partition, currentLeaderEpoch }) => ({
          topic: partition.topic,
          partitions: [
            {
              partition: partition.index,
              currentLeaderEpoch,
              leaderEpoch: partition.log.latestEpoch ?? -1,
            },
          ],
        })),
      },
      fromMillis(this.#context.configs["replica.socket.timeout.ms"]),
      this,
      asking,
    );
  }

  onResponse(response: FetchResponse | OffsetForLeaderEpochResponse, asked: Asked): void {
    this.#busy = false;
    if ("responses" in response) this.#onFetched(response);
    else if (asked !== undefined) this.#onEpochs(response, asked);
    this.wake();
  }

  onDisconnect(asked: Asked): void {
    this.#busy = false;
    if (asked === undefined) this.#onFetchLost();
    else for (const state of asked) this.#delay(state);
    this.wake();
  }

  #onFetchLost(): void {
    this.#session.handleError();
    for (const state of this.#all) if (state.sent !== undefined) this.#delay(state);
  }

  #onFetched(response: FetchResponse): void {
    const { responses } = response;
    if (!this.#session.handleResponse(errorOf(response.errorCode), response.sessionId)) return;
    for (const { topicId, partitions } of responses) {
      for (const answer of partitions) {
        const state = this.#stateOf(topicId, answer.partitionIndex);
        // Only if nothing has changed since it was asked: not removed or followed anew in another
        // epoch (KAFKA-18991), not truncated meanwhile.
        if (state?.sent === undefined) continue;
        if (state.sent.fetchOffset !== state.fetchOffset || state.phase !== "fetching") continue;
        try {
          this.#take(state, answer);
        } catch (problem) {
          this.#failed(state, problem);
        }
      }
    }
  }

  #stateOf(topicId: TopicId, index: number): FetchState | undefined {
    // As a rule it is one of few: comparing is cheaper than hashing.
    if (this.#all.length <= 4) {
      for (const state of this.#all) {
        const { partition } = state;
        if (partition.index === index && partition.topicId === topicId) return state;
      }
      return undefined;
    }
    const partition = this.#context.partition(topicId, index);
    return partition === undefined ? undefined : this.#states.get(partition);
  }

  #take(state: FetchState, one: FetchPartitionResponse): void {
    const error = errorOf(one.errorCode);
    if (error === ERRORS.NONE) {
      if (one.divergingEpoch === undefined) this.#append(state, one);
      else this.#diverge(state, one.divergingEpoch.epoch, one.divergingEpoch.endOffset);
      return;
    }
    if (error === ERRORS.OFFSET_OUT_OF_RANGE) {
      state.phase = "resetting";
      this.#resetter.begin(state, this.#leader);
      return;
    }
    this.#setBack(state, error);
  }

  /** `ReplicaFetcherThread.processPartitionData`. */
  #append(state: FetchState, one: FetchPartitionResponse): void {
    const { partition } = state;
    if (one.records.length > 0) {
      const error = this.#appendRecords(state, one.records);
      if (error !== ERRORS.NONE) {
        // What is damaged may be sound the next time; anything else would come back for ever.
        if (error === ERRORS.CORRUPT_MESSAGE) this.#delay(state);
        else state.failed = true;
        return;
      }
    }
    partition.followHighWatermark(one.highWatermark);
    // What its leader has no more it needs not keep.
    const { highWatermark } = partition;
    partition.advanceLogStart(Math.min(one.logStartOffset, highWatermark), "leader");
  }

  #appendRecords(state: FetchState, records: readonly RecordBatch[]): ErrorCode {
    const { partition, currentLeaderEpoch } = state;
    const { log } = partition;
    try {
      const start = startWithin(log, records);
      if (start !== undefined) partition.truncateFully(start, "within-batch");
      const { error, appended } = log.appendAsFollower(records, currentLeaderEpoch);
      for (const batch of appended) this.#appended(state, batch);
      log.flushIfMany();
      return error;
    } catch (problem) {
      // What went to the disk before it failed is in the log, and may be found there one day.
      for (const batch of records) {
        if (batch.baseOffset < state.fetchOffset || batch.nextOffset > log.logEndOffset) continue;
        this.#appended(state, batch);
      }
      throw problem;
    }
  }

  #appended(state: FetchState, batch: RecordBatch): void {
    state.fetchOffset = batch.nextOffset;
    state.lastFetchedEpoch = this.#tellsEpoch() ? batch.partitionLeaderEpoch : -1;
    this.#context.facts.note({
      kind: "appended",
      broker: this.#context.brokerId,
      partition: state.partition.name,
      batch,
      asLeader: false,
    });
  }

  #tellsEpoch(): boolean {
    return this.#context.rules.switches.truncation === "on-fetch";
  }

  #diverge(state: FetchState, leaderEpoch: LeaderEpoch, leaderEndOffset: Offset): void {
    const point = this.#context.rules.truncationPoint(
      state.partition.log,
      state.fetchOffset,
      leaderEpoch,
      leaderEndOffset,
    );
    this.#truncate(state, point.offset, "diverging-epoch");
    if (point.settled || this.#tellsEpoch()) state.phase = "fetching";
  }

  #truncate(state: FetchState, offset: Offset, reason: string): void {
    const { partition } = state;
    partition.truncateTo(offset, reason);
    state.fetchOffset = partition.log.logEndOffset;
    state.lastFetchedEpoch = this.#tellsEpoch() ? (partition.log.latestEpoch ?? -1) : -1;
  }

  #onEpochs(response: OffsetForLeaderEpochResponse, asked: readonly FetchState[]): void {
    let at = 0;
    for (const topic of response.topics) {
      for (const answer of topic.partitions) {
        const state = asked[at++];
        if (state?.isFollowed !== true) continue;
        const error = errorOf(answer.errorCode);
        if (error !== ERRORS.NONE) {
          this.#setBack(state, error);
          continue;
        }
        try {
          this.#diverge(state, answer.leaderEpoch, answer.endOffset);
        } catch (problem) {
          this.#failed(state, problem);
        }
      }
    }
  }

  /** The leader's range is known: where the follower goes on (`fetchOffsetAndTruncate`). */
  reset(state: FetchState, leaderStart: Offset, leaderEnd: Offset): void {
    state.phase = "fetching";
    if (state.isFollowed) {
      try {
        this.#enterRange(state, leaderStart, leaderEnd);
      } catch (problem) {
        this.#failed(state, problem);
      }
    }
    this.wake();
  }

  #enterRange(state: FetchState, leaderStart: Offset, leaderEnd: Offset): void {
    const { partition } = state;
    const own = partition.log.logEndOffset;
    if (leaderEnd < own) {
      this.#truncate(state, leaderEnd, "offset-out-of-range");
    } else if (leaderStart > own) {
      partition.truncateFully(leaderStart, "offset-out-of-range");
      state.fetchOffset = leaderStart;
      state.lastFetchedEpoch = -1;
    } else {
      state.fetchOffset = own;
      state.lastFetchedEpoch = this.#tellsEpoch() ? (partition.log.latestEpoch ?? -1) : -1;
    }
  }

  resetFailed(state: FetchState, error: ErrorCode): void {
    state.phase = "fetching";
    this.#setBack(state, error);
    this.wake();
  }

  /** Its disk is gone: it is followed no more (`markPartitionFailed`). */
  #failed(state: FetchState, problem: unknown): void {
    if (!(problem instanceof DiskError)) throw problem;
    state.failed = true;
    this.#context.diskFailed(problem);
  }

  /** Fenced in the very epoch it follows in, only newer metadata can help; else it tries again later. */
  #setBack(state: FetchState, error: ErrorCode): void {
    if (error === ERRORS.FENCED_LEADER_EPOCH) state.failed = true;
    else this.#delay(state);
  }

  #delay(state: FetchState): void {
    state.delayedUntil = this.#context.now() + this.#backoff;
  }

  #sleep(pause: number): void {
    if (this.#timer !== NO_TIMER) return;
    this.#timer = this.#context.world.timers.start(
      Math.max(pause, 1),
      BROKER_TIMER.fetcherBackoff,
      this,
    );
  }
}

function isReady(state: FetchState, now: Instant): boolean {
  return !state.failed && state.phase === "fetching" && state.delayedUntil <= now;
}

function forgetting({ topicId, index }: Partition): ForgottenTopic {
  return { topicId, partitions: [index] };
}

/** One entry for each run of partitions of one topic. */
function fetchTopics(
  states: readonly FetchState[],
  partitionMaxBytes: number,
): readonly FetchTopic[] {
  if (states.length === 0) return NO_TOPICS;
  const topics = [fetchTopic(states, 0, partitionMaxBytes)];
  let at = topics[0]?.partitions.length ?? 0;
  while (at < states.length) {
    const topic = fetchTopic(states, at, partitionMaxBytes);
    topics.push(topic);
    at += topic.partitions.length;
  }
  return topics;
}

/** The run that begins at `from`. */
function fetchTopic(
  states: readonly FetchState[],
  from: number,
  partitionMaxBytes: number,
): FetchTopic {
  const { topicId } = (states[from] as FetchState).partition;
  let end = from + 1;
  while (end < states.length && states[end]?.partition.topicId === topicId) end++;
  const partitions = new Array<FetchPartition>(end - from);
  for (let i = from; i < end; i++) {
    const state = states[i] as FetchState;
    const { partition, currentLeaderEpoch, fetchOffset, lastFetchedEpoch } = state;
    const sent: FetchPartition = {
      partition: partition.index,
      currentLeaderEpoch,
      fetchOffset,
      lastFetchedEpoch,
      logStartOffset: partition.log.logStartOffset,
      partitionMaxBytes,
      highWatermark: -1,
    };
    partitions[i - from] = sent;
    state.sent = sent;
    state.isInSession = true;
  }
  return { topicId, partitions };
}

const NO_STATES: readonly FetchState[] = [];
const NO_TOPICS: readonly FetchTopic[] = [];

/** Which end of the leader's log is being asked for. */
interface ResetStep {
  readonly state: FetchState;
  readonly leaderEnd: Offset | undefined;
}

/** After OFFSET_OUT_OF_RANGE: asks the leader for its log's end, then its start. */
class OffsetResetter implements ResponseHandler<ListOffsetsResponse, ResetStep> {
  readonly #context: BrokerContext;
  readonly #fetcher: ReplicaFetcher;
  #leader: BrokerId = -1;

  constructor(context: BrokerContext, fetcher: ReplicaFetcher) {
    this.#context = context;
    this.#fetcher = fetcher;
  }

  begin(state: FetchState, leader: BrokerId): void {
    this.#leader = leader;
    this.#ask({ state, leaderEnd: undefined });
  }

  #ask(step: ResetStep): void {
    const address = this.#context.addressOf(this.#leader);
    if (address === undefined) {
      this.#fetcher.resetFailed(step.state, ERRORS.NETWORK_EXCEPTION);
      return;
    }
    const { partition, currentLeaderEpoch } = step.state;
    this.#context.rpc.send(
      address,
      "fetcher",
      LIST_OFFSETS,
      {
        replicaId: this.#context.brokerId,
        isolationLevel: 0,
        topics: [
          {
            name: partition.topic,
            partitions: [
              {
                partitionIndex: partition.index,
                currentLeaderEpoch,
                timestamp: step.leaderEnd === undefined ? LATEST_TIMESTAMP : EARLIEST_TIMESTAMP,
              },
            ],
          },
        ],
        timeoutMs: this.#context.configs["replica.socket.timeout.ms"],
      },
      fromMillis(this.#context.configs["replica.socket.timeout.ms"]),
      this,
      step,
    );
  }

  onResponse(response: ListOffsetsResponse, step: ResetStep): void {
    const { state, leaderEnd } = step;
    const answer = response.topics[0]?.partitions[0];
    if (answer === undefined || answer.errorCode !== 0) {
      this.#fetcher.resetFailed(state, errorOf(answer?.errorCode ?? -1));
    } else if (leaderEnd !== undefined) {
      this.#fetcher.reset(state, answer.offset, leaderEnd);
    } else if (answer.offset < state.partition.logEndOffset) {
      // The leader's log is shorter: where it starts does not matter.
      this.#fetcher.reset(state, 0, answer.offset);
    } else {
      this.#ask({ state, leaderEnd: answer.offset });
    }
  }

  onDisconnect(step: ResetStep): void {
    this.#fetcher.resetFailed(step.state, ERRORS.NETWORK_EXCEPTION);
  }
}

/**
 * An empty log is to go on within the leader's first batch, as the leader's log begins in one, or this one was cut
 * there: it begins with the batch then (Kafka's `UnexpectedAppendOffsetException`).
 */
function startWithin(log: PartitionLog, records: readonly RecordBatch[]): Offset | undefined {
  const [first] = records;
  if (first === undefined || log.logStartOffset !== log.logEndOffset) return undefined;
  const isWithin = first.baseOffset < log.logEndOffset && first.lastOffset >= log.logEndOffset;
  return isWithin && first.isValid() ? first.baseOffset : undefined;
}
