import { PAYLOAD_MIN_BYTES, payloadClient, payloadValue } from "../kafka/client/payload.ts";
import type { LeaderEpoch, Offset } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { RecordCursor } from "../kafka/log/record-cursor.ts";

/** A batch in a `BatchTree`, with all that is below it in the log: a number from 0. */
export type BatchNode = number;

/** No batch: the parent of a log's first. */
export const NO_NODE: BatchNode = -1;

/** Below the high watermark of a broker that led, or thought it did. Never taken back. */
export const VISIBLE = 1;
/** Given to a consumer. Never taken back. */
export const HANDED = 2;
/** Told to be lost to a consumer that was given it. Never taken back. */
export const TOLD = 4;

/**
 * Every batch that ever stood in any replica's log of one partition, each above the batch that it
 * followed. The same batch above the same log is one node, so a replica's log is a path from the
 * root, and two replicas that have the same node have the same log up to there: this is the hash
 * chain of TigerBeetle's state checker with the chain's value replaced by identity, exact and as
 * cheap to extend. Two logs that part are two branches.
 *
 * Struct of arrays: one entry per distinct batch, whatever the number of replicas. The batches
 * themselves are not kept, only which values (kafka/client/payload) lie in them.
 */
export class BatchTree {
  count = 0;
  parent: Int32Array = new Int32Array(INITIAL);
  /** The number of batches below it in its log. */
  depth: Int32Array = new Int32Array(INITIAL);
  baseOffset: Float64Array = new Float64Array(INITIAL);
  lastOffset: Float64Array = new Float64Array(INITIAL);
  leaderEpoch: Int32Array = new Int32Array(INITIAL);
  producerId: Float64Array = new Float64Array(INITIAL);
  producerEpoch: Int32Array = new Int32Array(INITIAL);
  /** The address of the client that wrote it; -1 if it is none of the simulated applications. */
  client: Int32Array = new Int32Array(INITIAL);
  /** VISIBLE, HANDED, TOLD. */
  flags: Uint8Array = new Uint8Array(INITIAL);
  /** Where the node's values begin in `values`; there is one for each of its offsets. */
  firstValue: Int32Array = new Int32Array(INITIAL);
  values: Float64Array = new Float64Array(INITIAL);

  /**
   * The node of the same leader epoch that contradicts the node entered last: it holds one of its
   * offsets on another branch. NO_NODE if all is well.
   */
  conflict: BatchNode = NO_NODE;

  #crc: Int32Array = new Int32Array(INITIAL);
  #firstChild: Int32Array = new Int32Array(INITIAL);
  #nextSibling: Int32Array = new Int32Array(INITIAL);
  #firstRoot: BatchNode = NO_NODE;
  #valueCount = 0;
  /** The node of each leader epoch that reaches furthest. */
  readonly #epochTip = new Map<LeaderEpoch, BatchNode>();

  /** The node of `batch` above `parent`, made if it is new: compare `count` before and after. */
  enter(parent: BatchNode, batch: RecordBatch): BatchNode {
    this.conflict = NO_NODE;
    let node = parent === NO_NODE ? this.#firstRoot : (this.#firstChild[parent] as number);
    while (node !== NO_NODE && !this.matches(node, batch)) {
      node = this.#nextSibling[node] as number;
    }
    return node === NO_NODE ? this.#create(parent, batch) : node;
  }

  /** Is it this batch? Producer, sequence and content are covered by the CRC. */
  matches(node: BatchNode, batch: RecordBatch): boolean {
    return (
      this.#crc[node] === (batch.crc | 0) &&
      this.lastOffset[node] === batch.lastOffset &&
      this.leaderEpoch[node] === batch.partitionLeaderEpoch &&
      this.baseOffset[node] === batch.baseOffset
    );
  }

  /** The batch wherever it stands or stood, or NO_NODE. O(batches) if it is in no leader's log. */
  find(batch: RecordBatch): BatchNode {
    let node = this.#epochTip.get(batch.partitionLeaderEpoch) ?? NO_NODE;
    while (node !== NO_NODE && !this.matches(node, batch)) node = this.parent[node] as number;
    if (node !== NO_NODE) return node;
    node = this.count - 1;
    while (node >= 0 && !this.matches(node, batch)) node--;
    return node;
  }

  /** The newest node that ends at `lastOffset` with a batch of this leader epoch; or NO_NODE. */
  findEnd(lastOffset: Offset, leaderEpoch: LeaderEpoch): BatchNode {
    for (let node = this.count - 1; node >= 0; node--) {
      if (this.lastOffset[node] === lastOffset && this.leaderEpoch[node] === leaderEpoch) {
        return node;
      }
    }
    return NO_NODE;
  }

  /** Is `node` in the log that ends with `tip`? Walks from the tip: O(batches between). */
  isBelow(node: BatchNode, tip: BatchNode): boolean {
    const depth = this.depth[node] as number;
    let at = tip;
    while (at !== NO_NODE && (this.depth[at] as number) > depth) at = this.parent[at] as number;
    return at === node;
  }

