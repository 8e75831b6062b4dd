import { fail } from "../base/invariant.ts";
import type { BrokerId, PartitionName } from "../kafka/ids.ts";
import type { NodeAddress } from "../ports/network.ts";

export type NodeRole = "broker" | "controller" | "zookeeper" | "client";

/** One node of a run, under all the names it goes by. */
export interface RosterNode {
  readonly address: NodeAddress;
  /** `broker-1`, `controller-1`, or the client's name in the scenario. */
  readonly name: string;
  readonly role: NodeRole;
  /** Kafka's `node.id`; -1 for those that have none. */
  readonly id: BrokerId;
  /** `broker.rack`; empty if it has none. */
  readonly rack: string;
}

/** Everything in a run that a target can name. */
export class Roster {
  /** In the order of addresses, which need not be dense: some nodes are nobody's business. */
  readonly nodes: readonly RosterNode[];
  /** In the order of topics, then numbers. */
  readonly partitions: readonly PartitionName[];
  readonly #byAddress: ReadonlyMap<NodeAddress, RosterNode>;
  readonly #byName: ReadonlyMap<string, RosterNode>;
  readonly #byId: ReadonlyMap<BrokerId, RosterNode>;

  constructor(nodes: readonly RosterNode[], partitions: readonly PartitionName[]) {
    this.nodes = nodes;
    this.partitions = partitions;
    this.#byAddress = new Map(nodes.map((node) => [node.address, node]));
    this.#byName = new Map(nodes.map((node) => [node.name, node]));
    this.#byId = new Map(nodes.filter((node) => node.id >= 0).map((node) => [node.id, node]));
  }

  named(name: string): RosterNode | undefined {
    return this.#byName.get(name);
  }

  /** The broker or controller with this node.id. */
  withId(id: BrokerId): RosterNode | undefined {
    return this.#byId.get(id);
  }

  at(address: NodeAddress): RosterNode {
    return this.#byAddress.get(address) ?? fail(`there is no node at address ${address}`);
  }

  ofRole(role: NodeRole): RosterNode[] {
    return this.nodes.filter((node) => node.role === role);
  }
}
