import type { Instant } from "../../base/time.ts";
import { deletesOldSegments, isCompacted } from "../../kafka/config/topic-configs.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type {
  BrokerEpoch,
  BrokerId,
  LeaderEpoch,
  Offset,
  PartitionEpoch,
  PartitionName,
  TopicId,
} from "../../kafka/ids.ts";
import { NO_EPOCH, NO_LEADER, partitionName } from "../../kafka/ids.ts";
import type { PartitionRegistration } from "../../kafka/metadata/partition-registration.ts";
import { UP_TO_HIGH_WATERMARK } from "../../kafka/protocol/delete-records.ts";
import type { FetchPartition } from "../../kafka/protocol/fetch.ts";
import type { LeaderIdAndEpoch } from "../../kafka/protocol/produce.ts";
import type { CommittedIsr, IsrState } from "../../kafka/replication/isr-state.ts";
import { committedIsr } from "../../kafka/replication/isr-state.ts";
import { ReplicaProgress } from "../../kafka/replication/replica-progress.ts";
import type { LeaderReplica } from "../../kafka/replication/replication-rules.ts";
import type { Uuid } from "../../kafka/uuid.ts";
import type { PartitionLog } from "../../storage/partition-log.ts";
import type { BrokerContext } from "./broker-context.ts";
import type { DelayedDeleteRecords } from "./delayed-delete-records.ts";
import type { AwaitsReplication } from "./delayed-produce.ts";
import type { SessionPartition } from "./fetch-session.ts";
import { WaitList } from "./wait-list.ts";

/** One replica of one partition on this broker: its log, and its role (Kafka's `Partition`). */
export class Partition implements LeaderReplica {
  readonly topic: string;
  readonly index: number;
  readonly topicId: TopicId;
  readonly name: PartitionName;
  readonly log: PartitionLog;
  readonly #context: BrokerContext;
  /** Did a transaction keep the last stable offset below the high watermark? Where it was when it was told last. */
  #isHeldBack = false;
  #notedStableOffset: Offset = -1;
  role: "none" | "leader" | "follower" = "none";
  leaderId: BrokerId = NO_LEADER;
  leaderEpoch: LeaderEpoch = NO_EPOCH;
  partitionEpoch: PartitionEpoch = NO_EPOCH;
  replicas: readonly BrokerId[] = [];
  highWatermark: Offset;
  // While leading:
  isr: IsrState = committedIsr([]);
  remotes: readonly ReplicaProgress[] = [];
  epochStartOffset: Offset = -1;
  effectiveMinIsr = 1;
  /** The log directory failed: nothing can be done with this replica any more. */
  offline = false;
  /** The log directory that the metadata have for this replica; undefined if they were not read yet. */
  assignedDirectory: Uuid | undefined = undefined;
  /** Requests that wait for this partition, oldest first. */
  readonly produces = new WaitList<AwaitsReplication>();
  readonly deletions = new WaitList<DelayedDeleteRecords>();
  readonly fetches = new WaitList<SessionPartition>();

  constructor(
    context: BrokerContext,
    topic: string,
    index: number,
    topicId: TopicId,
    log: PartitionLog,
    highWatermark: Offset,
  ) {
    this.#context = context;
    this.topic = topic;
    this.index = index;
    this.topicId = topicId;
    this.name = partitionName(topic, index);
    this.log = log;
    this.highWatermark = highWatermark;
    log.replicatedTo(highWatermark);
  }

  get brokerId(): BrokerId {
    return this.#context.brokerId;
  }

  get logEndOffset(): Offset {
    return this.log.logEndOffset;
  }

  /** Up to here readers of committed records may read: no transaction below is undecided. */
  get lastStableOffset(): Offset {
    return this.log.lastStableOffset(this.highWatermark);
  }

  get isLeader(): boolean {
    return this.role === "leader";
  }

  get leader(): LeaderIdAndEpoch {
    return { leaderId: this.leaderId, leaderEpoch: this.leaderEpoch };
  }

