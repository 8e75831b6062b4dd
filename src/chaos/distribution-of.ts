import { unreachable } from "../base/invariant.ts";
import type { Duration } from "../base/time.ts";
import type { DurationSpec } from "../scenario/draw.ts";
import { Distribution } from "../sim/distribution.ts";
import type { Rng } from "../sim/rng.ts";
import { Dice } from "./dice.ts";

/** What a scenario's words say of a duration that is drawn anew each time. */
export function distributionOf(spec: Exclude<DurationSpec, { kind: "one-of" }>): Distribution {
  switch (spec.kind) {
    case "fixed":
      return Distribution.fixed(spec.value);
    case "uniform":
      return Distribution.uniform(spec.low, spec.high);
    case "exponential":
      return Distribution.exponential(spec.mean);
    case "lognormal":
      return Distribution.lognormal(spec.p50, spec.p99);
    default:
      return unreachable(spec);
  }
}

/** One draw of it. */
export function drawDuration(spec: DurationSpec, random: Rng): Duration {
  return spec.kind === "one-of"
    ? new Dice(random).of(spec.options)
    : distributionOf(spec).draw(random);
}
