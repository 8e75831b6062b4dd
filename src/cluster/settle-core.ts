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

/** What is wrong with the links, disks and clocks of nodes at the moment. */
export interface Troubles {
  /** Nodes of which something is wrong that would stay if only what lies among `healed` were made good. */
  spoiledBeyond(healed: ReadonlySet<NodeAddress>): ReadonlySet<NodeAddress>;
  /** Is the link between the two cut, in one direction at least? */
  isCut(one: NodeAddress, other: NodeAddress): boolean;
}

/**
 * Draws a core in which Kafka can do all its work: more than half of the controllers, more than half of
 * the brokers, and of each partition min.insync.replicas replicas, with one that may lead (of the ISR or
 * the ELR). Without the last, a partition would not be stuck but beyond recovery. Which, and how many
 * more, is drawn; all together are always such a core.
 *
 * Nobody is left outside of whom half is broken and on whom Kafka goes on relying: a leader that its
 * controller hears, and its followers do not, leads for ever.
 */
export function drawCore(
  roster: Roster,
  view: ClusterView,
  troubles: Troubles,
  random: Random,
): Core {
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
  for (const { address } of roster.ofRole("client")) chosen.add(address);
  // There is one, which stands for an ensemble.
  for (const { address } of roster.ofRole("zookeeper")) chosen.add(address);
  takeInRelied(chosen, roster, view, troubles);
  const servers = roster.nodes.filter(({ role }) => role !== "client");
  return {
    servers: servers.filter(({ address }) => chosen.has(address)),
    others: servers.filter(({ address }) => !chosen.has(address)),
    addresses: chosen,
  };
}

/** Adds whoever is in office, cannot do all that the office asks for, and will not be replaced. */
function takeInRelied(
  core: Set<NodeAddress>,
  roster: Roster,
  view: ClusterView,
  troubles: Troubles,
): void {
  const office = [view.controller, ...[...view.partitions.values()].map(({ leader }) => leader)];
  const inOffice = roster.nodes.filter(
    ({ role, id, name }) => role !== "client" && office.includes(id) && view.node(name).isAlive,
  );
  // Each that is taken in may make another one's troubles matter.
  for (let before = -1; before !== core.size; ) {
    before = core.size;
    const spoiled = troubles.spoiledBeyond(core);
    const judges = roster.ofRole("controller").filter(({ address }) => core.has(address));
    for (const { address } of inOffice) {
      if (core.has(address) || !spoiled.has(address)) continue;
      const isReplaced = judges.every((judge) => troubles.isCut(address, judge.address));
      if (!isReplaced) core.add(address);
    }
  }
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
