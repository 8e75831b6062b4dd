import type { CheckSetup } from "../check-setup.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import { acksOne } from "./acks-one.ts";
import { earlierRule } from "./earlier-rule.ts";
import { powerLoss } from "./power-loss.ts";
import { uncleanElection } from "./unclean-election.ts";
import { hasLostUnexplained } from "./unexplained-load.ts";
import type { Disappearance, Waiver } from "./waiver.ts";

/**
 * The ladder of what may become of a record that someone was told of: the nearest permitted cause,
 * or undefined if it should be there. `cause`: the event to blame if no earlier one is.
 */
export function waiveLoss(
  partition: PartitionGhost,
  gone: Disappearance,
  setup: CheckSetup,
  cause: number,
): Waiver | undefined {
  const ofAcks = acksOne(partition, gone, cause);
  if (ofAcks !== undefined) return ofAcks;
  if (hasLostUnexplained(partition, gone, setup)) return undefined;
  return (
    powerLoss(partition, gone, setup) ??
    uncleanElection(partition, gone, setup) ??
    earlierRule(partition, setup, cause)
  );
}
