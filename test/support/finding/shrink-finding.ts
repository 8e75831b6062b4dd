import type { Violation } from "../../../src/checkers/guarantee.ts";
import type { HuntCase } from "../../../src/fuzz/hunt.ts";
import type { Engine } from "../mutations/mutant-engines.ts";
import { stopwatch } from "./search.ts";

/** What became of a failing run. */
export interface Shrinkage {
  readonly kind: string;
  readonly runs: number;
  /** Of CPU. */
  readonly seconds: number;
  readonly before: { readonly faults: number; readonly events: number };
  readonly after: { readonly faults: number; readonly events: number };
  /** Was everything tried? */
  readonly isFinished: boolean;
  /** Read anew the scenario has no mistake, and run twice it fails both times in the same way, with the same digest. */
  readonly isSame: boolean;
}

/** Shrinks the run in which `guarantee` was named, for so many CPU seconds at most; undefined: it cannot be written out. */
export function shrinkFinding(
  engine: Engine,
  one: HuntCase,
  guarantee: string,
  budget: number,
): Shrinkage | undefined {
  const scenario = engine.scenarioIn(one);
  const { seed } = one;
  const violation = play(engine, one.text, seed).violations.find(
    (found) => found.guarantee === guarantee && found.follows === undefined,
  );
  if (violation === undefined) return undefined;
  const fall = engine.fallOf(violation);
  const seconds = stopwatch();
  const shrunk = engine.shrink(engine.explicitScenario(one.text, scenario, seed), {
    seed,
    fall,
    isEnough: () => seconds() > budget,
  });
  if (shrunk === undefined) return undefined;
  const took = seconds();
  const text = engine.regression(shrunk, violation, scenario, seed);
  const { complaints } = engine.readScenario(text, "");
  const [first, second] = [play(engine, text, shrunk.seed), play(engine, text, shrunk.seed)];
  const fails = (violations: readonly Violation[]): boolean =>
    violations.some((found) => JSON.stringify(engine.fallOf(found)) === JSON.stringify(fall));
  return {
    kind: violation.kind,
    runs: shrunk.runs,
    seconds: took,
    before: { faults: shrunk.before.faults, events: shrunk.before.events },
    after: { faults: shrunk.after.faults, events: shrunk.after.events },
    isFinished: !shrunk.isUnfinished,
    isSame:
      complaints.length === 0 &&
      first.digest === second.digest &&
      fails(first.violations) &&
      fails(second.violations),
  };
}

function play(
  engine: Engine,
  text: string,
  seed: string,
): { readonly digest: string; readonly violations: readonly Violation[] } {
  const { scenario } = engine.readScenario(text, "");
  if (scenario === undefined) return { digest: "", violations: [] };
  const simulation = new engine.Simulation(scenario, { seed });
  while (simulation.advance(50_000)) {}
  return simulation.finish(undefined);
}
