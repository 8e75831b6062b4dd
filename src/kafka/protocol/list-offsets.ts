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
  /** Milliseconds, or LATEST_TIMESTAMP, EARLIEST_TIMESTAMP. */
  readonly timestamp: number;
}

export const LATEST_TIMESTAMP = -1;
export const EARLIEST_TIMESTAMP = -2;

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
