import type { TopicId } from "../ids.ts";
import type { RecordBatch } from "../log/record-batch.ts";
import {
  countSize,
  EMPTY,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  tagged,
  textSize,
  UUID,
  varintSize,
} from "./wire-size.ts";

/** ProduceRequest v13 (topic ids since KIP-516's last step). */
export interface ProduceRequest {
  readonly transactionalId: string | undefined;
  /** -1 is all. */
  readonly acks: number;
  readonly timeoutMs: number;
  readonly topicData: readonly ProduceTopic[];
}

export interface ProduceTopic {
  readonly topicId: TopicId;
  readonly partitionData: readonly ProducePartition[];
}

export interface ProducePartition {
  readonly index: number;
  /** One batch: magic 2 allows one per partition. */
  readonly records: RecordBatch;
}

/** Simplified: without the addresses of new leaders (KIP-951); clients know them from metadata. */
export interface ProduceResponse {
  readonly responses: readonly ProduceTopicResponse[];
  readonly throttleTimeMs: number;
}

export interface ProduceTopicResponse {
  readonly topicId: TopicId;
  readonly partitionResponses: readonly ProducePartitionResponse[];
}

export interface ProducePartitionResponse {
  readonly index: number;
  readonly errorCode: number;
  readonly baseOffset: number;
  readonly logAppendTimeMs: number;
  readonly logStartOffset: number;
  /** On NOT_LEADER_OR_FOLLOWER: who leads, as far as this broker knows (KIP-951). */
  readonly currentLeader: LeaderIdAndEpoch | undefined;
}

export interface LeaderIdAndEpoch {
  readonly leaderId: number;
  readonly leaderEpoch: number;
}

export function produceRequestSize(body: ProduceRequest): number {
  let size = REQUEST_OVERHEAD + textSize(body.transactionalId) + INT16 + INT32 + NO_TAGS;
  size += countSize(body.topicData.length);
  for (const topic of body.topicData) {
    size += UUID + countSize(topic.partitionData.length) + NO_TAGS;
    for (const { records } of topic.partitionData) {
      const bytes = records.sizeInBytes;
      size += INT32 + varintSize(bytes + 1) + bytes + NO_TAGS;
    }
  }
  return size;
}

export function produceResponseSize(body: ProduceResponse): number {
  let size = RESPONSE_OVERHEAD + INT32 + NO_TAGS + countSize(body.responses.length);
  for (const topic of body.responses) {
    size += UUID + countSize(topic.partitionResponses.length) + NO_TAGS;
    for (const partition of topic.partitionResponses) {
      size += INT32 + INT16 + 3 * INT64 + EMPTY + textSize(undefined) + NO_TAGS;
      if (partition.currentLeader !== undefined) size += tagged(LEADER_SIZE);
    }
  }
  return size;
}

/** LeaderIdAndEpoch with its own, empty tags. */
export const LEADER_SIZE: number = 2 * INT32 + NO_TAGS;
