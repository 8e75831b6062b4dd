import type { Instant } from "../../base/time.ts";
import { formatSeconds } from "../../base/time.ts";
import type { BooleanExpression } from "../expression.ts";
import type { Written } from "../expression-form.ts";
import { PREDICATE } from "../expression-form.ts";
import { readKeys } from "../form.ts";
import type { Place } from "../place.ts";
import { entryOf } from "../yaml-node.ts";
import type {
  Expectation,
  ExpectationKind,
  ExpectationResult,
  ExpectationWatch,
  RunEnd,
  WatchContext,
} from "./expectation.ts";
import { resultOf } from "./expectation.ts";
import { Holding } from "./holding.ts";

/** What is expected of a condition, and for people why that was or was not so. */
interface Mode {
  readonly name: string;
  readonly meaning: string;
  judge(seen: Seen, end: RunEnd): readonly [ok: boolean | undefined, found: string];
}

/** What was seen of a condition in a run. */
interface Seen {
  readonly holding: Holding;
  /** When it was first seen to hold after the cluster began to settle. */
  readonly settledAt: Instant | undefined;
  /** An instant as output shows it: counted from time zero. */
  when(at: Instant): string;
}

const MODES: readonly Mode[] = [
  {
    name: "always",
    meaning: "The condition holds after every event.",
    judge({ holding, when }, end) {
      const { firstBroken } = holding;
      if (firstBroken !== undefined) return [false, `broken at ${when(firstBroken)}`];
      if (!holding.isHolding) return [false, "it never held"];
      return [end.isComplete ? true : undefined, ""];
    },
  },
  {
    name: "never",
    meaning: "The condition holds after no event.",
    judge({ holding, when }, end) {
      const { firstHeld } = holding;
      if (firstHeld !== undefined) return [false, `it held at ${when(firstHeld)}`];
      return [end.isComplete ? true : undefined, ""];
    },
  },
  {
    name: "at-end",
    meaning: "The condition holds when the cluster has settled.",
    judge({ holding }, end) {
      return [end.isComplete ? holding.isHolding : undefined, ""];
    },
  },
  {
    name: "eventually",
    meaning: "The condition holds at some time after everything was healed.",
    judge({ settledAt, when }, end) {
      if (settledAt !== undefined) return [true, when(settledAt)];
      return [end.isComplete ? false : undefined, ""];
    },
  },
  {
    name: "sometimes",
    meaning: "The condition holds at some time: what the scenario is about does happen.",
    judge({ holding, when }, end) {
      const { firstHeld } = holding;
      if (firstHeld !== undefined) return [true, when(firstHeld)];
      return [end.isComplete ? false : undefined, "never"];
    },
  },
];

/** `always`, `never`, `at-end`, `eventually`, `sometimes`: each with a condition. */
export const CONDITIONS: readonly ExpectationKind[] = MODES.map(conditionKind);

function conditionKind(mode: Mode): ExpectationKind {
  const { name, meaning } = mode;
  const keys = { [name]: { form: PREDICATE, required: true, meaning: "The condition." } };
  return {
    name,
    meaning,
    example: `{ ${name}: isr(orders-0) == replicas(orders-0) }`,
    keys,
    read(map, reading) {
      const predicate = readKeys(map, keys, reading)[name];
      const place = entryOf(map, name)?.keyPlace ?? map.place;
      return predicate && new Condition(mode, predicate, place);
    },
  };
}

class Condition implements Expectation {
  readonly name: string;
  readonly text: string;
  readonly place: Place;
  readonly #mode: Mode;
  readonly #predicate: BooleanExpression;

  constructor(mode: Mode, predicate: Written<BooleanExpression>, place: Place) {
    this.name = mode.name;
    this.text = `${mode.name} ${predicate.text}`;
    this.place = place;
    this.#mode = mode;
    this.#predicate = predicate.expression;
  }

  watch(context: WatchContext): ExpectationWatch {
    const seen = new ConditionWatch(this.#predicate, context);
    return {
      result: (end): ExpectationResult => {
        const [ok, found] = this.#mode.judge(seen, end);
        return resultOf(this, ok, found);
      },
    };
  }
}

class ConditionWatch implements Seen {
  readonly holding: Holding;
  settledAt: Instant | undefined;
  readonly when: (at: Instant) => string;
  #isSettling = false;

  constructor(predicate: BooleanExpression, { facts, board, start }: WatchContext) {
    this.holding = new Holding(start);
    this.when = (at) => formatSeconds(at - start);
    facts.on("fault-begun", (fact, at) => {
      if (fact.verb !== "settle") return;
      this.#isSettling = true;
      if (this.holding.isHolding) this.settledAt ??= at;
    });
    board.watch(predicate, {
      changed: (isHolding, at) => {
        this.holding.changed(isHolding, at);
        if (isHolding && this.#isSettling) this.settledAt ??= at;
      },
    });
  }
}
