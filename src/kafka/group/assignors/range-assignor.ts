import { dealRanges } from "./deal-ranges.ts";
import type { MemberSubscription } from "./member-subscription.ts";
import { byMemberId, subscribedPartitions } from "./member-subscription.ts";
import type { PartitionCounts } from "./partition-table.ts";
import type { GroupAssignment } from "./topic-partitions.ts";

/**
 * The `range` of the classic protocol (`RangeAssignor` of the client).
 *
 * Simplified: racks are not looked at (KIP-881).
 */
export function assignRange(
  members: readonly MemberSubscription[],
  counts: PartitionCounts,
): GroupAssignment {
  return dealRanges(byMemberId(members), subscribedPartitions(members, counts));
}
