import { formatSeconds } from "../../base/time.ts";
import { brokerName } from "../broker-name.ts";
import type { CheckSetup } from "../check-setup.ts";
import { topicOf } from "../check-setup.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import type { Disappearance, Waiver } from "./waiver.ts";

/**
 * A leader from outside the ISR. Permitted if it was elected after the last leader that had the
 * records, up to the one that does not, and unclean.leader.election.enable allows it. The election
 * of the last known leader, when nobody is left in ISR and ELR (KIP-966), needs no permission.
 */
export function uncleanElection(
  partition: PartitionGhost,
  gone: Disappearance,
  setup: CheckSetup,
): Waiver | undefined {
  // The controller may have elected it already while no broker has taken office.
  const upTo = Math.max(gone.goneInEpoch, partition.epochFloor);
  const election = partition.uncleanElectionBetween(gone.keptInEpoch, upTo);
  if (election === undefined) return undefined;
  const when = `${brokerName(election.leader)} at ${formatSeconds(election.at)}`;
  if (election.how === "last-known") {
    const text = `election of the last known leader ${when}, nobody being left in ISR and ELR`;
    return { text, cause: election.event };
  }
  const topic = setup.topics.get(topicOf(partition.name));
  if (topic?.uncleanLeaderElection !== true) return undefined;
  return { text: `unclean election of ${when}`, cause: election.event };
}
