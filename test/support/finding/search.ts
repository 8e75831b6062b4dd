import type { HuntCase } from "../../../src/fuzz/hunt.ts";
import { Hunt } from "../../../src/fuzz/hunt.ts";
import type { Engine } from "../mutations/mutant-engines.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { SCENARIO } from "./planted-bug.ts";

/** What one search for a bug came to. */
export interface Search {
  readonly runs: number;
  /** Of CPU. */
  readonly seconds: number;
  /** Of CPU, after which it would have been given up. */
  readonly budget: number;
  /** The guarantee that named it; undefined: none did. */
  readonly named: string | undefined;
}

export interface Found {
  readonly search: Search;
  /** The run in which it was named; undefined: none. */
  readonly one: HuntCase | undefined;
}

/**
 * Until a guarantee that should name the bug is broken, in a run that is fine in the sound engine, or until the
 * budget of CPU seconds is spent.
 */
export function search(
  bug: PlantedBug,
  engine: Engine,
  isSound: (one: HuntCase) => boolean,
  { budget, isGuided }: { readonly budget: number; readonly isGuided: boolean },
): Found {
  const { text, caughtBy } = bug;
  const where = { file: SCENARIO, text, variant: undefined };
  const hunt = new Hunt({ ...where, seed: 1, isGuided, shard: { index: 0, count: 1 } });
  const seconds = stopwatch();
  for (;;) {
    for (const one of hunt.nextRound()) {
      const outcome = engine.playCase(one);
      hunt.take(one, outcome);
      const { runs } = hunt;
      const named = outcome.failures.find(({ guarantee }) =>
        caughtBy.includes(guarantee),
      )?.guarantee;
      if (named !== undefined && isSound(one)) {
        return { search: { runs, seconds: seconds(), budget, named }, one };
      }
      if (seconds() > budget) {
        const search = { runs, seconds: seconds(), budget, named: undefined };
        return { search, one: undefined };
      }
    }
  }
}

/** CPU seconds of this process from now on. */
export function stopwatch(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1e6;
  };
}
