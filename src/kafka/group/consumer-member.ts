import type { HeartbeatTopicPartitions } from "../protocol/consumer-group-heartbeat.ts";
import type { TopicPartitions } from "./assignors/topic-partitions.ts";
import type { AssignedPartitions, CurrentAssignment, MemberMetadata } from "./group-record.ts";

/** Where a member of a KIP-848 group is on its way to its target (Kafka's `MemberState`, by its numbers). */
export const MEMBER_STATE = {
  stable: 1,
  /** It must give up partitions first. */
  unrevoked: 2,
  /** It waits for what others must give up. */
  unreleased: 3,
} as const;

/** The member epochs by which a member leaves; a static one may say that it will be back. */
export const LEAVES = -1;
export const LEAVES_FOR_A_WHILE = -2;

/** A member of a KIP-848 group, as the log tells of it. Immutable. */
export interface ConsumerMember {
  readonly memberId: string;
  readonly metadata: MemberMetadata;
  readonly current: CurrentAssignment;
}

/** Does it speak the classic protocol, in a group that migrates? */
export function usesClassicProtocol({ metadata }: Pick<ConsumerMember, "metadata">): boolean {
  return metadata.classicMemberMetadata !== undefined;
}

export const NOTHING_ASSIGNED: AssignedPartitions = new Map();

/** Of a member that has just come. */
export const NEW_ASSIGNMENT: CurrentAssignment = {
  memberEpoch: 0,
  previousMemberEpoch: 0,
  state: MEMBER_STATE.stable,
  assigned: NOTHING_ASSIGNED,
  revoking: NOTHING_ASSIGNED,
};

/** What a member is to come to. */
export interface MemberTarget {
  readonly epoch: number;
  /** By topic id. */
  readonly partitions: TopicPartitions;
}

/**
 * A member's next step towards its target (Kafka's `CurrentAssignmentBuilder`). `owned` is what it says that it
 * owns, undefined if it says nothing; `isFree` tells whether nobody has a partition, or must give it up still.
 */
export function reconcile(
  current: CurrentAssignment,
  target: MemberTarget,
  owned: readonly HeartbeatTopicPartitions[] | undefined,
  isFree: (topicId: string, partition: number) => boolean,
): CurrentAssignment {
  switch (current.state) {
    case MEMBER_STATE.stable:
      if (current.memberEpoch === target.epoch) return current;
      return nextAssignment(current, current.memberEpoch, target, owned, isFree);
    case MEMBER_STATE.unrevoked:
      if (ownsAny(owned, current.revoking)) return current;
      return nextAssignment(current, current.memberEpoch + 1, target, owned, isFree);
    default:
      return nextAssignment(current, current.memberEpoch, target, owned, isFree);
  }
}

function nextAssignment(
  current: CurrentAssignment,
  memberEpoch: number,
  target: MemberTarget,
  owned: readonly HeartbeatTopicPartitions[] | undefined,
  isFree: (topicId: string, partition: number) => boolean,
): CurrentAssignment {
  const assigned = new Map<string, Map<number, number>>();
  const revoking = new Map<string, Map<number, number>>();
  for (const [topicId, epochs] of current.assigned) {
    const wanted = target.partitions.get(topicId) ?? [];
    for (const [partition, epoch] of epochs) {
      put(wanted.includes(partition) ? assigned : revoking, topicId, partition, epoch);
    }
  }
  const previousMemberEpoch = current.memberEpoch;
  if (revoking.size > 0 && ownsAny(owned, revoking)) {
    // It stays in its epoch until it has given them up.
    const state = MEMBER_STATE.unrevoked;
    return { memberEpoch, previousMemberEpoch, state, assigned, revoking };
  }
  let waits = false;
  for (const [topicId, partitions] of target.partitions) {
    for (const partition of partitions) {
      if (assigned.get(topicId)?.has(partition)) continue;
      if (isFree(topicId, partition)) put(assigned, topicId, partition, target.epoch);
      else waits = true;
    }
  }
  return {
    memberEpoch: target.epoch,
    previousMemberEpoch,
    state: waits ? MEMBER_STATE.unreleased : MEMBER_STATE.stable,
    assigned,
    revoking: NOTHING_ASSIGNED,
  };
}

/** Who says nothing of what it owns may own all of it still. */
function ownsAny(
  owned: readonly HeartbeatTopicPartitions[] | undefined,
  partitions: AssignedPartitions,
): boolean {
  if (owned === undefined) return true;
  return owned.some(({ topicId, partitions: indexes }) => {
    const some = partitions.get(topicId);
    return some !== undefined && indexes.some((index) => some.has(index));
  });
}

/** Is all that a member says it owns assigned to it? Not if it says nothing. */
export function isSubset(
  owned: readonly HeartbeatTopicPartitions[] | undefined,
  assigned: AssignedPartitions,
): boolean {
  if (owned === undefined) return false;
  return owned.every(({ topicId, partitions }) =>
    partitions.every((index) => assigned.get(topicId)?.has(index) === true),
  );
}

/** The same partitions, whatever the epochs in which they were assigned. */
export function hasSamePartitions(one: AssignedPartitions, other: AssignedPartitions): boolean {
  if (one.size !== other.size) return false;
  for (const [topicId, epochs] of one) {
    const others = other.get(topicId);
    if (others?.size !== epochs.size) return false;
    for (const partition of epochs.keys()) if (!others.has(partition)) return false;
  }
  return true;
}

export function isSameAssignment(one: CurrentAssignment, other: CurrentAssignment): boolean {
  return (
    one.memberEpoch === other.memberEpoch &&
    one.previousMemberEpoch === other.previousMemberEpoch &&
    one.state === other.state &&
    hasSamePartitions(one.assigned, other.assigned) &&
    hasSamePartitions(one.revoking, other.revoking)
  );
}

function put(
  map: Map<string, Map<number, number>>,
  topicId: string,
  partition: number,
  epoch: number,
): void {
  const known = map.get(topicId);
  if (known === undefined) map.set(topicId, new Map([[partition, epoch]]));
  else known.set(partition, epoch);
}
