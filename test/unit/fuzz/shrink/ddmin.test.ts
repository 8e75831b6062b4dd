import fc from "fast-check";
import { expect, test } from "vitest";
import { ddmin } from "../../../../src/fuzz/shrink/ddmin.ts";

test("what is found fails, and no item of it can be left out", () => {
  const needs = fc.record({
    count: fc.integer({ min: 0, max: 40 }),
    needed: fc.uniqueArray(fc.integer({ min: 0, max: 39 }), { maxLength: 6 }),
  });
  fc.assert(
    fc.property(needs, ({ count, needed }) => {
      const items = Array.from({ length: count }, (_, i) => i);
      const wanted = needed.filter((item) => item < count);
      const fails = (kept: readonly number[]): boolean => wanted.every((one) => kept.includes(one));

      expect(ddmin(items, fails)).toEqual([...wanted].sort((a, b) => a - b));
    }),
    { seed: 42, numRuns: 300 },
  );
});

test("where two ways fail, one of them is found, and nothing beside it", () => {
  const fails = (kept: readonly number[]): boolean =>
    (kept.includes(1) && kept.includes(9)) || (kept.includes(4) && kept.includes(5));

  const found = ddmin([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], fails);

  expect(found).toHaveLength(2);
  expect(fails(found)).toBe(true);
});

test("few questions are asked where little is needed", () => {
  let asked = 0;
  const items = Array.from({ length: 256 }, (_, i) => i);

  ddmin(items, (kept) => {
    asked++;
    return kept.includes(77);
  });

  expect(asked).toBeLessThan(40);
});
