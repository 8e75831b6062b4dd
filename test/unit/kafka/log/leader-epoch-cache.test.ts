import fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatEpochCheckpoint,
  formatOffsetCheckpoint,
  parseEpochCheckpoint,
  parseOffsetCheckpoint,
} from "../../../../src/kafka/log/checkpoint-format.ts";
import type { EpochEntry } from "../../../../src/kafka/log/leader-epoch-cache.ts";
import { LeaderEpochCache } from "../../../../src/kafka/log/leader-epoch-cache.ts";

const UNDEFINED = { epoch: -1, endOffset: -1 };

function cacheOf(
  ...entries: readonly (readonly [epoch: number, startOffset: number])[]
): LeaderEpochCache {
  return new LeaderEpochCache(entries.map(([epoch, startOffset]) => ({ epoch, startOffset })));
}

function pairs({ entries }: LeaderEpochCache): number[][] {
  return entries.map(({ epoch, startOffset }) => [epoch, startOffset]);
}

test("an epoch ends where the next begins, and the latest at the log's end", () => {
  const cache = cacheOf([2, 0], [4, 10], [7, 25]);

  expect(cache.endOffsetFor(2, 40)).toEqual({ epoch: 2, endOffset: 10 });
  expect(cache.endOffsetFor(4, 40)).toEqual({ epoch: 4, endOffset: 25 });
  expect(cache.endOffsetFor(7, 40)).toEqual({ epoch: 7, endOffset: 40 });
});

test("an epoch that the log never had is answered with the largest before it (KIP-279)", () => {
  const cache = cacheOf([2, 0], [4, 10], [7, 25]);

  expect(cache.endOffsetFor(3, 40)).toEqual({ epoch: 2, endOffset: 10 });
  expect(cache.endOffsetFor(6, 40)).toEqual({ epoch: 4, endOffset: 25 });
  expect(cache.kip101EndOffset(6, 40)).toEqual({ epoch: 6, endOffset: 25 });
});

test("an epoch below the first ends where the first begins, one above the latest cannot be told", () => {
  const cache = cacheOf([2, 5], [4, 10]);

  expect(cache.endOffsetFor(1, 40)).toEqual({ epoch: 1, endOffset: 5 });
  expect(cache.kip101EndOffset(1, 40)).toEqual(UNDEFINED);
  expect(cache.endOffsetFor(5, 40)).toEqual(UNDEFINED);
  expect(cache.endOffsetFor(-1, 40)).toEqual(UNDEFINED);
  expect(cacheOf().endOffsetFor(0, 40)).toEqual(UNDEFINED);
});

test("a new epoch drops the entries that it contradicts", () => {
  const cache = cacheOf([2, 0], [4, 10], [7, 25]);

  expect(cache.assign(8, 10)).toBe(true);
  expect(pairs(cache)).toEqual([
    [2, 0],
    [8, 10],
  ]);
  expect(cache.assign(8, 30)).toBe(false);
  expect(cache.assign(8, 9)).toBe(true);
  expect(pairs(cache)).toEqual([
    [2, 0],
    [8, 9],
  ]);
  expect(cache.assign(1, 20)).toBe(true);
  expect(pairs(cache)).toEqual([[1, 20]]);
});

test("a cut at the end drops epochs that begin there or later, a cut at the start moves the first", () => {
  const cache = cacheOf([2, 0], [4, 10], [7, 25]);

  expect(cache.truncateFromEnd(26)).toBe(false);
  expect(cache.truncateFromEnd(25)).toBe(true);
  expect(pairs(cache)).toEqual([
    [2, 0],
    [4, 10],
  ]);
  expect(cache.truncateFromStart(0)).toBe(false);
  expect(cache.truncateFromStart(6)).toBe(true);
  expect(pairs(cache)).toEqual([
    [2, 6],
    [4, 10],
  ]);
  expect(cache.truncateFromStart(10)).toBe(true);
  expect(pairs(cache)).toEqual([[4, 10]]);
});

test("epoch lookups agree with a walk over every offset's epoch", () => {
  const runs = fc.array(
    fc.record({ gap: fc.integer({ min: 1, max: 3 }), length: fc.integer({ min: 1, max: 6 }) }),
    { maxLength: 6 },
  );
  const check = (stretches: { gap: number; length: number }[], asked: number): void => {
    const cache = new LeaderEpochCache();
    const epochOf: number[] = [];
    let epoch = 0;
    for (const { gap, length } of stretches) {
      epoch += gap;
      cache.assign(epoch, epochOf.length);
      for (let i = 0; i < length; i++) epochOf.push(epoch);
    }

    const latest = epochOf.at(-1);
    const { epoch: found, endOffset } = cache.endOffsetFor(asked, epochOf.length);
    if (latest === undefined || asked > latest) {
      expect({ epoch: found, endOffset }).toEqual(UNDEFINED);
    } else {
      const firstAbove = epochOf.findIndex((one) => one > asked);
      expect(endOffset).toBe(firstAbove === -1 ? epochOf.length : firstAbove);
      expect(found).toBe(epochOf[endOffset - 1] ?? asked);
    }
    for (const [offset, one] of epochOf.entries()) expect(cache.epochAt(offset)).toBe(one);
  };
  fc.assert(fc.property(runs, fc.integer({ min: 0, max: 20 }), check), { seed: 42, numRuns: 500 });
});

test("checkpoints are version, count and one entry a line", () => {
  const epochs: EpochEntry[] = [
    { epoch: 0, startOffset: 0 },
    { epoch: 3, startOffset: 120 },
  ];

  expect(formatEpochCheckpoint(epochs)).toBe("0\n2\n0 0\n3 120\n");
  expect(parseEpochCheckpoint("0\n2\n0 0\n3 120\n")).toEqual(epochs);
  expect(formatOffsetCheckpoint([{ topic: "a.b", partition: 2, offset: 9 }])).toBe(
    "0\n1\na.b 2 9\n",
  );
  expect(parseOffsetCheckpoint("0\n1\na.b 2 9\n")).toEqual(new Map([["a.b-2", 9]]));
});

test("a checkpoint that is cut short or garbled is recognised, one that was never written is empty", () => {
  expect(parseEpochCheckpoint("")).toEqual([]);
  expect(parseEpochCheckpoint("0\n2\n0 0\n")).toBeUndefined();
  expect(parseEpochCheckpoint("0\n1\n0 x\n")).toBeUndefined();
  expect(parseEpochCheckpoint("1\n0\n")).toBeUndefined();
  expect(parseOffsetCheckpoint("\0\0\0")).toBeUndefined();
});
