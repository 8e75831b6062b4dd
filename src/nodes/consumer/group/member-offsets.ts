import type { Duration, Instant } from "../../../base/time.ts";
import type { LeaderEpoch, Offset } from "../../../kafka/ids.ts";
import { NO_EPOCH, NO_LEADER } from "../../../kafka/ids.ts";
import type { CommitEnded } from "../../../trace/fact.ts";
import type { AssignedPartition } from "../assigned-partition.ts";
import type { ConsumerParts } from "../consumer-parts.ts";
import type { CommitOutcome } from "./commit-outcome.ts";

/** A member's offsets: it commits how far it has come, and finds where to begin, wherever that is kept. */
export interface MemberOffsets {
  /** The member has an assignment: auto commits count their time from now. */
  restartAutoCommit(now: Instant): void;
  /** In poll: commits what earlier polls gave, if enable.auto.commit and it is time. */
  autoCommit(now: Instant): void;
  /** In poll: asks where to begin in partitions that have just been assigned. */
  findBeginnings(now: Instant): void;
  /** Commits the positions of all partitions. `patience` is how long it is tried, 0 for once. */
  commit(
    how: CommitEnded["how"],
    patience: Duration,
    ended: (outcome: CommitOutcome) => void,
  ): void;
  /** The application is done with all of a partition below an offset, or says so: commitAsync of just that. */
  commitBelow(partition: AssignedPartition, offset: Offset): void;
  /** Sends what waits to be sent. */
  run(now: Instant): void;
}

/** How far the member has come in one partition: the next record to read. */
export interface Progress {
  readonly partition: AssignedPartition;
  readonly offset: Offset;
  readonly leaderEpoch: LeaderEpoch;
}

/** Positions that hold (`SubscriptionState.allConsumed`). */
export function progressOf(assigned: readonly AssignedPartition[]): Progress[] {
  const progress: Progress[] = [];
  for (const partition of assigned) {
    const { offset, offsetEpoch, state } = partition.position;
    if (state === "await-reset" || partition.awaitsCommitted) continue;
    progress.push({ partition, offset, leaderEpoch: offsetEpoch });
  }
  return progress;
}

/** It is told what is committed, and begins there; of nothing (below 0), auto.offset.reset decides. */
export function beginAt(
  parts: ConsumerParts,
  partition: AssignedPartition,
  offset: Offset,
  epoch: LeaderEpoch,
): void {
  partition.awaitsCommitted = false;
  if (offset < 0) return;
  parts.world.facts.note({
    kind: "position-reset",
    client: parts.client,
    partition: partition.name,
    from: -1,
    to: offset,
    reason: "committed",
  });
  // By which leader that was true is not known: it is to be validated with the present one.
  partition.position.seek(offset, epoch, NO_LEADER, NO_EPOCH);
  if (epoch > partition.leader.leaderEpoch) parts.metadata.requestUpdate();
  partition.followLeader();
}
