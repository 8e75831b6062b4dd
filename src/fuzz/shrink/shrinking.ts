import { Mistake, parseDuration } from "../../scenario/duration.ts";
import type { Plain, PlainMap } from "../../scenario/plain.ts";
import type { Path } from "../plain-path.ts";
import { asMap, at, changed } from "../plain-path.ts";
import type { Fallen } from "./fall.ts";

/** The smallest run so far, and the way to a smaller one. */
export interface Shrinking {
  readonly plain: PlainMap;
  readonly fallen: Fallen;
  /** From 1. */
  readonly round: number;
  /** Takes a candidate over if it still fails in the same way and is no larger than `most`; says whether it did. */
  tries(candidate: PlainMap, most?: Most): boolean;
}

/** How large a candidate may be. */
export type Most = Partial<Pick<Fallen, "events" | "partitions">>;

/** One way to make a run smaller. */
export interface Reduction {
  readonly name: string;
  apply(shrinking: Shrinking): void;
}

/** How a candidate is tried. */
export type Attempt = (shrinking: Shrinking, candidate: PlainMap, most?: Most) => boolean;

export const triesOnce: Attempt = (shrinking, candidate, most) => shrinking.tries(candidate, most);

/** What luck did not give by then it is not asked for again, though the run has become a little smaller since. */
const LUCKY_ROUNDS = 2;

/** `tries`, also with other seeds: where a change moves all that is drawn, it takes luck to meet the moment again. */
function withOtherSeeds(seeds: number): Attempt {
  return (shrinking, candidate, most) => {
    if (shrinking.tries(candidate, most)) return true;
    if (shrinking.round > LUCKY_ROUNDS) return false;
    for (let seed = 1; seed <= seeds; seed++) {
      if (shrinking.tries({ ...candidate, seed }, most)) return true;
    }
    return false;
  };
}

/** Of so many other seeds one is likely to fail if it takes the right moment, and not to if something is missing. */
export const triesSeeds: Attempt = withOtherSeeds(8);

/** For what may be asked often. */
export const triesFewSeeds: Attempt = withOtherSeeds(3);

export function stepsOf({ faults }: PlainMap): PlainMap[] {
  if (!Array.isArray(faults)) return [];
  return faults.map(asMap).filter((step) => step !== undefined);
}

/** Microseconds; undefined if there stands none. */
export function durationAt(plain: Plain, path: Path): number | undefined {
  const value = at(plain, path);
  if (value === 0) return 0;
  if (typeof value !== "string") return undefined;
  const duration = parseDuration(value, "");
  return duration instanceof Mistake ? undefined : duration;
}

/** Tries lower values of a number, the lowest first. */
export function lower(
  shrinking: Shrinking,
  path: Path,
  values: readonly number[],
  attempt: Attempt = triesOnce,
): void {
  for (const value of values) {
    const now = at(shrinking.plain, path);
    if (typeof now !== "number" || value >= now) return;
    if (attempt(shrinking, changed(shrinking.plain, path, value))) return;
  }
}

export function drop(shrinking: Shrinking, path: Path, most?: Most): boolean {
  if (at(shrinking.plain, path) === undefined) return false;
  return shrinking.tries(changed(shrinking.plain, path, undefined), most);
}
