import { assignConstrained } from "./constrained-assignment.ts";
import { assignGenerally } from "./general-assignment.ts";
import type { MemberSubscription } from "./member-subscription.ts";
import { byMemberId, subscribedPartitions } from "./member-subscription.ts";
import type { PartitionCounts, PartitionTable } from "./partition-table.ts";
import { settleClaims } from "./sticky-claims.ts";
import type { OwnershipClaim } from "./sticky-user-data.ts";
import { decodeCooperativeUserData, decodeStickyUserData } from "./sticky-user-data.ts";
import type { GroupAssignment } from "./topic-partitions.ts";

/**
 * As balanced as can be, with as few partitions as possible changing hands (`StickyAssignor`, KIP-54). For
 * eager members: what they had stands in their user data.
 *
 * Simplified: racks are not looked at (KIP-881); the highest generation is that of the members at hand,
 * whereas Kafka's assignor remembers the highest that it ever saw.
 */
export function assignSticky(
  members: readonly MemberSubscription[],
  counts: PartitionCounts,
): GroupAssignment {
  const inOrder = byMemberId(members);
  const claims = inOrder.map((member) => decodeStickyUserData(member.userData));
  const table = subscribedPartitions(members, counts);
  const { assigned } = assign(inOrder, claims, table);
  return named(inOrder, assigned, table);
}

/**
 * The same, but what somebody still owns is given to nobody else: that needs another rebalance, once it is
 * revoked (`CooperativeStickyAssignor`, KIP-429).
 */
export function assignCooperativeSticky(
  members: readonly MemberSubscription[],
  counts: PartitionCounts,
): GroupAssignment {
  const inOrder = byMemberId(members);
  const claims = inOrder.map(cooperativeClaim);
  const table = subscribedPartitions(members, counts);
  const { assigned, transferring } = assign(inOrder, claims, table);
  const withheld = transferring ?? findTransfers(inOrder, assigned, table);
  for (const [number, member] of withheld) {
    const own = assigned[member] as number[];
    own.splice(own.indexOf(number), 1);
  }
  return named(inOrder, assigned, table);
}

function assign(
  members: readonly MemberSubscription[],
  claims: readonly OwnershipClaim[],
  table: PartitionTable,
): ReturnType<typeof assignConstrained> {
  const settled = settleClaims(members, claims, table);
  if (settled.isUniform) return assignConstrained(table, settled);
  return assignGenerally(members, claims, settled, table);
}

/** Only clients before Kafka 3.5 put the generation into the user data (KIP-792). */
function cooperativeClaim(member: MemberSubscription): OwnershipClaim {
  const generation = member.generation ?? decodeCooperativeUserData(member.userData);
  return { partitions: member.ownedPartitions, generation };
}

/** What one member is to have and another says that it owns. */
function findTransfers(
  members: readonly MemberSubscription[],
  assigned: readonly (readonly number[])[],
  table: PartitionTable,
): ReadonlyMap<number, number> {
  const added = new Map<number, number>();
  const revoked = new Set<number>();
  for (const [member, numbers] of assigned.entries()) {
    const owned = new Set(table.numbersOf(members[member]?.ownedPartitions ?? new Map()));
    const now = new Set(numbers);
    for (const number of now) if (!owned.has(number)) added.set(number, member);
    for (const number of owned) if (!now.has(number)) revoked.add(number);
  }
  return new Map([...added].filter(([number]) => revoked.has(number)));
}

function named(
  members: readonly MemberSubscription[],
  assigned: readonly (readonly number[])[],
  table: PartitionTable,
): GroupAssignment {
  return new Map(
    members.map(({ memberId }, member) => [memberId, table.partitionsOf(assigned[member] ?? [])]),
  );
}
