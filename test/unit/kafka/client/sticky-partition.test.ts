import { expect, test } from "vitest";
import { StickyPartition } from "../../../../src/kafka/client/sticky-partition.ts";

test("a partition is left after a batch's worth of bytes, but not in the midst of a batch", () => {
  const sticky = new StickyPartition(100);
  sticky.use(3);

  sticky.produced(99, true);
  expect(sticky.current).toBe(3);
  sticky.produced(60, false);
  expect(sticky.current).toBe(3);
  sticky.produced(1, true);
  expect(sticky.current).toBe(-1);
});

test("it is left at twice its share whatever its batch", () => {
  const sticky = new StickyPartition(100);
  sticky.use(3);

  sticky.produced(199, false);
  expect(sticky.current).toBe(3);
  sticky.produced(1, false);
  expect(sticky.current).toBe(-1);
});
