import type { Violation } from "../checkers/guarantee.ts";
import { GUARANTEES } from "../checkers/registry.ts";
import { explain } from "../explain/explain.ts";
import { PLAIN } from "../report/paint.ts";
import { resultText, violationBlock } from "../report/text.ts";
import type { SimulatedRun } from "./simulate.ts";

/** What `sim run` prints of a run, below its first line. */
export function describeRun(
  run: SimulatedRun,
  { verbose = false }: { readonly verbose?: boolean } = {},
): string {
  return resultText(run, { paint: PLAIN, verbose, tries: [], explanation: undefined });
}

/** What is said of one violation, in a few lines. */
export function describeViolation(run: SimulatedRun, violation: Violation): string {
  return blockOf(run, violation, undefined);
}

/**
 * How it came to a violation, as `sim explain` tells it: the logs, the events that led there, and what
 * would have kept it from happening. It runs the scenario again; with `tries` once more for each fault
 * and each safer setting, to say which are needed.
 */
export function explainViolation(
  run: SimulatedRun,
  violation: Violation,
  { tries = false }: { readonly tries?: boolean } = {},
): string {
  const isKafkas = GUARANTEES.some(({ name }) => name === violation.guarantee);
  const options = { seed: run.seed, tries: tries && isKafkas };
  return blockOf(run, violation, explain(run.checked, violation, options));
}

function blockOf(
  { violations }: SimulatedRun,
  violation: Violation,
  explanation: ReturnType<typeof explain> | undefined,
): string {
  const at = violations.indexOf(violation);
  const following = violations.filter(({ follows }) => at >= 0 && follows === at);
  return violationBlock(violation, following, { paint: PLAIN, explanation }).join("\n");
}
