import {
  arraySize,
  INT8,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
  uniformSize,
} from "./wire-size.ts";

/** ListOffsetsRequest v11. */
export interface ListOffsetsRequest {
  readonly replicaId: number;
  readonly isolationLevel: number;
  readonly topics: readonly ListOffsetsTopic[];
  readonly timeoutMs: number;
}

export interface ListOffsetsTopic {
  readonly name: string;
  readonly partitions: readonly ListOffsetsPartition[];
}

export interface ListOffsetsPartition {
  readonly partitionIndex: number;
  readonly currentLeaderEpoch: number;
  /** Milliseconds, or one of the negative words below. */
  readonly timestamp: number;
}

export const LATEST_TIMESTAMP = -1;
export const EARLIEST_TIMESTAMP = -2;
/** The record with the largest timestamp (KIP-734). */
export const MAX_TIMESTAMP = -3;
/** Of what is not in tiered storage; without that, as EARLIEST_TIMESTAMP. */
export const EARLIEST_LOCAL_TIMESTAMP = -4;
/** Of what is in tiered storage: nothing. */
export const LATEST_TIERED_TIMESTAMP = -5;
export const EARLIEST_PENDING_UPLOAD_TIMESTAMP = -6;

export interface ListOffsetsResponse {
  readonly throttleTimeMs: number;
  readonly topics: readonly ListOffsetsTopicResponse[];
}

export interface ListOffsetsTopicResponse {
  readonly name: string;
  readonly partitions: readonly ListOffsetsPartitionResponse[];
}

export interface ListOffsetsPartitionResponse {
  readonly partitionIndex: number;
  readonly errorCode: number;
  readonly timestamp: number;
  readonly offset: number;
  readonly leaderEpoch: number;
}

export function listOffsetsRequestSize(body: ListOffsetsRequest): number {
  const partition = 2 * INT32 + INT64 + NO_TAGS;
  return (
    REQUEST_OVERHEAD +
    (INT32 + INT8 + INT32 + NO_TAGS) +
    arraySize(
      body.topics,
      ({ name, partitions }) => textSize(name) + uniformSize(partitions, partition) + NO_TAGS,
    )
  );
}

export function listOffsetsResponseSize(body: ListOffsetsResponse): number {
  const partition = INT32 + INT16 + 2 * INT64 + INT32 + NO_TAGS;
  return (
    RESPONSE_OVERHEAD +
    (INT32 + NO_TAGS) +
    arraySize(
      body.topics,
      ({ name, partitions }) => textSize(name) + uniformSize(partitions, partition) + NO_TAGS,
    )
  );
}
