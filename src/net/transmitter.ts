import { invariant } from "../base/invariant.ts";
import type { Duration, Instant } from "../base/time.ts";

/** Bytes times this are microseconds times bytes per second. */
const MICROSECONDS = 1_000_000;

/**
 * Puts frames on a wire one at a time. A frame of `size` bytes occupies the wire for
 * size / bytesPerSecond; what that is beyond whole microseconds is carried over to the next frame,
 * so that a million small frames take exactly as long as one of the same length.
 *
 * A step is told when its frames leave before that instant comes, and another step may send
 * meanwhile. So the wire keeps the gaps before reserved stretches, and a frame that leaves earlier
 * takes the first gap that is wide enough.
 */
export class Transmitter {
  #bytesPerSecond: number;
  /** In microseconds times bytes per second; less than one microsecond's worth. */
  #remainder = 0;
  /** The wire is free from here on. */
  #busyUntil: Instant = 0;
  /** Free stretches before that, as pairs of begin and end, in order. Empty as a rule. */
  #gaps: Instant[] = [];

  /** `bytesPerSecond` is a positive integer. */
  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = checkedSpeed(bytesPerSecond);
  }

  /** Reserves the wire for a frame that leaves at `departure`, and says when its last byte is out. */
  transmit(now: Instant, departure: Instant, size: number): Instant {
    const length = this.#lengthOf(size);
    if (departure >= this.#busyUntil) {
      if (departure > now) this.#addGap(now, departure);
      this.#busyUntil = departure + length;
      return this.#busyUntil;
    }
    if (this.#gaps.length > 0) {
      const end = this.#fillGap(now, departure, length);
      if (end !== undefined) return end;
    }
    this.#busyUntil += length;
    return this.#busyUntil;
  }

  /** From `now` on the wire has another speed. What waits for it must be transmitted anew. */
  changeSpeed(now: Instant, bytesPerSecond: number): void {
    this.#bytesPerSecond = checkedSpeed(bytesPerSecond);
    this.#remainder = 0;
    this.#busyUntil = now;
    this.#gaps = [];
  }

  #lengthOf(size: number): Duration {
    const work = size * MICROSECONDS + this.#remainder;
    let length = Math.floor(work / this.#bytesPerSecond);
    // The quotient of two doubles may be rounded up to the next integer.
    if (length * this.#bytesPerSecond > work) length--;
    this.#remainder = work - length * this.#bytesPerSecond;
    return length;
  }

  #addGap(now: Instant, departure: Instant): void {
    this.#forgetGaps(now);
    const begin = Math.max(this.#busyUntil, now);
    if (begin < departure) this.#gaps.push(begin, departure);
  }

  /** Drops the gaps that lie in the past. */
  #forgetGaps(now: Instant): void {
    const gaps = this.#gaps;
    let past = 0;
    while (past < gaps.length && (gaps[past + 1] as number) <= now) past += 2;
    if (past === gaps.length) gaps.length = 0;
    else if (past > 0) gaps.splice(0, past);
  }

  #fillGap(now: Instant, departure: Instant, length: Duration): Instant | undefined {
    this.#forgetGaps(now);
    const gaps = this.#gaps;
    for (let i = 0; i < gaps.length; i += 2) {
      const begin = gaps[i] as number;
      const end = gaps[i + 1] as number;
      const from = Math.max(begin, departure);
      const to = from + length;
      if (to > end) continue;
      const left = from > begin ? [begin, from] : [];
      const right = to < end ? [to, end] : [];
      gaps.splice(i, 2, ...left, ...right);
      return to;
    }
    return undefined;
  }
}

function checkedSpeed(bytesPerSecond: number): number {
  invariant(
    Number.isSafeInteger(bytesPerSecond) && bytesPerSecond > 0,
    () => `${bytesPerSecond} bytes per second is not a positive integer`,
  );
  return bytesPerSecond;
}
