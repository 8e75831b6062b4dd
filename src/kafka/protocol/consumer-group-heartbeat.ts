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

/**
 * ConsumerGroupHeartbeatRequest v1 (KIP-848). All that is undefined is as the member said last; when it
 * joins it says everything.
 */
export interface ConsumerGroupHeartbeatRequest {
  readonly groupId: string;
  /** The client has made it up (KIP-1082). */
  readonly memberId: string;
  /** 0 joins, -1 leaves, -2 leaves for a while as a static member. */
  readonly memberEpoch: number;
  readonly instanceId: string | undefined;
  readonly rackId: string | undefined;
  /** -1 if it is as before. */
  readonly rebalanceTimeoutMs: number;
  readonly subscribedTopicNames: readonly string[] | undefined;
  readonly subscribedTopicRegex: string | undefined;
  readonly serverAssignor: string | undefined;
  /** What it owns. */
  readonly topicPartitions: readonly HeartbeatTopicPartitions[] | undefined;
}

export interface HeartbeatTopicPartitions {
  readonly topicId: TopicId;
  readonly partitions: readonly number[];
}

export interface ConsumerGroupHeartbeatResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly errorMessage: string | undefined;
  readonly memberId: string | undefined;
  readonly memberEpoch: number;
  readonly heartbeatIntervalMs: number;
  /** What the member is to own; undefined if that is as it was told last. */
  readonly assignment: readonly HeartbeatTopicPartitions[] | undefined;
}

export function consumerGroupHeartbeatRequestSize(body: ConsumerGroupHeartbeatRequest): number {
  const { subscribedTopicNames: names } = body;
  return (
    REQUEST_OVERHEAD +
    textSize(body.groupId) +
    textSize(body.memberId) +
    INT32 +
    textSize(body.instanceId) +
    textSize(body.rackId) +
    INT32 +
    (names === undefined ? EMPTY : arraySize(names, textSize)) +
    textSize(body.subscribedTopicRegex) +
    textSize(body.serverAssignor) +
    partitionsSize(body.topicPartitions) +
    NO_TAGS
  );
}

export function consumerGroupHeartbeatResponseSize(body: ConsumerGroupHeartbeatResponse): number {
  const { assignment } = body;
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    INT16 +
    textSize(body.errorMessage) +
    textSize(body.memberId) +
    2 * INT32 +
    // A structure that may be null has a byte in front that says so.
    INT8 +
    (assignment === undefined ? 0 : partitionsSize(assignment) + NO_TAGS) +
    NO_TAGS
  );
}

function partitionsSize(topics: readonly HeartbeatTopicPartitions[] | undefined): number {
  if (topics === undefined) return EMPTY;
  return arraySize(topics, ({ partitions }) => UUID + uniformSize(partitions, INT32) + NO_TAGS);
}
