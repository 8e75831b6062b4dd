import type { TopicId } from "../ids.ts";
import {
  arraySize,
  INT8,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  UUID,
  uniformSize,
} from "./wire-size.ts";

/** AlterPartitionRequest v3 (KIP-497, KIP-704, KIP-903). */
export interface AlterPartitionRequest {
  readonly brokerId: number;
  readonly brokerEpoch: number;
  readonly topics: readonly AlterPartitionTopic[];
}

export interface AlterPartitionTopic {
  readonly topicId: TopicId;
  readonly partitions: readonly AlterPartitionData[];
}

export interface AlterPartitionData {
  readonly partitionIndex: number;
  readonly leaderEpoch: number;
  readonly newIsrWithEpochs: readonly IsrMember[];
  /** 0 recovered, 1 recovering. */
  readonly leaderRecoveryState: number;
  readonly partitionEpoch: number;
}

export interface IsrMember {
  readonly brokerId: number;
  /** -1 if the leader does not know it. */
  readonly brokerEpoch: number;
}

export interface AlterPartitionResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly topics: readonly AlterPartitionTopicResponse[];
}

export interface AlterPartitionTopicResponse {
  readonly topicId: TopicId;
  readonly partitions: readonly AlterPartitionDataResponse[];
}

export interface AlterPartitionDataResponse {
  readonly partitionIndex: number;
  readonly errorCode: number;
  readonly leaderId: number;
  readonly leaderEpoch: number;
  readonly isr: readonly number[];
  readonly leaderRecoveryState: number;
  readonly partitionEpoch: number;
}

export function alterPartitionRequestSize(body: AlterPartitionRequest): number {
  const member = INT32 + INT64 + NO_TAGS;
  return (
    REQUEST_OVERHEAD +
    (INT32 + INT64 + NO_TAGS) +
    arraySize(
      body.topics,
      ({ partitions }) =>
        UUID +
        arraySize(
          partitions,
          ({ newIsrWithEpochs }) =>
            3 * INT32 + INT8 + uniformSize(newIsrWithEpochs, member) + NO_TAGS,
        ) +
        NO_TAGS,
    )
  );
}

export function alterPartitionResponseSize(body: AlterPartitionResponse): number {
  return (
    RESPONSE_OVERHEAD +
    (INT32 + INT16 + NO_TAGS) +
    arraySize(
      body.topics,
      ({ partitions }) =>
        UUID +
        arraySize(
          partitions,
          ({ isr }) => 4 * INT32 + INT16 + INT8 + uniformSize(isr, INT32) + NO_TAGS,
        ) +
        NO_TAGS,
    )
  );
}
