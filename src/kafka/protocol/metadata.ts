import type { TopicId } from "../ids.ts";

/** MetadataRequest v13; `topics` undefined asks for all. */
export interface MetadataRequest {
  readonly topics: readonly MetadataRequestTopic[] | undefined;
  readonly allowAutoTopicCreation: boolean;
}

export interface MetadataRequestTopic {
  readonly topicId: TopicId | undefined;
  readonly name: string | undefined;
}

export interface MetadataResponse {
  readonly throttleTimeMs: number;
  readonly brokers: readonly MetadataBroker[];
  readonly clusterId: string;
  /** Some live broker: KRaft brokers forward what is the controller's. */
  readonly controllerId: number;
  readonly topics: readonly MetadataTopic[];
  readonly errorCode: number;
}

export interface MetadataBroker {
  readonly nodeId: number;
  readonly host: string;
  /** The simulated network has no ports: here stands the node's address. */
  readonly port: number;
  readonly rack: string | undefined;
}

export interface MetadataTopic {
  readonly errorCode: number;
  readonly name: string;
  readonly topicId: TopicId;
  readonly isInternal: boolean;
  readonly partitions: readonly MetadataPartition[];
}

export interface MetadataPartition {
  readonly errorCode: number;
  readonly partitionIndex: number;
  readonly leaderId: number;
  readonly leaderEpoch: number;
  readonly replicaNodes: readonly number[];
  readonly isrNodes: readonly number[];
  readonly offlineReplicas: readonly number[];
}
