import { PAYLOAD_MIN_BYTES, payloadValue } from "../kafka/client/payload.ts";
import type { Offset } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { RecordCursor } from "../kafka/log/record-cursor.ts";
import type { BatchNode, BatchTree } from "./batch-tree.ts";
import { NO_VALUE } from "./batch-tree.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { Place } from "./record-keys.ts";
import type { ReplicaLog } from "./replica-log.ts";

/** What lies in the way of a batch that is to follow a log. */
export interface Gap {
  /** The first offset that should be there and is not, or is another record. */
  readonly offset: Offset;
  readonly what: "missing" | "changed";
}

/** A batch that was appended otherwise than at the very end of a log without holes. */
export interface UnevenAppend {
  readonly node: BatchNode;
  /** Was there a hole, or a record less than the leader once had? */
  readonly isUneven: boolean;
  /** What compaction does not explain; undefined if it explains all. */
  readonly gap: Gap | undefined;
}

/** A leader makes offsets without holes, but may go on from within a batch that was cleaned away. */
export function appendAtLeader(log: ReplicaLog, batch: RecordBatch): UnevenAppend {
  const { end } = log;
  const isPlain = batch.baseOffset === end || log.tree.keys !== undefined;
  const what = batch.baseOffset < end ? "changed" : "missing";
  const gap = isPlain ? undefined : ({ offset: Math.min(end, batch.baseOffset), what } as const);
  log.isAnchored = true;
  return { node: log.append(batch), isUneven: gap !== undefined, gap };
}

/**
 * Appends a batch that a follower copied, which may not be the next of any log just as it stands:
 * compaction leaves holes between batches and within them, and a log that was emptied begins
 * anywhere. The batch is then found where the replicas it can have come from have it, and with it all
 * that went before.
 */
export function appendCopy(
  partition: PartitionGhost,
  log: ReplicaLog,
  batch: RecordBatch,
): UnevenAppend {
  const { tree } = partition;
  if (log.isAnchored && batch.baseOffset < log.end) {
    const isWithin = batch.baseOffset >= log.pathEnd;
    const offset = batch.baseOffset;
    log.cutTo(offset);
    const node = log.append(batch);
    // A log that begins within a batch has that whole.
    return { node, isUneven: !isWithin, gap: isWithin ? undefined : { offset, what: "changed" } };
  }
  const source = sourceOf(partition, log, batch);
  if (source === undefined) {
    // No log has it over what this one holds: a branch of its own.
    log.isAnchored = true;
    const { end } = log;
    const isUneven = batch.baseOffset > end;
    const gap: Gap | undefined = isUneven ? { offset: end, what: "missing" } : undefined;
    return { node: log.append(batch), isUneven, gap };
  }
  const node = source.nodeAt(batch.lastOffset);
  // What was skipped, not what another history holds.
  const isOver = log.isAnchored && (log.count === 0 || source.contains(log.tip));
  const before = isOver ? log.count : Number.POSITIVE_INFINITY;
  log.follow(node);
  log.isAnchored = true;
  for (let i = before; i < log.count - 1; i++) setAbsent(log, log.nodes[i] as number);
  if (!tree.matches(node, batch)) {
    return { node, isUneven: true, gap: noteLeft(log, node, batch) };
  }
  log.setWhole(node);
  return { node, isUneven: before < log.count - 1, gap: undefined };
}

/** A log that has the batch, or what it is left of, over what `log` holds: where it was copied from. */
function sourceOf(
  partition: PartitionGhost,
  log: ReplicaLog,
  batch: RecordBatch,
): ReplicaLog | undefined {
  const { leaderLog, canon } = partition;
  if (leaderLog !== undefined && isSource(leaderLog, log, batch)) return leaderLog;
  if (isSource(canon, log, batch)) return canon;
  for (const other of partition.replicas.values()) {
    if (isSource(other, log, batch)) return other;
  }
  return undefined;
}

