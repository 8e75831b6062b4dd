import type { Duration, Instant } from "../../../base/time.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../../kafka/error-code.ts";
import type { Offset } from "../../../kafka/ids.ts";
import { NO_EPOCH } from "../../../kafka/ids.ts";
import { OFFSET_COMMIT, OFFSET_FETCH } from "../../../kafka/protocol/apis.ts";
import type {
  OffsetCommitResponse,
  OffsetFetchPartitionResponse,
  OffsetFetchResponse,
} from "../../../kafka/protocol/group-offsets.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { CommitEnded } from "../../../trace/fact.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import { byTopic, findAsked } from "../asked-partition.ts";
import type { AssignedPartition } from "../assigned-partition.ts";
import type { ConsumerParts } from "../consumer-parts.ts";
import type { CommitOutcome } from "./commit-outcome.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";
import type { GroupSettings } from "./group-options.ts";
import type { MemberOffsets, Progress } from "./member-offsets.ts";
import { beginAt, progressOf } from "./member-offsets.ts";
import type { Generation, Membership } from "./membership.ts";
import { NO_GENERATION } from "./membership.ts";

/** One call of commitSync or commitAsync, or what stands for it. */
class Commit {
  readonly how: CommitEnded["how"];
  /** Of an auto commit that is tried again: without what the member has lost since. */
  progress: readonly Progress[];
  readonly ended: (outcome: CommitOutcome) => void;
  /** commitSync tries again until then. */
  readonly deadline: Instant;
  retryAt: Instant = 0;
  failures = 0;
  isInFlight = false;
  generation: Generation | undefined = undefined;

  constructor(
    how: CommitEnded["how"],
    progress: readonly Progress[],
    deadline: Instant,
    ended: (outcome: CommitOutcome) => void,
  ) {
    this.how = how;
    this.progress = progress;
    this.deadline = deadline;
    this.ended = ended;
  }
}

/** A member's offsets as the coordinator of its group keeps them (`ConsumerCoordinator`). */
export class GroupOffsets implements MemberOffsets, ResponseHandler<OffsetCommitResponse, Commit> {
  readonly #parts: ConsumerParts;
  readonly #settings: GroupSettings;
  readonly #link: CoordinatorLink;
  readonly #membership: () => Membership;
  #commits: Commit[] = [];
  #nextAutoCommit: Instant;
  /** Of the question where to begin. */
  #isAsking = false;
  #askAgainAt: Instant = 0;
  #failures = 0;

