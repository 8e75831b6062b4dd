import type { MessageDisturbance } from "../ports/hands.ts";
import type { Random } from "../ports/random.ts";

/** What is decided for one message. */
export type Fate = "pass" | "drop" | "duplicate" | "reorder";

/**
 * Throws the dice of each disturbance for one message; the first that is not `pass` counts. All are
 * thrown always, so that the number of draws depends on the disturbances alone.
 */
export function drawFate(disturbances: readonly MessageDisturbance[], random: Random): Fate {
  let fate: Fate = "pass";
  for (const { drop, duplicate, reorder } of disturbances) {
    const dropped = drop !== undefined && random.chance(drop.times, drop.outOf);
    const doubled = duplicate !== undefined && random.chance(duplicate.times, duplicate.outOf);
    const delayed = reorder !== undefined && random.chance(reorder.times, reorder.outOf);
    if (fate !== "pass") continue;
    if (dropped) fate = "drop";
    else if (doubled) fate = "duplicate";
    else if (delayed) fate = "reorder";
  }
  return fate;
}
