import { byText } from "../../../base/order.ts";
import { byUuid } from "../../uuid.ts";
import type { PartitionCounts } from "./partition-table.ts";
import { PartitionTable } from "./partition-table.ts";
import type { GroupAssignment, TopicPartitions } from "./topic-partitions.ts";

/** A member as the coordinator's assignor sees it (KIP-848: `MemberSubscription`, `MemberAssignment`). */
export interface TargetMember {
  readonly memberId: string;
  readonly instanceId: string | undefined;
  /** Ids of topics that exist. */
  readonly topicIds: readonly string[];
  /** What it is to have until now, by topic id: its part of the present target assignment. */
  readonly target: TopicPartitions;
}

/** Makes the target assignment of a group; `counts` by topic id. */
export type TargetAssignor = (
  members: readonly TargetMember[],
  counts: PartitionCounts,
) => GroupAssignment;

/**
 * Members in the order of their ids. Kafka goes through them as through a hash map, and so chance decides
 * in Kafka which of them have one partition more, and from whom partitions are taken first.
 */
export function membersInOrder(members: readonly TargetMember[]): TargetMember[] {
  return [...members].sort((one, other) => byText(one.memberId, other.memberId));
}

/** Do all subscribe to the same topics (`SubscriptionType.HOMOGENEOUS`)? */
export function isHomogeneous(members: readonly TargetMember[]): boolean {
  const first = new Set(members[0]?.topicIds);
  return members.every(
    ({ topicIds }) => topicIds.length === first.size && topicIds.every((topic) => first.has(topic)),
  );
}

/** The partitions of all topics that somebody subscribes to, in the order of topic ids. */
export function targetPartitions(
  members: readonly TargetMember[],
  counts: PartitionCounts,
): PartitionTable {
  const topics = new Set<string>();
  for (const member of members) for (const topic of member.topicIds) topics.add(topic);
  return new PartitionTable([...topics].sort(byUuid), counts);
}
