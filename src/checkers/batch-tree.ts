import { PAYLOAD_MIN_BYTES, payloadClient, payloadValue } from "../kafka/client/payload.ts";
import type { LeaderEpoch, Offset } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { RecordCursor } from "../kafka/log/record-cursor.ts";
import type { Place } from "./record-keys.ts";
import { RecordKeys } from "./record-keys.ts";

/** A batch in a `BatchTree`, with all that is below it in the log: a number from 0. */
export type BatchNode = number;

/** No batch: the parent of a log's first. */
export const NO_NODE: BatchNode = -1;

/** The value of a record that no simulated application wrote, and of one that has none (a tombstone). */
export const NO_VALUE = 0xffff_ffff;

/** Flags of a node; none is ever taken back. VISIBLE: below the high watermark of a broker that led, or thought it did. */
export const VISIBLE = 1;
/** Given to a consumer. */
export const HANDED = 2;
/** Told to be lost to a consumer that was given it. */
export const TOLD = 4;
/** Acknowledged to its client with acks=all. */
export const ACKED_ALL = 8;
/** Acknowledged to its client with acks=1. */
export const ACKED_ONE = 16;
/** Acknowledged, and found in the log of the newest leader then or since. */
export const KEPT = 32;
/** Acknowledged, and found missing from the log of a leader in office. */
export const LOST = 64;

/** Not a simulated application. */
export const UNKNOWN_CLIENT = -1;
/** Whoever wrote nothing but tombstones, which do not tell. */
export const MUTE_CLIENT = -2;

/** Who wrote a batch. */
export interface BatchWriter {
  /** The client's address; UNKNOWN_CLIENT if it is none of the simulated applications, or MUTE_CLIENT. */
  readonly client: number;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly isTransactional: boolean;
}

/**
 * Every batch that ever stood in any replica's log of one partition, each above the batch that it
 * followed. The same batch above the same log is one node, so a replica's log is a path from the
 * root, and two replicas that have the same node have the same log up to there: this is the hash
 * chain of TigerBeetle's state checker with the chain's value replaced by identity, exact and as
 * cheap to extend. Two logs that part are two branches.
 *
 * A node is the batch as its leader appended it. What compaction leaves of it is the same node
 * (`isLeftOf`): offsets, leader epoch and producer never change, and which of its records a replica
 * has lost that way is kept beside (`Absences`). Nor does a node go when retention takes the batch: a
 * log that begins at an offset is still the path from the root, of which the first part has expired.
 *
 * Struct of arrays: some 64 bytes and 4 for each record (9 in compacted topics), whatever the
 * number of replicas. The batches themselves are not kept, only which values (kafka/client/payload)
 * lie in them, and in compacted topics which keys.
 * Simplified: no client numbers more than 2^32 - 1 sends.
 */
export class BatchTree {
  count = 0;
  parent: Int32Array = new Int32Array(INITIAL);
  /** The number of batches below it in its log. */
  depth: Int32Array = new Int32Array(INITIAL);
  lastOffset: Float64Array = new Float64Array(INITIAL);
  leaderEpoch: Int32Array = new Int32Array(INITIAL);
  flags: Uint8Array = new Uint8Array(INITIAL);
  /** How many offsets it spans. */
  length: Int32Array = new Int32Array(INITIAL);
  /** Where the node's values begin in `values`; there is one for each of its offsets. */
  firstValue: Int32Array = new Int32Array(INITIAL);
  values: Uint32Array = new Uint32Array(INITIAL);
  /** Bytes. */
  size: Int32Array = new Int32Array(INITIAL);
  /** Milliseconds. */
  maxTimestamp: Float64Array = new Float64Array(INITIAL);
  /** -1 for batches without a producer, and for those of coordinators. */
  baseSequence: Int32Array = new Int32Array(INITIAL);
  /** Undefined if the topic is not compacted. */
  readonly keys: RecordKeys | undefined;

  /**
   * The node of the same leader epoch that contradicts the node entered last: it holds one of its
   * offsets on another branch. NO_NODE if all is well.
   */
  conflict: BatchNode = NO_NODE;

