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
