import { byNumber } from "../../base/order.ts";
import type { BrokerId, TopicId } from "../ids.ts";
import { NO_LEADER } from "../ids.ts";
import type { Uuid } from "../uuid.ts";
import type { ElectionMode, ElectionRule } from "./election.ts";
import { electLeader } from "./election.ts";
import type { PartitionRegistration } from "./partition-registration.ts";
import type { LeaderRecoveryState, PartitionChangeRecord } from "./records.ts";
import { RECOVERING } from "./records.ts";

/** What is to become of one partition. */
export interface PartitionChange {
  readonly topicId: TopicId;
  readonly partitionId: number;
  readonly partition: PartitionRegistration;
  readonly isAcceptableLeader: (broker: BrokerId) => boolean;
  /** The min.insync.replicas in force, the number of replicas at most. */
  readonly minInsyncReplicas: number;
  readonly isElrEnabled: boolean;
  readonly election: ElectionMode;
  /** The ISR it should have; the present one if absent. */
  readonly targetIsr?: readonly BrokerId[];
  /** A replica that may have lost records: it leaves the ELR too. */
  readonly uncleanShutdown?: BrokerId;
  readonly targetRecoveryState?: LeaderRecoveryState;
  /** The directory that each replica should be in; the present ones if absent. */
  readonly targetDirectories?: readonly Uuid[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The record that brings a partition to its target, or undefined if nothing changes
 * (`PartitionChangeBuilder`; metadata.version 3.6 and later: no new leader epoch on an ISR change).
 *
 * Simplified: no reassignment, so the replicas never change.
 */
export function buildPartitionChange(
  change: PartitionChange,
  elect: ElectionRule = electLeader,
): PartitionChangeRecord | undefined {
  const { partition, isElrEnabled } = change;
  const record: Mutable<PartitionChangeRecord> = {
    type: "PartitionChangeRecord",
    partitionId: change.partitionId,
    topicId: change.topicId,
  };
  let targetIsr = change.targetIsr ?? partition.isr;
  let targetElr = eligibleReplicas(change, targetIsr);
  const { leader, unclean } = elect({
    partition,
    mode: change.election,
    targetIsr,
    targetElr,
    isElrEnabled,
    isAcceptable: change.isAcceptableLeader,
  });

  if (leader !== partition.leader) {
    record.leader = leader;
    if (targetElr.includes(leader)) {
      targetIsr = [leader];
      targetElr = targetElr.filter((replica) => replica !== leader);
    }
    if (unclean) {
      // All that others hold beyond it is given up.
      record.isr = [leader];
      if (partition.leaderRecoveryState !== RECOVERING) record.leaderRecoveryState = RECOVERING;
    }
  }

  if (unclean || !isElrEnabled) targetElr = [];
  if (!sameItems(targetElr, partition.elr)) record.eligibleLeaderReplicas = targetElr;

  // Without ELR the last member stays in the ISR though it is gone: it alone may lead again.
  const mayEmpty = targetIsr.length > 0 || isElrEnabled;
  if (record.isr === undefined && mayEmpty && !sameItems(targetIsr, partition.isr)) {
    record.isr = targetIsr;
  }
  if (isElrEnabled) rememberLastLeader(record, partition);

  const directories = change.targetDirectories ?? partition.directories;
  if (!sameItems(directories, partition.directories)) record.directories = directories;

  const recovery = change.targetRecoveryState ?? partition.leaderRecoveryState;
  if (recovery !== partition.leaderRecoveryState) record.leaderRecoveryState = recovery;
  return isNoOp(record) ? undefined : record;
}

/** While the ISR is below the minimum: who left it and has, for all that is known, all committed. */
function eligibleReplicas(
  change: PartitionChange,
  targetIsr: readonly BrokerId[],
): readonly BrokerId[] {
  const { partition } = change;
  if (!change.isElrEnabled) return partition.elr;
  if (targetIsr.length >= change.minInsyncReplicas) return [];
  const candidates = new Set([...partition.elr, ...partition.isr]);
  return [...candidates]
    .filter((replica) => !targetIsr.includes(replica) && replica !== change.uncleanShutdown)
    .sort(byNumber);
}

/** The first time that a partition loses its whole ISR, its leader is noted; forgotten with the next. */
function rememberLastLeader(
  record: Mutable<PartitionChangeRecord>,
  partition: PartitionRegistration,
): void {
  const { lastKnownElr, leader: before } = partition;
  const isEmptied = record.isr !== undefined && record.isr.length === 0;
  if (isEmptied && before !== NO_LEADER && !sameItems(lastKnownElr, [before])) {
    record.lastKnownElr = [before];
    return;
  }
  const after = record.leader ?? before;
  if (!isEmptied && after !== NO_LEADER && lastKnownElr.length > 0) record.lastKnownElr = [];
}

function isNoOp(record: PartitionChangeRecord): boolean {
  return (
    record.isr === undefined &&
    record.leader === undefined &&
    record.leaderRecoveryState === undefined &&
    record.directories === undefined &&
    record.eligibleLeaderReplicas === undefined &&
    record.lastKnownElr === undefined
  );
}

function sameItems<Item>(left: readonly Item[], right: readonly Item[]): boolean {
  return left.length === right.length && left.every((item, i) => item === right[i]);
}
