import type { Instant } from "../base/time.ts";
import type { FactKind } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { BooleanExpression } from "./expression.ts";
import type { ExpressionWorld } from "./expression-world.ts";
import { factsBehind, holds, isMomentary } from "./predicate.ts";

/** Told when a predicate begins or ceases to hold. */
export interface PredicateWatcher {
  changed(isHolding: boolean, at: Instant): void;
}

/** One predicate that somebody watches. */
export class PredicateWatch {
  readonly predicate: BooleanExpression;
  readonly watcher: PredicateWatcher;
  readonly momentary: boolean;
  /** Did it hold when it was last evaluated? */
  isHolding = false;
  isQueued = false;
  isCancelled = false;

  constructor(predicate: BooleanExpression, watcher: PredicateWatcher) {
    this.predicate = predicate;
    this.watcher = watcher;
    this.momentary = isMomentary(predicate);
  }

  cancel(): void {
    this.isCancelled = true;
  }
}

/**
 * All predicates of a run. A fact puts those into the queue that it could change; they are evaluated
 * when its event is over, so that none sees half of a step. Facts that nobody asks about cost nothing.
 */
export class PredicateBoard {
  readonly #facts: FactRecorder;
  readonly #world: ExpressionWorld;
  readonly #byFact = new Map<FactKind, PredicateWatch[]>();
  #queue: PredicateWatch[] = [];
  /** Watches that ask about the event itself, and held in the last one. */
  #momentary: PredicateWatch[] = [];

  constructor(facts: FactRecorder, world: ExpressionWorld) {
    this.#facts = facts;
    this.#world = world;
  }

  /** Watches from now on; if the predicate holds already, the watcher hears so at the next evaluation. */
  watch(predicate: BooleanExpression, watcher: PredicateWatcher): PredicateWatch {
    const watch = new PredicateWatch(predicate, watcher);
    for (const kind of factsBehind(predicate)) this.#watchersOf(kind).push(watch);
    this.#enqueue(watch);
    return watch;
  }

  /** Has anything happened since the last evaluation that could change a predicate? */
  get isDirty(): boolean {
    return this.#queue.length > 0 || this.#momentary.length > 0;
  }

  /** To be called between events, whenever the board is dirty. */
  evaluate(at: Instant): void {
    for (const watch of this.#momentary.splice(0)) {
      // What was true of the last event is not true of this one, unless it says so anew.
      this.#enqueue(watch);
      watch.isHolding = false;
    }
    // A watcher may act, and so put others into the queue.
    while (this.#queue.length > 0) {
      const queue = this.#queue;
      this.#queue = [];
      for (const watch of queue) {
        watch.isQueued = false;
        if (watch.isCancelled) continue;
        const isHolding = holds(watch.predicate, this.#world);
        if (isHolding && watch.momentary) this.#momentary.push(watch);
        if (isHolding === watch.isHolding) continue;
        watch.isHolding = isHolding;
        watch.watcher.changed(isHolding, at);
      }
    }
  }

  #enqueue(watch: PredicateWatch): void {
    if (watch.isQueued || watch.isCancelled) return;
    watch.isQueued = true;
    this.#queue.push(watch);
  }

  #watchersOf(kind: FactKind): PredicateWatch[] {
    let watchers = this.#byFact.get(kind);
    if (watchers === undefined) {
      const list: PredicateWatch[] = [];
      watchers = list;
      this.#byFact.set(kind, list);
      this.#facts.on(kind, () => {
        for (const watch of list) this.#enqueue(watch);
      });
    }
    return watchers;
  }
}
