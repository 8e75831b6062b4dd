import type { Duration } from "../../base/time.ts";

/** The bounds, in millionths, between which the caller draws `jitter`: Kafka's 0.2 around one. */
export const BACKOFF_JITTER_LOW = 800_000;
export const BACKOFF_JITTER_HIGH = 1_200_000;

/**
 * How long to wait after `attempts` earlier failures (from 0): doubles each time up to `max`, times
 * a jitter in millionths, and never over `max` (`ExponentialBackoff`, KIP-580).
 */
export function exponentialBackoff(
  initial: Duration,
  max: Duration,
  attempts: number,
  jitter: number,
): Duration {
  // As in Kafka, a constant backoff has no jitter.
  if (max <= initial) return max;
  let term = initial;
  for (let i = 0; i < attempts && term < max && term > 0; i++) term *= 2;
  return Math.min(Math.floor((Math.min(term, max) * jitter) / 1_000_000), max);
}
