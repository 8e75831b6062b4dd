import fc from "fast-check";
import { expect, test } from "vitest";
import { Transmitter } from "../../../src/net/transmitter.ts";

test("bandwidth is exact over many small frames", () => {
  const transmitter = new Transmitter(3_000_000); // 33.33 us for each frame

  let end = 0;
  for (let i = 0; i < 30_000; i++) end = transmitter.transmit(0, 0, 100);

  expect(end).toBe(1_000_000);
});

test("a frame that leaves while the wire is free takes its own length only", () => {
  const transmitter = new Transmitter(1_000_000);
  transmitter.transmit(0, 0, 500);

  expect(transmitter.transmit(10_000, 10_000, 200)).toBe(10_200);
});

test("a frame that leaves late holds up none that leaves before it", () => {
  const transmitter = new Transmitter(1_000_000);
  expect(transmitter.transmit(0, 50_000, 1_000)).toBe(51_000);

  const before = transmitter.transmit(100, 100, 1_000);
  const behind = transmitter.transmit(200, 50_500, 1_000);

  expect(before).toBe(1_100);
  expect(behind).toBe(52_000);
});

test("a frame too long for a gap leaves the gap to a shorter one", () => {
  const transmitter = new Transmitter(1_000_000);
  transmitter.transmit(0, 1_000, 100);

  expect(transmitter.transmit(0, 0, 1_001)).toBe(2_101);
  expect(transmitter.transmit(0, 0, 1_000)).toBe(1_000);
});

test("whatever leaves when, no two frames share the wire and none is out before it left", () => {
  const send = fc.record({
    wait: fc.integer({ min: 0, max: 300 }),
    charged: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_000 })),
    size: fc.integer({ min: 1, max: 400 }),
  });
  fc.assert(
    fc.property(fc.array(send, { maxLength: 60 }), (sends) => {
      const transmitter = new Transmitter(1_000_000); // one byte a microsecond
      const stretches: (readonly [number, number])[] = [];
      let now = 0;

      for (const { wait, charged, size } of sends) {
        now += wait;
        const end = transmitter.transmit(now, now + charged, size);
        expect(end - size).toBeGreaterThanOrEqual(now + charged);
        stretches.push([end - size, end]);
      }

      stretches.sort((left, right) => left[0] - right[0]);
      for (let i = 1; i < stretches.length; i++)
        expect(stretches[i]?.[0]).toBeGreaterThanOrEqual(stretches[i - 1]?.[1] ?? 0);
    }),
    { seed: 42, numRuns: 200 },
  );
});

test("a speed that is no positive integer is refused", () => {
  expect(() => new Transmitter(0)).toThrow("not a positive integer");
  expect(() => new Transmitter(1.5)).toThrow("not a positive integer");
});
