import type { Hunt, HuntCase } from "../fuzz/hunt.ts";
import { ROUNDS_AHEAD } from "../fuzz/hunt.ts";
import type { CaseOutcome } from "../fuzz/play-case.ts";

export interface HuntDriver {
  /** How many runs are made at most. */
  readonly runs: number;
  /** Undefined: nobody plays any more. */
  play(one: HuntCase): Promise<CaseOutcome | undefined>;
  /** Called after each run, in order; true: that is enough. */
  taken(one: HuntCase, outcome: CaseOutcome): boolean;
}

/** Plays a hunt: the rounds that it asks for, some at once, with the outcomes handed in in order. */
export async function playHunt(hunt: Hunt, driver: HuntDriver): Promise<void> {
  const flying: { readonly one: HuntCase; readonly outcome: Promise<CaseOutcome | undefined> }[][] =
    [];
  let left = driver.runs;
  for (;;) {
    while (flying.length < ROUNDS_AHEAD && left > 0) {
      const cases = hunt.nextRound().slice(0, left);
      left -= cases.length;
      flying.push(cases.map((one) => ({ one, outcome: driver.play(one) })));
    }
    const round = flying.shift();
    if (round === undefined) return;
    for (const { one, outcome: promise } of round) {
      const outcome = await promise;
      if (outcome === undefined) return;
      hunt.take(one, outcome);
      if (driver.taken(one, outcome)) return;
    }
  }
}
