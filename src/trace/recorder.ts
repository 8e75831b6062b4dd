import type { Instant } from "../base/time.ts";
import type { Fact, FactKind, FactOf, FactSink } from "./fact.ts";

/** Hears each fact of the kind it asked for, with its instant (true time) and its event's number. */
export type FactListener<F extends Fact> = (fact: F, at: Instant, event: number) => void;

/** Where a recorder takes the instant, the event number and the digest from: the scheduler. */
export interface EventClock {
  readonly now: Instant;
  /** The number of the event being handled, from 1; 0 before the first. */
  readonly event: number;
  /** Adds words to the run's digest. */
  mixFact(fact: Fact): void;
}

/** Hands facts to those that listen, in the order in which they subscribed, and to the digest. */
export class FactRecorder implements FactSink {
  readonly #clock: EventClock;
  readonly #listeners = new Map<FactKind, FactListener<Fact>[]>();
  readonly #everything: FactListener<Fact>[] = [];

  constructor(clock: EventClock) {
    this.#clock = clock;
  }

  on<K extends FactKind>(kind: K, listener: FactListener<FactOf<K>>): void {
    const list = this.#listeners.get(kind);
    // A listener for one kind is only ever called with facts of that kind.
    const general = listener as FactListener<Fact>;
    if (list === undefined) this.#listeners.set(kind, [general]);
    else list.push(general);
  }

  onAny(listener: FactListener<Fact>): void {
    this.#everything.push(listener);
  }

  note(fact: Fact): void {
    const clock = this.#clock;
    clock.mixFact(fact);
    const { now, event } = clock;
    const listeners = this.#listeners.get(fact.kind);
    if (listeners !== undefined) for (const listener of listeners) listener(fact, now, event);
    for (const listener of this.#everything) listener(fact, now, event);
  }
}