  /** Takes the leader's role; true if it was not the leader before (`Partition.makeLeader`). */
  makeLeader(registration: PartitionRegistration, minInsyncReplicas: number): boolean {
    if (registration.partitionEpoch < this.partitionEpoch) return false;
    const isNewLeader = this.role !== "leader";
    const isNewEpoch = registration.leaderEpoch > this.leaderEpoch;
    this.#updateAssignment(registration, minInsyncReplicas);
    this.role = "leader";
    this.leaderId = this.brokerId;
    this.partitionEpoch = registration.partitionEpoch;
    if (isNewEpoch) this.isr = committedIsr(registration.isr);
    else this.adoptIsr(committedIsr(registration.isr), "metadata");
    if (isNewEpoch) {
      const start = this.log.logEndOffset;
      this.log.assignEpochStart(registration.leaderEpoch, start);
      const now = this.#context.now();
      for (const replica of this.remotes) {
        replica.reset(now, start, isNewLeader, registration.isr.includes(replica.brokerId));
      }
      this.leaderEpoch = registration.leaderEpoch;
      this.epochStartOffset = start;
      if (this.#context.isServing) this.noteLeading();
    }
    // The ISR may be down to this broker alone.
    this.maybeAdvanceHighWatermark(this.#context.now());
    this.completeDelayed();
    return isNewLeader;
  }

  /** A leader goes by this ISR from now on: nothing it proposed is on its way any more. */
  adoptIsr(isr: CommittedIsr, by: "answer" | "refusal" | "metadata"): void {
    const before = this.isr;
    this.isr = isr;
    const { length } = isr.isr;
    const isSame =
      before.kind === "committed" &&
      before.isr.length === length &&
      before.isr.every((id) => isr.isr.includes(id));
    if (isSame || !this.#context.isServing) return;
    this.#context.facts.note({
      kind: "isr-adopted",
      broker: this.brokerId,
      partition: this.name,
      isr: isr.isr,
      by,
      leaderEpoch: this.leaderEpoch,
      partitionEpoch: this.partitionEpoch,
    });
  }

  /** Whoever asks for the partition's leader finds it here, from now on. */
  noteLeading(): void {
    this.#context.facts.note({
      kind: "became-leader",
      broker: this.brokerId,
      partition: this.name,
      leaderEpoch: this.leaderEpoch,
      partitionEpoch: this.partitionEpoch,
      logEndOffset: this.log.logEndOffset,
      highWatermark: this.highWatermark,
      isr: this.isr.isr,
    });
  }

  /** Takes the follower's role; true if the leader epoch is newer, so that fetching starts anew. */
  makeFollower(registration: PartitionRegistration, minInsyncReplicas: number): boolean {
    if (registration.partitionEpoch < this.partitionEpoch) return false;
    const isNewEpoch = registration.leaderEpoch > this.leaderEpoch;
    this.#updateAssignment(registration, minInsyncReplicas);
    this.isr = committedIsr(registration.isr);
    this.role = "follower";
    this.leaderId = registration.leader;
    this.leaderEpoch = registration.leaderEpoch;
    this.partitionEpoch = registration.partitionEpoch;
    this.epochStartOffset = -1;
    if (isNewEpoch) {
      this.#context.facts.note({
        kind: "became-follower",
        broker: this.brokerId,
        partition: this.name,
        leader: registration.leader,
        leaderEpoch: registration.leaderEpoch,
        logEndOffset: this.log.logEndOffset,
      });
    }
    this.completeDelayed();
    return isNewEpoch;
  }

  #updateAssignment(registration: PartitionRegistration, minInsyncReplicas: number): void {
    this.replicas = registration.replicas;
    this.effectiveMinIsr = Math.min(minInsyncReplicas, registration.replicas.length);
    const known = this.remotes;
    this.remotes = registration.replicas
      .filter((id) => id !== this.brokerId)
      .map((id) => known.find((one) => one.brokerId === id) ?? new ReplicaProgress(id));
  }

  setMinInsyncReplicas(minInsyncReplicas: number): void {
    this.effectiveMinIsr = Math.min(minInsyncReplicas, Math.max(1, this.replicas.length));
  }

  /** The check of every request that names a leader epoch (`Partition.checkCurrentLeaderEpoch`). */
  checkEpoch(requested: LeaderEpoch): ErrorCode {
    if (requested === NO_EPOCH || !this.#context.rules.switches["fetch.epoch-fencing"]) {
      return ERRORS.NONE;
    }
    if (requested < this.leaderEpoch) return ERRORS.FENCED_LEADER_EPOCH;
    if (requested > this.leaderEpoch) return ERRORS.UNKNOWN_LEADER_EPOCH;
    return ERRORS.NONE;
  }

  /** Errors of a request that only the leader serves: epoch first, then leadership. */
  checkLeader(requestedEpoch: LeaderEpoch): ErrorCode {
    if (this.offline) return ERRORS.KAFKA_STORAGE_ERROR;
    const epoch = this.checkEpoch(requestedEpoch);
    if (epoch !== ERRORS.NONE) return epoch;
    return this.isLeader ? ERRORS.NONE : ERRORS.NOT_LEADER_OR_FOLLOWER;
  }

  /** Would `checkLeader` find nothing wrong? */
  servesEpoch(requestedEpoch: LeaderEpoch): boolean {
    if (this.isLeader && !this.offline && requestedEpoch === this.leaderEpoch) return true;
    return this.checkLeader(requestedEpoch) === ERRORS.NONE;
  }

  remote(id: BrokerId): ReplicaProgress | undefined {
    for (const replica of this.remotes) if (replica.brokerId === id) return replica;
    return undefined;
  }

  /** `Partition.isReplicaIsrEligible` (KIP-841, KIP-903). */
  isEligibleForIsr(replica: ReplicaProgress): boolean {
    const registration = this.#context.image.brokers.get(replica.brokerId);
    if (registration === undefined || registration.fenced) return false;
    if (registration.inControlledShutdown) return false;
    const stored = replica.brokerEpoch;
    return stored !== undefined && (stored === -1 || stored === registration.brokerEpoch);
  }

  /**
   * A follower's fetch was read; `leaderEnd` is where the log ended before the read
   * (`Partition.updateFollowerFetchState`).
   */
  followerFetched(
    replica: ReplicaProgress,
    fetch: FetchPartition,
    leaderEnd: Offset,
    brokerEpoch: BrokerEpoch,
    now: Instant,
  ): ErrorCode {
    // The fetch of an earlier life of a live broker must not move its state (KIP-903).
    const registered = this.#context.image.brokers.get(replica.brokerId);
    if (registered !== undefined && !registered.fenced) {
      if (brokerEpoch !== -1 && registered.brokerEpoch > brokerEpoch) {
        return ERRORS.NOT_LEADER_OR_FOLLOWER;
      }
    }
    const before = replica.logEndOffset;
    const startBefore = replica.logStartOffset;
    replica.fetched(fetch.fetchOffset, fetch.logStartOffset, now, leaderEnd, brokerEpoch);
    if (this.isr.isr.length <= this.remotes.length) {
      if (this.#context.rules.canJoinIsr(this, replica)) {
        this.#context.isrChannel.proposeExpand(this, replica.brokerId);
      }
    }
    if (before !== replica.logEndOffset && this.maybeAdvanceHighWatermark(now)) {
      this.completeDelayed();
    } else if (startBefore !== replica.logStartOffset) {
      this.deletions.completeAll();
    }
    return ERRORS.NONE;
  }

  /** True if the high watermark rose. */
  maybeAdvanceHighWatermark(now: Instant): boolean {
    const next = this.#context.rules.leaderHighWatermark(this, now, this.#context.maxLag);
    if (next <= this.highWatermark) return false;
    this.#setHighWatermark(next);
    return true;
  }

  /** A follower takes over what the leader told, which may be lower than what it had. */
  followHighWatermark(fromLeader: Offset): void {
    const { logStartOffset, logEndOffset } = this.log;
    const next = Math.min(Math.max(fromLeader, logStartOffset), logEndOffset);
    if (next === this.highWatermark) return;
    this.#setHighWatermark(next);
  }

  #setHighWatermark(next: Offset): void {
    this.highWatermark = next;
    this.log.replicatedTo(next);
    this.#context.facts.note({
      kind: "high-watermark-moved",
      broker: this.brokerId,
      partition: this.name,
      highWatermark: next,
      leaderEpoch: this.leaderEpoch,
      asLeader: this.role === "leader",
    });
    const { lastStableOffset } = this;
    if (lastStableOffset < next || this.#isHeldBack) this.#noteLastStable(lastStableOffset, next);
  }

  /** Only a leader's counts, and only while transactions keep it back, or did before. */
  #noteLastStable(lastStableOffset: Offset, highWatermark: Offset): void {
    this.#isHeldBack = lastStableOffset < highWatermark;
    if (this.role !== "leader" || lastStableOffset === this.#notedStableOffset) return;
    this.#notedStableOffset = lastStableOffset;
    this.#context.facts.note({
      kind: "last-stable-offset-moved",
      broker: this.brokerId,
      partition: this.name,
      lastStableOffset,
      leaderEpoch: this.leaderEpoch,
    });
  }

  /** Cuts a follower's log; the high watermark is clamped to the new end. */
  truncateTo(offset: Offset, reason: string): void {
    const { logStartOffset: start, logEndOffset: end } = this.log;
    if (!this.log.truncateTo(offset)) return;
    this.#truncated(start, end, reason);
  }

  /** Wipes a follower's log, which then begins at `offset`. */
  truncateFully(offset: Offset, reason: string): void {
    const { logStartOffset: start, logEndOffset: end } = this.log;
    this.log.truncateFullyAndStartAt(offset);
    this.#truncated(start, end, reason);
    if (this.highWatermark < offset) this.#setHighWatermark(offset);
  }

  #truncated(start: Offset, end: Offset, reason: string): void {
    const { logStartOffset, logEndOffset: to } = this.log;
    if (to < end) {
      this.#context.facts.note({
        kind: "truncated",
        broker: this.brokerId,
        partition: this.name,
        from: end,
        to,
        reason,
      });
    }
    if (logStartOffset !== start) this.#noteLogStart(start, logStartOffset, "fully-truncated");
    if (this.highWatermark > to) this.#setHighWatermark(to);
    else this.log.replicatedTo(this.highWatermark);
  }

  /** Lets old segments go, as the topic's configs say. Can throw `DiskError`. */
  deleteOldSegments(): void {
    for (const { from, to, reason } of this.log.deleteOldSegments(this.highWatermark)) {
      this.#noteLogStart(from, to, reason);
    }
  }

  /**
   * Lets the records below an offset go, which must not lie above the high watermark
   * (`UnifiedLog.maybeIncrementLogStartOffset`).
   */
  advanceLogStart(offset: Offset, reason: "delete-records" | "leader"): void {
    const from = this.log.logStartOffset;
    if (offset <= from) return;
    this.log.advanceLogStart(offset);
    this.#noteLogStart(from, offset, reason);
  }

  /**
   * A client asks the leader to let go what is below an offset, or below the high watermark
   * (`Partition.deleteRecordsOnLeader`). Returns the offset, or why not. Can throw `DiskError`.
   */
  deleteRecords(before: Offset): Offset | ErrorCode {
    if (this.offline) return ERRORS.KAFKA_STORAGE_ERROR;
    if (!this.isLeader) return ERRORS.NOT_LEADER_OR_FOLLOWER;
    const { config } = this.log;
    if (isCompacted(config) && !deletesOldSegments(config)) return ERRORS.POLICY_VIOLATION;
    const offset = before === UP_TO_HIGH_WATERMARK ? this.highWatermark : before;
    if (offset < 0 || offset > this.highWatermark) return ERRORS.OFFSET_OUT_OF_RANGE;
    this.advanceLogStart(offset, "delete-records");
    return offset;
  }

  /** Where the first of the logs of all live replicas begins, as far as a leader knows. */
  lowWatermark(): Offset {
    let lowest = this.log.logStartOffset;
    for (const { brokerId, logStartOffset } of this.remotes) {
      if (logStartOffset < lowest && this.#isAlive(brokerId)) lowest = logStartOffset;
    }
    return lowest;
  }

  #isAlive(brokerId: BrokerId): boolean {
    return this.#context.image.brokers.get(brokerId)?.fenced === false;
  }

  #noteLogStart(from: Offset, to: Offset, reason: string): void {
    this.#context.facts.note({
      kind: "log-start-moved",
      broker: this.brokerId,
      partition: this.name,
      from,
      to,
      reason,
    });
  }

  /** Members of the ISR that have fallen behind. */
  laggards(now: Instant): BrokerId[] {
    if (!this.isLeader || this.offline || this.isr.kind !== "committed") return [];
    const { isr } = this.isr;
    return this.remotes
      .filter(
        (replica) =>
          isr.includes(replica.brokerId) &&
          this.#context.rules.mustLeaveIsr(this, replica, now, this.#context.maxLag),
      )
      .map((replica) => replica.brokerId);
  }

  /** Something that requests may wait for has changed: role, epoch, high watermark. */
  completeDelayed(): void {
    this.produces.completeAll();
    this.completeFetches();
    this.deletions.completeAll();
  }

  /** The log has grown, so that parked fetches may have enough. */
  completeFetches(): void {
    this.fetches.completeAll();
  }
}
