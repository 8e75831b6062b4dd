import type { Instant } from "../../base/time.ts";
import type { Violation } from "../../checkers/guarantee.ts";
import type { RunResult } from "../../cluster/run-result.ts";
import { Simulation } from "../../cluster/simulation.ts";
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
  readonly simulated: Instant;
  /** By the number of the step: the nodes that its target meant when it fired, as far as can be told. */
  readonly struck: ReadonlyMap<number, readonly string[]>;
}

export function fallOf({ guarantee, kind, permitted }: Violation): Fall {
  return { guarantee, kind, permitted: permitted?.replace(/[0-9]+/g, "N") };
}

/** The events after which a candidate is given up: it has become another story. */
const PATIENCE = 5_000_000;

/** Runs a scenario's text; undefined if it has mistakes, breaks the simulator, or does not fail in this way. */
export function fallenIn(text: string, seed: string, fall: Fall): Fallen | undefined {
  const { scenario } = readScenario(text, "");
  if (scenario === undefined) return undefined;
  const struck = new Map<number, readonly string[]>();
  let result: RunResult;
  try {
    const simulation = new Simulation(scenario, { seed });
    simulation.onFact((fact) => {
      if (fact.kind !== "fault-begun" || struck.has(fact.fault)) return;
      struck.set(fact.fault, fact.text.match(/\b(?:broker|controller)-[0-9]+\b/g) ?? []);
    });
    while (simulation.advance(50_000)) if (simulation.events > PATIENCE) return undefined;
    result = simulation.finish(undefined);
  } catch {
    return undefined;
  }
  const found = result.violations.find((one) => isSame(fallOf(one), fall));
  if (found === undefined) return undefined;
  return { at: found.at, events: result.events, simulated: result.simulated, struck };
}

function isSame(left: Fall, right: Fall): boolean {
  return (
    left.guarantee === right.guarantee &&
    left.kind === right.kind &&
    left.permitted === right.permitted
  );
}
