import type { Violation } from "../checkers/guarantee.ts";
import type { Explanation } from "../explain/explain.ts";
import { explain } from "../explain/explain.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { Progress } from "./progress.ts";

/** Explains a violation; says on stderr how far that is, once it takes longer than a moment. */
export function explainShown(
  scenario: Scenario,
  violation: Violation,
  seed: string,
  tries: boolean,
): Explanation {
  const progress = new Progress(scenario.name);
  try {
    return explain(scenario, violation, {
      seed,
      tries,
      onProgress: (done, all) => progress.show(`explaining: run ${done} of ${all}`),
    });
  } finally {
    progress.clear();
  }
}
