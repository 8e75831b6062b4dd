import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { Offset, TopicId } from "../ids.ts";
import type { MetadataImage } from "../metadata/image.ts";
import type { ConsumerGroupHeartbeatRequest } from "../protocol/consumer-group-heartbeat.ts";
import type {
  HeartbeatRequest,
  JoinGroupRequest,
  LeaveGroupRequest,
  LeaveGroupResponse,
  SyncGroupRequest,
} from "../protocol/group-membership.ts";
import type { OffsetCommitPartition } from "../protocol/group-offsets.ts";
import type { WordSource } from "../uuid.ts";
import { randomUuid } from "../uuid.ts";
import { ClassicGroup } from "./classic-group.ts";
import type { ClassicProtocolOptions, Requester } from "./classic-protocol.ts";
import { ClassicProtocol, refuseJoin, refuseSync } from "./classic-protocol.ts";
import { answerJoin, answerSync, refusedJoin } from "./classic-rebalance.ts";
import type { ConsumerGroupRecord, OffsetCommitter } from "./consumer-group.ts";
import { ConsumerGroup } from "./consumer-group.ts";
import type { HeartbeatOutcome } from "./consumer-heartbeats.ts";
import { ConsumerHeartbeats } from "./consumer-heartbeats.ts";
import type { ConsumerProtocolOptions } from "./consumer-rebalance.ts";
import { ConsumerRebalance } from "./consumer-rebalance.ts";
import type { Downgraded, GroupEffects, GroupTimer, WhenCommitted } from "./group-effects.ts";
import type { GroupEpochRecord, GroupRecord } from "./group-record.ts";
import { newMemberId } from "./member-id.ts";
import { MixedGroupProtocol } from "./mixed-group-protocol.ts";
import type { EndedOffsets } from "./offset-book.ts";
import { OffsetBook } from "./offset-book.ts";
import { expireOffsets } from "./offset-expiry.ts";
import { upgrade } from "./online-upgrade.ts";

export type Group = ClassicGroup | ConsumerGroup;

export interface GroupsOptions extends ClassicProtocolOptions {
  readonly consumer: ConsumerProtocolOptions;
  /** The topics as they are: read it, never change it. */
  readonly image: MetadataImage;
  /** `offset.metadata.max.bytes` */
  readonly maxOffsetMetadata: number;
  /** `offsets.retention.minutes`, in milliseconds. */
  readonly offsetsRetentionMs: number;
}

export interface Committer extends OffsetCommitter {
  readonly groupId: string;
}

/** Offsets to be committed, of a topic that exists. */
export interface CommittedTopic {
  readonly topic: string;
  readonly topicId: TopicId;
  readonly partitions: readonly OffsetCommitPartition[];
}

/**
 * All groups that one partition of `__consumer_offsets` keeps, with their offsets (Kafka's `GroupCoordinatorShard`).
 * What has to be done besides, it leaves in the effects: see `GroupEffects`.
 */
export class Groups {
  readonly offsets: OffsetBook = new OffsetBook();
  readonly #groups = new Map<string, Group>();
  readonly #options: GroupsOptions;
  readonly #classic: ClassicProtocol;
  readonly #rebalance: ConsumerRebalance;
  readonly #heartbeats: ConsumerHeartbeats;
  readonly #mixed: MixedGroupProtocol;
  /** Of KIP-848 groups: the state that was told last. */
  readonly #toldStates = new Map<string, string>();

  constructor(options: GroupsOptions) {
    this.#options = options;
    this.#classic = new ClassicProtocol(options);
    const { consumer, image, maxSize: classicMaxSize } = options;
    this.#rebalance = new ConsumerRebalance({ ...consumer, classicMaxSize, image });
    this.#heartbeats = new ConsumerHeartbeats(this.#rebalance);
    this.#mixed = new MixedGroupProtocol(this.#rebalance);
  }

  get(groupId: string): Group | undefined {
    return this.#groups.get(groupId);
  }

