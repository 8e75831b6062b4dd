import { NO_NODE, VISIBLE } from "../batch-tree.ts";
import { brokerName } from "../broker-name.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import type { Disappearance, Waiver } from "./waiver.ts";

/**
 * acks=1 promises only that the leader has the record. Permitted if that leader was replaced before
 * the record was below the high watermark. Not if the same broker leads again and has lost it.
 */
export function acksOne(
  partition: PartitionGhost,
  gone: Disappearance,
  cause: number,
): Waiver | undefined {
  const { tree, leaders } = partition;
  if (gone.acks !== 1 || gone.node === NO_NODE || tree.has(gone.node, VISIBLE)) return undefined;
  const writer = leaders.get(tree.leaderEpoch[gone.node] as number);
  if (writer === undefined || writer === gone.broker) return undefined;
  const text = `acks=1: ${brokerName(writer)} was replaced before its followers had them`;
  return { text, cause };
}
