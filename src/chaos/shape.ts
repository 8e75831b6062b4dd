import type { Duration, Instant } from "../base/time.ts";
import { formatDuration } from "../scenario/duration.ts";
import type { StepWords } from "../scenario/read-steps.ts";
import type { Dice } from "./dice.ts";
import type { Limits } from "./limits.ts";
import type { Terrain } from "./terrain.ts";

/** One way in which random faults strike: it turns one strike into steps. */
export interface Shape {
  /** From one strike to the next, on average, at the usual fierceness. */
  readonly every: Duration;
  strike(strike: Strike): readonly DrawnStep[];
}

/** What a shape has to work with for one strike. */
export interface Strike {
  readonly at: Instant;
  /** Nothing strikes from then on. */
  readonly until: Instant;
  readonly terrain: Terrain;
  readonly limits: Limits;
  /** A stream of this strike alone. */
  readonly dice: Dice;
  /** How long something lasts: as the scenario says, otherwise one of what is usual for the shape. */
  length(usual: readonly Duration[]): Duration;
}

/** A step in the words of the language, without its name. */
export interface DrawnStep {
  /** When it happens, or may happen first: by this the steps are sorted. */
  readonly at: Instant;
  readonly words: StepWords;
}

export function stepAt(at: Instant, words: StepWords): DrawnStep {
  return { at, words: { at: formatDuration(at), ...words } };
}
