import tychei from "seedrandom/lib/tychei.js";
import { fail } from "../base/invariant.ts";
import type { Random } from "../ports/random.ts";

const TWO_32 = 0x1_0000_0000;
/** Up to here a 32-bit word times the bound is exact in a double. */
const PRODUCT_BOUND = 2 ** 21;

/**
 * A stream of chance, and the only door to seedrandom (algorithm Tyche-i). A stream is made from a
 * seed text and labels alone, never from draws: so more draws here, or one more stream, move no
 * other stream.
 */
export class Rng implements Random {
  private readonly seed: string;
  private readonly next: () => number;

  constructor(seed: string) {
    this.seed = seed;
    this.next = tychei(seed).int32;
  }

  /** The stream with this label below this one: the same whenever it is asked for. */
  fork(label: string): Rng {
    // With its length a label cannot be mistaken for two: fork("a").fork("b") is not fork("a/1:b").
    return new Rng(`${this.seed}/${label.length}:${label}`);
  }

  below(bound: number): number {
    if (!(bound >= 1 && bound <= TWO_32 && Math.floor(bound) === bound))
      fail(`a draw below ${bound}`);
    if (bound > PRODUCT_BOUND) return this.belowLarge(bound);
    // Lemire's method: the high word of the product is the result; a low word below 2^32 mod bound
    // would make some results likelier and is drawn again.
    let product = (this.next() >>> 0) * bound;
    let low = product >>> 0;
    if (low < bound) {
      const unfair = TWO_32 % bound;
      while (low < unfair) {
        product = (this.next() >>> 0) * bound;
        low = product >>> 0;
      }
    }
    return (product - low) / TWO_32;
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(numerator: number, denominator: number): boolean {
    return this.below(denominator) < numerator;
  }

  private belowLarge(bound: number): number {
    // Just the bits that the bound has; less than half of the draws are in vain.
    const shift = Math.clz32(bound - 1);
    let word = this.next() >>> shift;
    while (word >= bound) word = this.next() >>> shift;
    return word;
  }
}
