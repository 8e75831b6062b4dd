import type { TopicId } from "../ids.ts";
import {
  arraySize,
  EMPTY,
  INT8,
  INT16,
  INT32,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
  UUID,
  uniformSize,
} from "./wire-size.ts";

/** CreateTopicsRequest v7. */
export interface CreateTopicsRequest {
  readonly topics: readonly CreatableTopic[];
  readonly timeoutMs: number;
  readonly validateOnly: boolean;
}

export interface CreatableTopic {
  readonly name: string;
  /** -1 with `assignments`. */
  readonly numPartitions: number;
  readonly replicationFactor: number;
  readonly assignments: readonly CreatableReplicaAssignment[];
  readonly configs: readonly CreatableTopicConfig[];
}

export interface CreatableReplicaAssignment {
  readonly partitionIndex: number;
  readonly brokerIds: readonly number[];
}

export interface CreatableTopicConfig {
  readonly name: string;
  readonly value: string | undefined;
}

export interface CreateTopicsResponse {
  readonly throttleTimeMs: number;
  readonly topics: readonly CreatableTopicResult[];
}

export interface CreatableTopicResult {
  readonly name: string;
  readonly topicId: TopicId;
  readonly errorCode: number;
  readonly errorMessage: string | undefined;
  readonly numPartitions: number;
  readonly replicationFactor: number;
}

export function createTopicsRequestSize(body: CreateTopicsRequest): number {
  return REQUEST_OVERHEAD + arraySize(body.topics, creatableTopicSize) + INT32 + INT8 + NO_TAGS;
}

function creatableTopicSize(topic: CreatableTopic): number {
  return (
    textSize(topic.name) +
    (INT32 + INT16) +
    arraySize(
      topic.assignments,
      ({ brokerIds }) => INT32 + uniformSize(brokerIds, INT32) + NO_TAGS,
    ) +
    arraySize(topic.configs, ({ name, value }) => textSize(name) + textSize(value) + NO_TAGS) +
    NO_TAGS
  );
}

export function createTopicsResponseSize(body: CreateTopicsResponse): number {
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    arraySize(
      body.topics,
      ({ name, errorMessage }) =>
        textSize(name) + UUID + INT16 + textSize(errorMessage) + INT32 + INT16 + EMPTY + NO_TAGS,
    ) +
    NO_TAGS
  );
}
