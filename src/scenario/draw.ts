import type { Duration } from "../base/time.ts";

/**
 * A duration as a scenario gives it: known, or by chance. Where it shapes the run (a fault's `at` or
 * `for`) the plan draws it once; where it belongs to the world (a latency) it is drawn each time.
 */
export type DurationSpec =
  | { readonly kind: "fixed"; readonly value: Duration }
  /** Both ends included. */
  | { readonly kind: "uniform"; readonly low: Duration; readonly high: Duration }
  | { readonly kind: "exponential"; readonly mean: Duration }
  | { readonly kind: "lognormal"; readonly p50: Duration; readonly p99: Duration }
  | { readonly kind: "one-of"; readonly options: readonly Duration[] };

/** A whole number as a scenario gives it: known, or drawn once by the plan. */
export type IntegerSpec =
  | { readonly kind: "fixed"; readonly value: number }
  | { readonly kind: "uniform"; readonly low: number; readonly high: number }
  | { readonly kind: "one-of"; readonly options: readonly number[] };

/** A word as a scenario gives it: known, or drawn once by the plan. */
export type WordSpec =
  | { readonly kind: "fixed"; readonly value: string }
  | { readonly kind: "one-of"; readonly options: readonly string[] };

/** How often something is done: so many in a stretch of time, evenly or at random moments (Poisson). */
export interface RateSpec {
  readonly kind: "steady" | "exponential";
  readonly count: number;
  readonly per: Duration;
}

/** Whatever is drawn, the number is at least this. */
export function smallest(spec: IntegerSpec): number {
  if (spec.kind === "fixed") return spec.value;
  return spec.kind === "uniform" ? spec.low : Math.min(...spec.options);
}

/** Whatever is drawn, the number is at most this. */
export function largest(spec: IntegerSpec): number {
  if (spec.kind === "fixed") return spec.value;
  return spec.kind === "uniform" ? spec.high : Math.max(...spec.options);
}

/** `one-of(3|5)` as written, or the number. */
export function formatInteger(spec: IntegerSpec): string {
  if (spec.kind === "fixed") return String(spec.value);
  if (spec.kind === "uniform") return `uniform(${spec.low}..${spec.high})`;
  return `one-of(${spec.options.join("|")})`;
}
