import { invariant } from "../base/invariant.ts";
import type { Duration, Instant } from "../base/time.ts";

const MILLION = 1_000_000;

/** Where a clock takes true time from: the scheduler. */
export interface TrueTime {
  readonly now: Instant;
}

/**
 * One node's clock: true time with an offset and a drift, both set piecewise by faults. In integers
 * only, so that every engine reads the same. A right clock costs one comparison.
 */
export class NodeClock {
  readonly #time: TrueTime;
  #skewed = false;
  /** True time of the last setting, and what the clock read then. */
  #since: Instant = 0;
  #base: Instant = 0;
  #driftPpm = 0;

  constructor(time: TrueTime) {
    this.#time = time;
  }

  now(): Instant {
    const now = this.#time.now;
    return this.#skewed ? this.#reading(now) : now;
  }

  /** From now on the clock is `offset` ahead of true time, and gains `driftPpm` microseconds a second. */
  set(offset: Duration, driftPpm: number): void {
    invariant(Number.isSafeInteger(offset), () => `an offset of ${offset} us`);
    invariant(
      Number.isInteger(driftPpm) && driftPpm > -MILLION && driftPpm <= MILLION,
      () => `a drift of ${driftPpm} ppm`,
    );
    this.#since = this.#time.now;
    this.#base = this.#since + offset;
    this.#driftPpm = driftPpm;
    this.#skewed = offset !== 0 || driftPpm !== 0;
  }

  /** Changes the drift; the reading does not jump. */
  setDrift(driftPpm: number): void {
    this.set(this.now() - this.#time.now, driftPpm);
  }

  /** How long, in true time, until this clock has advanced by `localDelay`. */
  trueDelay(localDelay: Duration): Duration {
    if (this.#driftPpm === 0) return localDelay;
    const now = this.#time.now;
    const target = this.#reading(now) + localDelay;
    const rate = MILLION + this.#driftPpm;
    // Whole rounds of `rate` first, so that no product passes 2^53.
    const rounds = Math.floor(localDelay / rate);
    const rest = localDelay - rounds * rate;
    let delay = rounds * MILLION + Math.floor((rest * MILLION) / rate);
    // The estimate is off by at most one, as the reading is rounded down to whole microseconds.
    while (this.#reading(now + delay) < target) delay++;
    while (delay > 0 && this.#reading(now + delay - 1) >= target) delay--;
    return delay;
  }

  #reading(now: Instant): Instant {
    const elapsed = now - this.#since;
    const seconds = Math.floor(elapsed / MILLION);
    const rest = elapsed - seconds * MILLION;
    const gained = seconds * this.#driftPpm + Math.floor((rest * this.#driftPpm) / MILLION);
    return this.#base + elapsed + gained;
  }
}
