import type { Offset } from "../ids.ts";
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

/** DeleteRecordsRequest v2 (KIP-107): to the leaders of partitions whose oldest records are to go. */
export interface DeleteRecordsRequest {
  readonly topics: readonly DeleteRecordsTopic[];
  readonly timeoutMs: number;
}

export interface DeleteRecordsTopic {
  readonly name: string;
  readonly partitions: readonly DeleteRecordsPartition[];
}

export interface DeleteRecordsPartition {
  readonly partitionIndex: number;
  /** Where the log is to begin, or UP_TO_HIGH_WATERMARK. */
  readonly offset: Offset;
}

/** `DeleteRecordsRequest.HIGH_WATERMARK`. */
export const UP_TO_HIGH_WATERMARK: Offset = -1;

export interface DeleteRecordsResponse {
  readonly throttleTimeMs: number;
  readonly topics: readonly DeleteRecordsTopicResult[];
}

export interface DeleteRecordsTopicResult {
  readonly name: string;
  readonly partitions: readonly DeleteRecordsPartitionResult[];
}

export interface DeleteRecordsPartitionResult {
  readonly partitionIndex: number;
  /** Where the logs of all live replicas begin, or later; -1 on error. */
  readonly lowWatermark: Offset;
  readonly errorCode: number;
}

export function deleteRecordsRequestSize(body: DeleteRecordsRequest): number {
  const partition = INT32 + INT64 + NO_TAGS;
  return (
    REQUEST_OVERHEAD +
    arraySize(
      body.topics,
      ({ name, partitions }) => textSize(name) + uniformSize(partitions, partition) + NO_TAGS,
    ) +
    INT32 +
    NO_TAGS
  );
}

export function deleteRecordsResponseSize(body: DeleteRecordsResponse): number {
  const partition = INT32 + INT64 + INT16 + NO_TAGS;
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
