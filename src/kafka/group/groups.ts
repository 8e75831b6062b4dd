import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { Offset, TopicId } from "../ids.ts";
import type {
  HeartbeatRequest,
  JoinGroupRequest,
  LeaveGroupRequest,
  LeaveGroupResponse,
  SyncGroupRequest,
} from "../protocol/group-membership.ts";
import type { OffsetCommitPartition } from "../protocol/group-offsets.ts";
import type { WordSource } from "../uuid.ts";
import { ClassicGroup } from "./classic-group.ts";
import type { ClassicProtocolOptions, Requester } from "./classic-protocol.ts";
import { ClassicProtocol, refuseJoin, refuseSync } from "./classic-protocol.ts";
import { answerJoin, answerSync, refusedJoin } from "./classic-rebalance.ts";
import type { GroupEffects, GroupTimer, WhenCommitted } from "./group-effects.ts";
import type { GroupRecord } from "./group-record.ts";
import { newMemberId } from "./member-id.ts";
import type { EndedOffsets } from "./offset-book.ts";
import { OffsetBook } from "./offset-book.ts";

export interface GroupsOptions extends ClassicProtocolOptions {
  /** `offset.metadata.max.bytes` */
  readonly maxOffsetMetadata: number;
  /** `offsets.retention.minutes`, in milliseconds. */
  readonly offsetsRetentionMs: number;
}

/** Who commits offsets, as he says. */
export interface Committer {
  readonly groupId: string;
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
  readonly generation: number;
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
  readonly #groups = new Map<string, ClassicGroup>();
  readonly #options: GroupsOptions;
  readonly #classic: ClassicProtocol;

  constructor(options: GroupsOptions) {
    this.#options = options;
    this.#classic = new ClassicProtocol(options);
  }

  get(groupId: string): ClassicGroup | undefined {
    return this.#groups.get(groupId);
  }

  // The classic protocol.

  join(body: JoinGroupRequest, from: Requester, random: WordSource, effects: GroupEffects): void {
    const { groupId, memberId, groupInstanceId } = body;
    const known = this.#groups.get(groupId);
    if (known === undefined && memberId !== "") {
      refuseJoin(from, memberId, ERRORS.UNKNOWN_MEMBER_ID, effects);
      return;
    }
    const group = known ?? this.#create(groupId, effects);
    const draw = (): string => newMemberId(from.clientId, groupInstanceId, random);
    this.#classic.join(group, body, from, draw, effects);
    if (known !== undefined || effects.records.length > 0) return;
    // That there is such a group is worth a record.
    effects.records.push(group.emptyRecord());
    effects.whenCommitted = { kind: "new-group", group: groupId, request: from.request };
  }

