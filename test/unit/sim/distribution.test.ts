import { describe, expect, test } from "vitest";
import { InvariantViolation } from "../../../src/base/invariant.ts";
import type { Random } from "../../../src/ports/random.ts";
import { Distribution } from "../../../src/sim/distribution.ts";
import { EXP2, HALF_NORMAL, LOG2 } from "../../../src/sim/distribution-tables.ts";
import { Rng } from "../../../src/sim/rng.ts";

const COUNT = 200_000;

function sortedDraws(distribution: Distribution): Float64Array {
  const rng = new Rng(distribution.describe);
  return Float64Array.from({ length: COUNT }, () => distribution.draw(rng)).sort();
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
}

function mean(sample: Float64Array): number {
  return sample.reduce((sum, drawn) => sum + drawn, 0) / sample.length;
}

/** A stream whose only word is given. */
function stuck(word: number): Random {
  return { below: () => word, between: (low) => low, chance: () => false };
}

describe("distributions", () => {
  test("the same stream gives the same integers, on every machine and with every version", () => {
    const five = (distribution: Distribution): number[] => {
      const rng = new Rng("42");
      return Array.from({ length: 5 }, () => distribution.draw(rng));
    };

    expect(five(Distribution.fixed(700))).toEqual([700, 700, 700, 700, 700]);
    expect(five(Distribution.uniform(500, 5_000))).toEqual([843, 3356, 3732, 3869, 4533]);
    expect(five(Distribution.exponential(1_000))).toEqual([2572, 455, 331, 289, 110]);
    expect(five(Distribution.exponential(3_600_000_000))).toEqual([
      9259821838, 1637423279, 1192080287, 1042027205, 394650024,
    ]);
    expect(five(Distribution.lognormal(500, 2_000))).toEqual([174, 664, 403, 413, 463]);
    expect(five(Distribution.lognormal(1_000_000, 60_000_000))).toEqual([
      44194, 2308839, 529757, 568989, 794762,
    ]);
  });

  test("a fixed duration draws nothing from its stream", () => {
    const rng = new Rng("1");

    const drawn = Distribution.fixed(123).draw(rng);

    expect(drawn).toBe(123);
    expect(rng.below(1_000)).toBe(new Rng("1").below(1_000));
  });

  test("uniform draws lie in the range, both ends included, and are level", () => {
    const sample = sortedDraws(Distribution.uniform(100, 109));

    expect(sample[0]).toBe(100);
    expect(sample.at(-1)).toBe(109);
    for (let n = 100; n < 110; n++)
      expect(sample.filter((drawn) => drawn === n).length / COUNT).toBeCloseTo(0.1, 2);
  });

  test("exponential draws have the mean and the quantiles that they should", () => {
    const average = 10_000;
    const sample = sortedDraws(Distribution.exponential(average));

    expect(mean(sample) / average).toBeCloseTo(1, 2);
    for (const share of [0.01, 0.1, 0.5, 0.9, 0.99])
      expect(quantile(sample, share) / (-Math.log(1 - share) * average)).toBeCloseTo(1, 1);
    expect(quantile(sample, 0.5) / (Math.LN2 * average)).toBeCloseTo(1, 2);
  });

  test("lognormal draws have the p50 and the p99 that were asked for, and a lognormal's mean", () => {
    const sample = sortedDraws(Distribution.lognormal(2_000, 20_000));
    const sigma = Math.log(10) / 2.3263478740408408;

    expect(Math.abs(quantile(sample, 0.5) / 2_000 - 1)).toBeLessThan(0.01);
    expect(quantile(sample, 0.99) / 20_000).toBeCloseTo(1, 1);
    expect(quantile(sample, 0.01) / 200).toBeCloseTo(1, 1);
    expect(mean(sample) / (2_000 * Math.exp(sigma ** 2 / 2))).toBeCloseTo(1, 1);
  });

  test("draws follow the exact quantile functions, to a part in ten thousand, at every word", () => {
    const wide = 2 ** 40;
    const exponential = Distribution.exponential(wide);
    const lognormal = Distribution.lognormal(2 ** 30, 2 ** 33);
    const sigma = Math.log(8) / 2.3263478740408408;

    for (let word = 1; word < 2 ** 32; word = Math.ceil(word * 1.0137)) {
      const exact = -Math.log(word / 2 ** 32) * wide;
      const drawn = exponential.draw(stuck(word));
      if (Math.abs(drawn - exact) > 1e-4 * exact + 2 ** 24) expect(drawn).toBe(exact);
      // The tail beyond z is erfc: half of a word's 31 upper bits, over 2^31.
      const z = Math.log(lognormal.draw(stuck(word)) / 2 ** 30) / sigma;
      const tail = Math.max(word >>> 1, 16) / 2 ** 31;
      const passed = erfc(Math.abs(z) / Math.SQRT2);
      if (Math.abs(passed - tail) > 2e-3 * tail) expect([word, passed]).toEqual([word, tail]);
      expect(Math.sign(z) * (word % 2 === 0 ? 1 : -1)).not.toBe(-1);
    }
  });

  test("the extreme words give whole, finite durations of no less than zero", () => {
    const all = [
      Distribution.exponential(1),
      Distribution.exponential(86_400_000_000),
      Distribution.lognormal(1, 2 ** 20),
      Distribution.lognormal(60_000_000, 3_600_000_000),
      Distribution.lognormal(5, 5),
    ];

    for (const distribution of all)
      for (const word of [0, 1, 2, 31, 32, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1]) {
        const drawn = distribution.draw(stuck(word));
        expect(
          Number.isSafeInteger(drawn) && drawn >= 0,
          `${distribution.describe}: ${drawn}`,
        ).toBe(true);
      }
  });

  test("the tables are what mathematics says", () => {
    for (const [i, entry] of LOG2.entries())
      expect(Math.abs(entry - Math.log2(1 + i / 128) * 2 ** 30)).toBeLessThan(1);
    for (const [i, entry] of EXP2.entries())
      expect(Math.abs(entry - 2 ** (i / 128) * 2 ** 29)).toBeLessThan(1);
    for (const [i, entry] of HALF_NORMAL.entries()) {
      const tail = 2 ** ((i >> 4) - 27) * (1 + (i & 15) / 16);
      expect(erfc(entry / 2 ** 26 / Math.SQRT2) / tail).toBeCloseTo(1, 5);
    }
    expect([LOG2.length, EXP2.length, HALF_NORMAL.length]).toEqual([129, 129, 433]);
  });

  test.each([
    () => Distribution.fixed(-1),
    () => Distribution.fixed(0.5),
    () => Distribution.uniform(5, 4),
    () => Distribution.exponential(Number.NaN),
    () => Distribution.lognormal(0, 5),
    () => Distribution.lognormal(10, 9),
    () => Distribution.lognormal(1, 2 ** 20 + 1),
  ])("a distribution that cannot be is a bug of whoever asks", (make) => {
    expect(make).toThrow(InvariantViolation);
  });
});

/** The complementary error function: a series for small x, a continued fraction for large. */
function erfc(x: number): number {
  if (x < 2.5) {
    let term = x;
    let sum = x;
    for (let n = 1; n < 80; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let n = 80; n > 0; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}
