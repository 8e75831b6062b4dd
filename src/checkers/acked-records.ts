import type { Instant } from "../base/time.ts";
import type { LeaderEpoch } from "../kafka/ids.ts";
import type { SendEnded } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { BatchNode, BatchTree } from "./batch-tree.ts";
import {
  ACKED_ALL,
  ACKED_ONE,
  KEPT,
  LOST,
  MUTE_CLIENT,
  NO_NODE,
  NO_VALUE,
  UNKNOWN_CLIENT,
  VISIBLE,
} from "./batch-tree.ts";
import type { CheckSetup } from "./check-setup.ts";
import type { Expiry, ForbiddenStart } from "./expiry.ts";
import type { Cut, PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import type { Election, ReplicaLogs } from "./replica-logs.ts";

/** Acknowledged records that the leader does not have. */
export interface AckLoss {
  readonly partition: PartitionGhost;
  /** The batches, in the order in which they were written. */
  readonly nodes: readonly BatchNode[];
  /** An acknowledgement of records that stood in no replica's log just then. */
  readonly stray: SendEnded | undefined;
  /**
   * What showed the loss: an election, a leader that cut its log, or whose log came to begin where it
   * must not, the acknowledgement itself (of a leader already replaced), or the last look.
   */
  readonly by: "election" | "cut" | "start" | "ack" | "end";
  /** The last election or cut: the event that is to blame. */
  readonly cause: number;
  /** The epoch of the leader before: the last to have those of them that were kept. */
  readonly keptInEpoch: LeaderEpoch;
  readonly at: Instant;
  readonly event: number;
}

/** Told of each acknowledgement of records that are where the client was told. */
export type AckListener = (
  partition: PartitionGhost,
  node: BatchNode,
  fact: SendEnded,
  at: Instant,
  event: number,
) => void;
/** Told of an acknowledgement with acks=all of what was never below a high watermark. */
export type EarlyAckListener = AckListener;
export type AckLossListener = (loss: AckLoss) => void;

/** What is acknowledged of one partition; which batches those are, flags in its tree tell. */
export class AckedPartition {
  /** Acknowledgements. */
  count = 0;
  /** The acknowledged batch that is furthest up the log; all others are below it. */
  tip: BatchNode = NO_NODE;
  /** True while "all others are below it" is not known. */
  isMixed = false;
  /** Counts the losses. */
  generation = 0;
  /** The last election, or cut of a leader in office. */
  cause = 0;
  keptInEpoch: LeaderEpoch = -1;
}

/**
 * Every record that a client was told is written (acks=1 or all), with the place it was told, and
 * whether the leaders kept it. A loss is told once, to those who listen.
 *
 * An election costs O(1) while nothing is lost: the furthest acknowledged batch stands for all.
 */
export class AckedRecords {
  /** Acknowledgements of records that are where the client was told; of them, those with acks=all. */
  placed = 0;
  placedAll = 0;
  /** Acknowledged, but the client was not told where. */
  readonly unplaced: SendEnded[] = [];
  readonly #logs: ReplicaLogs;
  readonly #expiry: Expiry;
  readonly #setup: CheckSetup;
  readonly #partitions: AckedPartition[] = [];
  /** Few clients take turns: the one asked for last, and its address. */
  #lastClient: string | undefined = undefined;
  #lastAddress: number | undefined = undefined;
  readonly #lossListeners: AckLossListener[] = [];
  readonly #ackListeners: AckListener[] = [];
  readonly #earlyListeners: EarlyAckListener[] = [];

  constructor(recorder: FactRecorder, logs: ReplicaLogs, expiry: Expiry, setup: CheckSetup) {
    this.#logs = logs;
    this.#expiry = expiry;
    this.#setup = setup;
    recorder.on("send-ended", (fact, at, event) => this.#end(fact, at, event));
    logs.onElected((election) => this.#elect(election));
    logs.onCut((cut) => this.#cut(cut));
    expiry.onForbidden((start) => this.#begin(start));
  }

  onLost(listener: AckLossListener): void {
    this.#lossListeners.push(listener);
  }

  onAcked(listener: AckListener): void {
    this.#ackListeners.push(listener);
  }

  onEarly(listener: EarlyAckListener): void {
    this.#earlyListeners.push(listener);
  }

  of(partition: PartitionGhost): AckedPartition {
    const known = this.#partitions[partition.index];
    if (known !== undefined) return known;
    const acked = new AckedPartition();
    this.#partitions[partition.index] = acked;
    return acked;
  }

  /** Looks for every acknowledged record in the log of every leader in office. */
  recheck(at: Instant, event: number): void {
    for (const partition of this.#logs.partitions) {
      const { leaderLog } = partition;
      if (!partition.leading || leaderLog === undefined) continue;
      this.#check(partition, leaderLog, "end", at, event);
    }
  }

  #end(fact: SendEnded, at: Instant, event: number): void {
    if (fact.outcome !== "acked" || fact.acks === 0 || fact.values.length === 0) return;
    if (fact.baseOffset < 0) {
      this.unplaced.push(fact);
      return;
    }
    const partition = this.#logs.partition(fact.partition);
    const acked = this.of(partition);
    acked.count++;
    const { leaderLog, tree } = partition;
    let node = leaderLog === undefined ? NO_NODE : this.#place(leaderLog, fact);
    const isKept = node !== NO_NODE;
    if (!isKept) node = this.#placeAnywhere(partition, fact);
    if (node === NO_NODE) {
      this.#lose(partition, [], fact, "ack", at, event);
      return;
    }
    tree.set(node, fact.acks === 1 ? ACKED_ONE : ACKED_ALL);
    if (isKept) {
      tree.set(node, KEPT);
      raiseTip(acked, partition, node);
    } else if (partition.leading) {
      if (!tree.has(node, LOST)) this.#lose(partition, [node], undefined, "ack", at, event);
      return;
    } else {
      acked.isMixed = true;
    }
    this.placed++;
    if (fact.acks === -1) {
      this.placedAll++;
      if (!tree.has(node, VISIBLE)) {
        for (const listener of this.#earlyListeners) listener(partition, node, fact, at, event);
      }
    }
    for (const listener of this.#ackListeners) listener(partition, node, fact, at, event);
  }

  /** The batch of the log that holds just these values where the client was told. */
  #place(log: ReplicaLog, fact: SendEnded): BatchNode {
    const node = log.nodeAt(fact.baseOffset);
    if (node === NO_NODE || !this.#holds(log.tree, node, fact)) return NO_NODE;
    return this.#isMistaken(log.tree, node, fact) ? NO_NODE : node;
  }

  /** Tombstones could be any: are there but some within another batch, and is there one that was just these? O(batches). */
  #isMistaken(tree: BatchTree, node: BatchNode, fact: SendEnded): boolean {
    const { values, baseOffset } = fact;
    if (values.some((_, i) => tree.valueAt(node, baseOffset + i) !== NO_VALUE)) return false;
    const isWhole = (one: BatchNode): boolean =>
      tree.lastOffset[one] === baseOffset + values.length - 1 &&
      tree.baseOffset(one) === baseOffset;
    if (isWhole(node)) return false;
    for (let one = tree.count - 1; one >= 0; one--) {
      if (isWhole(one) && this.#holds(tree, one, fact)) return true;
    }
    return false;
  }

  /** Are these values, of this client, what the batch holds where the client was told? */
  #holds(tree: BatchTree, node: BatchNode, { client, values, baseOffset }: SendEnded): boolean {
    if (tree.baseOffset(node) > baseOffset) return false;
    if ((tree.lastOffset[node] as number) < baseOffset + values.length - 1) return false;
    const address = this.#addressOf(client);
    const writer = tree.writerOf(node).client;
    if (address !== undefined && writer !== address && writer !== MUTE_CLIENT) return false;
    for (let i = 0; i < values.length; i++) {
      const value = tree.valueAt(node, baseOffset + i);
      if (value === values[i]) continue;
      // A tombstone does not tell which it is.
      if (value !== NO_VALUE || writer === UNKNOWN_CLIENT) return false;
    }
    return true;
  }

  #addressOf(client: string): number | undefined {
    if (client !== this.#lastClient) {
      this.#lastClient = client;
      this.#lastAddress = this.#setup.clients.get(client)?.address;
    }
    return this.#lastAddress;
  }

  /** An acknowledgement may come when all who had the batch have cut it off again. O(batches). */
  #placeAnywhere(partition: PartitionGhost, fact: SendEnded): BatchNode {
    for (const log of partition.replicas.values()) {
      const node = this.#place(log, fact);
      if (node !== NO_NODE) return node;
    }
    const { tree } = partition;
    for (let node = tree.count - 1; node >= 0; node--) {
      if (this.#holds(tree, node, fact)) return node;
    }
    return NO_NODE;
  }

  #elect(election: Election): void {
    const { partition, log, at, event } = election;
    const acked = this.of(partition);
    acked.cause = event;
    acked.keptInEpoch = election.previousEpoch;
    const isKept = acked.tip === NO_NODE || log.contains(acked.tip);
    if (isKept && !acked.isMixed && log.start <= this.#expiry.permitted(partition)) return;
    this.#check(partition, log, "election", at, event);
  }

  #cut(cut: Cut): void {
    const { partition, log, at, event } = cut;
    if (!partition.leading || partition.leader !== log.broker) return;
    const acked = this.of(partition);
    acked.cause = event;
    acked.keptInEpoch = partition.leaderEpoch;
    if (acked.tip === NO_NODE || log.contains(acked.tip)) return;
    this.#check(partition, log, "cut", at, event);
  }

  #begin({ partition, log, at, event }: ForbiddenStart): void {
    if (!partition.leading || partition.leader !== log.broker) return;
    const acked = this.of(partition);
    acked.cause = event;
    acked.keptInEpoch = partition.leaderEpoch;
    this.#check(partition, log, "start", at, event);
  }

  /** Looks for each batch by itself: O(batches), for when something is known to be amiss. */
  #check(
    partition: PartitionGhost,
    log: ReplicaLog,
    by: AckLoss["by"],
    at: Instant,
    event: number,
  ): void {
    const acked = this.of(partition);
    const { tree } = partition;
    const lost: BatchNode[] = [];
    const expired = this.#expiry.permitted(partition);
    acked.tip = NO_NODE;
    acked.isMixed = false;
    for (let node = 0; node < tree.count; node++) {
      if (!tree.has(node, ACKED_ALL | ACKED_ONE) || tree.has(node, LOST)) continue;
      const last = tree.lastOffset[node] as number;
      if (!log.contains(node) || (last < log.start && last >= expired)) {
        lost.push(node);
        continue;
      }
      tree.set(node, KEPT);
      raiseTip(acked, partition, node);
    }
    if (lost.length > 0) this.#lose(partition, lost, undefined, by, at, event);
  }

  #lose(
    partition: PartitionGhost,
    nodes: readonly BatchNode[],
    stray: SendEnded | undefined,
    by: AckLoss["by"],
    at: Instant,
    event: number,
  ): void {
    const acked = this.of(partition);
    acked.generation++;
    for (const node of nodes) partition.tree.set(node, LOST);
    const { cause, keptInEpoch } = acked;
    const loss: AckLoss = { partition, nodes, stray, by, cause, keptInEpoch, at, event };
    for (const listener of this.#lossListeners) listener(loss);
  }
}

function raiseTip(acked: AckedPartition, partition: PartitionGhost, node: BatchNode): void {
  const { depth } = partition.tree;
  if (acked.tip === NO_NODE || (depth[node] as number) > (depth[acked.tip] as number)) {
    acked.tip = node;
  }
}