  #classicGroup(groupId: string): ClassicGroup | undefined {
    const group = this.#groups.get(groupId);
    return group?.kind === "classic" ? group : undefined;
  }

  // The classic protocol.

  join(body: JoinGroupRequest, from: Requester, random: WordSource, effects: GroupEffects): void {
    const { groupId, memberId, groupInstanceId } = body;
    const other = this.#groups.get(groupId);
    if (other?.kind === "consumer" && !other.isEmpty) {
      effects.replays = true;
      this.#mixed.join(other, body, from, () => randomUuid(random), effects);
      return;
    }
    if (other?.kind === "consumer") this.#drop(other, effects);
    const known = this.#classicGroup(groupId);
    if (known === undefined && memberId !== "") {
      refuseJoin(from, memberId, ERRORS.UNKNOWN_MEMBER_ID, effects);
      return;
    }
    const group = known ?? this.#create(groupId, effects);
    const draw = (): string => newMemberId(from.clientId, groupInstanceId, random);
    this.#classic.join(group, body, from, draw, effects);
    if (known !== undefined || effects.whenCommitted !== undefined) return;
    // That there is such a group is worth a record.
    effects.records.push(group.emptyRecord());
    effects.whenCommitted = { kind: "new-group", group: groupId, request: from.request };
  }

  /** A KIP-848 group without members makes way for a classic one. */
  #drop(group: ConsumerGroup, effects: GroupEffects): void {
    effects.records.push(...group.tombstones());
    this.#groups.delete(group.groupId);
    this.#toldStates.delete(group.groupId);
  }

  #create(groupId: string, effects: GroupEffects): ClassicGroup {
    const group = new ClassicGroup(groupId, effects.nowMs);
    this.#groups.set(groupId, group);
    return group;
  }

  sync(body: SyncGroupRequest, from: Requester, effects: GroupEffects): void {
    const group = this.#groups.get(body.groupId);
    if (group === undefined || group.isEmpty) refuseSync(from, ERRORS.UNKNOWN_MEMBER_ID, effects);
    else if (group.kind === "classic") this.#classic.sync(group, body, from, effects);
    else this.#mixed.sync(group, body, from, effects);
  }

  heartbeat(body: HeartbeatRequest, effects: GroupEffects): ErrorCode {
    const group = this.#groups.get(body.groupId);
    if (group === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
    return group.kind === "classic"
      ? this.#classic.heartbeat(group, body, effects)
      : this.#mixed.heartbeat(group, body, effects);
  }

  leave(body: LeaveGroupRequest, effects: GroupEffects): LeaveGroupResponse {
    const group = this.#groups.get(body.groupId);
    if (group?.kind === "classic") return this.#classic.leave(group, body, effects);
    if (group?.kind === "consumer") {
      effects.replays = true;
      return this.#mixed.leave(group, body, effects);
    }
    const { code: errorCode } = ERRORS.UNKNOWN_MEMBER_ID;
    const members = body.members.map(({ memberId, groupInstanceId }) => {
      return { memberId, groupInstanceId, errorCode };
    });
    return { throttleTimeMs: 0, errorCode: 0, members };
  }

  // The protocol of KIP-848.

  consumerHeartbeat(
    body: ConsumerGroupHeartbeatRequest,
    from: Requester,
    effects: GroupEffects,
  ): HeartbeatOutcome {
    const error = this.#heartbeats.check(body);
    if (error !== ERRORS.NONE) return error;
    effects.replays = true;
    const { groupId, memberEpoch } = body;
    if (memberEpoch < 0) {
      const known = this.#groups.get(groupId);
      if (known?.kind !== "consumer") return ERRORS.GROUP_ID_NOT_FOUND;
      return this.#heartbeats.leave(known, body, effects);
    }
    const group = this.#consumerGroup(groupId, memberEpoch === 0, effects);
    const outcome =
      "groupId" in group ? this.#heartbeats.heartbeat(group, body, from, effects) : group;
    if (!("memberEpoch" in outcome)) {
      // Whom an upgrade that comes to nothing has told to join again, has been told so.
      effects.records.length = 0;
      effects.notes.length = 0;
    }
    return outcome;
  }

  /** The group, or one that the records to come bring into being; or why it cannot be had. */
  #consumerGroup(
    groupId: string,
    mayCreate: boolean,
    effects: GroupEffects,
  ): ConsumerGroup | ErrorCode {
    const known = this.#groups.get(groupId);
    if (known?.kind === "consumer") return known;
    if (!mayCreate) return ERRORS.GROUP_ID_NOT_FOUND;
    if (known === undefined) return new ConsumerGroup(groupId);
    const { consumer, image } = this.#options;
    if (!known.isEmpty) return upgrade(known, consumer, image, effects);
    effects.records.push({ type: "GroupMetadata", group: groupId, value: undefined });
    return new ConsumerGroup(groupId);
  }

  /** The records of a step are replayed: what they have made of groups goes on, and is told. */
  replayed(effects: GroupEffects): void {
    if (effects.downgraded !== undefined) this.#downgraded(effects.downgraded, effects);
    this.#noteStates(effects);
  }

  /** A group of KIP-848 is a classic one now; with all that its members said, of which the record has but a part. */
  #downgraded({ from, group, rebalance: reason }: Downgraded, effects: GroupEffects): void {
    const { groupId, generation, state: to } = group;
    const { rebalance } = this.#classic;
    this.#groups.set(groupId, group);
    for (const member of group.members.values()) rebalance.heard(group, member, effects);
    if (reason !== undefined) rebalance.prepare(group, reason, effects);
    else if (from !== to) {
      const why = "a static member is back by the classic protocol";
      const kind = "group-state-changed";
      effects.notes.push({ kind, group: groupId, from, to, generation, reason: why });
    }
  }

  #noteStates(effects: GroupEffects): void {
    const touched = new Set(effects.records.map(({ group }) => group));
    for (const groupId of touched) {
      const group = this.#groups.get(groupId);
      if (group?.kind !== "consumer") continue;
      const from = this.#toldStates.get(groupId) ?? effects.upgradedFrom ?? "";
      const { state: to, epoch: generation } = group;
      if (to === from) continue;
      this.#toldStates.set(groupId, to);
      const reason = `target epoch ${group.targetEpoch}`;
      const kind = "group-state-changed";
      effects.notes.push({ kind, group: groupId, from, to, generation, reason });
    }
  }

  /** A timer has come due that effects have started. */
  onTimer(timer: GroupTimer, effects: GroupEffects): void {
    const group = this.#groups.get(timer.group);
    if (group?.kind === "classic") this.#onClassicTimer(group, timer, effects);
    else if (group?.kind === "consumer") this.#onConsumerTimer(group, timer, effects);
  }

  #onClassicTimer(group: ClassicGroup, timer: GroupTimer, effects: GroupEffects): void {
    const { rebalance } = this.#classic;
    switch (timer.kind) {
      case "session":
        rebalance.sessionOver(group, timer.member, effects);
        break;
      case "join":
        if (timer.initial === undefined) rebalance.completeJoin(group, effects);
        else rebalance.initialDelayOver(group, timer.initial, effects);
        break;
      case "sync":
        rebalance.syncOver(group, timer.generation, effects);
        break;
      default:
        // Of when it was a group of KIP-848.
        break;
    }
  }

  #onConsumerTimer(group: ConsumerGroup, timer: GroupTimer, effects: GroupEffects): void {
    // Those of when it was a classic group are over.
    if (timer.kind === "join" || timer.kind === "sync") return;
    const member = group.members.get(timer.member);
    if (member === undefined) return;
    const isOfOtherEpoch =
      timer.kind === "rebalance" && timer.memberEpoch !== member.current.memberEpoch;
    if (isOfOtherEpoch) return;
    effects.replays = true;
    this.#rebalance.fence(group, [member], TOO_LATE[timer.kind], effects);
  }

  /** The records of a step that asked for this are committed; or, with an error, are not and may never be. */
  onCommitted(what: WhenCommitted, error: ErrorCode, effects: GroupEffects): void {
    const group = this.#classicGroup(what.group);
    switch (what.kind) {
      case "assignment":
        if (group === undefined) break;
        this.#classic.assigned(group, what.generation, what.assignments, error, effects);
        break;
      case "static-replacement":
        if (group === undefined) break;
        this.#classic.staticReplaced(group, what.newMember, error, effects);
        break;
      case "new-group":
        break;
      case "joined":
        this.#mixed.joined(what, error, effects);
        break;
      case "synced":
        this.#mixed.synced(what, error, effects);
        break;
    }
  }

  // Offsets.

  /**
   * Commits the offsets of a group, but those of which `isTooLarge` is true; or says what is wrong with all of
   * them (`OffsetMetadataManager.commitOffset`).
   */
  commitOffsets(
    from: Committer,
    topics: readonly CommittedTopic[],
    effects: GroupEffects,
  ): ErrorCode {
    const group = this.#groups.get(from.groupId);
    if (group === undefined) {
      // An administrator, or a consumer that assigns itself: a group without members comes into being.
      if (from.generation >= 0) return ERRORS.GROUP_ID_NOT_FOUND;
    } else {
      const error = checkCommit(group, from, topics, false);
      if (error !== ERRORS.NONE) return error;
      if (group.kind === "classic" && group.isIn("Stable", "PreparingRebalance")) {
        const member = group.members.get(from.memberId);
        if (member !== undefined) this.#classic.rebalance.heard(group, member, effects);
      }
    }
    this.#writeOffsets(from.groupId, topics, effects);
    return ERRORS.NONE;
  }

  /** As `commitOffsets`, for a transaction: it checks less, and the offsets count when it ends. */
  commitTransactionalOffsets(
    from: Committer,
    topics: readonly CommittedTopic[],
    effects: GroupEffects,
  ): ErrorCode {
    const group = this.#groups.get(from.groupId);
    if (group === undefined) {
      if (from.generation >= 0) return ERRORS.ILLEGAL_GENERATION;
    } else {
      const error = checkCommit(group, from, topics, true);
      if (error === ERRORS.STALE_MEMBER_EPOCH) return ERRORS.ILLEGAL_GENERATION;
      if (error !== ERRORS.NONE) return error;
    }
    this.#writeOffsets(from.groupId, topics, effects);
    return ERRORS.NONE;
  }

  /** Is there too much beside an offset for it to be committed (`offset.metadata.max.bytes`)? */
  isTooLarge({ committedMetadata }: OffsetCommitPartition): boolean {
    return (committedMetadata?.length ?? 0) > this.#options.maxOffsetMetadata;
  }

  #writeOffsets(group: string, topics: readonly CommittedTopic[], effects: GroupEffects): void {
    effects.replays = true;
    for (const { topic, topicId, partitions } of topics) {
      for (const partition of partitions) {
        if (this.isTooLarge(partition)) continue;
        effects.records.push({
          type: "OffsetCommit",
          group,
          topic,
          partition: partition.partitionIndex,
          value: {
            offset: partition.committedOffset,
            leaderEpoch: partition.committedLeaderEpoch,
            metadata: partition.committedMetadata ?? "",
            commitTimestamp: effects.nowMs,
            topicId,
          },
        });
      }
    }
  }

  /** May the group's offsets be told? Of an unknown group there are none. */
  checkOffsetFetch(groupId: string, memberId: string | undefined, memberEpoch: number): ErrorCode {
    const group = this.#groups.get(groupId);
    if (group?.kind !== "consumer") return ERRORS.NONE;
    return group.checkOffsetFetch(memberId, memberEpoch);
  }

  /**
   * Lets offsets go that have not been used for `offsets.retention.minutes`, and groups that have neither members nor
   * offsets (KIP-211, `cleanupGroupMetadata`).
   */
  cleanUp(effects: GroupEffects): void {
    const { offsetsRetentionMs: retentionMs } = this.#options;
    effects.replays = true;
    for (const group of this.#groups.values()) {
      const isAllGone = expireOffsets(group, this.offsets, retentionMs, effects);
      if (!isAllGone || !group.isEmpty || this.offsets.hasOpenTransaction(group.groupId)) continue;
      const { groupId } = group;
      if (group.kind === "consumer") effects.records.push(...group.tombstones());
      else effects.records.push({ type: "GroupMetadata", group: groupId, value: undefined });
    }
  }

  // The log.

  /** Takes a record into the state, that a step has written or that is read when the coordinator loads. */
  replay(record: GroupRecord, recordOffset: Offset, producerId: number, nowMs: number): void {
    const { group: groupId } = record;
    switch (record.type) {
      case "OffsetCommit":
        if (record.value !== undefined && !this.#groups.has(groupId)) {
          // Offsets of whom the group does not know make one without members.
          this.#groups.set(groupId, new ClassicGroup(groupId, nowMs));
        }
        this.offsets.replay(record, recordOffset, producerId);
        break;
      case "GroupMetadata":
        if (record.value === undefined) this.#groups.delete(groupId);
        else this.#groups.set(groupId, ClassicGroup.restored(groupId, record.value));
        break;
      case "ConsumerGroupMetadata":
        this.#replayGroup(record);
        break;
      default:
        this.#replayPart(record);
    }
  }

  #replayGroup(record: GroupEpochRecord): void {
    if (record.value !== undefined) this.#replayPart(record);
    else if (this.#groups.get(record.group)?.kind === "consumer") {
      this.#groups.delete(record.group);
      this.#toldStates.delete(record.group);
    }
  }

  #replayPart(record: ConsumerGroupRecord): void {
    const known = this.#groups.get(record.group);
    if (known?.kind === "consumer") {
      known.replay(record);
      return;
    }
    // Compaction may have left the tombstone of what is gone.
    if (record.value === undefined) return;
    const group = new ConsumerGroup(record.group);
    this.#groups.set(record.group, group);
    group.replay(record);
  }

  /** A marker in the log has ended a producer's transaction. Returns the offsets that count from now on. */
  endTransaction(producerId: number, isCommit: boolean): readonly EndedOffsets[] {
    return this.offsets.endTransaction(producerId, isCommit);
  }

  /** The whole log has been replayed: members must be heard of from now on. */
  onLoaded(effects: GroupEffects): void {
    for (const group of this.#groups.values()) {
      if (group.kind === "classic") {
        this.#classic.loaded(group, effects);
      } else {
        this.#toldStates.set(group.groupId, group.state);
        this.#rebalance.loaded(group, effects);
      }
    }
  }

  /** Another broker is the coordinator now: those who wait must look for it. */
  onUnloaded(effects: GroupEffects): void {
    const error = ERRORS.NOT_COORDINATOR;
    for (const group of this.#groups.values()) {
      if (group.kind !== "classic") continue;
      group.transitionTo("Dead", effects.nowMs);
      for (const member of group.members.values()) {
        answerJoin(member, refusedJoin(member.memberId, error), effects);
        answerSync(member, error, undefined, effects);
      }
    }
  }
}

/** Why a member of a KIP-848 group is put out of it, by what it has let pass. */
const TOO_LATE = {
  session: "session-expired",
  rebalance: "rebalance-timeout",
  rejoin: "rebalance-timeout",
  resync: "sync-timeout",
} as const;

function checkCommit(
  group: Group,
  from: Committer,
  topics: readonly CommittedTopic[],
  isTransactional: boolean,
): ErrorCode {
  if (group.kind === "classic") {
    const { memberId, groupInstanceId, generation } = from;
    return group.checkOffsetCommit(memberId, groupInstanceId, generation, isTransactional);
  }
  const error = group.checkOffsetCommit(from, isTransactional);
  if (error !== ERRORS.NONE) return error;
  for (const { topicId, partitions } of topics) {
    for (const { partitionIndex } of partitions) {
      const refusal = group.checkPartitionCommit(from, topicId, partitionIndex);
      if (refusal !== ERRORS.NONE) return refusal;
    }
  }
  return ERRORS.NONE;
}
