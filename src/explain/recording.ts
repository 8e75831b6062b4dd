import type { Instant } from "../base/time.ts";
import type { EventCauses } from "../sim/event-causes.ts";
import type { Fact } from "../trace/fact.ts";
import { stateOf } from "./state.ts";

/** A fact with what led to it. Facts are numbered from 0, in the order in which they were noted. */
export interface RecordedFact {
  readonly index: number;
  readonly fact: Fact;
  /** From time zero. */
  readonly at: Instant;
  readonly event: number;
  /**
   * The fact before it in the same event, else the last one of the nearest event that led to this
   * one by scheduling it: by a message, a timer, a disk. -1 if there is none.
   */
  readonly cause: number;
  /** The facts that last wrote what this one read, ascending. */
  readonly read: readonly number[];
}

/** Everything that was noted in a run, and how one thing came of another. */
export class Recording {
  readonly facts: RecordedFact[] = [];
  readonly #causes: EventCauses;
  /** By event: its last fact. */
  readonly #lastOf = new Map<number, number>();
  /** By event: the last fact of it or of the nearest event that led to it. */
  readonly #nearest = new Map<number, number>();
  /** By piece of state: the fact that wrote it last. */
  readonly #writers = new Map<string, number>();

  constructor(causes: EventCauses) {
    this.#causes = causes;
  }

  /** To be told of every fact, in order. */
  note(fact: Fact, at: Instant, event: number): void {
    const index = this.facts.length;
    const cause = this.#lastOf.get(event) ?? this.#before(event);
    const { reads, writes } = stateOf(fact);
    const read = new Set<number>();
    for (const piece of reads) {
      const writer = this.#writers.get(piece);
      if (writer !== undefined) read.add(writer);
    }
    const inOrder = [...read].sort((left, right) => left - right);
    this.facts.push({ index, fact, at, event, cause, read: inOrder });
    for (const piece of writes) this.#writers.set(piece, index);
    this.#lastOf.set(event, index);
  }

  /** All that led to these facts, by scheduling or through what they read; they themselves included. */
  slice(from: readonly number[]): ReadonlySet<number> {
    const met = new Set<number>(from);
    const open = [...met];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const recorded = this.facts[index];
      if (recorded === undefined) continue;
      for (const earlier of [recorded.cause, ...recorded.read]) {
        if (earlier < 0 || met.has(earlier)) continue;
        met.add(earlier);
        open.push(earlier);
      }
    }
    return met;
  }

  /** The last fact of the nearest event that led to this one; -1 if there is none. */
  #before(event: number): number {
    const passed: number[] = [];
    let found = -1;
    for (let at = this.#causes.of(event); at > 0; at = this.#causes.of(at)) {
      const known = this.#lastOf.get(at) ?? this.#nearest.get(at);
      if (known !== undefined) {
        found = known;
        break;
      }
      passed.push(at);
    }
    // What noted nothing by now never will, but for the event that is being handled.
    for (const at of passed) this.#nearest.set(at, found);
    return found;
  }
}
