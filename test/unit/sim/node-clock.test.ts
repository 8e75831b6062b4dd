import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvariantViolation } from "../../../src/base/invariant.ts";
import { DAY, SECOND } from "../../../src/base/time.ts";
import { NodeClock } from "../../../src/sim/node-clock.ts";

const drift = fc.integer({ min: -500_000, max: 1_000_000 });

describe("node clock", () => {
  test("a clock that nothing has touched reads true time, from its start", () => {
    const time = { now: 0 };
    const clock = new NodeClock(time, 1_700_000_000_000_000);

    time.now = 12_345;

    expect(clock.now()).toBe(1_700_000_000_012_345);
    expect(clock.trueDelay(777)).toBe(777);
  });

  test("an offset jumps, a drift gains microseconds a second, and both end when set to nothing", () => {
    const time = { now: 10 * SECOND };
    const clock = new NodeClock(time);

    clock.set(-3 * SECOND, 200);
    const jumped = clock.now();
    time.now += 5 * SECOND;
    const drifted = clock.now();
    clock.set(0, 0);

    expect(jumped).toBe(7 * SECOND);
    expect(drifted).toBe(12 * SECOND + 1_000);
    expect(clock.now()).toBe(15 * SECOND);
  });

  test("what has elapsed gains with the drift, and knows nothing of offsets", () => {
    const time = { now: 10 * SECOND };
    const clock = new NodeClock(time, 1_700_000_000_000_000);

    clock.set(-3 * SECOND, 200);
    const jumped = clock.elapsed();
    time.now += 5 * SECOND;
    const drifted = clock.elapsed();
    clock.set(3600 * SECOND, 0);
    time.now += 5 * SECOND;

    expect(jumped).toBe(10 * SECOND);
    expect(drifted).toBe(15 * SECOND + 1_000);
    expect(clock.elapsed()).toBe(20 * SECOND + 1_000);
  });

  test("a new drift does not make the reading jump", () => {
    const time = { now: 0 };
    const clock = new NodeClock(time, 5);
    clock.set(100, 1_000);
    time.now = 3 * SECOND;
    const before = clock.now();

    clock.setDrift(-1_000);

    expect(clock.now()).toBe(before);
    time.now += SECOND;
    expect(clock.now()).toBe(before + SECOND - 1_000);
  });

  test("between two settings the reading never falls", () => {
    const property = fc.property(
      drift,
      fc.nat(30 * DAY),
      fc.array(fc.nat(3), { maxLength: 50, size: "max" }),
      (ppm, start, steps) => {
        const time = { now: 0 };
        const clock = new NodeClock(time);
        clock.set(0, ppm);
        time.now = start;
        let last = clock.now();

        for (const step of steps) {
          time.now += step;
          const reading = clock.now();
          expect(Number.isSafeInteger(reading) && reading >= last).toBe(true);
          last = reading;
        }
      },
    );

    fc.assert(property, { seed: 42, numRuns: 300 });
  });

  test("a delay on the clock is over in true time as soon as the clock says so, not a microsecond before", () => {
    const property = fc.property(
      drift,
      fc.nat(30 * DAY),
      fc.oneof(fc.nat(10), fc.nat(30 * SECOND), fc.nat(30 * DAY)),
      (ppm, start, local) => {
        const time = { now: 0 };
        const clock = new NodeClock(time);
        clock.set(12_345, ppm);
        time.now = start;
        const target = clock.now() + local;

        const delay = clock.trueDelay(local);

        time.now = start + delay;
        expect(clock.now()).toBeGreaterThanOrEqual(target);
        if (delay > 0) {
          time.now = start + delay - 1;
          expect(clock.now()).toBeLessThan(target);
        }
      },
    );

    fc.assert(property, { seed: 42, numRuns: 500 });
  });

  test.each([
    [0.5, 0],
    [0, 0.5],
    [0, -500_001],
    [0, 1_000_001],
  ])("an offset of %d with a drift of %d is a bug of whoever sets it", (offset, ppm) => {
    expect(() => new NodeClock({ now: 0 }).set(offset, ppm)).toThrow(InvariantViolation);
  });
});
