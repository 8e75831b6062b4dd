import { formatSeconds } from "../../base/time.ts";
import { brokerName } from "../broker-name.ts";
import type { CheckSetup } from "../check-setup.ts";
import { topicOf } from "../check-setup.ts";
import type { PartitionGhost, UncleanElection } from "../partition-ghost.ts";
import type { Disappearance, Waiver } from "./waiver.ts";

/** The election after the last leader that had the records that gave up the ISR's promise, if any. */
export function uncleanElectionOf(
  partition: PartitionGhost,
  gone: Disappearance,
): UncleanElection | undefined {
  // The controller may have elected it already while no broker has taken office.
  const upTo = Math.max(gone.goneInEpoch, partition.epochFloor);
  return partition.uncleanElectionBetween(gone.keptInEpoch, upTo);
}

/**
 * A leader from outside the ISR may lack anything: permitted if unclean.leader.election.enable is
 * set. The election of the last known leader, when nobody is left in ISR and ELR (KIP-966), needs no
 * permission.
 */
export function uncleanElection(
  partition: PartitionGhost,
  election: UncleanElection,
  setup: CheckSetup,
): Waiver | undefined {
  const when = `${brokerName(election.leader)} at ${formatSeconds(election.at)}`;
  if (election.how === "last-known") {
    const text = `election of the last known leader ${when}, nobody being left in ISR and ELR`;
    return { text, cause: election.event };
  }
  const topic = setup.topics.get(topicOf(partition.name));
  if (topic?.uncleanLeaderElection !== true) return undefined;
  return { text: `unclean election of ${when}`, cause: election.event };
}
