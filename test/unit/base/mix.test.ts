import fc from "fast-check";
import { expect, test } from "vitest";
import { mix, mixText } from "../../../src/base/mix.ts";

/** Murmur3's block step in 64-bit integers, masked: slow, and hard to get wrong. */
function mixSlowly(lane: number, word: number): number {
  const mask = 0xffff_ffffn;
  const wrap = (value: bigint): bigint => value & mask;
  const rotate = (value: bigint, by: bigint): bigint => wrap((value << by) | (value >> (32n - by)));
  let k = wrap(BigInt(word) * 0xcc9e2d51n);
  k = wrap(rotate(k, 15n) * 0x1b873593n);
  const h = wrap(BigInt(lane) ^ k);
  return Number(BigInt.asIntN(32, rotate(h, 13n) * 5n + 0xe6546b64n));
}

const words = fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff });

test("a mix is murmur3's block step, exact in 32 bits", () => {
  fc.assert(
    fc.property(words, words, (lane, word) => {
      expect(mix(lane, word)).toBe(mixSlowly(lane, word));
    }),
    { seed: 42, numRuns: 500 },
  );
});

test("the order of words tells", () => {
  expect(mix(mix(0, 1), 2)).not.toBe(mix(mix(0, 2), 1));
});

test("texts that are others' beginnings, or empty, have hashes of their own", () => {
  const hashes = ["", "a", "ab", "ba", "a\0"].map((text) => mixText(7, text));

  expect(new Set(hashes).size).toBe(5);
});
