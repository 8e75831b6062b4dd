import { describe, expect, test } from "vitest";
import type { DirtyLog, DirtySegment } from "../../../../../src/kafka/log/cleaning/dirt.ts";
import {
  dirtOf,
  dirtyRatio,
  isWorthCleaning,
  segmentsWithin,
} from "../../../../../src/kafka/log/cleaning/dirt.ts";

const CONFIGS = {
  "min.cleanable.dirty.ratio": 0.5,
  "min.compaction.lag.ms": 0,
  "max.compaction.lag.ms": Number.MAX_SAFE_INTEGER,
};
const NOW_MS = 10_000;

/** Segments of ten offsets and a hundred bytes, one a second; the last is active. */
const SEGMENTS: readonly DirtySegment[] = [0, 10, 20, 30].map((baseOffset) => ({
  baseOffset,
  sizeInBytes: 100,
  largestTimestamp: baseOffset * 100 + 999,
  firstTimestamp: () => baseOffset * 100 + 1,
}));

const LOG: DirtyLog<DirtySegment> = {
  segments: SEGMENTS,
  logStartOffset: 0,
  logEndOffset: 35,
  lastStableOffset: 35,
};

describe("what may be cleaned begins", () => {
  test("where the cleaner stopped, or at the log's start if it never did", () => {
    expect(dirtOf(LOG, CONFIGS, 20, NOW_MS)).toMatchObject({
      firstDirtyOffset: 20,
      cleanBytes: 200,
      cleanableBytes: 100,
    });
    expect(dirtOf(LOG, CONFIGS, undefined, NOW_MS)).toMatchObject({
      firstDirtyOffset: 0,
      isCheckpointInvalid: false,
      cleanBytes: 0,
      cleanableBytes: 300,
    });
  });

  test.each([
    ["beyond the end, where it lost its tail", 36, 0],
    ["below the start, which has moved", 4, 5],
  ])("at the start of a log of which the checkpoint lies %s", (_, checkpoint, start) => {
    expect(dirtOf({ ...LOG, logStartOffset: start }, CONFIGS, checkpoint, NOW_MS)).toMatchObject({
      firstDirtyOffset: start,
      isCheckpointInvalid: true,
    });
  });
});

describe("what may be cleaned ends", () => {
  test("at the active segment", () => {
    expect(dirtOf(LOG, CONFIGS, 0, NOW_MS).firstUncleanableOffset).toBe(30);
  });

  test.each([
    [30, 30],
    [29, 20],
    [20, 20],
    [3, 0],
  ])("before the segment in which the last stable offset %i lies", (lastStableOffset, end) => {
    const dirt = dirtOf({ ...LOG, lastStableOffset }, CONFIGS, 0, NOW_MS);

    expect(dirt.firstUncleanableOffset).toBe(end);
    expect(dirt.cleanableBytes).toBe(end * 10);
  });

  test("before the first segment with a record younger than min.compaction.lag.ms", () => {
    const lag = (minLagMs: number): number =>
      dirtOf(LOG, { ...CONFIGS, "min.compaction.lag.ms": minLagMs }, 0, NOW_MS)
        .firstUncleanableOffset;

    expect(lag(10_000 - 1_999)).toBe(20);
    expect(lag(10_000 - 1_998)).toBe(10);
    expect(lag(10_000 - 2_999)).toBe(30);
  });

  test("never below where it begins", () => {
    const dirt = dirtOf({ ...LOG, lastStableOffset: 12 }, CONFIGS, 25, NOW_MS);

    expect(dirt).toMatchObject({ firstDirtyOffset: 25, firstUncleanableOffset: 20 });
    expect(dirt.cleanableBytes).toBe(0);
  });
});

describe("a log is worth it", () => {
  test("if more than min.cleanable.dirty.ratio of it is dirty", () => {
    const half = dirtOf({ ...LOG, lastStableOffset: 20 }, CONFIGS, 10, NOW_MS);
    const more = dirtOf(LOG, CONFIGS, 10, NOW_MS);

    expect(dirtyRatio(half)).toBe(0.5);
    expect(isWorthCleaning(half, CONFIGS)).toBe(false);
    expect(isWorthCleaning(more, CONFIGS)).toBe(true);
  });

  test("if something of it has waited for max.compaction.lag.ms", () => {
    // The first dirty segment is of 2001.
    const overdue = { ...CONFIGS, "max.compaction.lag.ms": NOW_MS - 2_002 };
    const inTime = { ...CONFIGS, "max.compaction.lag.ms": NOW_MS - 2_001 };

    expect(isWorthCleaning(dirtOf(LOG, overdue, 20, NOW_MS), overdue)).toBe(true);
    expect(isWorthCleaning(dirtOf(LOG, inTime, 20, NOW_MS), inTime)).toBe(false);
    const nothing = dirtOf({ ...LOG, lastStableOffset: 20 }, overdue, 20, NOW_MS);
    expect(isWorthCleaning(nothing, overdue)).toBe(false);
  });

  test("if it has anything at all", () => {
    const empty = SEGMENTS.map((segment) => ({ ...segment, sizeInBytes: 0 }));
    const eager = { ...CONFIGS, "min.cleanable.dirty.ratio": 0 };

    expect(isWorthCleaning(dirtOf({ ...LOG, segments: empty }, eager, 0, NOW_MS), eager)).toBe(
      false,
    );
  });
});

test("the segments of a stretch are those that hold something of it", () => {
  const bases = (from: number, to: number): number[] =>
    segmentsWithin(SEGMENTS, from, to).map(({ baseOffset }) => baseOffset);

  expect(bases(5, 11)).toEqual([0, 10]);
  expect(bases(10, 20)).toEqual([10]);
  expect(bases(-1, 10)).toEqual([0]);
  expect(bases(30, 30)).toEqual([]);
  expect(bases(31, 40)).toEqual([30]);
});
