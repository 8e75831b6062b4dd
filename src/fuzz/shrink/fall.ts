import type { Instant } from "../../base/time.ts";
import type { Violation } from "../../checkers/guarantee.ts";
import { watchedFor } from "../../checkers/registry.ts";
import type { RunResult } from "../../cluster/run-result.ts";
import { Simulation } from "../../cluster/simulation.ts";
import type { PartitionName } from "../../kafka/ids.ts";
import { readScenario } from "../../scenario/read-scenario.ts";

/** What must still go wrong, and in what way, for a smaller run to be the same failure. */
export interface Fall {
  readonly guarantee: string;
  readonly kind: string;
  /** What permits it, without numbers; undefined: it is a bug. */
  readonly permitted: string | undefined;
}

/** What came of a candidate. */
export interface Fallen {
  readonly at: Instant;
  readonly events: number;
  /** Of all topics, those of coordinators with them. */
  readonly partitions: number;
  readonly simulated: Instant;
  /** By the number of the step: the nodes that its target meant when it fired, as far as can be told. */
  readonly struck: ReadonlyMap<number, readonly string[]>;
}

export function fallOf({ guarantee, kind, permitted }: Violation): Fall {
  return { guarantee, kind, permitted: permitted?.replace(/[0-9]+/g, "N") };
}

/** The events after which a run is given up. */
const PATIENCE = 5_000_000;

/**
 * Runs a scenario's text; undefined if it has mistakes, breaks the simulator, does not fail in this way, or takes more
 * than `most` events.
 */
export function fallenIn(
  text: string,
  seed: string,
  fall: Fall,
  most = PATIENCE,
): Fallen | undefined {
  const { scenario } = readScenario(text, "");
  if (scenario === undefined) return undefined;
  const struck = new Map<number, readonly string[]>();
  const partitions = new Set<PartitionName>();
  let result: RunResult;
  try {
    const simulation = new Simulation(scenario, { seed, guarantees: watchedFor(fall.guarantee) });
    simulation.onFact((fact) => {
      if (fact.kind === "partition-changed") partitions.add(fact.partition);
      if (fact.kind !== "fault-begun" || struck.has(fact.fault)) return;
      struck.set(fact.fault, fact.text.match(/\b(?:broker|controller)-[0-9]+\b/g) ?? []);
    });
    while (simulation.events <= most && simulation.advance(1_000)) {}
    if (simulation.events > most) return undefined;
    result = simulation.finish(undefined);
  } catch {
    return undefined;
  }
  const found = result.violations.find((one) => isSame(fallOf(one), fall));
  if (found === undefined) return undefined;
  const { events, simulated } = result;
  return { at: found.at, events, partitions: partitions.size, simulated, struck };
}

function isSame(left: Fall, right: Fall): boolean {
  return (
    left.guarantee === right.guarantee &&
    left.kind === right.kind &&
    left.permitted === right.permitted
  );
}
