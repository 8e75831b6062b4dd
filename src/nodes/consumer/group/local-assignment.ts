import type { TopicPartitions } from "../../../kafka/group/assignors/topic-partitions.ts";
import type { HeartbeatTopicPartitions } from "../../../kafka/protocol/consumer-group-heartbeat.ts";

/**
 * What a KIP-848 member is assigned. Each that differs from the one before is another, by a number of the member's own,
 * which the coordinator never sees: what is assigned, taken away and assigned again is acknowledged twice.
 */
export interface LocalAssignment {
  readonly epoch: number;
  /** Topics are ids. */
  readonly partitions: TopicPartitions;
}

/** It has been told nothing yet. */
export const NOT_ASSIGNED: LocalAssignment = { epoch: -1, partitions: new Map() };

export function inRequest({ partitions }: LocalAssignment): readonly HeartbeatTopicPartitions[] {
  return [...partitions].map(([topicId, indexes]) => ({ topicId, partitions: indexes }));
}
