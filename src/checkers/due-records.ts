import type { Offset } from "../kafka/ids.ts";
import { readsCommitted } from "./check-setup.ts";
import type { CheckContext } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";

/**
 * The last offset below `to`, and not below `from`, at which there stands something that the client is to be given
 * if it reads that far; undefined if it passes over all of it: markers, and, if it reads committed records only,
 * what was aborted. What is not committed it cannot pass over. O(batches between).
 */
export function lastDue(
  { setup, transactions }: CheckContext,
  partition: PartitionGhost,
  client: string,
  from: Offset,
  to: Offset,
): Offset | undefined {
  if (from >= to) return undefined;
  const { canon, tree } = partition;
  if (transactions === undefined || to > canon.pathEnd) return to - 1;
  const isCommittedOnly = readsCommitted(setup, client);
  for (let i = canon.indexOf(to - 1); i >= 0; i--) {
    const node = canon.nodes[i] as number;
    const last = Math.min(tree.lastOffset[node] as number, to - 1);
    if (last < from) return undefined;
    if (!transactions.parts.isHidden(partition, node, isCommittedOnly)) return last;
  }
  return undefined;
}
