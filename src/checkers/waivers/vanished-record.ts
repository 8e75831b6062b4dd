import type { Offset } from "../../kafka/ids.ts";
import type { BatchNode, BatchTree } from "../batch-tree.ts";
import { ACKED_ALL, ACKED_ONE, HANDED, MUTE_CLIENT, NO_NODE, NO_VALUE } from "../batch-tree.ts";
import type { CheckContext } from "../guarantee.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import type { RecordId } from "../record-id.ts";
import { addressOfRecord, NO_RECORD, valueOfRecord } from "../record-id.ts";
import { waiveLoss } from "./loss-waiver.ts";
import { reusedSequenceWaiver } from "./reused-sequence.ts";
import type { Disappearance, Judgement } from "./waiver.ts";

/**
 * Two sightings by clients contradict each other: is that because what one of them saw is gone from
 * the log of the newest leader, or was from that of one before, and was that permitted? Undefined if both
 * are there, or never were. O(batches).
 */
export function vanishedRecord(
  context: CheckContext,
  partition: PartitionGhost,
  sightings: readonly (readonly [RecordId, Offset])[],
  event: number,
): Judgement | undefined {
  let bug: Judgement | undefined;
  for (const [id, offset] of sightings) {
    const node = findVanished(partition, id, offset);
    if (node === NO_NODE) {
      const text = reusedSequenceWaiver(context, partition, id, offset);
      if (text !== undefined) return { waiver: { text, cause: event }, cause: event };
      const returned = lossOfReturned(partition, id, offset);
      if (returned?.waiver !== undefined) return returned;
      continue;
    }
    const acks = acksOf(partition.tree, node) ?? acksOfWriter(context, id);
    const judged = partition.judged.get(node) ?? judge(context, partition, node, acks, event);
    if (judged.waiver !== undefined) return judged;
    bug ??= judged;
  }
  return bug;
}

/** How it was judged that a leader lacked what is there: a log of long ago leads again, and brings it back. */
function lossOfReturned(
  partition: PartitionGhost,
  id: RecordId,
  offset: Offset,
): Judgement | undefined {
  const node = findRecord(partition.tree, id, offset);
  return node === NO_NODE ? undefined : partition.judged.get(node);
}

function judge(
  context: CheckContext,
  partition: PartitionGhost,
  node: BatchNode,
  acks: Disappearance["acks"],
  event: number,
): Judgement {
  const gone = {
    node,
    broker: partition.leader,
    keptInEpoch: partition.tree.leaderEpoch[node] as number,
    goneInEpoch: partition.leaderEpoch,
    acks,
  };
  const waiver = waiveLoss(partition, gone, context.setup, event);
  return { waiver, cause: waiver?.cause ?? event };
}

/**
 * The newest batch that had the record at the offset, if the newest leader does not have it; else
 * NO_NODE. A tombstone does not tell which record it is: one that could be it will do. Nor does
 * NO_RECORD: any that clients knew there.
 */
export function findVanished(partition: PartitionGhost, id: RecordId, offset: Offset): BatchNode {
  const { tree, leaderLog } = partition;
  if (id === NO_RECORD) {
    for (let one = tree.count - 1; one >= 0; one--) {
      const isKnown = covers(tree, one, offset) && tree.has(one, HANDED | ACKED_ALL | ACKED_ONE);
      if (isKnown && leaderLog?.contains(one) !== true) return one;
    }
    return NO_NODE;
  }
  const node = findRecord(tree, id, offset);
  if (node !== NO_NODE) return leaderLog?.contains(node) === true ? NO_NODE : node;
  const address = addressOfRecord(id);
  for (let one = tree.count - 1; one >= 0; one--) {
    if (!covers(tree, one, offset) || tree.valueAt(one, offset) !== NO_VALUE) continue;
    const writer = tree.writerOf(one).client;
    if (writer !== address && writer !== MUTE_CLIENT) continue;
    if (leaderLog?.contains(one) !== true) return one;
  }
  return NO_NODE;
}

/** The newest batch that has, or had, the record at the offset; or NO_NODE. */
export function findRecord(tree: BatchTree, id: RecordId, offset: Offset): BatchNode {
  const address = addressOfRecord(id);
  const value = valueOfRecord(id);
  for (let node = tree.count - 1; node >= 0; node--) {
    if (!covers(tree, node, offset) || tree.valueAt(node, offset) !== value) continue;
    if (tree.writerOf(node).client === address) return node;
  }
  return NO_NODE;
}

function covers(tree: BatchTree, node: BatchNode, offset: Offset): boolean {
  return (tree.lastOffset[node] as number) >= offset && tree.baseOffset(node) <= offset;
}

/**
 * What whoever wrote it asks for: it may be acknowledged in this very event, and where there are several tombstones at one
 * offset it cannot be told which of them was.
 */
function acksOfWriter({ setup }: CheckContext, id: RecordId): Disappearance["acks"] {
  const writer = addressOfRecord(id);
  return [...setup.clients.values()].find(({ address }) => address === writer)?.acks;
}

/** What its client was promised; undefined if it was told nothing. */
function acksOf(tree: BatchTree, node: BatchNode): Disappearance["acks"] {
  if (tree.has(node, ACKED_ALL)) return -1;
  return tree.has(node, ACKED_ONE) ? 1 : undefined;
}
