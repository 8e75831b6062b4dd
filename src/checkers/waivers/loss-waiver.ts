import type { CheckSetup } from "../check-setup.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import { acksOne } from "./acks-one.ts";
import { earlierRule } from "./earlier-rule.ts";
import { powerLoss } from "./power-loss.ts";
import { uncleanElection, uncleanElectionOf } from "./unclean-election.ts";
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
  const election = uncleanElectionOf(partition, gone);
  // Whoever of the old ISR still has it, an unclean election has passed it over.
  const ofPower = election?.how === "unclean" ? undefined : powerLoss(partition, gone, setup);
  if (ofPower !== undefined) return ofPower;
  const ofElection =
    election === undefined ? undefined : uncleanElection(partition, election, setup);
  return ofElection ?? earlierRule(partition, setup, cause);
}
