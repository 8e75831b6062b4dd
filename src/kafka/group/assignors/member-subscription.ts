import { byText } from "../../../base/order.ts";
import type { PartitionCounts } from "./partition-table.ts";
import { PartitionTable } from "./partition-table.ts";
import type { TopicPartitions } from "./topic-partitions.ts";

/** A member as the group's leader sees it when it assigns (`ConsumerPartitionAssignor.Subscription`). */
export interface MemberSubscription {
  readonly memberId: string;
  /** `group.instance.id` of a static member (KIP-345). */
  readonly instanceId: string | undefined;
  readonly topics: readonly string[];
  /** What it says that it owns; an eager member has given everything up before it joins (KIP-429). */
  readonly ownedPartitions: TopicPartitions;
  /** The generation in which it came to own that; undefined if it is in none (KIP-792). */
  readonly generation: number | undefined;
  /** What the assignor of that client said to the leader's. */
  readonly userData: Uint8Array | undefined;
}

/** Members in the order of their ids. */
export function byMemberId(members: readonly MemberSubscription[]): MemberSubscription[] {
  return [...members].sort((one, other) => byText(one.memberId, other.memberId));
}

/** Static members first, by instance id, then the others, by member id (`MemberInfo.compareTo`). */
export function byInstanceId(
  one: { readonly memberId: string; readonly instanceId: string | undefined },
  other: { readonly memberId: string; readonly instanceId: string | undefined },
): number {
  const { instanceId: left } = one;
  const { instanceId: right } = other;
  if (left !== undefined && right !== undefined) return byText(left, right);
  if (left !== undefined) return -1;
  if (right !== undefined) return 1;
  return byText(one.memberId, other.memberId);
}

/** The partitions of all topics that somebody subscribes to, by topic name. */
export function subscribedPartitions(
  members: readonly MemberSubscription[],
  counts: PartitionCounts,
): PartitionTable {
  const topics = new Set<string>();
  for (const member of members) for (const topic of member.topics) topics.add(topic);
  return new PartitionTable([...topics].sort(byText), counts);
}