  readonly #onFetch: ResponseHandler<OffsetFetchResponse, readonly AssignedPartition[]> = {
    onResponse: (response, asked, from) => this.#fetched(response, asked, from),
    onDisconnect: (_, from) => this.#fetchBroken(from),
  };

  constructor(
    parts: ConsumerParts,
    settings: GroupSettings,
    link: CoordinatorLink,
    membership: () => Membership,
  ) {
    this.#parts = parts;
    this.#settings = settings;
    this.#link = link;
    this.#membership = membership;
    this.#nextAutoCommit = parts.world.clock.now() + settings.autoCommitInterval;
  }

  restartAutoCommit(now: Instant): void {
    this.#nextAutoCommit = now + this.#settings.autoCommitInterval;
  }

  autoCommit(now: Instant): void {
    if (!this.#settings.autoCommit) return;
    if (now < this.#nextAutoCommit) {
      this.#parts.wakeUp.noLaterThan(this.#nextAutoCommit, now);
      return;
    }
    // Behind one that is under way it could come to count later, and be of less (`AutoCommitState.hasInflightCommit`).
    if (this.#commits.some(({ how }) => how === "auto")) return;
    this.restartAutoCommit(now);
    this.commit("auto", 0, (outcome) => {
      if (outcome === "again") this.#nextAutoCommit = this.#parts.world.clock.now() + this.#soon;
    });
  }

  /** A commit that is not tried again waits at most until the coordinator is found. */
  commit(
    how: CommitEnded["how"],
    patience: Duration,
    ended: (outcome: CommitOutcome) => void,
  ): void {
    const now = this.#parts.world.clock.now();
    const progress = progressOf(this.#parts.assigned);
    if (progress.length === 0) {
      ended("done");
      return;
    }
    this.#commits.push(new Commit(how, progress, now + patience, ended));
    this.run(now);
  }

  commitBelow(partition: AssignedPartition, offset: Offset): void {
    const now = this.#parts.world.clock.now();
    // Applications that name an offset do not know its leader epoch.
    const progress = [{ partition, offset, leaderEpoch: NO_EPOCH }];
    this.#commits.push(new Commit("async", progress, now, () => undefined));
    this.run(now);
  }

  run(now: Instant): void {
    for (const commit of [...this.#commits]) {
      if (commit.isInFlight) continue;
      if (commit.retryAt > now) this.#parts.wakeUp.noLaterThan(commit.retryAt, now);
      else if (this.#link.ready(now)) this.#send(commit);
    }
  }

  findBeginnings(now: Instant): void {
    const waiting = this.#parts.assigned.filter((partition) => partition.awaitsCommitted);
    if (waiting.length === 0 || this.#isAsking) return;
    if (this.#askAgainAt > now) {
      this.#parts.wakeUp.noLaterThan(this.#askAgainAt, now);
      return;
    }
    if (!this.#link.ready(now)) return;
    this.#isAsking = true;
    const topics = byTopic(waiting).map(([, partitions]) => ({
      topicId: (partitions[0] as AssignedPartition).topic.topicId,
      partitionIndexes: partitions.map(({ partition }) => partition),
    }));
    const { groupId } = this.#settings;
    const group = { groupId, ...this.#membership().reader, topics };
    const { requestTimeout } = this.#parts.settings;
    const body = { groups: [group], requireStable: true };
    this.#link.send(OFFSET_FETCH, body, requestTimeout, this.#onFetch, waiting);
  }

  get #soon(): Duration {
    return this.#parts.settings.retryBackoff;
  }

  // Commits.

  #send(commit: Commit): void {
    const generation = this.#membership().committer;
    if (typeof generation === "string") {
      this.#end(commit, generation, generation === "rebalance" ? REBALANCING : LOST);
      return;
    }
    if (commit.how === "auto" && commit.failures > 0) {
      const { assigned } = this.#parts;
      commit.progress = commit.progress.filter(
        ({ partition, offset }) => assigned.includes(partition) && isBehind(partition, offset),
      );
      if (commit.progress.length === 0) {
        this.#end(commit, "done", NONE);
        return;
      }
    }
    commit.isInFlight = true;
    commit.generation = generation;
    const topics = byTopic(commit.progress.map(({ partition }) => partition)).map(
      ([, partitions]) => ({
        topicId: (partitions[0] as AssignedPartition).topic.topicId,
        partitions: partitions.map((partition) => {
          const progress = commit.progress.find((one) => one.partition === partition);
          return {
            partitionIndex: partition.partition,
            committedOffset: progress?.offset ?? -1,
            committedLeaderEpoch: progress?.leaderEpoch ?? NO_EPOCH,
            committedMetadata: "",
          };
        }),
      }),
    );
    const { groupId, instanceId } = this.#settings;
    const body = {
      groupId,
      generationIdOrMemberEpoch: generation.id,
      memberId: generation.memberId,
      groupInstanceId: instanceId,
      topics,
    };
    const { requestTimeout } = this.#parts.settings;
    this.#link.send(OFFSET_COMMIT, body, requestTimeout, this, commit);
  }

  onResponse({ topics }: OffsetCommitResponse, commit: Commit, from: NodeAddress): void {
    for (const { topicId, partitions } of topics) {
      for (const { partitionIndex, errorCode } of partitions) {
        if (errorCode === 0) continue;
        const asked = commit.progress.map(({ partition }) => partition);
        const partition = asked.find(
          (one) => one.partition === partitionIndex && one.topic.topicId === topicId,
        );
        this.#refused(commit, errorOf(errorCode), partition, from);
        return;
      }
    }
    this.#end(commit, "done", NONE);
  }

  onDisconnect(commit: Commit, from: NodeAddress): void {
    this.#link.disconnected(from, this.#parts.world.clock.now());
    this.#failed(commit, ERRORS.NETWORK_EXCEPTION, from, undefined, "again");
  }

  /** The first error of an answer decides. */
  #refused(
    commit: Commit,
    error: ErrorCode,
    partition: AssignedPartition | undefined,
    from: NodeAddress,
  ): void {
    const as = commit.generation ?? NO_GENERATION;
    const isAwaited = commit.how === "auto" && commit.deadline > this.#parts.world.clock.now();
    if (COORDINATOR_GONE.has(error)) this.#link.markUnknown();
    const outcome = this.#membership().commitRefused(error, as, isAwaited);
    if (outcome !== "fenced") {
      this.#failed(commit, error, from, partition, outcome);
      return;
    }
    this.#end(commit, "refused", error.name);
    this.#parts.die(`another has group.instance.id ${this.#settings.instanceId}`);
  }

  #failed(
    commit: Commit,
    error: ErrorCode,
    from: NodeAddress,
    partition: AssignedPartition | undefined,
    outcome: CommitOutcome,
  ): void {
    const { metadata, world } = this.#parts;
    const now = world.clock.now();
    const isRetried = outcome === "again" && now < commit.deadline;
    const broker = metadata.brokerAt(from);
    this.#parts.noteFailure(OFFSET_COMMIT.name, broker, partition?.name ?? "", error, isRetried);
    commit.isInFlight = false;
    if (!isRetried) {
      this.#end(commit, outcome, error.name);
      return;
    }
    commit.retryAt = now + this.#parts.backoff(commit.failures);
    commit.failures++;
    this.#parts.wakeUp.noLaterThan(commit.retryAt, now);
  }

  #end(commit: Commit, outcome: CommitOutcome, error: string): void {
    this.#commits = this.#commits.filter((one) => one !== commit);
    const generation = commit.generation ?? this.#membership().generation;
    this.#parts.world.facts.note({
      kind: "commit-ended",
      client: this.#parts.client,
      group: this.#settings.groupId,
      member: generation.memberId,
      generation: generation.id,
      how: commit.how,
      offsets: commit.progress.map(({ partition: { name }, offset }) => ({
        partition: name,
        offset,
      })),
      outcome: outcome === "done" ? "committed" : IN_DOUBT.has(error) ? "unknown" : "failed",
      error,
    });
    commit.ended(outcome);
  }

  // Where to begin.

  #fetched(
    response: OffsetFetchResponse,
    asked: readonly AssignedPartition[],
    from: NodeAddress,
  ): void {
    this.#isAsking = false;
    const group = response.groups[0];
    const groupError = errorOf(group?.errorCode ?? ERRORS.UNKNOWN_SERVER_ERROR.code);
    if (group === undefined || groupError !== ERRORS.NONE) {
      if (COORDINATOR_GONE.has(groupError)) this.#link.markUnknown();
      this.#fetchFailed(groupError, from, undefined);
      return;
    }
    for (const { topicId, partitions } of group.topics) {
      const topic = asked.find((one) => one.topic.topicId === topicId)?.topic.name ?? "";
      for (const answer of partitions) {
        const partition = findAsked(asked, topic, answer.partitionIndex);
        if (partition === undefined || !this.#parts.assigned.includes(partition)) continue;
        if (!partition.awaitsCommitted) continue;
        const error = errorOf(answer.errorCode);
        if (error === ERRORS.NONE) this.#begin(partition, answer);
        else this.#fetchFailed(error, from, partition);
      }
    }
    this.#parts.isChanged = true;
  }

  #begin(partition: AssignedPartition, answer: OffsetFetchPartitionResponse): void {
    this.#failures = 0;
    beginAt(this.#parts, partition, answer.committedOffset, answer.committedLeaderEpoch);
  }

  #fetchBroken(from: NodeAddress): void {
    this.#isAsking = false;
    this.#link.disconnected(from, this.#parts.world.clock.now());
    this.#fetchFailed(ERRORS.NETWORK_EXCEPTION, from, undefined);
  }

  #fetchFailed(
    error: ErrorCode,
    from: NodeAddress,
    partition: AssignedPartition | undefined,
  ): void {
    const { metadata, world } = this.#parts;
    const now = world.clock.now();
    const name = partition?.name ?? "";
    const broker = metadata.brokerAt(from);
    // Simplified: who asked as a member that it is not any more asks again once it is in the group.
    const isRetried = error.retriable || NO_MEMBER.has(error);
    this.#parts.noteFailure(OFFSET_FETCH.name, broker, name, error, isRetried);
    if (!isRetried) {
      this.#parts.die(`where to begin cannot be told: ${error.name}`);
      return;
    }
    this.#askAgainAt = now + this.#parts.backoff(this.#failures);
    this.#failures++;
    this.#parts.wakeUp.noLaterThan(this.#askAgainAt, now);
  }
}