function isSource(source: ReplicaLog, log: ReplicaLog, batch: RecordBatch): boolean {
  if (source === log) return false;
  const index = source.indexOf(batch.lastOffset);
  if (index < 0) return false;
  const { tree } = source;
  if (!tree.holds(source.nodes[index] as number, batch)) return false;
  const isOver =
    log.isAnchored && index >= log.count && (log.count === 0 || source.contains(log.tip));
  // A log of which nothing is left takes its history from whoever it copies.
  const isEmpty = !log.isAnchored || log.pathEnd <= log.start;
  const floor = Math.max(source.start, isEmpty ? log.end : 0);
  // What lies between can only have been cleaned away.
  for (let i = index - 1; i >= (isOver ? log.count : 0); i--) {
    const node = source.nodes[i] as number;
    if ((tree.lastOffset[node] as number) < floor) break;
    if (!isCleanedAway(tree, node)) return false;
  }
  // Whoever lags behind the start of its leader's log takes no older history from it. If theirs part
  // down there the leader cannot tell; nor can anybody, once this log begins where the leader's does.
  return isOver || isEmpty || log.pathEnd <= source.start;
}

/** Has a cleaning, of whichever replica, taken every record of the batch? */
function isCleanedAway(tree: BatchTree, node: BatchNode): boolean {
  const { keys } = tree;
  if (keys === undefined) return false;
  const first = tree.firstValue[node] as number;
  const end = first + (tree.length[node] as number);
  for (let place = first; place < end; place++) if (!keys.isRemoved(place)) return false;
  return true;
}

/** The batch was skipped. */
function setAbsent(log: ReplicaLog, node: BatchNode): void {
  const { tree } = log;
  const first = tree.firstValue[node] as number;
  const end = first + (tree.length[node] as number);
  for (let place = first; place < end; place++) log.setAbsent(place);
}

/** The batch is what compaction left of the node: notes what is missing; returns what cannot be so. */
function noteLeft(log: ReplicaLog, node: BatchNode, batch: RecordBatch): Gap | undefined {
  const { tree } = log;
  const { keys } = tree;
  if (keys === undefined) return undefined;
  const left = new LeftRecords(tree, node, batch);
  log.setWhole(node);
  const base = tree.baseOffset(node);
  const first = tree.firstValue[node] as number;
  const length = tree.length[node] as number;
  let missing = -1;
  for (let i = 0; i < length; i++) {
    if (left.has(i)) continue;
    log.setAbsent(first + i);
    if (missing < 0 && !keys.isRemoved(first + i)) missing = base + i;
  }
  if (left.changedAt >= 0) return { offset: left.changedAt, what: "changed" };
  return missing >= 0 ? { offset: missing, what: "missing" } : undefined;
}

/** Which records of a node are left in a batch that compaction made of it, and whether they are the same. */
export class LeftRecords {
  /** The first offset at which the batch has a record that the node does not have there; -1 if all agree. */
  changedAt: Offset = -1;
  readonly #there: Uint8Array;

  constructor(tree: BatchTree, node: BatchNode, batch: RecordBatch) {
    const length = tree.length[node] as number;
    this.#there = new Uint8Array(length);
    const first = tree.firstValue[node] as number;
    const cursor = new RecordCursor(batch);
    while (cursor.next()) {
      const delta = cursor.offsetDelta;
      const isSame =
        delta >= 0 && delta < length && isRecord(tree, first + delta, batch.isControl, cursor);
      if (isSame) this.#there[delta] = 1;
      else if (this.changedAt < 0) this.changedAt = cursor.offset;
    }
  }

  /** Is the record at this distance from the node's base offset there, as it was? */
  has(delta: number): boolean {
    return this.#there[delta] === 1;
  }
}

function isRecord(
  { keys, values }: BatchTree,
  place: Place,
  isControl: boolean,
  { buffer, keyStart, keyEnd, valueStart, valueEnd }: RecordCursor,
): boolean {
  if (keys === undefined || isControl) return true;
  if (keyStart >= 0 && keys.at(place) !== keys.numberOf(buffer, keyStart, keyEnd)) return false;
  if (keys.isTombstone(place) !== valueStart < 0) return false;
  const value = values[place] as number;
  // What coordinators write is not known by its value.
  if (value === NO_VALUE || valueEnd - valueStart < PAYLOAD_MIN_BYTES) return true;
  return value === payloadValue(buffer, valueStart);
}
