import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { TopicPartitions } from "./assignors/topic-partitions.ts";
import { NO_PARTITIONS } from "./assignors/topic-partitions.ts";
import type { ConsumerMember } from "./consumer-member.ts";
import { LEAVES_FOR_A_WHILE, MEMBER_STATE, NEW_ASSIGNMENT } from "./consumer-member.ts";
import type {
  AssignedPartitions,
  CurrentMemberRecord,
  GroupEpochRecord,
  MemberMetadata,
  MemberRecord,
  OffsetAndMetadata,
  TargetEpochRecord,
  TargetMemberRecord,
} from "./group-record.ts";

export type ConsumerGroupState = "Empty" | "Assigning" | "Reconciling" | "Stable";

/** The records of a KIP-848 group. */
export type ConsumerGroupRecord =
  | GroupEpochRecord
  | MemberRecord
  | TargetEpochRecord
  | TargetMemberRecord
  | CurrentMemberRecord;

/** Of a member that has told nothing of itself yet. */
export const NO_METADATA: MemberMetadata = {
  instanceId: undefined,
  rackId: undefined,
  clientId: "",
  clientHost: "",
  subscribedTopicNames: [],
  subscribedTopicRegex: undefined,
  rebalanceTimeoutMs: -1,
  serverAssignor: undefined,
};

/**
 * A group of the protocol of KIP-848, in which the coordinator assigns (Kafka's `ConsumerGroup`). A fold of
 * its records: `replay` is the only way in which it changes.
 */
export class ConsumerGroup {
  readonly kind = "consumer";
  readonly groupId: string;
  /** Rises with each change that asks for another assignment. */
  epoch = 0;
  /** Of the topics that `epoch` was chosen for. */
  metadataHash = 0;
  /** The epoch of the target assignment, -1 if it was taken back, and when that was made (ms). */
  targetEpoch = 0;
  targetTimestamp = 0;
  readonly members = new Map<string, ConsumerMember>();
  readonly target = new Map<string, TopicPartitions>();
  readonly #static = new Map<string, string>();
  /** Who has a partition, or must give it up still: member ids by topic id and partition. */
  readonly #owners = new Map<string, Map<number, string>>();

  constructor(groupId: string) {
    this.groupId = groupId;
  }

  get state(): ConsumerGroupState {
    if (this.members.size === 0) return "Empty";
    if (this.epoch > this.targetEpoch) return "Assigning";
    for (const { current } of this.members.values()) {
      const isThere = current.state === MEMBER_STATE.stable;
      if (!isThere || current.memberEpoch !== this.targetEpoch) return "Reconciling";
    }
    return "Stable";
  }

  get isEmpty(): boolean {
    return this.members.size === 0;
  }

