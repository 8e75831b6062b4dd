import { invariant, unreachable } from "../base/invariant.ts";
import type { Duration } from "../base/time.ts";
import type { DurationSource, Random } from "../ports/random.ts";
import { EXP2, HALF_NORMAL, LOG2 } from "./distribution-tables.ts";

const TWO_32 = 0x1_0000_0000;
// biome-ignore lint/suspicious/noApproximativeNumericConstant: Math.LN2 is only approximately specified
const LN_2 = 0.6931471805599453;
/** The z that a standard normal stays below 99 times in 100. */
const Z_99 = 2.3263478740408408;
/** The widest lognormal: its p99 over its p50. */
const MOST_SPREAD = 2 ** 20;

/** 2^-64 to 2^64, by doubling: exact. */
const POWERS: Float64Array = powersOfTwo(-64, 64);

type Shape = "fixed" | "uniform" | "exponential" | "lognormal";

/**
 * A distribution of durations. Draws are integer microseconds and the same in every JavaScript
 * engine: tables, and arithmetic which IEEE 754 defines to the last bit. Drawing takes one step of
 * the stream (rarely more for `uniform`); a fixed duration takes none.
 */
export class Distribution implements DurationSource {
  /** For people: `lognormal, half below 500 us, 99 % below 2000 us`. */
  readonly describe: string;
  private readonly shape: Shape;
  private readonly first: number;
  private readonly second: number;

  private constructor(shape: Shape, first: number, second: number, describe: string) {
    this.shape = shape;
    this.first = first;
    this.second = second;
    this.describe = describe;
  }

  static fixed(duration: Duration): Distribution {
    invariant(isDuration(duration), () => `a fixed duration of ${duration}`);
    return new Distribution("fixed", duration, 0, `${duration} us`);
  }

  /** Every whole microsecond of [low, high] is as likely. */
  static uniform(low: Duration, high: Duration): Distribution {
    invariant(
      isDuration(low) && isDuration(high) && low <= high && high - low < TWO_32,
      () => `uniform from ${low} to ${high}`,
    );
    return new Distribution("uniform", low, high, `uniform from ${low} to ${high} us`);
  }

  static exponential(mean: Duration): Distribution {
    invariant(isDuration(mean), () => `exponential with mean ${mean}`);
    // -log2 of a uniform number, times this, is exponential.
    return new Distribution("exponential", mean * LN_2, 0, `exponential, ${mean} us on average`);
  }

  /** Half of the draws are below `p50`, 99 of 100 below `p99`: the usual shape of latencies. */
  static lognormal(p50: Duration, p99: Duration): Distribution {
    invariant(
      isDuration(p50) && p50 > 0 && isDuration(p99) && p99 >= p50 && p99 <= p50 * MOST_SPREAD,
      () => `lognormal with p50 ${p50} and p99 ${p99}`,
    );
    const text = `lognormal, half below ${p50} us, 99 % below ${p99} us`;
    return new Distribution("lognormal", p50, log2(p99 / p50) / Z_99, text);
  }

  draw(random: Random): Duration {
    switch (this.shape) {
      case "fixed":
        return this.first;
      case "uniform":
        return random.between(this.first, this.second);
      case "exponential":
        return Math.floor(this.first * drawLog2(random) + 0.5);
      case "lognormal":
        return Math.floor(this.first * exp2(this.second * drawNormal(random)) + 0.5);
      default:
        return unreachable(this.shape);
    }
  }
}

/** -log2 of a uniform number of (0, 1]. */
function drawLog2(random: Random): number {
  const word = random.below(TWO_32) || 1;
  const zeros = Math.clz32(word);
  // The leading one is shifted out of the way: 7 bits name the cell, 24 the place in it.
  const bits = word << zeros;
  const cell = (bits >>> 24) & 127;
  const from = LOG2[cell] as number;
  const rise = (LOG2[cell + 1] as number) - from;
  return zeros + 1 - (from + (rise * (bits & 0xff_ffff)) / 0x100_0000) / 0x4000_0000;
}

/** A standard normal number, between -5.7 and 5.7. */
function drawNormal(random: Random): number {
  const word = random.below(TWO_32);
  // 31 bits for the tail's probability, one for the side. Beyond 2^-27 all tails are one.
  const tail = Math.max(word >>> 1, 16);
  const octave = 27 - Math.clz32(tail);
  const cell = octave * 16 + ((tail >>> octave) & 15);
  const from = HALF_NORMAL[cell] as number;
  const rise = (HALF_NORMAL[cell + 1] as number) - from;
  const size = 1 << octave;
  const z = (from + (rise * (tail & (size - 1))) / size) / 0x400_0000;
  return (word & 1) === 0 ? z : -z;
}

function exp2(exponent: number): number {
  const whole = Math.floor(exponent);
  const place = (exponent - whole) * 128;
  const cell = Math.floor(place);
  const from = EXP2[cell] as number;
  const rise = (EXP2[cell + 1] as number) - from;
  return ((from + rise * (place - cell)) / 0x2000_0000) * (POWERS[whole + 64] as number);
}

/** For a number of 1 and more. */
function log2(number: number): number {
  let whole = 0;
  let rest = number;
  while (rest >= 2) {
    rest /= 2;
    whole++;
  }
  const place = (rest - 1) * 128;
  const cell = Math.floor(place);
  const from = LOG2[cell] as number;
  const rise = (LOG2[cell + 1] as number) - from;
  return whole + (from + rise * (place - cell)) / 0x4000_0000;
}

function powersOfTwo(from: number, to: number): Float64Array {
  const powers = new Float64Array(to - from + 1);
  let power = 1;
  for (let i = 0; i >= from; i--) {
    powers[i - from] = power;
    power /= 2;
  }
  power = 1;
  for (let i = 0; i <= to; i++) {
    powers[i - from] = power;
    power *= 2;
  }
  return powers;
}

function isDuration(duration: Duration): boolean {
  return Number.isSafeInteger(duration) && duration >= 0;
}
