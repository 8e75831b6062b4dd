import type { Duration, Instant } from "../../base/time.ts";

export interface HeartbeatSettings {
  /** heartbeat.interval.ms */
  readonly interval: Duration;
  /** session.timeout.ms */
  readonly sessionTimeout: Duration;
  /** max.poll.interval.ms */
  readonly maxPollInterval: Duration;
}

/** What a member of a group has to keep to in time (`Heartbeat`). */
export class Heartbeat {
  readonly #settings: HeartbeatSettings;
  /** One is under way. */
  isInFlight = false;
  /** When the next one is due. */
  nextAt: Instant = 0;
  /** When the coordinator must have answered again, to be believed alive. */
  sessionEndsAt: Instant = 0;
  /** When the application must have polled again, to be believed alive; undefined while it polls. */
  pollEndsAt: Instant | undefined = undefined;
  /** Failures in a row. */
  failures = 0;

  constructor(settings: HeartbeatSettings) {
    this.#settings = settings;
  }

  /** The member is in a generation: all begins anew. */
  resetTimeouts(now: Instant): void {
    this.resetSessionTimeout(now);
    this.nextAt = now + this.#settings.interval;
    if (this.pollEndsAt !== undefined) this.pollEnded(now);
  }

  resetSessionTimeout(now: Instant): void {
    this.sessionEndsAt = now + this.#settings.sessionTimeout;
  }

  pollBegan(): void {
    this.pollEndsAt = undefined;
  }

  pollEnded(now: Instant): void {
    this.pollEndsAt = now + this.#settings.maxPollInterval;
  }

  isDue(now: Instant): boolean {
    return !this.isInFlight && now >= this.nextAt;
  }

  sent(now: Instant): void {
    this.isInFlight = true;
    this.nextAt = now + this.#settings.interval;
  }

  /** The coordinator answered, if only that the group rebalances. */
  received(now: Instant): void {
    this.isInFlight = false;
    this.failures = 0;
    this.resetSessionTimeout(now);
  }

  /** It did not, or with an error: the next one comes sooner, in `backoff`. */
  failed(now: Instant, backoff: Duration): void {
    this.isInFlight = false;
    this.failures++;
    this.nextAt = now + backoff;
  }
}
