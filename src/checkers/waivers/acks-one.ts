import { NO_NODE, VISIBLE } from "../batch-tree.ts";
import { brokerName } from "../broker-name.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import type { Disappearance, Waiver } from "./waiver.ts";

/**
 * acks=1 promises only that the leader has the record. Permitted if that leader was replaced before
 * the record was below the high watermark. Not if it leads again, has lost it, and nobody led meanwhile whom it
 * had to follow.
 */
export function acksOne(
  partition: PartitionGhost,
  gone: Disappearance,
  cause: number,
): Waiver | undefined {
  const { tree, leaders } = partition;
  if (gone.acks !== 1 || gone.node === NO_NODE || tree.has(gone.node, VISIBLE)) return undefined;
  const epoch = tree.leaderEpoch[gone.node] as number;
  const writer = leaders.get(epoch);
  const wasReplaced = [...leaders].some(([later, broker]) => later > epoch && broker !== writer);
  if (writer === undefined || (writer === gone.broker && !wasReplaced)) return undefined;
  const text = `acks=1: ${brokerName(writer)} was replaced before its followers had them`;
  return { text, cause };
}