  readonly #writers: BatchWriter[] = [
    { client: UNKNOWN_CLIENT, producerId: -1, producerEpoch: -1, isTransactional: false },
  ];
  #lastWriter = 0;
  /** By identity: with each transaction an epoch may begin, and so another writer. */
  readonly #writersByClient = new Map<number, Map<number, number>>();
  /** The batch of the node made last. */
  #newest: RecordBatch | undefined = undefined;
  #writer: Int32Array = new Int32Array(INITIAL);
  #crc: Int32Array = new Int32Array(INITIAL);
  #firstChild: Int32Array = new Int32Array(INITIAL);
  /** Few nodes have one. */
  readonly #nextSibling = new Map<BatchNode, BatchNode>();
  #firstRoot: BatchNode = NO_NODE;
  #valueCount = 0;
  /** The node of each leader epoch that reaches furthest. */
  readonly #epochTip = new Map<LeaderEpoch, BatchNode>();
  #cursor: RecordCursor | undefined = undefined;

  readonly #readsRecords: boolean;
  readonly #readsValues: boolean;

  /** What it is to know of the records in the batches. What coordinators write are no values of applications. */
  constructor(reads: "nothing" | "values" | "keys" | "values and keys") {
    const isKeyed = reads === "keys" || reads === "values and keys";
    this.keys = isKeyed ? new RecordKeys() : undefined;
    this.#readsRecords = reads !== "nothing";
    this.#readsValues = reads === "values" || reads === "values and keys";
  }

  /** The node of `batch` above `parent`, made if it is new: compare `count` before and after. */
  enter(parent: BatchNode, batch: RecordBatch): BatchNode {
    this.conflict = NO_NODE;
    const node = this.childOf(parent, batch);
    return node === NO_NODE ? this.#create(parent, batch) : node;
  }

  /** The node of just this batch above `parent`, or NO_NODE. */
  childOf(parent: BatchNode, batch: RecordBatch): BatchNode {
    // Replicas share batches, and followers are mostly one behind the leader.
    if (batch === this.#newest && this.parent[this.count - 1] === parent) return this.count - 1;
    let node = parent === NO_NODE ? this.#firstRoot : (this.#firstChild[parent] as number);
    while (node !== NO_NODE && !this.matches(node, batch)) {
      node = this.#nextSibling.get(node) ?? NO_NODE;
    }
    return node;
  }

  /**
   * Is it this batch, or what compaction has left of it? Only the header is compared: see
   * `CopiedRecords` for the records.
   */
  isLeftOf(node: BatchNode, batch: RecordBatch): boolean {
    if (
      this.lastOffset[node] !== batch.lastOffset ||
      this.leaderEpoch[node] !== batch.partitionLeaderEpoch ||
      this.baseOffset(node) !== batch.baseOffset
    ) {
      return false;
    }
    if (this.#writer[node] === UNKNOWN_WRITER) return true;
    const { producerId, producerEpoch } = this.writerOf(node);
    return producerId === batch.producerId && producerEpoch === batch.producerEpoch;
  }

  /** Is it this batch? Producer, sequence and content are covered by the CRC. */
  matches(node: BatchNode, batch: RecordBatch): boolean {
    return (
      this.#crc[node] === (batch.crc | 0) &&
      this.lastOffset[node] === batch.lastOffset &&
      this.leaderEpoch[node] === batch.partitionLeaderEpoch &&
      this.baseOffset(node) === batch.baseOffset
    );
  }

  /**
   * The batch, or what it is left of, wherever it stands or stood; or NO_NODE. O(batches) if it is in
   * no leader's log.
   */
  find(batch: RecordBatch): BatchNode {
    let node = this.#epochTip.get(batch.partitionLeaderEpoch) ?? NO_NODE;
    while (node !== NO_NODE && !this.holds(node, batch)) node = this.parent[node] as number;
    if (node !== NO_NODE) return node;
    node = this.count - 1;
    while (node >= 0 && !this.holds(node, batch)) node--;
    return node;
  }

  /** `matches`, or in a compacted topic `isLeftOf`. */
  holds(node: BatchNode, batch: RecordBatch): boolean {
    return this.matches(node, batch) || (this.keys !== undefined && this.isLeftOf(node, batch));
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

  baseOffset(node: BatchNode): Offset {
    return (this.lastOffset[node] as number) - (this.length[node] as number) + 1;
  }

  writerOf(node: BatchNode): BatchWriter {
    return this.#writers[this.#writer[node] as number] as BatchWriter;
  }

  /** The value at an offset of the node, or NO_VALUE. */
  valueAt(node: BatchNode, offset: Offset): number {
    if (this.#writer[node] === UNKNOWN_WRITER) return NO_VALUE;
    return this.values[this.placeOf(node, offset)] as number;
  }

  /** The first value in the node; -1 if it has none. */
  firstValueOf(node: BatchNode): number {
    const last = this.lastOffset[node] as number;
    for (let offset = this.baseOffset(node); offset <= last; offset++) {
      const value = this.valueAt(node, offset);
      if (value !== NO_VALUE) return value;
    }
    return -1;
  }

  /** The last value in the node; -1 if it has none. */
  lastValueOf(node: BatchNode): number {
    const first = this.baseOffset(node);
    for (let offset = this.lastOffset[node] as number; offset >= first; offset--) {
      const value = this.valueAt(node, offset);
      if (value !== NO_VALUE) return value;
    }
    return -1;
  }

  /** Where the record of the node at an offset has its place in `values` and `keys`. */
  placeOf(node: BatchNode, offset: Offset): Place {
    return (this.firstValue[node] as number) + offset - this.baseOffset(node);
  }

  /** Is `node` in the log that ends with `tip`? Walks from the tip: O(batches between). */
  isBelow(node: BatchNode, tip: BatchNode): boolean {
    const depth = this.depth[node] as number;
    let at = tip;
    while (at !== NO_NODE && (this.depth[at] as number) > depth) at = this.parent[at] as number;
    return at === node;
  }

  has(node: BatchNode, flag: number): boolean {
    return ((this.flags[node] as number) & flag) !== 0;
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

  #create(parent: BatchNode, batch: RecordBatch): BatchNode {
    if (this.count === this.parent.length) this.#grow();
    const sibling = parent === NO_NODE ? this.#firstRoot : (this.#firstChild[parent] as number);
    const node = this.count++;
    this.#newest = batch;
    this.parent[node] = parent;
    this.depth[node] = parent === NO_NODE ? 0 : (this.depth[parent] as number) + 1;
    this.lastOffset[node] = batch.lastOffset;
    this.length[node] = batch.lastOffset - batch.baseOffset + 1;
    this.leaderEpoch[node] = batch.partitionLeaderEpoch;
    this.#crc[node] = batch.crc;
    this.size[node] = batch.sizeInBytes;
    this.maxTimestamp[node] = batch.maxTimestamp;
    this.baseSequence[node] = batch.baseSequence;
    this.#firstChild[node] = NO_NODE;
    // The newest branch first: it is the one that grows.
    if (parent === NO_NODE) this.#firstRoot = node;
    else this.#firstChild[parent] = node;
    if (sibling !== NO_NODE) this.#nextSibling.set(node, sibling);
    this.#writer[node] = this.#read(node, batch);
    this.#placeInEpoch(node, parent, batch);
    return node;
  }

  /** Returns the number of the batch's writer. */
  #read(node: BatchNode, batch: RecordBatch): number {
    const first = this.#valueCount;
    const length = this.length[node] as number;
    this.firstValue[node] = first;
    const { keys } = this;
    if (!this.#readsRecords || (batch.isControl && keys === undefined)) return UNKNOWN_WRITER;
    while (first + length > this.values.length) this.values = grownUint32(this.values);
    const cursor = this.#cursor ?? new RecordCursor(batch);
    this.#cursor = cursor;
    cursor.moveTo(batch);
    if (keys === undefined) return this.#readValues(first, length, batch, cursor);
    keys.reserve(first, length);
    return this.#readKeyed(first, length, batch, cursor, keys);
  }

  #readValues(first: Place, length: number, batch: RecordBatch, cursor: RecordCursor): number {
    if (batch.recordCount !== length) this.values.fill(NO_VALUE, first, first + length);
    const { buffer } = cursor;
    let client = MUTE_CLIENT;
    while (cursor.next()) {
      const { valueStart, offsetDelta } = cursor;
      if (offsetDelta < 0 || offsetDelta >= length) continue;
      if (valueStart < 0) {
        this.values[first + offsetDelta] = NO_VALUE;
        continue;
      }
      if (cursor.valueEnd - valueStart < PAYLOAD_MIN_BYTES) return UNKNOWN_WRITER;
      // One producer's batch: all its records have the same address.
      client = payloadClient(buffer, valueStart);
      this.values[first + offsetDelta] = payloadValue(buffer, valueStart);
    }
    this.#valueCount = first + length;
    return this.#writerOf(client, batch);
  }

  /** As `#readValues`, where keys matter: each record has its place, also if it is no application's. */
  #readKeyed(
    first: Place,
    length: number,
    batch: RecordBatch,
    cursor: RecordCursor,
    keys: RecordKeys,
  ): number {
    this.values.fill(NO_VALUE, first, first + length);
    this.#valueCount = first + length;
    if (batch.isControl) return UNKNOWN_WRITER;
    const { buffer } = cursor;
    let client = MUTE_CLIENT;
    while (cursor.next()) {
      const { valueStart, offsetDelta } = cursor;
      if (offsetDelta < 0 || offsetDelta >= length) continue;
      const place = first + offsetDelta;
      keys.set(place, buffer, cursor.keyStart, cursor.keyEnd, valueStart < 0);
      if (valueStart < 0) continue;
      const isPayload = this.#readsValues && cursor.valueEnd - valueStart >= PAYLOAD_MIN_BYTES;
      client = isPayload ? payloadClient(buffer, valueStart) : UNKNOWN_CLIENT;
      if (isPayload) this.values[place] = payloadValue(buffer, valueStart);
    }
    return client === UNKNOWN_CLIENT ? UNKNOWN_WRITER : this.#writerOf(client, batch);
  }

  #writerOf(client: number, batch: RecordBatch): number {
    const last = this.#writers[this.#lastWriter] as BatchWriter;
    if (isWriter(last, client, batch)) return this.#lastWriter;
    const { producerId, producerEpoch, isTransactional } = batch;
    let ofClient = this.#writersByClient.get(client);
    if (ofClient === undefined) {
      ofClient = new Map();
      this.#writersByClient.set(client, ofClient);
    }
    const identity = (producerId * EPOCHS + producerEpoch) * 2 + (isTransactional ? 1 : 0);
    let index = ofClient.get(identity);
    if (index === undefined) {
      index = this.#writers.length;
      this.#writers.push({ client, producerId, producerEpoch, isTransactional });
      ofClient.set(identity, index);
    }
    this.#lastWriter = index;
    return index;
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
    while (this.baseOffset(other) > batch.lastOffset) {
      other = this.parent[other] as number;
      if (other === NO_NODE || this.leaderEpoch[other] !== epoch) return;
    }
    this.conflict = other;
  }

  #grow(): void {
    this.parent = grownInt32(this.parent);
    this.depth = grownInt32(this.depth);
    this.leaderEpoch = grownInt32(this.leaderEpoch);
    this.length = grownInt32(this.length);
    this.size = grownInt32(this.size);
    this.maxTimestamp = grownFloat64(this.maxTimestamp);
    this.baseSequence = grownInt32(this.baseSequence);
    this.firstValue = grownInt32(this.firstValue);
    this.#writer = grownInt32(this.#writer);
    this.#crc = grownInt32(this.#crc);
    this.#firstChild = grownInt32(this.#firstChild);
    this.lastOffset = grownFloat64(this.lastOffset);
    const flags = new Uint8Array(this.flags.length * 2);
    flags.set(this.flags);
    this.flags = flags;
  }
}

const INITIAL = 64;
/** The writer of whatever no simulated application wrote. */
const UNKNOWN_WRITER = 0;
/** That a producer id can have. */
const EPOCHS = 65_536;

function isWriter(
  writer: BatchWriter,
  client: number,
  { producerId, producerEpoch, isTransactional }: RecordBatch,
): boolean {
  return (
    writer.client === client &&
    writer.producerId === producerId &&
    writer.producerEpoch === producerEpoch &&
    writer.isTransactional === isTransactional
  );
}

/** A copy of twice the length. */
export function grownInt32(array: Int32Array): Int32Array {
  const grown = new Int32Array(array.length * 2);
  grown.set(array);
  return grown;
}

function grownFloat64(array: Float64Array): Float64Array {
  const grown = new Float64Array(array.length * 2);
  grown.set(array);
  return grown;
}

function grownUint32(array: Uint32Array): Uint32Array {
  const grown = new Uint32Array(array.length * 2);
  grown.set(array);
  return grown;
}
