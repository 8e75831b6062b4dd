import type { Instant } from "../base/time.ts";
import type { Scheduler } from "../sim/scheduler.ts";
import type { Fact } from "../trace/fact.ts";
import type { EventClock } from "../trace/recorder.ts";

/** The scenario's own time: zero is when the cluster was ready, so that its instants are what a file says. */
export class RunClock implements EventClock {
  readonly #scheduler: Scheduler;
  #zero: Instant = 0;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  get now(): Instant {
    return this.#scheduler.now - this.#zero;
  }

  get event(): number {
    return this.#scheduler.event;
  }

  /** The scheduler's instant that is the scenario's zero. */
  get zero(): Instant {
    return this.#zero;
  }

  /** From now on time counts from now. */
  begin(): void {
    this.#zero = this.#scheduler.now;
  }

  mixFact(fact: Fact): void {
    this.#scheduler.mixFact(fact);
  }
}
