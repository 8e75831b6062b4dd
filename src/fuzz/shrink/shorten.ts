import { MILLISECOND, SECOND } from "../../base/time.ts";
import { formatDuration } from "../../scenario/duration.ts";
import type { PlainMap } from "../../scenario/plain.ts";
import { changed } from "../plain-path.ts";
import type { Shrinking } from "./shrinking.ts";
import { durationAt, stepsOf, triesOnce, triesSeeds } from "./shrinking.ts";

/** Ends the run when it has failed; what is seen at the end only gets less time until then. */
export function endSooner(shrinking: Shrinking): void {
  const { at } = shrinking.fallen;
  const now = durationOf(shrinking.plain);
  const soon = endingAt(shrinking.plain, roundedUp(at), 0);
  if (at <= now && (roundedUp(at) < now || settleOf(shrinking.plain) > 0)) {
    if (shrinking.tries(soon)) return;
  }
  if (at > now) {
    const rest = roundedUp(at - now);
    if (rest < settleOf(shrinking.plain)) shrinking.tries(endingAt(shrinking.plain, now, rest));
  }
  for (const settle of [0, 1, 5, 10, 20, 30]) {
    if (settle * SECOND >= settleOf(shrinking.plain)) break;
    if (shrinking.tries(endingAt(shrinking.plain, now, settle * SECOND))) break;
  }
  if (at <= now) return;
  for (const part of [0, 1 / 8, 1 / 4, 1 / 2, 3 / 4]) {
    const end = roundedUp(now * part);
    if (shrinking.tries(endingAt(shrinking.plain, end, settleOf(shrinking.plain)))) return;
  }
}

/** A gap of at least this share of a run is worth trying other seeds for. */
const LARGE_GAP = 1 / 5;

/** Lets what comes later come at once, or as soon as it can, where nothing happens before it that is needed. */
export function closeGaps(shrinking: Shrinking): void {
  let earlier = 0;
  for (let from = nextInstant(shrinking.plain, 0); from !== undefined; ) {
    for (const kept of [0, 10 * MILLISECOND, 100 * MILLISECOND, SECOND, 3 * SECOND]) {
      const by = from - earlier - kept;
      if (by <= 0) break;
      // Elsewhere than at once, luck is asked for less often. And to be earlier is to be smaller only if less happens.
      const isLarge = by > shrinking.fallen.simulated * LARGE_GAP;
      const attempt = isLarge && (kept === 0 || kept === SECOND) ? triesSeeds : triesOnce;
      if (attempt(shrinking, movedBy(shrinking.plain, from, by), shrinking.fallen)) {
        from -= by;
        break;
      }
    }
    earlier = from;
    from = nextInstant(shrinking.plain, from + 1);
  }
}

const USUAL_SETTLE = 30 * SECOND;
const STEP = 100 * MILLISECOND;

function roundedUp(time: number): number {
  return Math.ceil(time / STEP) * STEP;
}

function durationOf(plain: PlainMap): number {
  return durationAt(plain, ["duration"]) ?? Number.POSITIVE_INFINITY;
}

function settleOf(plain: PlainMap): number {
  return durationAt(plain, ["settle"]) ?? USUAL_SETTLE;
}

/** Steps that are due later would never fire, and are a mistake. */
function endingAt(plain: PlainMap, end: number, settle: number): PlainMap {
  const sooner = Number.isFinite(end) ? changed(plain, ["duration"], formatDuration(end)) : plain;
  const shorter = changed(sooner, ["settle"], formatDuration(settle));
  const steps = stepsOf(plain);
  const faults = steps.filter((step) => (durationAt(step, ["at"]) ?? 0) <= end);
  return faults.length === steps.length ? shorter : changed(shorter, ["faults"], faults);
}

/** The first instant from `from` on at which a step is due. */
function nextInstant(plain: PlainMap, from: number): number | undefined {
  const instants = stepsOf(plain).flatMap((step) => durationAt(step, ["at"]) ?? []);
  const later = instants.filter((instant) => instant >= from);
  return later.length === 0 ? undefined : Math.min(...later);
}

/** All that is due at `from` or later, and the end, so much sooner. */
function movedBy(plain: PlainMap, from: number, by: number): PlainMap {
  const faults = stepsOf(plain).map((step) => {
    const instant = durationAt(step, ["at"]);
    return instant === undefined || instant < from
      ? step
      : { ...step, at: formatDuration(instant - by) };
  });
  const end = durationOf(plain);
  const moved = changed(plain, ["faults"], faults);
  return Number.isFinite(end) ? changed(moved, ["duration"], formatDuration(end - by)) : moved;
}
