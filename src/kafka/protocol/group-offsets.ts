import type { Offset, TopicId } from "../ids.ts";
import {
  arraySize,
  EMPTY,
  INT8,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
  UUID,
  uniformSize,
} from "./wire-size.ts";

/** OffsetCommitRequest v10 (KIP-848): topics by id. */
export interface OffsetCommitRequest {
  readonly groupId: string;
  /** -1 of who is no member. */
  readonly generationIdOrMemberEpoch: number;
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
  readonly topics: readonly OffsetCommitTopic[];
}

export interface OffsetCommitTopic {
  readonly topicId: TopicId;
  readonly partitions: readonly OffsetCommitPartition[];
}

export interface OffsetCommitPartition {
  readonly partitionIndex: number;
  /** The next to be read. */
  readonly committedOffset: Offset;
  /** Of the last record read; -1 if it is not known. */
  readonly committedLeaderEpoch: number;
  readonly committedMetadata: string | undefined;
}

export interface OffsetCommitResponse {
  readonly throttleTimeMs: number;
  readonly topics: readonly OffsetCommitTopicResponse[];
}

export interface OffsetCommitTopicResponse {
  readonly topicId: TopicId;
  readonly partitions: readonly OffsetCommitPartitionResponse[];
}

export interface OffsetCommitPartitionResponse {
  readonly partitionIndex: number;
  readonly errorCode: number;
}

/** OffsetFetchRequest v10: where have these groups got to? */
export interface OffsetFetchRequest {
  readonly groups: readonly OffsetFetchGroup[];
  /** UNSTABLE_OFFSET_COMMIT for what open transactions have written (KIP-447). */
  readonly requireStable: boolean;
}

export interface OffsetFetchGroup {
  readonly groupId: string;
  readonly memberId: string | undefined;
  readonly memberEpoch: number;
  /** Undefined: all that the group has committed. */
  readonly topics: readonly OffsetFetchTopic[] | undefined;
}

export interface OffsetFetchTopic {
  readonly topicId: TopicId;
  readonly partitionIndexes: readonly number[];
}

export interface OffsetFetchResponse {
  readonly throttleTimeMs: number;
  readonly groups: readonly OffsetFetchGroupResponse[];
}

export interface OffsetFetchGroupResponse {
  readonly groupId: string;
  readonly topics: readonly OffsetFetchTopicResponse[];
  readonly errorCode: number;
}

export interface OffsetFetchTopicResponse {
  readonly topicId: TopicId;
  readonly partitions: readonly OffsetFetchPartitionResponse[];
}

export interface OffsetFetchPartitionResponse {
  readonly partitionIndex: number;
  /** -1 if the group has committed none. */
  readonly committedOffset: Offset;
  readonly committedLeaderEpoch: number;
  readonly metadata: string;
  readonly errorCode: number;
}

/** TxnOffsetCommitRequest v5 (KIP-98, KIP-447): offsets that are committed with a transaction. */
export interface TxnOffsetCommitRequest {
  readonly transactionalId: string;
  readonly groupId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly generationId: number;
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
  readonly topics: readonly TxnOffsetCommitTopic[];
}

export interface TxnOffsetCommitTopic {
  readonly name: string;
  readonly partitions: readonly OffsetCommitPartition[];
}

export interface TxnOffsetCommitResponse {
  readonly throttleTimeMs: number;
  readonly topics: readonly TxnOffsetCommitTopicResponse[];
}

export interface TxnOffsetCommitTopicResponse {
  readonly name: string;
  readonly partitions: readonly OffsetCommitPartitionResponse[];
}

export function offsetCommitRequestSize(body: OffsetCommitRequest): number {
  return (
    REQUEST_OVERHEAD +
    textSize(body.groupId) +
    INT32 +
    textSize(body.memberId) +
    textSize(body.groupInstanceId) +
    arraySize(
      body.topics,
      ({ partitions }) => UUID + arraySize(partitions, committedPartitionSize) + NO_TAGS,
    ) +
    NO_TAGS
  );
}

export function offsetCommitResponseSize(body: OffsetCommitResponse): number {
  const partition = INT32 + INT16 + NO_TAGS;
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    arraySize(
      body.topics,
      ({ partitions }) => UUID + uniformSize(partitions, partition) + NO_TAGS,
    ) +
    NO_TAGS
  );
}

export function offsetFetchRequestSize(body: OffsetFetchRequest): number {
  return REQUEST_OVERHEAD + arraySize(body.groups, offsetFetchGroupSize) + INT8 + NO_TAGS;
}

function offsetFetchGroupSize({ groupId, memberId, topics }: OffsetFetchGroup): number {
  return (
    textSize(groupId) +
    textSize(memberId) +
    INT32 +
    (topics === undefined
      ? EMPTY
      : arraySize(
          topics,
          ({ partitionIndexes }) => UUID + uniformSize(partitionIndexes, INT32) + NO_TAGS,
        )) +
    NO_TAGS
  );
}

export function offsetFetchResponseSize(body: OffsetFetchResponse): number {
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    arraySize(
      body.groups,
      ({ groupId, topics }) =>
        textSize(groupId) +
        arraySize(
          topics,
          ({ partitions }) => UUID + arraySize(partitions, fetchedPartitionSize) + NO_TAGS,
        ) +
        INT16 +
        NO_TAGS,
    ) +
    NO_TAGS
  );
}

function fetchedPartitionSize({ metadata }: OffsetFetchPartitionResponse): number {
  return INT32 + INT64 + INT32 + textSize(metadata) + INT16 + NO_TAGS;
}

export function txnOffsetCommitRequestSize(body: TxnOffsetCommitRequest): number {
  return (
    REQUEST_OVERHEAD +
    textSize(body.transactionalId) +
    textSize(body.groupId) +
    INT64 +
    INT16 +
    INT32 +
    textSize(body.memberId) +
    textSize(body.groupInstanceId) +
    arraySize(
      body.topics,
      ({ name, partitions }) =>
        textSize(name) + arraySize(partitions, committedPartitionSize) + NO_TAGS,
    ) +
    NO_TAGS
  );
}

function committedPartitionSize({ committedMetadata }: OffsetCommitPartition): number {
  return INT32 + INT64 + INT32 + textSize(committedMetadata) + NO_TAGS;
}

export function txnOffsetCommitResponseSize(body: TxnOffsetCommitResponse): number {
  const partition = INT32 + INT16 + NO_TAGS;
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    arraySize(
      body.topics,
      ({ name, partitions }) => textSize(name) + uniformSize(partitions, partition) + NO_TAGS,
    ) +
    NO_TAGS
  );
}
