import type { PartitionName } from "../kafka/ids.ts";
import type { NodeAddress } from "../ports/network.ts";
import type { ClusterView } from "../trace/cluster-view.ts";
import type { Roster, RosterNode } from "./roster.ts";

/** What expressions are evaluated against. */
export interface ExpressionWorld {
  readonly view: ClusterView;
  readonly roster: Roster;
  /** What faults bound with `as`, so far. */
  readonly bindings: ReadonlyMap<string, readonly RosterNode[]>;
  /** The number of the event that was handled last: `appending` asks about it. */
  readonly event: () => number;
  /** The present instant: `stall` asks for it. */
  readonly now: () => number;
  /** Nodes that `alive` is to take for gone, whatever they are; nobody if absent. */
  readonly gone?: readonly NodeAddress[];
}

/** The partitions of a topic, by name. */
export function partitionsOf(roster: Roster, topic: string): PartitionName[] {
  return roster.partitions.filter((partition) => {
    const dash = partition.lastIndexOf("-");
    return partition.slice(0, dash) === topic;
  });
}
