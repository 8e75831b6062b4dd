import type { Case, CaseOutcome } from "../fuzz/play-case.ts";
import { playCase } from "../fuzz/play-case.ts";

/** What a worker thread of `sim fuzz` does: one run from its first event to its last. */
export function play({ one, budget }: { one: Case; budget: number }): CaseOutcome {
  return playCase(one, budget);
}
