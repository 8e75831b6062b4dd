import { fail, invariant } from "../base/invariant.ts";
import type { Duration, Instant } from "../base/time.ts";
import type { TimerHandle } from "../ports/node.ts";
import { NO_TIMER } from "../ports/node.ts";
import type { Fact } from "../trace/fact.ts";
import type { EventClock } from "../trace/recorder.ts";
import { CHECKPOINT_INTERVAL, Digest } from "./digest.ts";

/** Handles the events of one kind. */
export interface EventHandler {
  handle(subject: number, payload: unknown): void;
}

interface Pending {
  readonly time: Instant;
  readonly sequence: number;
  readonly kind: number;
  readonly subject: number;
  readonly payload: unknown;
}

/** Virtual time and everything that will happen in it, in strict (instant, sequence) order. */
export class Scheduler implements EventClock {
  readonly digest: Digest = new Digest();
  readonly #handlers: EventHandler[] = [];
  readonly #names: string[] = [];
  readonly #pending: Pending[] = [];
  #now: Instant = 0;
  #event = 0;
  #sequence = 0;

  get now(): Instant {
    return this.#now;
  }

  get event(): number {
    return this.#event;
  }

  /** A new integer event kind. */
  register(name: string, handler: EventHandler): number {
    this.#names.push(name);
    return this.#handlers.push(handler) - 1;
  }

  /** Schedules an event that cannot be cancelled. */
  at(time: Instant, kind: number, subject: number, payload: unknown): void {
    this.#push(time, kind, subject, payload);
  }

  startTimer(delay: Duration, kind: number, subject: number, payload: unknown): TimerHandle {
    return this.#push(this.#now + delay, kind, subject, payload);
  }

  cancelTimer(handle: TimerHandle): void {
    const index = this.#pending.findIndex((entry) => entry.sequence === handle);
    if (index >= 0) this.#pending.splice(index, 1);
  }

  /** The handle of the timer whose event is being handled; stale by then. */
  firing: TimerHandle = NO_TIMER;

  /** Cancels every timer whose events are of this kind: those of a node that died. */
  cancelTimers(kind: number): void {
    for (let i = this.#pending.length - 1; i >= 0; i--)
      if (this.#pending[i]?.kind === kind) this.#pending.splice(i, 1);
  }

  /** Handles the next event; false if none is left. */
  step(): boolean {
    const next = this.#pending.shift();
    if (next === undefined) return false;
    this.#now = next.time;
    this.#event++;
    this.digest.mixEvent(next.time, next.kind, next.subject);
    if (this.#event % CHECKPOINT_INTERVAL === 0) this.digest.checkpoint(this.#event, this.#now);
    const handler = this.#handlers[next.kind] ?? fail(`no handler for kind ${next.kind}`);
    handler.handle(next.subject, next.payload);
    return true;
  }

  mixFact(fact: Fact): void {
    this.digest.text(fact.kind);
  }

  #push(time: Instant, kind: number, subject: number, payload: unknown): number {
    invariant(time >= this.#now, () => `event at ${time} is before now, ${this.#now}`);
    const sequence = this.#sequence++;
    let at = this.#pending.length;
    while (at > 0 && (this.#pending[at - 1]?.time ?? 0) > time) at--;
    this.#pending.splice(at, 0, { time, sequence, kind, subject, payload });
    return sequence;
  }
}
