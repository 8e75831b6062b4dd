import {
  arraySize,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
  uniformSize,
} from "./wire-size.ts";
/** OffsetForLeaderEpochRequest v4 (KIP-101, KIP-320). */
export interface OffsetForLeaderEpochRequest {
  /** -1 for consumers. */
  readonly replicaId: number;
  readonly topics: readonly OffsetForLeaderTopic[];
}

export interface OffsetForLeaderTopic {
  readonly topic: string;
  readonly partitions: readonly OffsetForLeaderPartition[];
}

export interface OffsetForLeaderPartition {
  readonly partition: number;
  readonly currentLeaderEpoch: number;
  /** The epoch whose end is asked for. */
  readonly leaderEpoch: number;
}

export interface OffsetForLeaderEpochResponse {
  readonly throttleTimeMs: number;
  readonly topics: readonly OffsetForLeaderTopicResult[];
}

export interface OffsetForLeaderTopicResult {
  readonly topic: string;
  readonly partitions: readonly OffsetForLeaderPartitionResult[];
}

export interface OffsetForLeaderPartitionResult {
  readonly errorCode: number;
  readonly partition: number;
  readonly leaderEpoch: number;
  readonly endOffset: number;
}

export function offsetForLeaderEpochRequestSize(body: OffsetForLeaderEpochRequest): number {
  const partition = 3 * INT32 + NO_TAGS;
  return (
    REQUEST_OVERHEAD +
    (INT32 + NO_TAGS) +
    arraySize(
      body.topics,
      ({ topic, partitions }) => textSize(topic) + uniformSize(partitions, partition) + NO_TAGS,
    )
  );
}

export function offsetForLeaderEpochResponseSize(body: OffsetForLeaderEpochResponse): number {
  const partition = INT16 + 2 * INT32 + INT64 + NO_TAGS;
  return (
    RESPONSE_OVERHEAD +
    (INT32 + NO_TAGS) +
    arraySize(
      body.topics,
      ({ topic, partitions }) => textSize(topic) + uniformSize(partitions, partition) + NO_TAGS,
    )
  );
}
