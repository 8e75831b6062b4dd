import type { Duration, Instant } from "../../base/time.ts";
import type { TimerHandle, World } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";

/** What the timers of a role are for; their payloads. */
export const ROLE_TIMER = {
  election: 0,
  fetch: 1,
  checkQuorum: 2,
  beginEpoch: 3,
  linger: 4,
} as const;

export type RoleTimer = (typeof ROLE_TIMER)[keyof typeof ROLE_TIMER];

/** The timers of a member's role, one of each purpose at most; they end with the role. */
export class RoleTimers {
  readonly #world: World;
  readonly #timerKind: number;
  readonly #handles: TimerHandle[] = Object.values(ROLE_TIMER).map(() => NO_TIMER);
  #electionDeadline: Instant = Number.MIN_SAFE_INTEGER;

  constructor(world: World, timerKind: number) {
    this.#world = world;
    this.#timerKind = timerKind;
  }

  isRunning(timer: RoleTimer): boolean {
    return this.#handles[timer] !== NO_TIMER;
  }

  /** Starts it, anew if it runs. */
  start(timer: RoleTimer, delay: Duration): void {
    const { timers } = this.#world;
    timers.cancel(this.#handles[timer] ?? NO_TIMER);
    this.#handles[timer] = timers.start(delay, this.#timerKind, timer);
  }

  /** Starts an election timeout: what is left of the last one if that is to be kept, else `timeout`. */
  startElection(timeout: Duration, keepsDeadline: boolean): void {
    const now = this.#world.clock.elapsed();
    if (!keepsDeadline || this.#electionDeadline <= now) this.#electionDeadline = now + timeout;
    this.start(ROLE_TIMER.election, this.#electionDeadline - now);
  }

  /** It came due. */
  ended(timer: RoleTimer): void {
    this.#handles[timer] = NO_TIMER;
  }

  cancelAll(): void {
    for (const [timer, handle] of this.#handles.entries()) {
      if (handle === NO_TIMER) continue;
      this.#world.timers.cancel(handle);
      this.#handles[timer] = NO_TIMER;
    }
  }
}