  #create(groupId: string, effects: GroupEffects): ClassicGroup {
    const group = new ClassicGroup(groupId, effects.nowMs);
    this.#groups.set(groupId, group);
    return group;
  }

  sync(body: SyncGroupRequest, from: Requester, effects: GroupEffects): void {
    const group = this.#groups.get(body.groupId);
    if (group === undefined || group.isEmpty) {
      refuseSync(from, ERRORS.UNKNOWN_MEMBER_ID, effects);
      return;
    }
    this.#classic.sync(group, body, from, effects);
  }

  heartbeat(body: HeartbeatRequest, effects: GroupEffects): ErrorCode {
    const group = this.#groups.get(body.groupId);
    if (group === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
    return this.#classic.heartbeat(group, body, effects);
  }

  leave(body: LeaveGroupRequest, effects: GroupEffects): LeaveGroupResponse {
    const group = this.#groups.get(body.groupId);
    if (group !== undefined) return this.#classic.leave(group, body, effects);
    const { code: errorCode } = ERRORS.UNKNOWN_MEMBER_ID;
    const members = body.members.map(({ memberId, groupInstanceId }) => {
      return { memberId, groupInstanceId, errorCode };
    });
    return { throttleTimeMs: 0, errorCode: 0, members };
  }

  /** A timer has come due that effects have started. */
  onTimer(timer: GroupTimer, effects: GroupEffects): void {
    const group = this.#groups.get(timer.group);
    if (group === undefined) return;
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
    }
  }

  /** The records of a step that asked for this are committed; or, with an error, are not and may never be. */
  onCommitted(what: WhenCommitted, error: ErrorCode, effects: GroupEffects): void {
    const group = this.#groups.get(what.group);
    if (group === undefined) return;
    switch (what.kind) {
      case "assignment":
        this.#classic.assigned(group, what.generation, what.assignments, error, effects);
        break;
      case "static-replacement":
        this.#classic.staticReplaced(group, what.newMember, error, effects);
        break;
      case "new-group":
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
      const { memberId, groupInstanceId, generation } = from;
      const error = group.checkOffsetCommit(memberId, groupInstanceId, generation, false);
      if (error !== ERRORS.NONE) return error;
      const member = group.members.get(memberId);
      if (member !== undefined && group.isIn("Stable", "PreparingRebalance")) {
        this.#classic.rebalance.heard(group, member, effects);
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
    const { memberId, groupInstanceId, generation } = from;
    if (group === undefined) {
      if (generation >= 0) return ERRORS.ILLEGAL_GENERATION;
    } else {
      const error = group.checkOffsetCommit(memberId, groupInstanceId, generation, true);
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
  checkOffsetFetch(
    _groupId: string,
    _memberId: string | undefined,
    _memberEpoch: number,
  ): ErrorCode {
    return ERRORS.NONE;
  }

  /**
   * Lets offsets go that have not been used for `offsets.retention.minutes`, and groups that have neither members nor
   * offsets (KIP-211, `cleanupGroupMetadata`).
   */
  cleanUp(effects: GroupEffects): void {
    effects.replays = true;
    for (const group of this.#groups.values()) {
      const isAllGone = this.#expireOffsets(group, effects);
      if (!isAllGone || !group.isEmpty || this.offsets.hasOpenTransaction(group.groupId)) continue;
      effects.records.push({ type: "GroupMetadata", group: group.groupId, value: undefined });
    }
  }

  /** True if none are left. */
  #expireOffsets(group: ClassicGroup, effects: GroupEffects): boolean {
    const { groupId } = group;
    let isAllGone = true;
    for (const { topic, partition, stored } of this.offsets.all(groupId)) {
      const since = group.unusedSince(stored);
      const isExpired =
        since !== undefined &&
        !group.isSubscribedTo(topic) &&
        effects.nowMs - since >= this.#options.offsetsRetentionMs &&
        !this.offsets.isPending(groupId, topic, partition);
      if (isExpired) {
        effects.records.push({
          type: "OffsetCommit",
          group: groupId,
          topic,
          partition,
          value: undefined,
        });
      } else {
        isAllGone = false;
      }
    }
    return isAllGone;
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
      default:
    }
  }

  /** A marker in the log has ended a producer's transaction. Returns the offsets that count from now on. */
  endTransaction(producerId: number, isCommit: boolean): readonly EndedOffsets[] {
    return this.offsets.endTransaction(producerId, isCommit);
  }

  /** The whole log has been replayed: members must be heard of from now on. */
  onLoaded(effects: GroupEffects): void {
    for (const group of this.#groups.values()) this.#classic.loaded(group, effects);
  }

  /** Another broker is the coordinator now: those who wait must look for it. */
  onUnloaded(effects: GroupEffects): void {
    const error = ERRORS.NOT_COORDINATOR;
    for (const group of this.#groups.values()) {
      group.transitionTo("Dead", effects.nowMs);
      for (const member of group.members.values()) {
        answerJoin(member, refusedJoin(member.memberId, error), effects);
        answerSync(member, error, undefined, effects);
      }
    }
  }
}
