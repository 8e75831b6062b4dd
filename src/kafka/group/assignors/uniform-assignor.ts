import { dealRanges } from "./deal-ranges.ts";
import type { PartitionCounts } from "./partition-table.ts";
import type { TargetMember } from "./target-member.ts";
import { isHomogeneous, membersInOrder, targetPartitions } from "./target-member.ts";
import type { GroupAssignment } from "./topic-partitions.ts";
import { assignHeterogeneous } from "./uniform-heterogeneous.ts";
import { assignHomogeneous } from "./uniform-homogeneous.ts";

/** The `uniform` of the new protocol, its default (`UniformAssignor`): balanced first, then sticky. */
export function assignUniform(
  members: readonly TargetMember[],
  counts: PartitionCounts,
): GroupAssignment {
  const inOrder = membersInOrder(members);
  const table = targetPartitions(inOrder, counts);
  // Kafka gives no answer for members then, which is the same as nothing for each.
  if (table.topics.length === 0)
    return new Map(inOrder.map((member) => [member.memberId, new Map()]));
  const assign = isHomogeneous(inOrder) ? assignHomogeneous : assignHeterogeneous;
  const assigned = assign(inOrder, table);
  return new Map(
    inOrder.map(({ memberId }, member) => [memberId, table.partitionsOf(assigned[member] ?? [])]),
  );
}

/** The `range` of the new protocol (`RangeAssignor` of the group coordinator). */
export function assignTargetRange(
  members: readonly TargetMember[],
  counts: PartitionCounts,
): GroupAssignment {
  const takers = membersInOrder(members).map(({ memberId, instanceId, topicIds }) => {
    return { memberId, instanceId, topics: topicIds };
  });
  return dealRanges(takers, targetPartitions(members, counts));
}
