import type { BrokerId, LeaderEpoch, PartitionEpoch } from "../ids.ts";
import type { Uuid } from "../uuid.ts";
import type { LeaderRecoveryState, PartitionChangeRecord, PartitionRecord } from "./records.ts";

/** A partition as the metadata log has it (Kafka's `PartitionRegistration`). Immutable. */
export interface PartitionRegistration {
  /** The first is the preferred leader. */
  readonly replicas: readonly BrokerId[];
  /** The log directory of each replica, in their order. */
  readonly directories: readonly Uuid[];
  readonly isr: readonly BrokerId[];
  readonly elr: readonly BrokerId[];
  readonly lastKnownElr: readonly BrokerId[];
  readonly removingReplicas: readonly BrokerId[];
  readonly addingReplicas: readonly BrokerId[];
  /** NO_LEADER (-1) while it has none. */
  readonly leader: BrokerId;
  readonly leaderRecoveryState: LeaderRecoveryState;
  readonly leaderEpoch: LeaderEpoch;
  readonly partitionEpoch: PartitionEpoch;
}

/** The partition that a record creates. */
export function registrationOf(record: PartitionRecord): PartitionRegistration {
  return {
    replicas: record.replicas,
    directories: record.directories,
    isr: record.isr,
    elr: record.eligibleLeaderReplicas ?? [],
    lastKnownElr: record.lastKnownElr ?? [],
    removingReplicas: record.removingReplicas,
    addingReplicas: record.addingReplicas,
    leader: record.leader,
    leaderRecoveryState: record.leaderRecoveryState,
    leaderEpoch: record.leaderEpoch,
    partitionEpoch: record.partitionEpoch,
  };
}

/**
 * The partition after a change. Each change moves the partition epoch; one that names a leader,
 * even the same, begins a leader epoch (`PartitionRegistration.merge`).
 */
export function mergeChange(
  before: PartitionRegistration,
  change: PartitionChangeRecord,
): PartitionRegistration {
  const { leader } = change;
  return {
    replicas: change.replicas ?? before.replicas,
    directories: change.directories ?? before.directories,
    isr: change.isr ?? before.isr,
    elr: change.eligibleLeaderReplicas ?? before.elr,
    lastKnownElr: change.lastKnownElr ?? before.lastKnownElr,
    removingReplicas: change.removingReplicas ?? before.removingReplicas,
    addingReplicas: change.addingReplicas ?? before.addingReplicas,
    leader: leader ?? before.leader,
    leaderRecoveryState: change.leaderRecoveryState ?? before.leaderRecoveryState,
    leaderEpoch: leader === undefined ? before.leaderEpoch : before.leaderEpoch + 1,
    partitionEpoch: before.partitionEpoch + 1,
  };
}
