import { expect, test } from "vitest";
import { OffsetMap, slotsOf } from "../../../../../src/kafka/log/cleaning/offset-map.ts";

test("Kafka's default buffer holds some five million keys, of which nine tenths are used", () => {
  const slots = slotsOf(134_217_728, 1);

  expect(slots).toBe(5_592_405);
  expect(new OffsetMap(slots, 0.9).capacity).toBe(5_033_164);
  expect(slotsOf(134_217_728, 4)).toBe(1_398_101);
  // A thread's share is one array of Java's.
  expect(slotsOf(8_000_000_000, 1)).toBe(89_478_485);
});

test("the last offset of a key counts, and keys are told apart byte by byte", () => {
  const offsets = new OffsetMap(10, 0.2);

  offsets.put(Uint8Array.of(1, 200), 3);
  offsets.put(Uint8Array.of(1, 200), 5);
  offsets.put(Uint8Array.of(), 7);

  expect(offsets.get(Uint8Array.of(1, 200))).toBe(5);
  expect(offsets.get(Uint8Array.of())).toBe(7);
  expect(offsets.get(Uint8Array.of(1))).toBe(-1);
  expect(offsets.latestOffset).toBe(7);
  expect(offsets.isFull).toBe(true);
});