  /** Sets a flag on `node` alone. */
  set(node: BatchNode, flag: number): void {
    this.flags[node] = (this.flags[node] as number) | flag;
  }

  /** Sets a flag on `node` and on all below, down to the first that has it. */
  mark(node: BatchNode, flag: number): void {
    let at = node;
    while (at !== NO_NODE && ((this.flags[at] as number) & flag) === 0) {
      this.flags[at] = (this.flags[at] as number) | flag;
      at = this.parent[at] as number;
    }
  }

  has(node: BatchNode, flag: number): boolean {
    return ((this.flags[node] as number) & flag) !== 0;
  }

  /** The value at an offset of the node; -1 if it is none of the simulated applications'. */
  valueAt(node: BatchNode, offset: Offset): number {
    if (this.client[node] === -1) return -1;
    const index = (this.firstValue[node] as number) + offset - (this.baseOffset[node] as number);
    return this.values[index] as number;
  }

  #create(parent: BatchNode, batch: RecordBatch): BatchNode {
    if (this.count === this.parent.length) this.#grow();
    const node = this.count++;
    this.parent[node] = parent;
    this.depth[node] = parent === NO_NODE ? 0 : (this.depth[parent] as number) + 1;
    this.baseOffset[node] = batch.baseOffset;
    this.lastOffset[node] = batch.lastOffset;
    this.leaderEpoch[node] = batch.partitionLeaderEpoch;
    this.producerId[node] = batch.producerId;
    this.producerEpoch[node] = batch.producerEpoch;
    this.#crc[node] = batch.crc;
    this.#firstChild[node] = NO_NODE;
    // The newest branch first: it is the one that grows.
    if (parent === NO_NODE) {
      this.#nextSibling[node] = this.#firstRoot;
      this.#firstRoot = node;
    } else {
      this.#nextSibling[node] = this.#firstChild[parent] as number;
      this.#firstChild[parent] = node;
    }
    this.#readValues(node, batch);
    this.#placeInEpoch(node, parent, batch);
    return node;
  }

  #readValues(node: BatchNode, batch: RecordBatch): void {
    const first = this.#valueCount;
    const length = batch.lastOffset - batch.baseOffset + 1;
    this.client[node] = -1;
    this.firstValue[node] = first;
    if (batch.isControl) return;
    while (first + length > this.values.length) this.values = grownFloat64(this.values);
    // Only cleaned logs have holes.
    if (batch.recordCount !== length) this.values.fill(-1, first, first + length);
    const { buffer } = batch;
    const cursor = new RecordCursor(batch);
    while (cursor.next()) {
      if (cursor.offsetDelta < 0 || cursor.offsetDelta >= length) continue;
      if (cursor.valueStart < 0 || cursor.valueEnd - cursor.valueStart < PAYLOAD_MIN_BYTES) return;
      // One producer's batch: all its records have the same address.
      this.client[node] = payloadClient(buffer, cursor.valueStart);
      this.values[first + cursor.offsetDelta] = payloadValue(buffer, cursor.valueStart);
    }
    this.#valueCount = first + length;
  }

  #placeInEpoch(node: BatchNode, parent: BatchNode, batch: RecordBatch): void {
    const epoch = batch.partitionLeaderEpoch;
    const tip = this.#epochTip.get(epoch);
    if (
      tip === undefined ||
      tip === parent ||
      batch.baseOffset > (this.lastOffset[tip] as number)
    ) {
      this.#epochTip.set(epoch, node);
      return;
    }
    let other = tip;
    while ((this.baseOffset[other] as number) > batch.lastOffset) {
      other = this.parent[other] as number;
      if (other === NO_NODE || this.leaderEpoch[other] !== epoch) return;
    }
    this.conflict = other;
  }

  #grow(): void {
    this.parent = grownInt32(this.parent);
    this.depth = grownInt32(this.depth);
    this.baseOffset = grownFloat64(this.baseOffset);
    this.lastOffset = grownFloat64(this.lastOffset);
    this.leaderEpoch = grownInt32(this.leaderEpoch);
    this.producerId = grownFloat64(this.producerId);
    this.producerEpoch = grownInt32(this.producerEpoch);
    this.client = grownInt32(this.client);
    this.firstValue = grownInt32(this.firstValue);
    this.#crc = grownInt32(this.#crc);
    this.#firstChild = grownInt32(this.#firstChild);
    this.#nextSibling = grownInt32(this.#nextSibling);
    const flags = new Uint8Array(this.flags.length * 2);
    flags.set(this.flags);
    this.flags = flags;
  }
}

const INITIAL = 64;

/** A copy of twice the length. */
export function grownInt32(array: Int32Array): Int32Array {
  const grown = new Int32Array(array.length * 2);
  grown.set(array);
  return grown;
}

/** A copy of twice the length. */
export function grownFloat64(array: Float64Array): Float64Array {
  const grown = new Float64Array(array.length * 2);
  grown.set(array);
  return grown;
}
