import type { Violation } from "../checkers/guarantee.ts";
import { explicitScenario } from "../fuzz/explicit-scenario.ts";
import { fallOf } from "../fuzz/shrink/fall.ts";
import type { RunSize } from "../fuzz/shrink/shrink.ts";
import { shrink } from "../fuzz/shrink/shrink.ts";
import { writeYaml } from "../scenario/parse-yaml.ts";
import type { DefinedScenario } from "./define-scenario.ts";
import { parseScenario } from "./define-scenario.ts";
import type { SimulatedRun } from "./simulate.ts";

export interface ShrunkRun {
  /** Nothing in it is left to chance but what its seed decides, and it expects the violation. */
  readonly scenario: DefinedScenario;
  readonly before: RunSize;
  readonly after: RunSize;
}

/**
 * The smallest scenario in which the same guarantee breaks in the same way, as `sim shrink` finds it.
 * It takes many runs, `runs` at most. Undefined if the guarantee is none of Kafka's, which cannot be
 * looked for.
 */
export function shrinkRun(
  run: SimulatedRun,
  violation: Violation,
  { runs = Number.MAX_SAFE_INTEGER }: { readonly runs?: number } = {},
): ShrunkRun | undefined {
  const { yaml, checked, seed } = run;
  const shrunk = shrink(explicitScenario(yaml, checked, seed), {
    seed,
    fall: fallOf(violation),
    isEnough: (done) => done >= runs,
  });
  if (shrunk === undefined) return undefined;
  const { plain, before, after } = shrunk;
  const name = `${checked.name}-${seed}-min`;
  const expect = [{ violation: violation.kind }];
  const summary = `What is left of ${checked.name}, seed ${seed}: ${violation.kind}.`;
  const text = writeYaml({ ...plain, name, summary, expect });
  return { scenario: parseScenario(text, `${name}.yaml`), before, after };
}
