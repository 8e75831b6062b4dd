import { formatSeconds } from "../../base/time.ts";
import type { BrokerId } from "../../kafka/ids.ts";
import { NO_NODE, VISIBLE } from "../batch-tree.ts";
import { brokerName } from "../broker-name.ts";
import type { CheckSetup } from "../check-setup.ts";
import type { Cut, PartitionGhost } from "../partition-ghost.ts";
import { cutRemoved } from "../partition-ghost.ts";
import { listed } from "../wording.ts";
import type { Disappearance, Waiver } from "./waiver.ts";

/**
 * Kafka acknowledges what is in page caches. Records are permitted to be gone if the leader itself
 * lost them with its page cache, or its disk has damaged them, no other replica that could have been elected has them, and more
 * replicas lost them than Kafka promises to bear: min.insync.replicas - 1; or, without ELR, just
 * the last member of the ISR ("last replica standing", KIP-966). A record with acks=1 that had no copy
 * may go with its leader. (With flush.messages=1 nothing is unflushed: `hasLostUnexplained`.)
 */
export function powerLoss(
  partition: PartitionGhost,
  gone: Disappearance,
  setup: CheckSetup,
): Waiver | undefined {
  const { node, broker } = gone;
  if (node === NO_NODE) return undefined;
  const losses = partition.cuts.filter((cut) => cut.excuse !== "none" && cutRemoved(cut, node));
  const own = losses.findLast((cut) => cut.log.broker === broker);
  if (own === undefined) return undefined;

  const isCopied = partition.tree.has(node, VISIBLE);
  if (gone.acks === 1 && !isCopied) return describe([own]);

  const { registration } = partition;
  const isr = registration?.isr ?? [];
  const eligible = [...isr, ...(registration?.elr ?? [])];
  const isElsewhere = eligible.some(
    (member) => member !== broker && partition.replicas.get(member)?.contains(node) === true,
  );
  if (isElsewhere) return undefined;
  const last = lastOfEach(losses);
  if (last.length >= partition.effectiveMinIsr) return describe(last);
  const hasElr = setup.features["eligible.leader.replicas.version"] > 0;
  const isLastStanding = isr.every((member) => member === broker);
  return !hasElr && isLastStanding ? describe([own]) : undefined;
}

function lastOfEach(losses: readonly Cut[]): Cut[] {
  const byBroker = new Map<BrokerId, Cut>();
  for (const cut of losses) byBroker.set(cut.log.broker, cut);
  return [...byBroker.values()];
}

function describe(losses: readonly Cut[]): Waiver {
  const names = losses.map((cut) => brokerName(cut.log.broker));
  const first = losses[0] as Cut;
  const isPower = losses.every(({ excuse }) => excuse === "power");
  const isDisk = losses.every(({ excuse }) => excuse === "disk");
  const what = isPower ? "power loss" : isDisk ? "damaged disk" : "power loss or damaged disk";
  const who = `${what} of ${listed(names)}`;
  const text = `${who}: its log came back at ${formatSeconds(first.at)} without them`;
  const plural = `${who}: their logs came back without them`;
  return { text: losses.length === 1 ? text : plural, cause: first.event };
}
