import type { BrokerId } from "../ids.ts";
import { NO_LEADER } from "../ids.ts";
import type { PartitionRegistration } from "./partition-registration.ts";
import { RECOVERING } from "./records.ts";

/**
 * What an election is held for: `preferred` moves leadership to the first replica if it may lead,
 * `online` keeps the partition going from ISR or ELR, `unclean` does so at the price of records.
 */
export type ElectionMode = "preferred" | "online" | "unclean";

export interface ElectionInput {
  readonly partition: PartitionRegistration;
  readonly mode: ElectionMode;
  /** The ISR and ELR as they will be; whoever is not eligible has left them already. */
  readonly targetIsr: readonly BrokerId[];
  readonly targetElr: readonly BrokerId[];
  readonly isElrEnabled: boolean;
  /** Is the broker alive, staying, and its disk there? */
  readonly isAcceptable: (broker: BrokerId) => boolean;
}

export interface ElectionResult {
  /** NO_LEADER if nobody may lead. */
  readonly leader: BrokerId;
  /** Records may be lost: the leader comes from outside ISR and ELR. */
  readonly unclean: boolean;
}

/** Chooses the leader of a partition (`PartitionChangeBuilder.electLeader`; KIP-966, KAFKA-19522). */
export type ElectionRule = (input: ElectionInput) => ElectionResult;

export function electLeader(input: ElectionInput): ElectionResult {
  const { partition, mode } = input;
  const { replicas } = partition;
  const preferred = replicas[0] ?? NO_LEADER;
  if (mode === "preferred" && isValidLeader(input, preferred)) return clean(preferred);
  if (isValidLeader(input, partition.leader)) return clean(partition.leader);
  const valid = replicas.find((replica) => isValidLeader(input, replica));
  if (valid !== undefined) return clean(valid);
  const lastKnown = lastKnownLeader(input);
  if (lastKnown !== undefined) return { leader: lastKnown, unclean: true };
  if (mode === "unclean") {
    const alive = replicas.find((replica) => input.isAcceptable(replica));
    if (alive !== undefined) return { leader: alive, unclean: true };
  }
  return clean(NO_LEADER);
}

/** What chose the leader that a change brought, in the words of the fact `partition-changed`. */
export type ElectionKind = "none" | "initial" | "clean" | "elr" | "last-known" | "unclean";

/** Told by what is committed alone, so that a controller can tell it of what another one decided. */
export function electionKind(
  before: PartitionRegistration | undefined,
  after: PartitionRegistration,
): ElectionKind {
  if (before === undefined) return "initial";
  const { leader } = after;
  if (leader === before.leader || leader === NO_LEADER) return "none";
  if (after.leaderRecoveryState === RECOVERING && !before.isr.includes(leader)) {
    // The ELR may have lost its last member in the very record that elects: a broker that comes back
    // from an unclean shutdown leaves it, and the last known leader is all that remains.
    const wasLeaderless = before.isr.length === 0;
    return wasLeaderless && isOnly(before.lastKnownElr, leader) ? "last-known" : "unclean";
  }
  return before.isr.includes(leader) ? "clean" : "elr";
}

function clean(leader: BrokerId): ElectionResult {
  return { leader, unclean: false };
}

/** In the ISR, or in the ELR of a partition whose ISR is empty; and alive. */
function isValidLeader(input: ElectionInput, replica: BrokerId): boolean {
  const { targetIsr, targetElr } = input;
  const isCurrent =
    targetIsr.includes(replica) || (targetIsr.length === 0 && targetElr.includes(replica));
  return isCurrent && input.isAcceptable(replica);
}

/** The last leader, when ISR and ELR are both gone: it has most of what can still be had. */
function lastKnownLeader(input: ElectionInput): BrokerId | undefined {
  const { isElrEnabled, targetIsr, targetElr } = input;
  const { lastKnownElr } = input.partition;
  if (!isElrEnabled || targetIsr.length > 0 || targetElr.length > 0) return undefined;
  const [leader] = lastKnownElr;
  if (leader === undefined || lastKnownElr.length !== 1) return undefined;
  return input.isAcceptable(leader) ? leader : undefined;
}

function isOnly(brokers: readonly BrokerId[], broker: BrokerId): boolean {
  return brokers.length === 1 && brokers[0] === broker;
}
