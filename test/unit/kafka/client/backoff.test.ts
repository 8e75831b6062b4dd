import fc from "fast-check";
import { expect, test } from "vitest";
import {
  BACKOFF_JITTER_HIGH,
  BACKOFF_JITTER_LOW,
  exponentialBackoff,
} from "../../../../src/kafka/client/backoff.ts";

test("a backoff doubles up to its maximum", () => {
  const pauses = [0, 1, 2, 3, 4, 100].map((attempts) =>
    exponentialBackoff(100_000, 1_000_000, attempts, 1_000_000),
  );

  expect(pauses).toEqual([100_000, 200_000, 400_000, 800_000, 1_000_000, 1_000_000]);
});

test("a constant backoff has no jitter, and none at all stays none", () => {
  expect(exponentialBackoff(100, 100, 3, BACKOFF_JITTER_LOW)).toBe(100);
  expect(exponentialBackoff(500, 100, 0, BACKOFF_JITTER_LOW)).toBe(100);
  expect(exponentialBackoff(0, 1000, 7, BACKOFF_JITTER_HIGH)).toBe(0);
});

test("jitter moves a backoff by a fifth at most, and never over the maximum", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.integer({ min: 1_000_001, max: 100_000_000 }),
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: BACKOFF_JITTER_LOW, max: BACKOFF_JITTER_HIGH }),
      (initial, max, attempts, jitter) => {
        const plain = exponentialBackoff(initial, max, attempts, 1_000_000);
        const pause = exponentialBackoff(initial, max, attempts, jitter);
        expect(plain).toBe(Math.min(initial * 2 ** attempts, max));
        expect(pause).toBeGreaterThanOrEqual(Math.floor(plain * 0.8));
        expect(pause).toBeLessThanOrEqual(Math.min(plain * 1.2, max));
      },
    ),
    { seed: 42, numRuns: 200 },
  );
});
