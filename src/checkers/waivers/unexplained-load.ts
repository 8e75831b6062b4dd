import { NO_NODE } from "../batch-tree.ts";
import type { CheckSetup } from "../check-setup.ts";
import { topicOf } from "../check-setup.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import { cutRemoved } from "../partition-ghost.ts";
import type { Disappearance } from "./waiver.ts";

/**
 * Did the broker itself have the record, and come back without it though nothing took it: no damaged
 * disk, and no power loss, or one with flush.messages=1, where all had been flushed? Then how it came to lead is no
 * excuse: it would have had the record.
 */
export function hasLostUnexplained(
  partition: PartitionGhost,
  gone: Disappearance,
  setup: CheckSetup,
): boolean {
  const { node, broker } = gone;
  if (node === NO_NODE) return false;
  const load = partition.cuts.findLast(
    (cut) => cut.log.broker === broker && cut.how === "loaded" && cutRemoved(cut, node),
  );
  if (load === undefined) return false;
  if (load.excuse !== "power") return load.excuse === "none";
  return setup.topics.get(topicOf(partition.name))?.flushMessages === 1;
}
