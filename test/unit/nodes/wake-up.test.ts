import { describe, expect, test } from "vitest";
import { SECOND } from "../../../src/base/time.ts";
import { NEVER, WakeUp } from "../../../src/nodes/wake-up.ts";
import type { TimerHandle, Timers } from "../../../src/ports/node.ts";

/** Keeps what was started and not cancelled: delays by handle. */
class Started implements Timers {
  readonly running = new Map<TimerHandle, number>();
  #next = 0;

  start(delay: number): TimerHandle {
    this.running.set(this.#next, delay);
    return this.#next++;
  }

  startAfterWork(): void {}

  cancel(handle: TimerHandle): void {
    this.running.delete(handle);
  }
}

describe("one timer for many deadlines", () => {
  test("runs to the earliest of them, and is left alone by later ones", () => {
    const timers = new Started();
    const wakeUp = new WakeUp(timers, 7);

    wakeUp.noLaterThan(9 * SECOND, SECOND);
    wakeUp.noLaterThan(10 * SECOND, 2 * SECOND);
    wakeUp.noLaterThan(NEVER, 2 * SECOND);
    expect([...timers.running.values()]).toEqual([8 * SECOND]);

    wakeUp.noLaterThan(4 * SECOND, 3 * SECOND);
    expect([...timers.running.values()]).toEqual([SECOND]);
  });

  test("says up to where deadlines are due, and then runs for later ones again", () => {
    const timers = new Started();
    const wakeUp = new WakeUp(timers, 7);
    wakeUp.noLaterThan(4 * SECOND, 0);
    timers.running.clear();

    expect(wakeUp.fired()).toBe(4 * SECOND);
    wakeUp.noLaterThan(6 * SECOND, 4 * SECOND);

    expect([...timers.running.values()]).toEqual([2 * SECOND]);
  });

  test("comes at once for a deadline that is past", () => {
    const timers = new Started();
    new WakeUp(timers, 7).noLaterThan(SECOND, 3 * SECOND);

    expect([...timers.running.values()]).toEqual([0]);
  });
});
