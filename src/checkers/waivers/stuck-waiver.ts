import { formatSeconds } from "../../base/time.ts";
import type { BrokerId } from "../../kafka/ids.ts";
import { brokerName, nodeName } from "../broker-name.ts";
import type { CheckContext } from "../guarantee.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import { earlierRule } from "./earlier-rule.ts";
import type { Waiver } from "./waiver.ts";

/**
 * What excuses that a partition does not get on: faults that stay with a broker that Kafka goes on
 * relying on, since whoever matters still hears it, or what a disk has done to one of `brokers`, those on
 * whom it depends. Undefined is a bug.
 */
export function stuckWaiver(
  context: CheckContext,
  partition: PartitionGhost,
  brokers: readonly BrokerId[],
): Waiver | undefined {
  const { liveness, disks, setup } = context;
  const cause = liveness.settledIn;
  for (const broker of brokers) {
    const failed = liveness.failedDirectories.get(broker);
    if (failed !== undefined) {
      const where = `log directory ${failed.directory} of ${brokerName(broker)}`;
      const text = `${where}, given up at ${formatSeconds(failed.at)}, as only a restart takes it back`;
      return { text, cause: failed.event };
    }
    const text = disks.waive(brokerName(broker));
    if (text !== undefined) return { text, cause };
  }
  if (!setup.switches["fetch.min-one-batch"]) {
    return { text: "the protocol switch fetch.min-one-batch: false", cause };
  }
  return relianceWaiver(context, partition) ?? earlierRule(partition, setup, cause);
}

/** Faults stay with a broker or controller, and Kafka goes on relying on it for the partition. */
export function relianceWaiver(
  context: CheckContext,
  partition: PartitionGhost,
): Waiver | undefined {
  const { liveness } = context;
  const { registration } = partition;
  const cause = liveness.settledIn;
  if (registration !== undefined) {
    const { leader, isr, elr } = registration;
    // Whoever was in office before, and was then left in its troubles, must be replaced (src/cluster/settle-core.ts).
    const isNew = liveness.ledSince(partition) > (liveness.settledAt ?? 0);
    if (leader >= 0 && isNew && isRelied(context, leader)) {
      return { text: `${brokerName(leader)} leads it, and faults stay with it`, cause };
    }
    const frozen = isr.find((member) => member !== leader && isRelied(context, member));
    if (frozen !== undefined && leader >= 0) {
      return { text: `${brokerName(frozen)} is in sync, and faults stay with it`, cause };
    }
    const candidates = [...isr, ...elr];
    const areFrozen = candidates.every((one) => liveness.isFrozen(brokerName(one)));
    if (leader < 0 && candidates.length > 0 && areFrozen) {
      const text = `faults stay with all that may lead: ${candidates.map(brokerName).join(", ")}`;
      return { text, cause };
    }
  }
  return controllerWaiver(context);
}

/** Is something wrong with the broker for ever, and yet it is neither down nor fenced? */
function isRelied({ liveness, brokers }: CheckContext, broker: BrokerId): boolean {
  return liveness.isFrozen(brokerName(broker)) && !brokers.isFenced(broker);
}

/**
 * The active controller has faults that stay, but a majority of voters still hears it, so that nobody
 * else is elected: who does not hear it gets nowhere.
 */
export function controllerWaiver({ liveness, metadata }: CheckContext): Waiver | undefined {
  const { controller, settledAt } = liveness;
  if (settledAt === undefined || controller < 0 || !liveness.isFrozen(nodeName(controller))) {
    return undefined;
  }
  const voters = [...metadata.replicas.values()].filter(({ isVoter }) => isVoter);
  const heard = voters.filter(({ node }) => liveness.appliedAt(node) > settledAt);
  if (heard.length * 2 <= voters.length) return undefined;
  const text = `${nodeName(controller)} is the active controller, and faults stay with it`;
  return { text, cause: liveness.settledIn };
}
