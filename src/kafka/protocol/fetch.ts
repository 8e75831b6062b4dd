import type { TopicId } from "../ids.ts";
import type { RecordBatch } from "../log/record-batch.ts";
import type { LeaderIdAndEpoch } from "./produce.ts";
import { LEADER_SIZE } from "./produce.ts";
import {
  countSize,
  EMPTY,
  INT8,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  recordsSize,
  tagged,
  textSize,
  UUID,
  uniformSize,
} from "./wire-size.ts";

/**
 * FetchRequest v18 (KIP-1166). Spoken by consumers, follower brokers and the metadata quorum.
 * Simplified: members of the quorum do not name their directory (KIP-853), as voters never change.
 */
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
  /** What the session shall have no more (KIP-227). */
  readonly forgottenTopicsData: readonly ForgottenTopic[];
}

export interface ForgottenTopic {
  readonly topicId: TopicId;
  readonly partitions: readonly number[];
}

/** Most fetches forget nothing. */
export const NOTHING_FORGOTTEN: readonly ForgottenTopic[] = [];

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

/** Simplified: without the addresses of new leaders (KIP-951); clients know them from metadata. */
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
  /** What a reader of committed records is to leave out; undefined for all others. */
  readonly abortedTransactions: readonly FetchedAbort[] | undefined;
  readonly preferredReadReplica: number;
  readonly records: readonly RecordBatch[];
}

/** A producer's transaction that was aborted, and where it begins. */
export interface FetchedAbort {
  readonly producerId: number;
  readonly firstOffset: number;
}

export interface EpochEndOffset {
  readonly epoch: number;
  readonly endOffset: number;
}

export function fetchRequestSize(body: FetchRequest): number {
  let size = REQUEST_OVERHEAD + 5 * INT32 + INT8 + textSize("") + NO_TAGS;
  size += countSize(body.topics.length);
  for (const topic of body.topics) {
    size += UUID + countSize(topic.partitions.length) + NO_TAGS;
    for (const partition of topic.partitions) {
      size += 4 * INT32 + 2 * INT64 + NO_TAGS;
      if (partition.highWatermark >= 0) size += tagged(INT64);
    }
  }
  size += countSize(body.forgottenTopicsData.length);
  for (const { partitions } of body.forgottenTopicsData) {
    size += UUID + uniformSize(partitions, INT32) + NO_TAGS;
  }
  if (body.clusterId !== undefined) size += tagged(textSize(body.clusterId));
  if (body.replicaId >= 0) size += tagged(INT32 + INT64 + NO_TAGS);
  return size;
}

export function fetchResponseSize(body: FetchResponse): number {
  let size = RESPONSE_OVERHEAD + INT32 + INT16 + INT32 + NO_TAGS + countSize(body.responses.length);
  for (const topic of body.responses) {
    size += UUID + countSize(topic.partitions.length) + NO_TAGS;
    for (const partition of topic.partitions) {
      size += INT32 + INT16 + 3 * INT64 + EMPTY + INT32 + NO_TAGS;
      size += recordsSize(partition.records);
      if (partition.abortedTransactions !== undefined) {
        size += uniformSize(partition.abortedTransactions, ABORT_SIZE) - EMPTY;
      }
      if (partition.divergingEpoch !== undefined) size += tagged(EPOCH_END_SIZE);
      if (partition.currentLeader !== undefined) size += tagged(LEADER_SIZE);
      if (partition.snapshotId !== undefined) size += tagged(EPOCH_END_SIZE);
    }
  }
  return size;
}

const ABORT_SIZE: number = 2 * INT64 + NO_TAGS;
/** An epoch and an offset with their own, empty tags. */
const EPOCH_END_SIZE: number = INT32 + INT64 + NO_TAGS;
