import type { TopicId } from "../ids.ts";
import type { Uuid } from "../uuid.ts";
import {
  arraySize,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  UUID,
  uniformSize,
} from "./wire-size.ts";

/** AssignReplicasToDirsRequest v0 (KIP-858): a broker tells in which directories its replicas are. */
export interface AssignReplicasToDirsRequest {
  readonly brokerId: number;
  readonly brokerEpoch: number;
  readonly directories: readonly AssignedDirectory[];
}

export interface AssignedDirectory {
  readonly id: Uuid;
  readonly topics: readonly AssignedTopic[];
}

export interface AssignedTopic {
  readonly topicId: TopicId;
  readonly partitions: readonly { readonly partitionIndex: number }[];
}

export interface AssignReplicasToDirsResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly directories: readonly AssignedDirectoryResult[];
}

export interface AssignedDirectoryResult {
  readonly id: Uuid;
  readonly topics: readonly AssignedTopicResult[];
}

export interface AssignedTopicResult {
  readonly topicId: TopicId;
  readonly partitions: readonly AssignedPartitionResult[];
}

export interface AssignedPartitionResult {
  readonly partitionIndex: number;
  readonly errorCode: number;
}

export function assignReplicasToDirsRequestSize(body: AssignReplicasToDirsRequest): number {
  return REQUEST_OVERHEAD + INT32 + INT64 + directoriesSize(body.directories, INT32) + NO_TAGS;
}

export function assignReplicasToDirsResponseSize(body: AssignReplicasToDirsResponse): number {
  const partition = INT32 + INT16;
  return RESPONSE_OVERHEAD + INT32 + INT16 + directoriesSize(body.directories, partition) + NO_TAGS;
}

interface AnyDirectory {
  readonly topics: readonly { readonly partitions: readonly unknown[] }[];
}

function directoriesSize(directories: readonly AnyDirectory[], partition: number): number {
  return arraySize(
    directories,
    ({ topics }) =>
      UUID +
      arraySize(
        topics,
        ({ partitions }) => UUID + uniformSize(partitions, partition + NO_TAGS) + NO_TAGS,
      ) +
      NO_TAGS,
  );
}
