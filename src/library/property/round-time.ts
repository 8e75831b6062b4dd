import type { Random } from "fast-check";
import { Arbitrary, Stream, Value } from "fast-check";
import type { DurationValue } from "../scenario-value.ts";

/** In milliseconds: whole seconds are rounder than tenths, and those than hundredths. */
const GRAINS = [1_000, 100, 10] as const;

/**
 * Times from `min` to `max`, in whole milliseconds and mostly round. They shrink to shorter and to rounder ones, never
 * to longer ones: 7430, 7400, 7000, ..., `min`.
 */
export class RoundTime extends Arbitrary<number> {
  readonly #min: number;
  readonly #max: number;

  constructor(min: number, max: number) {
    super();
    this.#min = min;
    this.#max = Math.max(min, max);
  }

  generate(random: Random, _bias: number | undefined): Value<number> {
    const grain = GRAINS[random.nextInt(0, GRAINS.length - 1)] ?? 1;
    const low = Math.ceil(this.#min / grain);
    const high = Math.floor(this.#max / grain);
    const time = low <= high ? grain * random.nextInt(low, high) : this.#min;
    return new Value(time, undefined);
  }

  canShrinkWithoutContext(value: unknown): value is number {
    return (
      typeof value === "number" &&
      Number.isInteger(value) &&
      value >= this.#min &&
      value <= this.#max
    );
  }

  shrink(value: number, _context: unknown): Stream<Value<number>> {
    return Stream.of(...this.#smaller(value).map((time) => new Value(time, undefined)));
  }

  /** The boldest first; each of them is less, so that there is an end to it. */
  #smaller(value: number): number[] {
    const grain = GRAINS.find((one) => value % one === 0) ?? 1;
    const found = new Set<number>([this.#min]);
    for (const coarser of GRAINS) {
      if (coarser > grain) found.add(value - (value % coarser));
    }
    const first = Math.ceil(this.#min / grain);
    const steps = value / grain - first;
    for (let less = Math.floor(steps / 2); less > 0; less = Math.floor(less / 2)) {
      found.add(value - less * grain);
    }
    if (steps > 0) found.add(value - grain);
    return [...found].filter((time) => time >= this.#min && time < value);
  }
}

/** As scenarios have it: `7s`, `7430ms`. */
export function durationOf(milliseconds: number): DurationValue {
  if (milliseconds === 0) return 0;
  return milliseconds % 1_000 === 0 ? `${milliseconds / 1_000}s` : `${milliseconds}ms`;
}
