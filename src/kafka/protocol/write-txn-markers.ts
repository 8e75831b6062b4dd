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

/** WriteTxnMarkersRequest v2 (KIP-98, KIP-1228): a coordinator has leaders write how transactions ended. */
export interface WriteTxnMarkersRequest {
  readonly markers: readonly WritableTxnMarker[];
}

export interface WritableTxnMarker {
  readonly producerId: number;
  readonly producerEpoch: number;
  /** True commits. */
  readonly transactionResult: boolean;
  readonly topics: readonly WritableTxnMarkerTopic[];
  /** The leader epoch in which the coordinator leads its partition of `__transaction_state`. */
  readonly coordinatorEpoch: number;
  /** With 2 the marker must bring a later epoch than the data (KIP-890). */
  readonly transactionVersion: number;
}

export interface WritableTxnMarkerTopic {
  readonly name: string;
  readonly partitionIndexes: readonly number[];
}

export interface WriteTxnMarkersResponse {
  readonly markers: readonly WritableTxnMarkerResult[];
}

export interface WritableTxnMarkerResult {
  readonly producerId: number;
  readonly topics: readonly WritableTxnMarkerTopicResult[];
}

export interface WritableTxnMarkerTopicResult {
  readonly name: string;
  readonly partitions: readonly WritableTxnMarkerPartitionResult[];
}

export interface WritableTxnMarkerPartitionResult {
  readonly partitionIndex: number;
  readonly errorCode: number;
}

export function writeTxnMarkersRequestSize(body: WriteTxnMarkersRequest): number {
  return (
    REQUEST_OVERHEAD +
    arraySize(
      body.markers,
      ({ topics }) =>
        INT64 +
        INT16 +
        INT8 +
        arraySize(
          topics,
          ({ name, partitionIndexes }) =>
            textSize(name) + uniformSize(partitionIndexes, INT32) + NO_TAGS,
        ) +
        INT32 +
        INT8 +
        NO_TAGS,
    ) +
    NO_TAGS
  );
}

export function writeTxnMarkersResponseSize(body: WriteTxnMarkersResponse): number {
  return (
    RESPONSE_OVERHEAD +
    arraySize(
      body.markers,
      ({ topics }) =>
        INT64 +
        arraySize(
          topics,
          ({ name, partitions }) =>
            textSize(name) + uniformSize(partitions, INT32 + INT16 + NO_TAGS) + NO_TAGS,
        ) +
        NO_TAGS,
    ) +
    NO_TAGS
  );
}
