import { formatSeconds } from "../../base/time.ts";
import type { ProtocolSwitches } from "../../kafka/protocol-switches.ts";
import { PRESENT_RULES } from "../../kafka/protocol-switches.ts";
import { brokerName } from "../broker-name.ts";
import type { CheckSetup } from "../check-setup.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import type { Waiver } from "./waiver.ts";

/** Has the rule had an occasion to decide anything in this partition? */
const OCCASIONS: readonly (readonly [
  name: keyof ProtocolSwitches,
  occurred: (partition: PartitionGhost) => boolean,
])[] = [
  // Truncation and fencing matter from the second leader on.
  ["truncation", (partition) => partition.leaderChanges > 0 || partition.cuts.length > 0],
  ["fetch.epoch-fencing", (partition) => partition.leaderChanges > 0],
  ["leader.update-state-on-diverging-fetch", (partition) => partition.leaderChanges > 0],
  ["isr.expand-rule", (partition) => partition.isrGrowths > 0],
  ["isr.hw-set", (partition) => partition.isrProposals > 0],
  ["leader.hw-requires-min-isr", (partition) => partition.wasBelowMinIsr],
];

/**
 * The scenario runs with a rule that Kafka no longer has, and the rule had an occasion to act on
 * this partition: what goes wrong with replication is then the lesson. Or a coordinator has written before its
 * broker was let in: with the first metadata after a start it takes up its office, though the registration
 * may have to wait until the session of the process before is over, and so no new epoch tells what
 * it writes from what was there (`BrokerMetadataPublisher`, `BrokerServer.startup`).
 */
export function earlierRule(
  partition: PartitionGhost,
  setup: CheckSetup,
  cause: number,
): Waiver | undefined {
  for (const [name, occurred] of OCCASIONS) {
    const rule = setup.switches[name];
    if (rule === PRESENT_RULES[name] || !occurred(partition)) continue;
    return { text: `the protocol switch ${name}: ${rule}`, cause };
  }
  return earlyCoordinator(partition);
}

function earlyCoordinator({ earlyWrite }: PartitionGhost): Waiver | undefined {
  if (earlyWrite === undefined) return undefined;
  const { broker, at, event } = earlyWrite;
  const text = `${brokerName(broker)} wrote to it as a coordinator at ${formatSeconds(at)}, before the controller had let it in after its start`;
  return { text, cause: event };
}
