import type { Offset, TopicId } from "../ids.ts";
import type { JoinGroupProtocol } from "../protocol/group-membership.ts";
import type { TopicPartitions } from "./assignors/topic-partitions.ts";

/**
 * What `__consumer_offsets` keeps, one record a change; `value` undefined is a tombstone. The names are those of
 * Kafka's record schemas, the versions those that Kafka 4.3 writes (`GroupCoordinatorRecordHelpers`).
 */
export type GroupRecord =
  | OffsetCommitRecord
  | GroupMetadataRecord
  | GroupEpochRecord
  | MemberRecord
  | TargetEpochRecord
  | TargetMemberRecord
  | CurrentMemberRecord;

export interface OffsetCommitRecord {
  readonly type: "OffsetCommit";
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly value: OffsetAndMetadata | undefined;
}

/** A committed offset. Timestamps are milliseconds. */
export interface OffsetAndMetadata {
  readonly offset: Offset;
  /** -1 if the client did not know it. */
  readonly leaderEpoch: number;
  readonly metadata: string;
  readonly commitTimestamp: number;
  readonly topicId: TopicId;
}

/** A generation of a classic group, with all its members. */
export interface GroupMetadataRecord {
  readonly type: "GroupMetadata";
  readonly group: string;
  readonly value: GroupMetadataValue | undefined;
}

export interface GroupMetadataValue {
  /** Empty if it was never used by members. */
  readonly protocolType: string;
  readonly generation: number;
  readonly protocol: string | undefined;
  readonly leader: string | undefined;
  /** Milliseconds; -1 if unknown. */
  readonly currentStateTimestamp: number;
  readonly members: readonly StoredMember[];
}

export interface StoredMember {
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
  readonly clientId: string;
  readonly clientHost: string;
  readonly rebalanceTimeoutMs: number;
  readonly sessionTimeoutMs: number;
  readonly subscription: Uint8Array;
  readonly assignment: Uint8Array;
}

/** The group epoch of a KIP-848 group, and a hash of the topics that it was computed for. */
export interface GroupEpochRecord {
  readonly type: "ConsumerGroupMetadata";
  readonly group: string;
  readonly value: { readonly epoch: number; readonly metadataHash: number } | undefined;
}

/** What a member of a KIP-848 group said of itself. */
export interface MemberRecord {
  readonly type: "ConsumerGroupMemberMetadata";
  readonly group: string;
  readonly member: string;
  readonly value: MemberMetadata | undefined;
}

export interface MemberMetadata {
  readonly instanceId: string | undefined;
  readonly rackId: string | undefined;
  readonly clientId: string;
  readonly clientHost: string;
  /** In order. */
  readonly subscribedTopicNames: readonly string[];
  readonly subscribedTopicRegex: string | undefined;
  readonly rebalanceTimeoutMs: number;
  readonly serverAssignor: string | undefined;
  /** Of a member that uses the classic protocol. */
  readonly classicMemberMetadata: ClassicMemberMetadata | undefined;
}

/** What a member said when it joined by the classic protocol a group of KIP-848, or one that has become such. */
export interface ClassicMemberMetadata {
  readonly sessionTimeoutMs: number;
  readonly supportedProtocols: readonly JoinGroupProtocol[];
}

/** The epoch of the target assignment, and when it was made (ms). */
export interface TargetEpochRecord {
  readonly type: "ConsumerGroupTargetAssignmentMetadata";
  readonly group: string;
  readonly value: { readonly epoch: number; readonly timestamp: number } | undefined;
}

export interface TargetMemberRecord {
  readonly type: "ConsumerGroupTargetAssignmentMember";
  readonly group: string;
  readonly member: string;
  /** By topic id. */
  readonly value: TopicPartitions | undefined;
}

export interface CurrentMemberRecord {
  readonly type: "ConsumerGroupCurrentMemberAssignment";
  readonly group: string;
  readonly member: string;
  readonly value: CurrentAssignment | undefined;
}

export interface CurrentAssignment {
  readonly memberEpoch: number;
  readonly previousMemberEpoch: number;
  readonly state: number;
  readonly assigned: AssignedPartitions;
  /** What the member must say that it gave up. */
  readonly revoking: AssignedPartitions;
}

/** By topic id and partition: the member epoch in which the partition was assigned (KIP-1251). */
export type AssignedPartitions = ReadonlyMap<TopicId, ReadonlyMap<number, number>>;
