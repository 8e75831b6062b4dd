import type { Random } from "../../src/ports/random.ts";

/** A small stream of chance for tests (mulberry32): the same from the same seed. */
export class SmallRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000) * bound);
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(numerator: number, denominator: number): boolean {
    return this.below(denominator) < numerator;
  }
}
