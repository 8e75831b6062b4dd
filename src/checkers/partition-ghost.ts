import type { Instant } from "../base/time.ts";
import type { BrokerId, LeaderEpoch, Offset, PartitionName } from "../kafka/ids.ts";
import { NO_LEADER } from "../kafka/ids.ts";
import type { PartitionChanged } from "../trace/fact.ts";
import type { BatchNode } from "./batch-tree.ts";
import { BatchTree, NO_NODE } from "./batch-tree.ts";
import { ReplicaLog } from "./replica-log.ts";
import type { Judgement } from "./waivers/waiver.ts";

/** An election that gave up the ISR's promise: records below the high watermark may be gone. */
export interface UncleanElection {
  readonly how: "unclean" | "last-known";
  readonly leader: BrokerId;
  readonly leaderEpoch: LeaderEpoch;
  readonly at: Instant;
  readonly event: number;
}

/** A leader appended before it was let in after its start: as a coordinator, since nobody can ask it for anything. */
export interface EarlyWrite {
  readonly broker: BrokerId;
  readonly at: Instant;
  readonly event: number;
}

/** A replica's log came to end earlier than it did. */
export interface Cut {
  readonly partition: PartitionGhost;
  readonly log: ReplicaLog;
  /** `truncated` by a running broker, `loaded` shorter than it was at the last stop. */
  readonly how: "truncated" | "loaded";
  /** The truncation's reason; empty for a load. */
  readonly reason: string;
  /**
   * For a load, what excuses it: `power`, a power cut took what was not flushed; `disk`, a disk has
   * damaged, dropped or lost what it held, flushed or not.
   */
  readonly excuse: "none" | "power" | "disk";
  /** End offsets before and after. */
  readonly from: Offset;
  readonly to: Offset;
  /** The last batch before; `log.nodes` still holds what was removed, from `log.count` on. */
  readonly tip: BatchNode;
  readonly at: Instant;
  readonly event: number;
}

/**
 * What is known of one partition: all replicas' logs, what is committed, what the controller and
 * the brokers last said. Written by `ReplicaLogs` only.
 */
export class PartitionGhost {
  readonly name: PartitionName;
  /** Dense, from 0: checkers keep their own state in arrays under it. */
  readonly index: number;
  readonly tree: BatchTree;
  readonly replicas: Map<BrokerId, ReplicaLog> = new Map();
  /** The same in a row. */
  readonly #logs: ReplicaLog[] = [];

  /**
   * The committed prefix: what was ever below the high watermark of a presumed leader, less what
   * elections have given up since. A leader whose high watermark is lower is nothing unusual.
   */
  readonly canon: ReplicaLog;
  /** TrueHW: where the committed prefix ends. The batch that holds the offset before may reach further. */
  trueHighWatermark: Offset = 0;
  /** Counts the cuts of the committed prefix. */
  canonGeneration = 0;
  /** The epoch of the leader that extended the committed prefix last. */
  canonEpoch: LeaderEpoch = -1;

  /** As committed by the controller last. */
  registration: PartitionChanged | undefined = undefined;
  /** Leaders of lower epochs were given up by an unclean election: they commit nothing. */
  epochFloor: LeaderEpoch = -1;
  readonly uncleanElections: UncleanElection[] = [];

  /** The newest leader that took office, even if it has stopped since; NO_LEADER if there was none. */
  leader: BrokerId = NO_LEADER;
  leaderEpoch: LeaderEpoch = -1;
  /** Is it in office, as far as it has told? */
  leading = false;
  readonly leaders: Map<LeaderEpoch, BrokerId> = new Map();

  readonly cuts: Cut[] = [];
  /** What was told to be lost, and why. */
  readonly judged: Map<BatchNode, Judgement> = new Map();
  /** Leaders after the first. */
  leaderChanges = 0;
  isrGrowths = 0;
  isrProposals = 0;
  /** The last append of a leader that had started, and that the controller had not let in yet. */
  earlyWrite: EarlyWrite | undefined = undefined;
  /** Was the ISR ever below min.insync.replicas? */
  wasBelowMinIsr = false;

  /** Of a coordinator's topic, which is compacted. */
  readonly isInternal: boolean;

  constructor(name: PartitionName, index: number, isCompacted: boolean, isInternal = false) {
    this.isInternal = isInternal;
    this.name = name;
    this.index = index;
    const reads = isInternal ? "keys" : isCompacted ? "values and keys" : "values";
    this.tree = new BatchTree(reads);
    this.canon = new ReplicaLog(this.tree, -1);
  }

  log(broker: BrokerId): ReplicaLog {
    // A handful: a walk is cheaper than hashing.
    for (const log of this.#logs) if (log.broker === broker) return log;
    const log = new ReplicaLog(this.tree, broker);
    this.replicas.set(broker, log);
    this.#logs.push(log);
    return log;
  }

  /** Did a transaction bring the committed record at the offset? It may have been aborted. */
  isTransactionalAt(offset: Offset): boolean {
    const node = this.canon.nodeAt(offset);
    return node !== NO_NODE && this.tree.writerOf(node).isTransactional;
  }

  /** The log of the newest leader, even if it has stopped since. */
  get leaderLog(): ReplicaLog | undefined {
    for (const log of this.#logs) if (log.broker === this.leader) return log;
    return undefined;
  }

  /** The min.insync.replicas that can be demanded of so few replicas. */
  get effectiveMinIsr(): number {
    const { registration } = this;
    if (registration === undefined) return 1;
    return Math.min(registration.minInsyncReplicas, registration.replicas.length);
  }

  /** The last election after epoch `after` and up to epoch `upTo` that gave up the ISR's promise. */
  uncleanElectionBetween(after: LeaderEpoch, upTo: LeaderEpoch): UncleanElection | undefined {
    for (let i = this.uncleanElections.length - 1; i >= 0; i--) {
      const election = this.uncleanElections[i] as UncleanElection;
      if (election.leaderEpoch > after && election.leaderEpoch <= upTo) return election;
    }
    return undefined;
  }

  /** Cuts the committed prefix to what `log` shares with it. */
  restartCanon(log: ReplicaLog): void {
    const { canon } = this;
    canon.count = canon.commonCount(log);
    this.trueHighWatermark = Math.min(this.trueHighWatermark, canon.end);
    this.canonGeneration++;
  }
}

/** Did this cut remove the batch? */
export function cutRemoved(cut: Cut, node: BatchNode): boolean {
  const { tree } = cut.log;
  return (tree.lastOffset[node] as number) >= cut.to && tree.isBelow(node, cut.tip);
}
