import type { Instant } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import type { LogCleaned } from "../trace/fact.ts";
import type { BatchNode } from "./batch-tree.ts";
import { LeftRecords } from "./copied-batch.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { Place } from "./record-keys.ts";
import type { ReplicaLog } from "./replica-log.ts";

/** A record that a cleaning has just taken from one replica's log. */
export interface CleanedRecord {
  readonly node: BatchNode;
  readonly offset: Offset;
  readonly place: Place;
}

/** A stretch of one replica's log was rewritten. */
export interface Cleaning {
  readonly partition: PartitionGhost;
  readonly log: ReplicaLog;
  readonly from: Offset;
  readonly to: Offset;
  /** What is gone, in ascending order. */
  readonly removed: readonly CleanedRecord[];
  /** The first batch that is there after the cleaning and was not before, not at these offsets or not with these records. */
  readonly stranger: RecordBatch | undefined;
  readonly at: Instant;
  readonly event: number;
}

/** Takes from `log` what a cleaning took; returns what that was. O(records of the stretch). */
export function applyCleaning(
  partition: PartitionGhost,
  log: ReplicaLog,
  fact: LogCleaned,
  at: Instant,
  event: number,
): Cleaning {
  const { from, to, batches } = fact;
  const { tree } = partition;
  const removed: CleanedRecord[] = [];
  let stranger: RecordBatch | undefined;
  let next = 0;
  // What lies below the log's start is nobody's any more, cleaned or not.
  let index = log.indexOf(Math.max(from, log.start));
  if (index < 0) index = log.count;
  for (; index < log.count; index++) {
    const node = log.nodes[index] as number;
    if (tree.baseOffset(node) >= to) break;
    const last = tree.lastOffset[node] as number;
    let left: RecordBatch | undefined;
    for (; next < batches.length && (batches[next] as RecordBatch).lastOffset <= last; next++) {
      const batch = batches[next] as RecordBatch;
      if (tree.isLeftOf(node, batch)) left = batch;
      else if (batch.lastOffset >= log.start) stranger ??= batch;
    }
    const records = left === undefined ? undefined : new LeftRecords(tree, node, left);
    if (records !== undefined && records.changedAt >= 0) stranger ??= left;
    take(log, node, records, removed);
  }
  for (; next < batches.length; next++) {
    const batch = batches[next] as RecordBatch;
    if (batch.lastOffset >= log.start) stranger ??= batch;
  }
  return { partition, log, from, to, removed, stranger, at, event };
}

function take(
  log: ReplicaLog,
  node: BatchNode,
  left: LeftRecords | undefined,
  removed: CleanedRecord[],
): void {
  const { tree } = log;
  const base = tree.baseOffset(node);
  const first = tree.firstValue[node] as number;
  const length = tree.length[node] as number;
  for (let i = 0; i < length; i++) {
    const place = first + i;
    if (left?.has(i) === true) continue;
    tree.keys?.setRemoved(place);
    if (!log.hasRecord(place)) continue;
    log.setAbsent(place);
    if (base + i >= log.start) removed.push({ node, offset: base + i, place });
  }
}
