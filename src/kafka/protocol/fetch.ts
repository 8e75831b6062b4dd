import type { TopicId } from "../ids.ts";
import type { RecordBatch } from "../log/record-batch.ts";
import type { LeaderIdAndEpoch } from "./produce.ts";

/** FetchRequest v18 (KIP-1166). Spoken by consumers, follower brokers and the metadata quorum. */
export interface FetchRequest {
  readonly clusterId: string | undefined;
  /** -1 for consumers. */
  readonly replicaId: number;
  /** The follower's broker epoch (KIP-903); -1 for consumers and voters. */
  readonly replicaEpoch: number;
  readonly maxWaitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** 0 read_uncommitted, 1 read_committed. */
  readonly isolationLevel: number;
  readonly sessionId: number;
  readonly sessionEpoch: number;
  readonly topics: readonly FetchTopic[];
}

export interface FetchTopic {
  readonly topicId: TopicId;
  readonly partitions: readonly FetchPartition[];
}

export interface FetchPartition {
  readonly partition: number;
  readonly currentLeaderEpoch: number;
  readonly fetchOffset: number;
  /** The epoch of the last record the fetcher holds (KIP-595); -1 if it does not say. */
  readonly lastFetchedEpoch: number;
  readonly logStartOffset: number;
  readonly partitionMaxBytes: number;
  /** What the fetcher knows of the high watermark (KIP-1166); -1 if it does not say. */
  readonly highWatermark: number;
}

export interface FetchResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly sessionId: number;
  readonly responses: readonly FetchTopicResponse[];
}

export interface FetchTopicResponse {
  readonly topicId: TopicId;
  readonly partitions: readonly FetchPartitionResponse[];
}

export interface FetchPartitionResponse {
  readonly partitionIndex: number;
  readonly errorCode: number;
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  readonly logStartOffset: number;
  /** Set if the histories part: the largest epoch and end offset that the leader shares. */
  readonly divergingEpoch: EpochEndOffset | undefined;
  readonly currentLeader: LeaderIdAndEpoch | undefined;
  /** Set if the offset is below the log start of the metadata log. */
  readonly snapshotId: EpochEndOffset | undefined;
  readonly preferredReadReplica: number;
  readonly records: readonly RecordBatch[];
}

export interface EpochEndOffset {
  readonly epoch: number;
  readonly endOffset: number;
}