/** Has the member come at least so far? Not if it has begun anew meanwhile, where another had come to. */
function isBehind({ awaitsCommitted, position }: AssignedPartition, offset: Offset): boolean {
  return !awaitsCommitted && position.state !== "await-reset" && position.offset >= offset;
}

const COORDINATOR_GONE: ReadonlySet<ErrorCode> = new Set([
  ERRORS.NOT_COORDINATOR,
  ERRORS.COORDINATOR_NOT_AVAILABLE,
  ERRORS.REQUEST_TIMED_OUT,
]);

const NO_MEMBER: ReadonlySet<ErrorCode> = new Set([
  ERRORS.STALE_MEMBER_EPOCH,
  ERRORS.UNKNOWN_MEMBER_ID,
]);

/** With these the offsets may be in the log nevertheless. */
const IN_DOUBT: ReadonlySet<string> = new Set([
  ERRORS.NETWORK_EXCEPTION.name,
  ERRORS.NOT_COORDINATOR.name,
  ERRORS.COORDINATOR_NOT_AVAILABLE.name,
  ERRORS.REQUEST_TIMED_OUT.name,
]);

const NONE = ERRORS.NONE.name;
/** Kafka's exceptions for commits that are not sent at all. */
const REBALANCING = "RebalanceInProgressException";
const LOST = "CommitFailedException";
