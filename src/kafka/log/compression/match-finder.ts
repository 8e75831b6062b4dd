import { readInt32Le } from "../../../base/little-endian.ts";

/** Takes one repetition: the bytes [at, at + length) stand `distance` before already. */
export type TakeMatch = (at: number, distance: number, length: number) => void;

export interface MatchLimits {
  /** Matches begin at least so many bytes before the end, four or more. */
  readonly lastStart: number;
  /** Matches end at least so many bytes before the end. */
  readonly lastEnd: number;
}

/**
 * Finds repetitions of four bytes or more within bytes[start, end), which is at most 64 KiB: those that
 * a greedy walk meets, with one hashed place remembered, as the fast modes of LZ4 and Snappy
 * do it. What lies between two matches, and behind the last, are literals.
 */
export function findMatches(
  bytes: Uint8Array,
  start: number,
  end: number,
  limits: MatchLimits,
  take: TakeMatch,
): void {
  places.fill(-1);
  const matchEnd = end - limits.lastEnd;
  const lastStart = end - limits.lastStart;
  let at = start;
  let misses = 0;
  while (at <= lastStart) {
    const word = readInt32Le(bytes, at);
    const slot = Math.imul(word, GOLDEN_RATIO) >>> HASH_SHIFT;
    const place = places[slot] as number;
    places[slot] = at;
    if (place < 0 || readInt32Le(bytes, place) !== word) {
      // The longer nothing repeats, the larger the steps.
      at += 1 + (misses++ >>> 6);
      continue;
    }
    misses = 0;
    let matched = at + MIN_MATCH;
    while (matched < matchEnd && bytes[matched] === bytes[matched - at + place]) matched++;
    take(at, at - place, matched - at);
    at = matched;
  }
}

export const MIN_MATCH = 4;

const HASH_BITS = 14;
const HASH_SHIFT = 32 - HASH_BITS;
/** 2^32 divided by the golden ratio (Knuth). */
const GOLDEN_RATIO = 0x9e3779b1;
/** Where each hash was seen last; emptied before each use. */
const places = new Int32Array(1 << HASH_BITS);
