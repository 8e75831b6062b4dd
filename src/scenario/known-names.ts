import type { PartitionName } from "../kafka/ids.ts";
import type { NodeRole } from "./roster.ts";

/** What a scenario's expressions may name. Parts that could not be read are unknown, and not checked. */
export interface KnownNames {
  /** By name: `broker-1`, `controller-1`, clients. */
  readonly nodes: ReadonlyMap<string, NodeRole>;
  /** False if cluster or clients could not be read: then any node may exist. */
  readonly areNodesKnown: boolean;
  /** Clients that nothing can be asked of as of a consumer, and why not: "`p1` is a producer". */
  readonly uncallable: ReadonlyMap<string, string>;
  /** Of consumers; known if the nodes are. */
  readonly groups: ReadonlySet<string>;
  readonly racks: ReadonlySet<string>;
  readonly areRacksKnown: boolean;
  /** By topic, the names of its partitions. */
  readonly topics: ReadonlyMap<string, readonly PartitionName[]>;
  readonly areTopicsKnown: boolean;
  /** All of `log.dirs`, of whatever node; empty if they are not known. */
  readonly logDirectories: ReadonlySet<string>;
  /** Names that faults bind with `as`. */
  readonly bindings: ReadonlySet<string>;
  /** Names of steps under `faults:`. */
  readonly steps: ReadonlySet<string>;
}

/** What the steps under `faults:` bring into being, known before they are read. */
export interface StepNames {
  readonly bindings: ReadonlySet<string>;
  readonly steps: ReadonlySet<string>;
  /** How many partitions topics come to have, by what `add-partitions` says. */
  readonly grown: ReadonlyMap<string, number>;
}

export const NO_STEPS: StepNames = { bindings: new Set(), steps: new Set(), grown: new Map() };

export const NO_NAMES: KnownNames = {
  nodes: new Map(),
  areNodesKnown: false,
  uncallable: new Map(),
  groups: new Set(),
  racks: new Set(),
  areRacksKnown: false,
  topics: new Map(),
  areTopicsKnown: false,
  logDirectories: new Set(),
  bindings: NO_STEPS.bindings,
  steps: NO_STEPS.steps,
};
