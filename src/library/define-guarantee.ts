import type { Instant } from "../base/time.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "../checkers/guarantee.ts";
import type { Offset } from "../kafka/ids.ts";
import type { FactKind, FactOf } from "../trace/fact.ts";

/** A guarantee of your own: a fold over what happens. */
export interface OwnGuarantee<State> {
  /** In the manner of Kafka's own: `no-acked-loss`. */
  readonly name: string;
  /** What must hold, for people. */
  readonly sentence: string;
  /** The state in which each run begins. */
  begin(): State;
  /** What each kind of fact does to the state, and whether it breaks the guarantee. */
  readonly on: FactHandlers<State>;
  /** Called once, after the last fact. */
  atEnd?(state: State, moment: Moment): void;
}

/** A function for each kind of fact that matters. The state is the guarantee's own, and may be changed in place. */
export type FactHandlers<State> = {
  readonly [K in FactKind]?: (state: State, fact: FactOf<K>, moment: Moment) => void;
};

/** When a fact came about, and what can be said of the guarantee then. */
export interface Moment {
  /** Microseconds since the cluster was ready; negative before. */
  readonly at: Instant;
  /** The number of the event. */
  readonly event: number;
  /** The guarantee was put to the test, and held. A run in which it never was says nothing: `untested`. */
  held(): void;
  broken(found: Breach): void;
}

/** What was found. */
export interface Breach {
  /** Sentences for people. */
  readonly text: string | readonly string[];
  /** `orders-0` */
  readonly partition?: string;
  readonly client?: string;
  /** The lowest and the highest offset concerned. */
  readonly offsets?: readonly [first: Offset, last: Offset];
  /** Records, or whatever the text counts; 1 if absent. */
  readonly count?: number;
  /** Why it is no bug, as part of a sentence; if absent it is one. */
  readonly permitted?: string;
}

/** Makes a guarantee that `simulate` can watch: `simulate(scenario, { guarantees: [MINE] })`. */
export function defineGuarantee<State>(own: OwnGuarantee<State>): Guarantee {
  const { name, sentence } = own;
  return {
    name,
    sentence,
    source: "your own",
    kinds: [name],
    condition: "Always demanded.",
    testedBy: "whatever its author calls so",
    example: [],
    create: (context) => new Fold(own, context),
  };
}

class Fold<State> implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #own: OwnGuarantee<State>;
  readonly #state: State;

  constructor(own: OwnGuarantee<State>, { facts }: CheckContext) {
    this.#own = own;
    this.#state = own.begin();
    const listen = <K extends FactKind>(kind: K): void => {
      const note = own.on[kind];
      if (note === undefined) return;
      facts.on(kind, (fact, at, event) => {
        this.evaluations++;
        note(this.#state, fact, this.#moment(at, event));
      });
    };
    // A mapping's own keys are of its type.
    for (const kind of Object.keys(own.on) as FactKind[]) listen(kind);
  }

  atEnd(at: Instant, event: number): void {
    this.#own.atEnd?.(this.#state, this.#moment(at, event));
  }

  #moment(at: Instant, event: number): Moment {
    return {
      at,
      event,
      held: () => void this.interesting++,
      broken: (breach) => {
        this.interesting++;
        this.violations.push(violationOf(this.#own.name, breach, at, event));
      },
    };
  }
}

function violationOf(name: string, breach: Breach, at: Instant, event: number): Violation {
  const { text, partition = "", client = "", offsets, count = 1, permitted } = breach;
  const sentences = typeof text === "string" ? [text] : text;
  return {
    guarantee: name,
    kind: name,
    partition,
    client,
    at,
    event,
    text: sentences,
    offsets,
    count,
    permitted,
    cause: event,
    follows: undefined,
  };
}
