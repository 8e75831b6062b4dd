import type { BrokerId } from "../kafka/ids.ts";
import type { NodeAddress } from "../ports/network.ts";
import type { Random } from "../ports/random.ts";
import type { Roster, RosterNode } from "../scenario/roster.ts";
import type { ClusterView, PartitionView } from "../trace/cluster-view.ts";

/** The part of a cluster that is healed when it settles, after TigerBeetle's VOPR. */
export interface Core {
  /** Brokers and controllers, in the order of addresses. */
  readonly servers: readonly RosterNode[];
  readonly others: readonly RosterNode[];
  /** The servers, and all clients: a client outside would prove nothing. */
  readonly addresses: ReadonlySet<NodeAddress>;
}

/**
 * Draws a core in which Kafka can do all its work: more than half of the controllers, at least half of
 * the brokers, and of each partition min.insync.replicas replicas, with one that may lead (of the ISR or
 * the ELR). Without the last, a partition would not be stuck but beyond recovery. Which, and how many
 * more, is drawn; all together are always such a core.
 */
export function drawCore(roster: Roster, view: ClusterView, random: Random): Core {
  const controllers = shuffled(roster.ofRole("controller"), random);
  const brokers = shuffled(roster.ofRole("broker"), random);
  const voters = random.between(majority(controllers.length), controllers.length);
  const chosen = new Set<NodeAddress>();
  for (const { address } of controllers.slice(0, voters)) chosen.add(address);
  const members: BrokerId[] = [];
  const least = random.between(majority(brokers.length), brokers.length);
  const partitions = [...view.partitions.values()];
  for (const { address, id } of brokers) {
    if (members.length >= least && partitions.every((one) => canServe(one, members))) break;
    members.push(id);
    chosen.add(address);
  }
  const servers = roster.nodes.filter(({ role }) => role !== "client");
  const addresses = new Set(chosen);
  for (const { address } of roster.ofRole("client")) addresses.add(address);
  return {
    servers: servers.filter(({ address }) => chosen.has(address)),
    others: servers.filter(({ address }) => !chosen.has(address)),
    addresses,
  };
}

/** Can these brokers alone elect a leader of the partition that takes writes? */
function canServe(partition: PartitionView, members: readonly BrokerId[]): boolean {
  const { replicas, isr, elr, minInsyncReplicas } = partition;
  const there = replicas.filter((replica) => members.includes(replica));
  if (there.length < Math.min(minInsyncReplicas, replicas.length)) return false;
  const candidates = [...isr, ...elr];
  return candidates.length === 0 || candidates.some((one) => there.includes(one));
}

function majority(count: number): number {
  return Math.min(count, Math.floor(count / 2) + 1);
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const rest = [...items];
  const drawn: Item[] = [];
  while (rest.length > 0) drawn.push(...rest.splice(random.below(rest.length), 1));
  return drawn;
}