  staticMember(instanceId: string): ConsumerMember | undefined {
    return this.members.get(this.#static.get(instanceId) ?? "");
  }

  /** What a member is to have; one that comes in a static member's place is to have what that had. */
  targetOf(memberId: string, instanceId: string | undefined): TopicPartitions {
    const id = instanceId === undefined ? memberId : (this.#static.get(instanceId) ?? memberId);
    return this.target.get(id) ?? NO_PARTITIONS;
  }

  isFree(topicId: string, partition: number): boolean {
    return this.#owners.get(topicId)?.get(partition) === undefined;
  }

  /** Topics that its members subscribe to, with one of them as he is to be, or gone. */
  subscribedTopics(changed?: {
    readonly memberId: string;
    readonly metadata?: MemberMetadata | undefined;
  }): ReadonlySet<string> {
    const topics = new Set<string>();
    for (const { memberId, metadata } of this.members.values()) {
      if (memberId === changed?.memberId) continue;
      for (const topic of metadata.subscribedTopicNames) topics.add(topic);
    }
    for (const topic of changed?.metadata?.subscribedTopicNames ?? []) topics.add(topic);
    return topics;
  }

  isSubscribedTo(topic: string): boolean {
    return this.subscribedTopics().has(topic);
  }

  /**
   * May a member commit so? With an epoch that is over, only what it has had since then, which is to be
   * asked for each partition (KIP-1251, `validateOffsetCommit`).
   */
  checkOffsetCommit(memberId: string, memberEpoch: number): ErrorCode {
    if (memberEpoch < 0 && this.isEmpty) return ERRORS.NONE;
    const member = this.members.get(memberId);
    if (member === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
    const isNewer = memberEpoch > member.current.memberEpoch;
    return isNewer ? ERRORS.STALE_MEMBER_EPOCH : ERRORS.NONE;
  }

  /** Has the member had this partition since `memberEpoch`, or is that the epoch it is in? */
  hasHadSince(memberId: string, memberEpoch: number, topicId: string, partition: number): boolean {
    const current = this.members.get(memberId)?.current;
    if (current === undefined || memberEpoch === current.memberEpoch) return true;
    const since =
      current.assigned.get(topicId)?.get(partition) ??
      current.revoking.get(topicId)?.get(partition);
    return since !== undefined && memberEpoch >= since;
  }

  checkOffsetFetch(memberId: string | undefined, memberEpoch: number): ErrorCode {
    if (memberId === undefined && memberEpoch < 0) return ERRORS.NONE;
    const member = this.members.get(memberId ?? "");
    if (member === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
    const isSame = memberEpoch === member.current.memberEpoch;
    return isSame ? ERRORS.NONE : ERRORS.STALE_MEMBER_EPOCH;
  }

  /** Since when an offset counts as unused, in milliseconds. */
  unusedSince({ commitTimestamp }: OffsetAndMetadata): number | undefined {
    return commitTimestamp;
  }

  // The log.

  replay(record: ConsumerGroupRecord): void {
    switch (record.type) {
      case "ConsumerGroupMetadata":
        this.epoch = record.value?.epoch ?? 0;
        this.metadataHash = record.value?.metadataHash ?? 0;
        break;
      case "ConsumerGroupMemberMetadata":
        if (record.value === undefined) this.#remove(record.member);
        else this.#put({ ...this.#memberOf(record.member), metadata: record.value });
        break;
      case "ConsumerGroupTargetAssignmentMetadata":
        this.targetEpoch = record.value?.epoch ?? -1;
        this.targetTimestamp = record.value?.timestamp ?? 0;
        break;
      case "ConsumerGroupTargetAssignmentMember":
        if (record.value === undefined) this.target.delete(record.member);
        else this.target.set(record.member, record.value);
        break;
      case "ConsumerGroupCurrentMemberAssignment":
        this.#replayCurrent(record);
        break;
    }
  }

  #replayCurrent({ member: memberId, value }: CurrentMemberRecord): void {
    if (value !== undefined) this.#put({ ...this.#memberOf(memberId), current: value });
    else {
      const known = this.members.get(memberId);
      if (known !== undefined) this.#put({ ...known, current: NEW_ASSIGNMENT });
    }
  }

  #memberOf(memberId: string): ConsumerMember {
    const known = this.members.get(memberId);
    return known ?? { memberId, metadata: NO_METADATA, current: NEW_ASSIGNMENT };
  }

  #put(member: ConsumerMember): void {
    const { memberId, metadata, current } = member;
    const before = this.members.get(memberId);
    if (before !== undefined) this.#release(memberId, before.current.assigned);
    if (before !== undefined) this.#release(memberId, before.current.revoking);
    this.members.set(memberId, member);
    if (metadata.instanceId !== undefined) this.#static.set(metadata.instanceId, memberId);
    this.#take(memberId, current.assigned);
    this.#take(memberId, current.revoking);
  }

  #remove(memberId: string): void {
    const member = this.members.get(memberId);
    if (member === undefined) return;
    this.#release(memberId, member.current.assigned);
    this.#release(memberId, member.current.revoking);
    this.members.delete(memberId);
    const { instanceId } = member.metadata;
    if (instanceId !== undefined && this.#static.get(instanceId) === memberId) {
      this.#static.delete(instanceId);
    }
  }

  #take(memberId: string, partitions: AssignedPartitions): void {
    for (const [topicId, epochs] of partitions) {
      let owners = this.#owners.get(topicId);
      if (owners === undefined) {
        owners = new Map();
        this.#owners.set(topicId, owners);
      }
      for (const partition of epochs.keys()) owners.set(partition, memberId);
    }
  }

  #release(memberId: string, partitions: AssignedPartitions): void {
    for (const [topicId, epochs] of partitions) {
      const owners = this.#owners.get(topicId);
      for (const partition of epochs.keys()) {
        if (owners?.get(partition) === memberId) owners.delete(partition);
      }
    }
  }

  /** All that is to be taken back when the group goes (`createGroupTombstoneRecords`). */
  tombstones(): ConsumerGroupRecord[] {
    const { groupId: group } = this;
    const records: ConsumerGroupRecord[] = [];
    for (const member of this.members.keys()) records.push(...memberTombstones(group, member));
    const value = undefined;
    records.push({ type: "ConsumerGroupTargetAssignmentMetadata", group, value });
    records.push({ type: "ConsumerGroupMetadata", group, value });
    return records;
  }
}

/** A member goes: the order is Kafka's. */
export function memberTombstones(group: string, member: string): ConsumerGroupRecord[] {
  const value = undefined;
  return [
    { type: "ConsumerGroupCurrentMemberAssignment", group, member, value },
    { type: "ConsumerGroupTargetAssignmentMember", group, member, value },
    { type: "ConsumerGroupMemberMetadata", group, member, value },
  ];
}

/** A static member has gone for a while, and may come back under another id. */
export function isAway({ current }: ConsumerMember): boolean {
  return current.memberEpoch === LEAVES_FOR_A_WHILE;
}
