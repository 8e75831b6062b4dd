import type { BatchNode } from "./batch-tree.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { TransactionPart } from "./transaction-parts.ts";
import type { Transactions } from "./transactions.ts";

/** What became of a batch's transaction, in the committed log; `none`: it was in none. */
export type BatchFate = "none" | "committed" | "aborted" | "open";

export interface CommittedBatch {
  readonly node: BatchNode;
  readonly fate: BatchFate;
}

/** The batches of records in the committed log, in order, markers left out. O(log). */
export function committedBatches(
  partition: PartitionGhost,
  transactions: Transactions | undefined,
): readonly CommittedBatch[] {
  const { canon } = partition;
  const parts = new Map<BatchNode, TransactionPart>();
  for (const part of transactions?.parts.partsOf(partition) ?? []) parts.set(part.node, part);
  const batches: { node: BatchNode; fate: BatchFate }[] = [];
  const open = new Map<number, { fate: BatchFate }[]>();
  for (let i = 0; i < canon.count; i++) {
    const node = canon.nodes[i] as BatchNode;
    const part = parts.get(node);
    if (part === undefined) {
      batches.push({ node, fate: "none" });
      continue;
    }
    const { producerId, marker } = part;
    const mates = open.get(producerId) ?? [];
    if (marker === undefined) {
      const batch: { node: BatchNode; fate: BatchFate } = { node, fate: "open" };
      batches.push(batch);
      mates.push(batch);
      open.set(producerId, mates);
      continue;
    }
    for (const mate of mates) mate.fate = marker === "COMMIT" ? "committed" : "aborted";
    open.delete(producerId);
  }
  return batches;
}
