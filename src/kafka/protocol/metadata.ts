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

export function metadataRequestSize(body: MetadataRequest): number {
  const topics =
    body.topics === undefined
      ? EMPTY
      : arraySize(body.topics, ({ name }) => UUID + textSize(name) + NO_TAGS);
  return REQUEST_OVERHEAD + topics + 2 * INT8 + NO_TAGS;
}

export function metadataResponseSize(body: MetadataResponse): number {
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    arraySize(
      body.brokers,
      ({ host, rack }) => 2 * INT32 + textSize(host) + textSize(rack) + NO_TAGS,
    ) +
    textSize(body.clusterId) +
    INT32 +
    arraySize(body.topics, metadataTopicSize) +
    INT16 +
    NO_TAGS
  );
}

function metadataTopicSize(topic: MetadataTopic): number {
  return (
    INT16 +
    textSize(topic.name) +
    UUID +
    INT8 +
    arraySize(
      topic.partitions,
      ({ replicaNodes, isrNodes, offlineReplicas }) =>
        INT16 +
        3 * INT32 +
        uniformSize(replicaNodes, INT32) +
        uniformSize(isrNodes, INT32) +
        uniformSize(offlineReplicas, INT32) +
        NO_TAGS,
    ) +
    INT32 +
    NO_TAGS
  );
}
