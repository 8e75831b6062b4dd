import type { Guarantee } from "../checkers/guarantee.ts";
import { GUARANTEES } from "../checkers/registry.ts";
import type { RunResult } from "../cluster/run-result.ts";
import { Simulation } from "../cluster/simulation.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { Fact } from "../trace/fact.ts";
import type { FactListener } from "../trace/recorder.ts";
import type { DefinedScenario } from "./define-scenario.ts";

export interface SimulateOptions {
  /** A whole number from 0; if absent the scenario's own, or 1. The same seed is the same run. */
  readonly seed?: number;
  /** One of the scenario's variants. */
  readonly variant?: string;
  /** Guarantees of your own (`defineGuarantee`), to be watched besides Kafka's. */
  readonly guarantees?: readonly Guarantee[];
  /**
   * Hears all that happens, as it happens: microseconds since the cluster was ready, negative before,
   * and the number of the event.
   */
  readonly onFact?: FactListener<Fact>;
}

/** All that a run has to say, and what it takes to make it again. */
export interface SimulatedRun extends RunResult {
  /** The whole scenario as a file. */
  readonly yaml: string;
  /** The scenario, or its variant, as the engine had it. */
  readonly checked: Scenario;
}

const SLICE = 100_000;

/**
 * Runs a scenario to its end, at once and in this thread; simulated time costs nothing. Throws a
 * `RangeError` for a variant or a seed that is none.
 */
export function simulate(scenario: DefinedScenario, options: SimulateOptions = {}): SimulatedRun {
  const checked = variantOf(scenario, options.variant);
  const seed = options.seed ?? checked.seed ?? 1;
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new RangeError(`a seed is a whole number from 0 on, not ${seed}`);
  }
  const { guarantees = [], onFact } = options;
  const simulation = new Simulation(checked, {
    seed: String(seed),
    guarantees: [...GUARANTEES, ...guarantees],
  });
  if (onFact !== undefined) simulation.onFact(onFact);
  while (simulation.advance(SLICE)) {}
  return { ...simulation.finish(undefined), yaml: scenario.yaml, checked };
}

function variantOf({ name, checked }: DefinedScenario, variant: string | undefined): Scenario {
  if (variant === undefined) return checked;
  const found = checked.variants.find((one) => one.variant === variant);
  if (found !== undefined) return found;
  const known = checked.variants.map((one) => `\`${one.variant}\``).join(", ");
  const others = known === "" ? "it has none" : `it has ${known}`;
  throw new RangeError(`${name} has no variant \`${variant}\`; ${others}`);
}
