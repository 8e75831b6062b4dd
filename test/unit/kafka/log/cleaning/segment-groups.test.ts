import { describe, expect, test } from "vitest";
import type { SegmentExtent } from "../../../../../src/kafka/log/cleaning/segment-groups.ts";
import { groupSegments } from "../../../../../src/kafka/log/cleaning/segment-groups.ts";

const LARGE = 1_000_000;

describe("neighbours become one segment", () => {
  test("while together they are no larger than a segment may be", () => {
    const segments = [extent(0, 60), extent(10, 40), extent(20, 1), extent(30, 100), extent(40, 1)];

    expect(groups(segments, 100, LARGE)).toEqual([[0, 10], [20], [30], [40]]);
  });

  test("while their indexes fit in one", () => {
    const segments = [
      extent(0, 1, 16, 12),
      extent(10, 1, 8, 12),
      extent(20, 1, 8, 12),
      extent(30, 1, 0, 24),
    ];

    expect(groups(segments, LARGE, 24)).toEqual([[0, 10], [20], [30]]);
  });

  test("while the base of the first can express all offsets of the last", () => {
    const far = 2 ** 31;
    const reaching = [extent(0, 1), extent(10, 1), extent(far, 1)];

    expect(groups(reaching, LARGE, LARGE, far + 10)).toEqual([[0, 10], [far]]);
    expect(groups([extent(0, 1), extent(10, 1)], LARGE, LARGE, far)).toEqual([[0, 10]]);
    expect(groups([extent(0, 1), extent(10, 1)], LARGE, LARGE, far + 1)).toEqual([[0], [10]]);
  });

  test("if they are empty, however far they reach: nothing of them needs expressing", () => {
    const far = 2 ** 32;

    expect(groups([extent(0, 1), extent(10, 0), extent(far, 1)], LARGE, LARGE, far + 1)).toEqual([
      [0, 10],
      [far],
    ]);
  });
});

test("without segments there are no groups", () => {
  expect(groupSegments([], 1, 1, 0)).toEqual([]);
});

function extent(
  baseOffset: number,
  sizeInBytes: number,
  offsetIndexBytes = 0,
  timeIndexBytes = 0,
): SegmentExtent {
  return { baseOffset, sizeInBytes, offsetIndexBytes, timeIndexBytes };
}

function groups(
  segments: readonly SegmentExtent[],
  maxBytes: number,
  maxIndexBytes: number,
  end = 1000,
): number[][] {
  return groupSegments(segments, maxBytes, maxIndexBytes, end).map((group) =>
    group.map(({ baseOffset }) => baseOffset),
  );
}
