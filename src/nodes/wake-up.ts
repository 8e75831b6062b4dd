import type { Instant } from "../base/time.ts";
import type { TimerHandle, Timers } from "../ports/node.ts";
import { NO_TIMER } from "../ports/node.ts";

/**
 * One timer for many deadlines: it comes due at the earliest that it was told, and whoever it wakes
 * looks for itself what is due. So it may wake for nothing, but it is seldom moved: deadlines that are
 * hardly ever reached, as those of requests, cost a comparison each.
 *
 * Instants are on whichever of the node's clocks the owner keeps to.
 */
export class WakeUp {
  readonly #timers: Timers;
  readonly #kind: number;
  #at: Instant = NEVER;
  #timer: TimerHandle = NO_TIMER;

  constructor(timers: Timers, kind: number) {
    this.#timers = timers;
    this.#kind = kind;
  }

  /** Sees to it that the owner is woken at `at` or before; NEVER asks for nothing. */
  noLaterThan(at: Instant, now: Instant): void {
    if (at >= this.#at) return;
    this.#timers.cancel(this.#timer);
    this.#at = at;
    this.#timer = this.#timers.start(Math.max(at - now, 0), this.#kind);
  }

  /**
   * To be called first when the timer comes due. Returns the instant that it was to wake at: deadlines
   * up to there are due. Later ones have had no event yet, even if a paused process sees their time
   * past: what came before them is to be heard first.
   */
  fired(): Instant {
    const at = this.#at;
    this.#at = NEVER;
    this.#timer = NO_TIMER;
    return at;
  }
}

/** Later than all that a run can reach. */
export const NEVER: Instant = 9_007_199_254_740_991;
