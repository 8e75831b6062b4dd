import type { Duration, Instant } from "../../base/time.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { BrokerId, LeaderEpoch, Offset } from "../ids.ts";
import type { EpochEnd } from "../log/leader-epoch-cache.ts";
import type { ProtocolSwitches } from "../protocol-switches.ts";
import type { IsrState } from "./isr-state.ts";
import type { ReplicaProgress } from "./replica-progress.ts";

/** What the rules look at in a leader's partition. */
export interface LeaderReplica {
  readonly brokerId: BrokerId;
  readonly logEndOffset: Offset;
  readonly highWatermark: Offset;
  /** The log's end when this leader's epoch began. */
  readonly epochStartOffset: Offset;
  readonly isr: IsrState;
  readonly remotes: readonly ReplicaProgress[];
  /** min(min.insync.replicas, number of replicas). */
  readonly effectiveMinIsr: number;
  /** Unfenced, not shutting down, and of the broker epoch that it fetches with (KIP-903)? */
  isEligibleForIsr(replica: ReplicaProgress): boolean;
}

/** Where a follower stands in its log. */
export interface FollowerLog {
  readonly logEndOffset: Offset;
  endOffsetForEpoch(epoch: LeaderEpoch): {
    readonly epoch: LeaderEpoch;
    readonly endOffset: Offset;
  };
}

/** Where to cut, and whether that settles it or the follower has to ask again with an older epoch. */
export interface TruncationPoint {
  readonly offset: Offset;
  readonly settled: boolean;
}

/**
 * The rules of replication, pure: one object, so that a protocol switch picks a rule here and a
 * test can break one. Everything that decides whether a record can be lost is on this page.
 */
export interface ReplicationRules {
  readonly switches: ProtocolSwitches;
  /** The high watermark that the leader may have now; never below the one it has. */
  leaderHighWatermark(leader: LeaderReplica, now: Instant, maxLag: Duration): Offset;
  /** Is a produce with acks=all done once all below `required` is replicated? Undefined: not yet. */
  produceOutcome(leader: LeaderReplica, required: Offset): ErrorCode | undefined;
  /** May this follower join the ISR? */
  canJoinIsr(leader: LeaderReplica, follower: ReplicaProgress): boolean;
  /** Must this member leave the ISR? */
  mustLeaveIsr(
    leader: LeaderReplica,
    follower: ReplicaProgress,
    now: Instant,
    maxLag: Duration,
  ): boolean;
  /**
   * Do the histories of a fetching replica and of the leader part before `fetchOffset`? `end` is where
   * the leader's last epoch up to `lastFetchedEpoch` ends.
   */
  historiesPart(end: EpochEnd, lastFetchedEpoch: LeaderEpoch, fetchOffset: Offset): boolean;
  /** The leader shares history up to (epoch, endOffset); where does the follower cut? -1, -1: unknown. */
  truncationPoint(
    follower: FollowerLog,
    fetchOffset: Offset,
    leaderEpoch: LeaderEpoch,
    leaderEndOffset: Offset,
  ): TruncationPoint;
}

export function replicationRules(switches: ProtocolSwitches): ReplicationRules {
  return {
    switches,
    leaderHighWatermark: (leader, now, maxLag) =>
      leaderHighWatermark(leader, now, maxLag, switches),
    produceOutcome,
    canJoinIsr: (leader, follower) => canJoinIsr(leader, follower, switches),
    mustLeaveIsr,
    historiesPart,
    truncationPoint,
  };
}

/** `Partition.maybeIncrementLeaderHW`. */
function leaderHighWatermark(
  leader: LeaderReplica,
  now: Instant,
  maxLag: Duration,
  switches: ProtocolSwitches,
): Offset {
  const { isr, remotes, logEndOffset } = leader;
  // Below the minimum, what is written is not yet safe enough to be shown (KAFKA-15583).
  if (switches["leader.hw-requires-min-isr"] && isr.isr.length < leader.effectiveMinIsr) {
    return leader.highWatermark;
  }
  const members = switches["isr.hw-set"] === "maximal" ? isr.maximalIsr : isr.isr;
  let lowest = logEndOffset;
  for (const replica of remotes) {
    if (replica.logEndOffset >= lowest) continue;
    // A follower that is about to join is waited for; otherwise it could never catch up (KIP-497).
    if (
      members.includes(replica.brokerId) ||
      (replica.isCaughtUp(logEndOffset, now, maxLag) && leader.isEligibleForIsr(replica))
    ) {
      lowest = replica.logEndOffset;
    }
  }
  return Math.max(lowest, leader.highWatermark);
}

/** `Partition.checkEnoughReplicasReachOffset`. */
function produceOutcome(leader: LeaderReplica, required: Offset): ErrorCode | undefined {
  if (leader.highWatermark < required) return undefined;
  return leader.isr.maximalIsr.length >= leader.effectiveMinIsr
    ? ERRORS.NONE
    : ERRORS.NOT_ENOUGH_REPLICAS_AFTER_APPEND;
}

/** `Partition.needsExpandIsr`, for a follower that has just fetched. */
function canJoinIsr(
  leader: LeaderReplica,
  follower: ReplicaProgress,
  switches: ProtocolSwitches,
): boolean {
  const { isr } = leader;
  if (isr.kind !== "committed" || isr.isr.includes(follower.brokerId)) return false;
  if (!leader.isEligibleForIsr(follower)) return false;
  if (follower.logEndOffset < leader.highWatermark) return false;
  // The high watermark of a new leader may lag; what it held when elected counts too (KAFKA-7128).
  return (
    switches["isr.expand-rule"] === "high-watermark" ||
    follower.logEndOffset >= leader.epochStartOffset
  );
}

/** `Partition.isFollowerOutOfSync`. */
function mustLeaveIsr(
  leader: LeaderReplica,
  follower: ReplicaProgress,
  now: Instant,
  maxLag: Duration,
): boolean {
  return !follower.isCaughtUp(leader.logEndOffset, now, maxLag);
}

/** `Partition.readRecords` (KIP-595). */
function historiesPart(end: EpochEnd, lastFetchedEpoch: LeaderEpoch, fetchOffset: Offset): boolean {
  return end.epoch < lastFetchedEpoch || end.endOffset < fetchOffset;
}

/** `AbstractFetcherThread.getOffsetTruncationState` (KIP-279). */
function truncationPoint(
  follower: FollowerLog,
  fetchOffset: Offset,
  leaderEpoch: LeaderEpoch,
  leaderEndOffset: Offset,
): TruncationPoint {
  if (leaderEndOffset < 0) return { offset: fetchOffset, settled: true };
  if (leaderEpoch < 0) {
    // A leader that cannot name the epoch (KIP-101's own answer).
    return { offset: Math.min(leaderEndOffset, follower.logEndOffset), settled: true };
  }
  const own = follower.endOffsetForEpoch(leaderEpoch);
  if (own.endOffset < 0) {
    return { offset: Math.min(leaderEndOffset, follower.logEndOffset), settled: true };
  }
  // The follower knows only an older epoch: cut there and ask again with that one.
  if (own.epoch !== leaderEpoch) {
    return { offset: Math.min(own.endOffset, follower.logEndOffset), settled: false };
  }
  return {
    offset: Math.min(own.endOffset, leaderEndOffset, follower.logEndOffset),
    settled: true,
  };
}
