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
  private readonly time: TrueTime;
  private readonly start: Instant;
  private skewed = false;
  /** True time of the last setting, and what the clock read then. */
  private since: Instant = 0;
  private base: Instant = 0;
  /** What had elapsed by this clock at the last setting. */
  private elapsedBefore: Duration = 0;
  private driftPpm = 0;

  /** `start` is what the right clock reads at true time 0. */
  constructor(time: TrueTime, start: Instant = 0) {
    this.time = time;
    this.start = start;
  }

  now(): Instant {
    const now = this.time.now;
    return this.skewed ? this.reading(now) : this.start + now;
  }

  /** How much time has passed by this clock: settings of its offset do not count. */
  elapsed(): Duration {
    return this.elapsedBefore + this.advance(this.time.now);
  }

  /**
   * From now on the clock is `offset` ahead of the right one and gains `driftPpm` microseconds a
   * second (it runs at half to double speed). A smaller offset than before sets it back.
   */
  set(offset: Duration, driftPpm: number): void {
    invariant(Number.isSafeInteger(offset), () => `an offset of ${offset} us`);
    invariant(
      Number.isInteger(driftPpm) && driftPpm >= -MILLION / 2 && driftPpm <= MILLION,
      () => `a drift of ${driftPpm} ppm`,
    );
    this.elapsedBefore = this.elapsed();
    this.since = this.time.now;
    this.base = this.start + this.since + offset;
    this.driftPpm = driftPpm;
    this.skewed = offset !== 0 || driftPpm !== 0;
  }

  /** Changes the drift; the reading does not jump. */
  setDrift(driftPpm: number): void {
    this.set(this.now() - this.start - this.time.now, driftPpm);
  }

  /**
   * How long, in true time, until this clock has advanced by `localDelay`. Offsets do not count:
   * Kafka's timers run on a monotonic clock.
   */
  trueDelay(localDelay: Duration): Duration {
    if (this.driftPpm === 0) return localDelay;
    const now = this.time.now;
    const target = this.reading(now) + localDelay;
    const rate = MILLION + this.driftPpm;
    // Whole rounds of `rate` first, so that no product passes 2^53.
    const rounds = Math.floor(localDelay / rate);
    const rest = localDelay - rounds * rate;
    let delay = rounds * MILLION + Math.floor((rest * MILLION) / rate);
    // The estimate is off by two at most, as the reading is rounded down to whole microseconds.
    while (this.reading(now + delay) < target) delay++;
    while (delay > 0 && this.reading(now + delay - 1) >= target) delay--;
    return delay;
  }

  private reading(now: Instant): Instant {
    return this.base + this.advance(now);
  }

  /** By how much the clock has advanced since it was set last. */
  private advance(now: Instant): Duration {
    const passed = now - this.since;
    if (this.driftPpm === 0) return passed;
    const seconds = Math.floor(passed / MILLION);
    const rest = passed - seconds * MILLION;
    const gained = seconds * this.driftPpm + Math.floor((rest * this.driftPpm) / MILLION);
    return passed + gained;
  }
}
