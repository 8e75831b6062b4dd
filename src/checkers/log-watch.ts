import type { Instant } from "../base/time.ts";
import type { LeaderEpoch } from "../kafka/ids.ts";
import type { Appended, HighWatermarkMoved } from "../trace/fact.ts";
import type { BatchNode } from "./batch-tree.ts";
import { NO_NODE } from "./batch-tree.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";

/** What a broker last said that it is to a partition. */
export type LogRole = "none" | "leader" | "follower";

/** Told of an append that is not as it ought to be. */
export type AppendListener = (
  partition: PartitionGhost,
  log: ReplicaLog,
  node: BatchNode,
  fact: Appended,
  at: Instant,
  event: number,
) => void;

/** Told of a high watermark; `index`: which batch of the log lies just below it, -1 if none does. */
export type MarkListener = (
  partition: PartitionGhost,
  log: ReplicaLog,
  index: number,
  fact: HighWatermarkMoved,
  at: Instant,
  event: number,
) => void;

/**
 * The comparisons that every append and every high watermark needs, made where the state is at hand:
 * guarantees are told of what fails them, and take from here how much was looked at. (A call for each
 * guarantee and each fact would cost more than the comparisons.)
 */
export class LogWatch {
  appends = 0;
  /** Of them, those after a change of leader. */
  appendsLater = 0;
  /** Of them, those that no replica had before. */
  newBatches = 0;
  moves = 0;
  movesLater = 0;
  /** Of leaders. */
  leaderMoves = 0;
  /** Of leaders of partitions whose ISR has been too small. */
  tightMoves = 0;
  readonly #conflicts: AppendListener[] = [];
  readonly #fallen: AppendListener[] = [];
  readonly #outOfRole: AppendListener[] = [];
  readonly #outOfBounds: MarkListener[] = [];
  readonly #parted: MarkListener[] = [];
  readonly #tight: MarkListener[] = [];

  /** The batch contradicts `tree.conflict`, of the same leader epoch. */
  onConflict(listener: AppendListener): void {
    this.#conflicts.push(listener);
  }

  /** The batch has a lower leader epoch than the one before it. */
  onEpochFallen(listener: AppendListener): void {
    this.#fallen.push(listener);
  }

  /** A follower wrote, a leader copied, or the batch is of an epoch that the broker is not in. */
  onOutOfRole(listener: AppendListener): void {
    this.#outOfRole.push(listener);
  }

  /** A high watermark lies outside its log. */
  onOutOfBounds(listener: MarkListener): void {
    this.#outOfBounds.push(listener);
  }

  /** What lies below a high watermark is not what was committed. */
  onParted(listener: MarkListener): void {
    this.#parted.push(listener);
  }

  /** A leader moved its high watermark in a partition whose ISR has been too small. */
  onTight(listener: MarkListener): void {
    this.#tight.push(listener);
  }

  appended(
    partition: PartitionGhost,
    log: ReplicaLog,
    node: BatchNode,
    isNew: boolean,
    fact: Appended,
    at: Instant,
    event: number,
  ): void {
    this.appends++;
    if (partition.leaderChanges > 0) this.appendsLater++;
    const { tree } = partition;
    const epoch = tree.leaderEpoch[node] as number;
    if (!isInRole(log, fact.asLeader, epoch)) {
      for (const listener of this.#outOfRole) listener(partition, log, node, fact, at, event);
    }
    if (!isNew) return;
    this.newBatches++;
    const below = tree.parent[node] as number;
    if (below !== NO_NODE && epoch < (tree.leaderEpoch[below] as number)) {
      for (const listener of this.#fallen) listener(partition, log, node, fact, at, event);
    }
    if (tree.conflict !== NO_NODE) {
      for (const listener of this.#conflicts) listener(partition, log, node, fact, at, event);
    }
  }

  moved(
    partition: PartitionGhost,
    log: ReplicaLog,
    index: number,
    fact: HighWatermarkMoved,
    at: Instant,
    event: number,
  ): void {
    const { highWatermark, leaderEpoch } = fact;
    this.moves++;
    if (highWatermark < log.start || highWatermark > log.end) {
      for (const listener of this.#outOfBounds) listener(partition, log, index, fact, at, event);
    }
    const { canon } = partition;
    // Leaders that an unclean election has given up, and who follows them, are another story.
    if (leaderEpoch >= partition.epochFloor && canon.count > 0 && index >= 0) {
      if (partition.leaderChanges > 0) this.movesLater++;
      const both = Math.min(index, canon.count - 1);
      if (canon.nodes[both] !== log.nodes[both] && !givesUpCanon(partition, fact)) {
        for (const listener of this.#parted) listener(partition, log, index, fact, at, event);
      }
    }
    if (!fact.asLeader) return;
    this.leaderMoves++;
    if (!partition.wasBelowMinIsr) return;
    this.tightMoves++;
    for (const listener of this.#tight) listener(partition, log, index, fact, at, event);
  }
}

/**
 * Does a leader move it that an unclean election chose, and that has not told so yet? A broker that starts leads
 * before it opens its port. What was committed before has been given up with the leaders of then.
 */
function givesUpCanon(
  { canonEpoch, epochFloor, leaderEpoch }: PartitionGhost,
  fact: HighWatermarkMoved,
): boolean {
  return fact.asLeader && fact.leaderEpoch > leaderEpoch && canonEpoch < epochFloor;
}

function isInRole(log: ReplicaLog, asLeader: boolean, epoch: LeaderEpoch): boolean {
  const { role, roleEpoch } = log;
  if (asLeader) return role === "leader" ? epoch === roleEpoch : role === "none";
  return role === "follower" ? epoch <= roleEpoch : role === "none";
}
