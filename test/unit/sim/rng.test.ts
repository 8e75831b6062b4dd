import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvariantViolation } from "../../../src/base/invariant.ts";
import { Rng } from "../../../src/sim/rng.ts";

function draws(rng: Rng, count: number, bound = 2 ** 32): number[] {
  return Array.from({ length: count }, () => rng.below(bound));
}

describe("random streams", () => {
  test("a seed says what is drawn, on every machine and with every version", () => {
    const rng = new Rng("42");
    const link = rng.fork("net/broker-1>broker-2");

    expect(draws(rng, 4)).toEqual([328005839, 2725382594, 3084262465, 3215538993]);
    expect(draws(rng, 6, 100)).toEqual([89, 25, 42, 85, 28, 53]);
    expect(draws(link, 4)).toEqual([3466491140, 2207196984, 2116807770, 3810298655]);
    expect(draws(link.fork("loss"), 4, 1_000_000)).toEqual([402061, 892626, 978845, 853620]);
    expect(draws(new Rng(""), 2)).toEqual([1149004671, 164338398]);
  });

  test("more draws in one stream move no other stream, not even its own forks", () => {
    const property = fc.property(fc.string(), fc.string(), fc.nat(50), (seed, label, extra) => {
      const quiet = new Rng(seed);
      const busy = new Rng(seed);
      const busySibling = busy.fork(`${label}'s sibling`);

      draws(busy, extra);
      draws(busySibling, extra);

      expect(draws(busy.fork(label), 5)).toEqual(draws(quiet.fork(label), 5));
    });

    fc.assert(property, { seed: 42, numRuns: 200 });
  });

  test("a new stream moves no other stream", () => {
    const without = new Rng("seed").fork("disk");
    const root = new Rng("seed");
    root.fork("a stream of next year");
    const beside = root.fork("disk");

    expect(draws(beside, 100)).toEqual(draws(without, 100));
  });

  test("streams of different seeds, labels and depths differ", () => {
    const root = new Rng("1");
    const streams = [
      root,
      new Rng("2"),
      new Rng("1/1:a"),
      root.fork("a"),
      root.fork("b"),
      root.fork("a").fork("b"),
      root.fork("a/1:b"),
      root.fork("ab"),
      root.fork(""),
    ];

    const firsts = new Set(streams.map((stream) => draws(stream, 2).join()));

    // new Rng("1/1:a") is root.fork("a") by another name.
    expect(firsts.size).toBe(streams.length - 1);
  });

  test.each([1, 2, 3, 6, 7, 1_000, 4_501, 2 ** 21, 2 ** 21 + 1, 3_000_000_000, 2 ** 32])(
    "below(%d) is uniform",
    (bound) => {
      const rng = new Rng(`uniform ${bound}`);
      const cells = Math.min(bound, 64);
      const counts = new Array<number>(cells).fill(0);
      const total = 64_000;

      for (let i = 0; i < total; i++) {
        const drawn = rng.below(bound);
        if (!(Number.isInteger(drawn) && drawn >= 0 && drawn < bound)) expect.fail(`drew ${drawn}`);
        const cell = Math.floor((drawn * cells) / bound);
        counts[cell] = (counts[cell] ?? 0) + 1;
      }

      // Cells differ in width by rounding only; chi-square with 63 degrees is below 120 but once in 10^5.
      let chiSquare = 0;
      for (let cell = 0; cell < cells; cell++) {
        const from = Math.ceil((cell * bound) / cells);
        const to = Math.ceil(((cell + 1) * bound) / cells);
        const expected = (total * (to - from)) / bound;
        chiSquare += ((counts[cell] ?? 0) - expected) ** 2 / expected;
      }
      expect(chiSquare).toBeLessThan(120);
    },
  );

  test("a bound just over half of the range is not biased, as a plain remainder would be", () => {
    const bound = 3 * 2 ** 30;
    const rng = new Rng("bias");
    const low = draws(rng, 30_000, bound).filter((drawn) => drawn < bound / 3).length;

    // A remainder would put half of the draws there.
    expect(low / 30_000).toBeCloseTo(1 / 3, 1);
  });

  test("a small bound is exact too: words that would make some results likelier are drawn again", () => {
    let bound = 2 ** 21;
    while (2 ** 32 % bound < 0.9 * bound) bound--;
    const rng = new Rng("exact");
    const words = new Rng("exact");
    let rejected = 0;

    for (let i = 0; i < 20_000; i++) {
      let product = BigInt(words.below(2 ** 32)) * BigInt(bound);
      while (product % 2n ** 32n < 2n ** 32n % BigInt(bound)) {
        rejected++;
        product = BigInt(words.below(2 ** 32)) * BigInt(bound);
      }
      const drawn = rng.below(bound);
      if (BigInt(drawn) !== product / 2n ** 32n)
        expect([i, drawn]).toEqual([i, product / 2n ** 32n]);
    }

    expect(rejected).toBeGreaterThan(0);
  });

  test("between reaches both of its ends, and chance is true as often as it says", () => {
    const rng = new Rng("ends");
    const drawn = Array.from({ length: 1_000 }, () => rng.between(-3, 3));
    const hits = Array.from({ length: 10_000 }, () => rng.chance(3, 10)).filter(Boolean).length;

    expect([...new Set(drawn)].sort((a, b) => a - b)).toEqual([-3, -2, -1, 0, 1, 2, 3]);
    expect(hits / 10_000).toBeCloseTo(0.3, 1);
    expect(rng.chance(0, 5)).toBe(false);
    expect(rng.chance(5, 5)).toBe(true);
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 32 + 1])("a draw below %d is a bug", (bound) => {
    expect(() => new Rng("1").below(bound)).toThrow(InvariantViolation);
  });
});
