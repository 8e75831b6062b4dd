import { fail, unreachable } from "../base/invariant.ts";
import type { Duration } from "../base/time.ts";
import { distributionOf } from "../chaos/distribution-of.ts";
import type { DurationSource } from "../ports/random.ts";
import type { DurationSpec, IntegerSpec, RateSpec, WordSpec } from "../scenario/draw.ts";
import { formatDuration } from "../scenario/duration.ts";
import { Distribution } from "../sim/distribution.ts";
import type { Rng } from "../sim/rng.ts";

/** One thing that a scenario left to chance, and what it became. */
export interface Choice {
  /** Where in the scenario: `cluster/brokers`, `faults/2/for`. */
  readonly path: string;
  readonly value: string;
}

/**
 * Draws what a scenario leaves to chance, each from a stream that its path alone decides: a draw
 * more, or another scenario's change elsewhere, moves no other choice.
 */
export class Choices {
  readonly made: Choice[] = [];
  readonly #random: Rng;

  constructor(random: Rng) {
    this.#random = random;
  }

  integer(path: string, spec: IntegerSpec): number {
    switch (spec.kind) {
      case "fixed":
        return spec.value;
      case "uniform":
        return this.#noteAs(path, this.stream(path).between(spec.low, spec.high), String);
      case "one-of":
        return this.#noteAs(path, this.#pick(path, spec.options), String);
      default:
        return unreachable(spec);
    }
  }

  word(path: string, spec: WordSpec): string {
    if (spec.kind === "fixed") return spec.value;
    return this.#noteAs(path, this.#pick(path, spec.options), String);
  }

  duration(path: string, spec: DurationSpec): Duration {
    if (spec.kind === "fixed") return spec.value;
    if (spec.kind === "one-of") {
      return this.#noteAs(path, this.#pick(path, spec.options), formatDuration);
    }
    return this.#noteAs(path, distributionOf(spec).draw(this.stream(path)), formatDuration);
  }

  /** A duration that is drawn anew each time; only which of several it is, is decided here. */
  distribution(path: string, spec: DurationSpec): Distribution {
    return spec.kind === "one-of"
      ? Distribution.fixed(this.duration(path, spec))
      : distributionOf(spec);
  }

  /** Notes what was drawn elsewhere. */
  note(path: string, value: string): void {
    this.made.push({ path, value });
  }

  /** Chance for a part of the plan that draws for itself. */
  stream(path: string): Rng {
    return this.#random.fork(path);
  }

  #pick<Option>(path: string, options: readonly Option[]): Option {
    return options[this.stream(path).below(options.length)] ?? fail(`${path} has no options`);
  }

  #noteAs<Value>(path: string, value: Value, format: (value: Value) => string): Value {
    this.note(path, format(value));
    return value;
  }
}

/** The time from one to the next, rounded to whole microseconds. */
export function intervalOf(rate: RateSpec): Duration | DurationSource {
  const mean = Math.max(1, Math.round(rate.per / rate.count));
  return rate.kind === "steady" ? mean : Distribution.exponential(mean);
}
