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
  /** The kinds of which every record makes some have their lists at hand. */
  readonly #appended: FactListener<Fact>[] = [];
  readonly #highWatermarkMoved: FactListener<Fact>[] = [];
  readonly #recordSent: FactListener<Fact>[] = [];
  readonly #sendEnded: FactListener<Fact>[] = [];
  readonly #polled: FactListener<Fact>[] = [];
  readonly #others = new Map<FactKind, FactListener<Fact>[]>();
  readonly #everything: FactListener<Fact>[] = [];

  constructor(clock: EventClock) {
    this.#clock = clock;
  }

  on<K extends FactKind>(kind: K, listener: FactListener<FactOf<K>>): void {
    // A listener for one kind is only ever called with facts of that kind.
    this.#listenersOf(kind).push(listener as FactListener<Fact>);
  }

  onAny(listener: FactListener<Fact>): void {
    this.#everything.push(listener);
  }

  note(fact: Fact): void {
    const clock = this.#clock;
    clock.mixFact(fact);
    const { now, event } = clock;
    for (const listener of this.#listenersOf(fact.kind)) listener(fact, now, event);
    for (const listener of this.#everything) listener(fact, now, event);
  }

  #listenersOf(kind: FactKind): FactListener<Fact>[] {
    switch (kind) {
      case "appended":
        return this.#appended;
      case "high-watermark-moved":
        return this.#highWatermarkMoved;
      case "record-sent":
        return this.#recordSent;
      case "send-ended":
        return this.#sendEnded;
      case "polled":
        return this.#polled;
      default:
        return this.#othersOf(kind);
    }
  }

  #othersOf(kind: FactKind): FactListener<Fact>[] {
    let list = this.#others.get(kind);
    if (list === undefined) {
      list = [];
      this.#others.set(kind, list);
    }
    return list;
  }
}
