import type { TopicId } from "../../../kafka/ids.ts";
import type { HeartbeatTopicPartitions } from "../../../kafka/protocol/consumer-group-heartbeat.ts";

type PartitionsById = ReadonlyMap<TopicId, readonly number[]>;

/**
 * What a KIP-848 member is assigned. Each that differs from the one before is another, by a number of the member's own,
 * which the coordinator never sees: what is assigned, taken away and assigned again is acknowledged twice.
 */
export interface LocalAssignment {
  readonly epoch: number;
  readonly partitions: PartitionsById;
}

/** It has been told nothing yet. */
export const NOT_ASSIGNED: LocalAssignment = { epoch: -1, partitions: new Map() };

export function hasSamePartitions(one: PartitionsById, other: PartitionsById): boolean {
  if (one.size !== other.size) return false;
  for (const [topicId, partitions] of one) {
    const others = other.get(topicId);
    if (others?.length !== partitions.length) return false;
    if (!partitions.every((partition) => others.includes(partition))) return false;
  }
  return true;
}

export function inRequest({ partitions }: LocalAssignment): readonly HeartbeatTopicPartitions[] {
  return [...partitions].map(([topicId, indexes]) => ({ topicId, partitions: indexes }));
}
