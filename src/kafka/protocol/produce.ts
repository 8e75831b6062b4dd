import type { TopicId } from "../ids.ts";
import type { RecordBatch } from "../log/record-batch.ts";

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
