import type { Instant } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { BrokerId, LeaderEpoch, Offset } from "../../kafka/ids.ts";
import { FETCH, LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH } from "../../kafka/protocol/apis.ts";
import type {
  FetchPartition,
  FetchPartitionResponse,
  FetchResponse,
  FetchTopic,
  FetchTopicResponse,
} from "../../kafka/protocol/fetch.ts";
import type { ListOffsetsResponse } from "../../kafka/protocol/list-offsets.ts";
import { EARLIEST_TIMESTAMP, LATEST_TIMESTAMP } from "../../kafka/protocol/list-offsets.ts";
import type { OffsetForLeaderEpochResponse } from "../../kafka/protocol/offset-for-leader-epoch.ts";
import { DiskError } from "../../ports/disk.ts";
import type { TimerHandle } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";
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
  /** Fenced in its own epoch: waits for new metadata. */
  failed = false;
  /** False once it was given up, or replaced by a state of a newer epoch. */
  isFollowed = true;

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
}

/** What a request asked, to judge its answer by. */
class Asked {
  /** In the order of the request. */
  readonly states: readonly FetchState[];
  /** Of a fetch: what it named. */
  readonly topics: readonly FetchTopic[];

  constructor(states: readonly FetchState[], topics: readonly FetchTopic[]) {
    this.states = states;
    this.topics = topics;
  }
}

/**
 * Copies from one leading broker (Kafka's `ReplicaFetcherThread`): find where the histories part,
 * cut there, then fetch, one request at a time over all partitions it follows there.
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
    if (known !== undefined) known.isFollowed = false;
    this.#states.set(partition, this.#initialState(partition));
    this.#all = [...this.#states.values()];
    this.wake();
  }

  remove(partition: Partition): void {
    const known = this.#states.get(partition);
    if (known === undefined) return;
    known.isFollowed = false;
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
      const latest = state.partition.log.latestEpoch ?? -1;
      if (this.#context.rules.switches.truncation === "high-watermark" || latest < 0) {
        this.#truncate(state, state.fetchOffset, "high-watermark");
        state.phase = "fetching";
      } else if (asking === undefined) {
        asking = [state];
      } else {
        asking.push(state);
      }
    }
    return asking ?? NO_STATES;
  }

  #fetch(now: Instant): void {
    const ready = this.#ready(now);
    const address = this.#context.addressOf(this.#leader);
    if (ready.length === 0 || address === undefined) {
      const pause = ready.length === 0 ? this.#soonest() - now : this.#backoff;
      if (this.#states.size > 0) this.#sleep(Math.min(pause, this.#backoff));
      return;
    }
    this.#busy = true;
    const topics = fetchTopics(ready, this.#partitionMaxBytes);
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
        sessionId: 0,
        sessionEpoch: -1,
        topics,
      },
      this.#timeout,
      this,
      new Asked(ready, topics),
    );
  }

  /** The partitions that can be fetched now: as a rule all, and then no list is made. */
  #ready(now: Instant): readonly FetchState[] {
    for (const state of this.#all) {
      if (!isReady(state, now)) return this.#all.filter((one) => isReady(one, now));
    }
    return this.#all;
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
      new Asked(asking, []),
    );
  }

  onResponse(response: FetchResponse | OffsetForLeaderEpochResponse, asked: Asked): void {
    this.#busy = false;
    if ("responses" in response) this.#onFetched(response, asked);
    else this.#onEpochs(response, asked);
    this.wake();
  }

  onDisconnect(asked: Asked): void {
    this.#busy = false;
    for (const state of asked.states) this.#delay(state);
    this.wake();
  }

  #onFetched(response: FetchResponse, asked: Asked): void {
    const { responses } = response;
    let at = 0;
    for (let t = 0; t < responses.length; t++) {
      const { partitions } = responses[t] as FetchTopicResponse;
      const requests = asked.topics[t]?.partitions;
      for (let p = 0; p < partitions.length; p++) {
        const state = asked.states[at++];
        const request = requests?.[p];
        if (state === undefined || request === undefined) continue;
        // Only if nothing has changed since it was asked: not removed or followed anew in another
        // epoch (KAFKA-18991), not truncated meanwhile.
        if (!state.isFollowed) continue;
        if (request.fetchOffset !== state.fetchOffset || state.phase !== "fetching") continue;
        try {
          this.#take(state, partitions[p] as FetchPartitionResponse);
        } catch (problem) {
          if (!(problem instanceof DiskError)) throw problem;
          this.#context.diskFailed(state.partition);
          state.failed = true;
        }
      }
    }
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
      const result = partition.log.appendAsFollower(one.records, state.currentLeaderEpoch);
      if (result.error !== ERRORS.NONE) {
        this.#delay(state);
        return;
      }
      for (const batch of result.appended) {
        state.fetchOffset = batch.nextOffset;
        state.lastFetchedEpoch = this.#tellsEpoch() ? batch.partitionLeaderEpoch : -1;
        this.#context.facts.note({
          kind: "appended",
          broker: this.#context.brokerId,
          partition: partition.name,
          batch,
          asLeader: false,
        });
      }
    }
    partition.followHighWatermark(one.highWatermark);
    if (one.logStartOffset > partition.log.logStartOffset) {
      partition.log.advanceLogStart(Math.min(one.logStartOffset, partition.log.logEndOffset));
    }
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

  #onEpochs(response: OffsetForLeaderEpochResponse, asked: Asked): void {
    let at = 0;
    for (const topic of response.topics) {
      for (const answer of topic.partitions) {
        const state = asked.states[at++];
        if (state?.isFollowed !== true) continue;
        const error = errorOf(answer.errorCode);
        if (error === ERRORS.NONE) this.#diverge(state, answer.leaderEpoch, answer.endOffset);
        else this.#setBack(state, error);
      }
    }
  }

  /** The leader's range is known: where the follower goes on (`fetchOffsetAndTruncate`). */
  reset(state: FetchState, leaderStart: Offset, leaderEnd: Offset): void {
    state.phase = "fetching";
    if (state.isFollowed) {
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
    this.wake();
  }

  resetFailed(state: FetchState, error: ErrorCode): void {
    state.phase = "fetching";
    this.#setBack(state, error);
    this.wake();
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

/** One entry for each run of partitions of one topic: the answer comes back in the order asked. */
function fetchTopics(states: readonly FetchState[], partitionMaxBytes: number): FetchTopic[] {
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
    const { partition, currentLeaderEpoch, fetchOffset, lastFetchedEpoch } = states[
      i
    ] as FetchState;
    partitions[i - from] = {
      partition: partition.index,
      currentLeaderEpoch,
      fetchOffset,
      lastFetchedEpoch,
      logStartOffset: partition.log.logStartOffset,
      partitionMaxBytes,
      highWatermark: -1,
    };
  }
  return { topicId, partitions };
}

const NO_STATES: readonly FetchState[] = [];

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
