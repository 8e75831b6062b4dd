import type { ProtocolSwitches } from "../../kafka/protocol-switches.ts";
import { PRESENT_RULES } from "../../kafka/protocol-switches.ts";
import type { CheckSetup } from "../check-setup.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import { earlyCoordinator } from "./early-coordinator.ts";
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
 * this partition: what goes wrong with replication is then the lesson. Or one that Kafka still has lets a
 * coordinator write too early.
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
