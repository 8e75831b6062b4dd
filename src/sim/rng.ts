import tychei from "seedrandom/lib/tychei.js";
import { invariant } from "../base/invariant.ts";
import type { Random } from "../ports/random.ts";

const TWO_32 = 0x1_0000_0000;

/**
 * A stream of chance: the only door to seedrandom (algorithm Tyche-i). A stream is made from a seed
 * text and labels alone, never from draws, so that more draws here, or one more stream, move no
 * other stream.
 */
export class Rng implements Random {
  readonly #seed: string;
  readonly #next: () => number;

  constructor(seed: string) {
    this.#seed = seed;
    this.#next = tychei(seed).int32;
  }

  /** The stream with this label below this one; the same for the same label, whatever was drawn. */
  fork(label: string): Rng {
    // The length keeps fork("a").fork("b") and fork("a/1:b") apart.
    return new Rng(`${this.#seed}/${label.length}:${label}`);
  }

  /** 32 random bits, unsigned. */
  word(): number {
    return this.#next() >>> 0;
  }

  below(bound: number): number {
    // A word of the last, incomplete round of `bound` would favour the small results: draw again.
    const next = this.#next;
    let word = next() >>> 0;
    let result = word % bound;
    while (word - result > TWO_32 - bound) {
      word = next() >>> 0;
      result = word % bound;
    }
    return result;
  }

  between(low: number, high: number): number {
    invariant(low <= high && high - low < TWO_32, () => `no range: ${low} to ${high}`);
    return low + this.below(high - low + 1);
  }

  chance(numerator: number, denominator: number): boolean {
    return this.below(denominator) < numerator;
  }
}
