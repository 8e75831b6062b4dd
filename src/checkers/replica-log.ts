import type { BrokerId, LeaderEpoch, Offset } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { Absences } from "./absences.ts";
import type { BatchNode, BatchTree } from "./batch-tree.ts";
import { grownInt32, NO_NODE } from "./batch-tree.ts";
import type { LogRole } from "./log-watch.ts";
import type { Place } from "./record-keys.ts";

/**
 * What one replica's log holds, as a path in the partition's `BatchTree`. Also used for the
 * committed prefix and for what consumers were given, which are paths as well.
 *
 * The path is the log's history, from offset 0 whatever `start` is: what retention took and what
 * compaction took stays in it. So two logs can be compared wherever they begin and however much of
 * them is cleaned, and "is it in the log" asks whether it was, and has not been cut off.
 *
 * Appending, comparing and cutting are O(1); finding an offset is O(1) near the hint, else O(log n).
 */
export class ReplicaLog {
  readonly tree: BatchTree;
  /** -1 for a path that is no broker's. */
  readonly broker: BrokerId;
  /** nodes[i] has depth i; what lies at `count` and beyond is what was cut off last. */
  nodes: Int32Array = new Int32Array(64);
  count = 0;
  /** What its broker is to the partition, and in which leader epoch, as it told last. */
  role: LogRole = "none";
  roleEpoch: LeaderEpoch = -1;
  /** Where the log begins: nobody may read below. */
  start: Offset = 0;
  /** As the broker told last. */
  highWatermark: Offset = 0;
  /**
   * The highest since its last start, less what was cut off: a follower's high watermark falls when
   * that of its new leader lags, and what was below is committed none the less.
   */
  peakHighWatermark: Offset = 0;
  /**
   * False for a log that was emptied to begin above all it held: which history it has is a guess
   * until its next batch tells.
   */
  isAnchored = true;
  /** Undefined if all is there. */
  absences: Absences | undefined = undefined;
  /** Has it lost a tail in a restart, and not been let into the ISR as it is since? */
  lossySinceJoin = false;
  /** The event in which a leader last asked for an ISR with it. */
  askedForAt = -1;
  #hint = 0;

  constructor(tree: BatchTree, broker: BrokerId) {
    this.tree = tree;
    this.broker = broker;
  }

  /** The offset after the last: `start` if it is empty. */
  get end(): Offset {
    const end = this.pathEnd;
    return Math.max(end, this.start);
  }

  /** The offset after the last that it ever held: 0 if there was none. */
  get pathEnd(): Offset {
    const { count } = this;
    return count === 0 ? 0 : (this.tree.lastOffset[this.nodes[count - 1] as number] as number) + 1;
  }

  /** The last batch, or NO_NODE. */
  get tip(): BatchNode {
    return this.count === 0 ? NO_NODE : (this.nodes[this.count - 1] as number);
  }

  /** Does the log hold this batch, and so all below it? One comparison. */
  contains(node: BatchNode): boolean {
    const depth = this.tree.depth[node] as number;
    return depth < this.count && this.nodes[depth] === node;
  }

  /** Which batch holds the offset, or held it: its index, or -1 if the log does not reach it. */
  indexOf(offset: Offset): number {
    const { nodes, count } = this;
    const last = this.tree.lastOffset;
    if (count === 0 || offset < 0 || (last[nodes[count - 1] as number] as number) < offset) {
      return -1;
    }
    let low = 0;
    let high = count - 1;
    const hint = this.#hint < count ? this.#hint : count - 1;
    if ((last[nodes[hint] as number] as number) < offset) low = hint + 1;
    else high = hint;
    // Offsets are mostly asked for in order: the hint itself, or the batch after it.
    if (low < high && (last[nodes[low] as number] as number) >= offset && low > 0) high = low;
    if (low < high && (last[nodes[high - 1] as number] as number) < offset) low = high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((last[nodes[middle] as number] as number) < offset) low = middle + 1;
      else high = middle;
    }
    this.#hint = low;
    return low;
  }

  /** The batch that holds the offset, or NO_NODE. */
  nodeAt(offset: Offset): BatchNode {
    const index = this.indexOf(offset);
    return index < 0 ? NO_NODE : (this.nodes[index] as number);
  }

  /** Returns the node. A batch that begins below the end replaces what was there. */
  append(batch: RecordBatch): BatchNode {
    if (batch.baseOffset < this.end) this.cutTo(batch.baseOffset);
    const node = this.tree.enter(this.tip, batch);
    this.push(node);
    if (this.absences !== undefined) this.setWhole(node);
    return node;
  }

  /** As `append`, of a batch that some log has above this one's tip; else NO_NODE. */
  appendKnown(batch: RecordBatch): BatchNode {
    const node = this.tree.childOf(this.tip, batch);
    if (node === NO_NODE) return NO_NODE;
    this.push(node);
    if (this.absences !== undefined) this.setWhole(node);
    return node;
  }

  /** All records of the node are there. */
  setWhole(node: BatchNode): void {
    const { firstValue, length } = this.tree;
    this.absences?.remove(firstValue[node] as number, length[node] as number);
  }

  /** Does the log hold the record, which is in its path and not below its start? As far as is known. */
  hasRecord(place: Place): boolean {
    return this.absences?.has(place) !== true;
  }

  /** The record, which is in the path, is not there. */
  setAbsent(place: Place): void {
    this.absences ??= new Absences();
    this.absences.add(place);
  }

  /** Adds a node whose parent is the tip. */
  push(node: BatchNode): void {
    if (this.count === this.nodes.length) this.nodes = grownInt32(this.nodes);
    this.nodes[this.count++] = node;
  }

  /** Removes the batches that hold `offset` and higher ones; returns how many those were. */
  cutTo(offset: Offset): number {
    const before = this.count;
    const index = this.indexOf(offset);
    if (index >= 0) this.count = index;
    if (offset < this.highWatermark) this.highWatermark = offset;
    if (offset < this.peakHighWatermark) this.peakHighWatermark = offset;
    return before - this.count;
  }

  /** How many batches both logs begin with: where they part, by binary search. */
  commonCount(other: ReplicaLog): number {
    let low = 0;
    let high = Math.min(this.count, other.count);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.nodes[middle] === other.nodes[middle]) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Becomes the path to `node`; touches only the part that differs from what it was. */
  follow(node: BatchNode): void {
    const { parent, depth } = this.tree;
    const count = node === NO_NODE ? 0 : (depth[node] as number) + 1;
    while (count > this.nodes.length) this.nodes = grownInt32(this.nodes);
    let at = node;
    for (let i = count - 1; i >= 0; i--) {
      if (i < this.count && this.nodes[i] === at) break;
      this.nodes[i] = at;
      at = parent[at] as number;
    }
    this.count = count;
  }
}
