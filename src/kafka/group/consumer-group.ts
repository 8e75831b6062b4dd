import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { JoinGroupProtocol } from "../protocol/group-membership.ts";
import type { TopicPartitions } from "./assignors/topic-partitions.ts";
import { NO_PARTITIONS } from "./assignors/topic-partitions.ts";
import { CONSUMER_PROTOCOL } from "./classic-group.ts";
import type { ConsumerMember } from "./consumer-member.ts";
import {
  LEAVES_FOR_A_WHILE,
  MEMBER_STATE,
  NEW_ASSIGNMENT,
  usesClassicProtocol,
} from "./consumer-member.ts";
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

/** Who commits offsets, as he says. */
export interface OffsetCommitter {
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
  readonly generation: number;
}

/** Of a member that has told nothing of itself yet. */
const NO_METADATA: MemberMetadata = {
  instanceId: undefined,
  rackId: undefined,
  clientId: "",
  clientHost: "",
  subscribedTopicNames: [],
  subscribedTopicRegex: "",
  rebalanceTimeoutMs: -1,
  serverAssignor: undefined,
  classicMemberMetadata: undefined,
};

export function newMember(memberId: string): ConsumerMember {
  return { memberId, metadata: NO_METADATA, current: NEW_ASSIGNMENT };
}

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

  /** Is something that the member is to have still another's? */
  isWaiting({ memberId, current }: ConsumerMember): boolean {
    if (current.state !== MEMBER_STATE.unreleased) return false;
    for (const [topicId, partitions] of this.target.get(memberId) ?? NO_PARTITIONS) {
      const mine = current.assigned.get(topicId);
      if (partitions.some((index) => !mine?.has(index) && !this.isFree(topicId, index))) {
        return true;
      }
    }
    return false;
  }

  // Members of the classic protocol.

  /** How many there are. */
  get classicMembers(): number {
    let count = 0;
    for (const member of this.members.values()) if (usesClassicProtocol(member)) count++;
    return count;
  }

  /** Can a member with these protocols join? One of them must be known to all who speak the classic protocol. */
  supportsClassic(protocolType: string, protocols: readonly JoinGroupProtocol[]): boolean {
    if (protocolType !== CONSUMER_PROTOCOL) return false;
    const others = [...this.members.values()].flatMap(
      ({ metadata }) => metadata.classicMemberMetadata ?? [],
    );
    return protocols.some(({ name }) =>
      others.every(({ supportedProtocols }) => supportedProtocols.some((one) => one.name === name)),
    );
  }

  /** The check of every request of the classic protocol that names a member (`validateConsumerGroupMember`). */
  classicMember(memberId: string, instanceId: string | undefined): ConsumerMember | ErrorCode {
    const member =
      instanceId === undefined ? this.members.get(memberId) : this.staticMember(instanceId);
    if (member === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
    if (member.memberId !== memberId) return ERRORS.FENCED_INSTANCE_ID;
    return usesClassicProtocol(member) ? member : ERRORS.UNKNOWN_MEMBER_ID;
  }

  /** Topics that its members subscribe to, with one of them as he is to be. */
  subscribedTopics(changed?: {
    readonly memberId: string;
    readonly metadata: MemberMetadata;
  }): ReadonlySet<string> {
    const topics = this.#topicsWithout((memberId) => memberId === changed?.memberId);
    for (const topic of changed?.metadata.subscribedTopicNames ?? []) topics.add(topic);
    return topics;
  }

  /** The same when these have gone. */
  subscribedTopicsWithout(gone: ReadonlySet<string>): ReadonlySet<string> {
    return this.#topicsWithout((memberId) => gone.has(memberId));
  }

  #topicsWithout(isOut: (memberId: string) => boolean): Set<string> {
    const topics = new Set<string>();
    for (const { memberId, metadata } of this.members.values()) {
      if (isOut(memberId)) continue;
      for (const topic of metadata.subscribedTopicNames) topics.add(topic);
    }
    return topics;
  }

  isSubscribedTo(topic: string): boolean {
    return this.subscribedTopics().has(topic);
  }

  /**
   * May a member commit so? With an epoch that is over, only what it has had since then, which is to be
   * asked for each partition (KIP-1251, `validateOffsetCommit`).
   */
  checkOffsetCommit(
    { memberId, generation: memberEpoch, groupInstanceId }: OffsetCommitter,
    isTransactional: boolean,
  ): ErrorCode {
    if (memberEpoch < 0 && this.isEmpty) return ERRORS.NONE;
    const isNobody = memberEpoch === -1 && memberId === "" && groupInstanceId === undefined;
    if (isTransactional && isNobody) return ERRORS.NONE;
    const member = this.members.get(memberId);
    if (member === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
    return memberEpoch > member.current.memberEpoch ? notOfEpoch(member) : ERRORS.NONE;
  }

  /** Has the member had this partition since the epoch that it says, or is that the one it is in? */
  checkPartitionCommit(
    { memberId, generation: memberEpoch }: OffsetCommitter,
    topicId: string,
    partition: number,
  ): ErrorCode {
    const member = this.members.get(memberId);
    if (member === undefined || memberEpoch === member.current.memberEpoch) return ERRORS.NONE;
    const { assigned, revoking } = member.current;
    const since = assigned.get(topicId)?.get(partition) ?? revoking.get(topicId)?.get(partition);
    return since !== undefined && memberEpoch >= since ? ERRORS.NONE : notOfEpoch(member);
  }

  checkOffsetFetch(memberId: string | undefined, memberEpoch: number): ErrorCode {
    if (memberId === undefined && memberEpoch < 0) return ERRORS.NONE;
    const member = this.members.get(memberId ?? "");
    if (member === undefined) return ERRORS.UNKNOWN_MEMBER_ID;
    return memberEpoch === member.current.memberEpoch ? ERRORS.NONE : notOfEpoch(member);
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
    return known ?? newMember(memberId);
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

  /** All that is to be taken back when the group goes, with members of these ids (`createGroupTombstoneRecords`). */
  tombstones(members: readonly string[] = [...this.members.keys()]): ConsumerGroupRecord[] {
    const { groupId: group } = this;
    const value = undefined;
    const ofEach = (type: MemberRecordType): ConsumerGroupRecord[] =>
      members.map((member) => ({ type, group, member, value }));
    return [
      ...ofEach("ConsumerGroupCurrentMemberAssignment"),
      ...ofEach("ConsumerGroupTargetAssignmentMember"),
      { type: "ConsumerGroupTargetAssignmentMetadata", group, value },
      ...ofEach("ConsumerGroupMemberMetadata"),
      { type: "ConsumerGroupMetadata", group, value },
    ];
  }
}

type MemberRecordType = Extract<ConsumerGroupRecord, { readonly member: string }>["type"];

/** The epoch is not the member's: what that is called in its protocol. */
function notOfEpoch(member: ConsumerMember): ErrorCode {
  return usesClassicProtocol(member) ? ERRORS.ILLEGAL_GENERATION : ERRORS.STALE_MEMBER_EPOCH;
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
