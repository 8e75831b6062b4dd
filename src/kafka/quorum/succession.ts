import type { BrokerId } from "../ids.ts";

/**
 * How long a follower waits, in milliseconds, after its leader resigned in favour of `successors`:
 * the first not at all, each next twice as long as the one before, up to `maxBackoffMs`
 * (`strictExponentialElectionBackoffMs`).
 */
export function successionDelayMs(
  self: BrokerId,
  successors: readonly BrokerId[],
  maxBackoffMs: number,
): number {
  const position = successors.indexOf(self);
  if (position === 0) return 0;
  if (position < 0) return maxBackoffMs;
  const base = maxBackoffMs >> (successors.length - 1);
  return Math.min(maxBackoffMs, base << (position - 1));
}
