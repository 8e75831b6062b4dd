import type { TopicId } from "../ids.ts";

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
