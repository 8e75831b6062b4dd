import type { Duration, Instant } from "../../base/time.ts";
import type { PartitionName } from "../../kafka/ids.ts";
import { formatDuration, formatMeasured } from "../duration.ts";
import { PARTITION } from "../expression-form.ts";
import type { Key } from "../form.ts";
import { mapping, readKeys } from "../form.ts";
import type { Place } from "../place.ts";
import type { PredicateWatcher } from "../predicate-board.ts";
import { DURATION } from "../scalar-form.ts";
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
import { hasFullIsr } from "./holding.ts";
import { STEP_NAME } from "./step-name.ts";

const INNER = mapping("`isr-restored-within`", {
  partition: { form: PARTITION, required: true, meaning: "Which partition." },
  time: { form: DURATION, required: true, meaning: "How long it may take." },
  after: { form: STEP_NAME, required: true, meaning: "From which step on, or from its end." },
});
const KEYS = {
  "isr-restored-within": { form: INNER, required: true, meaning: "What is measured." },
} satisfies Readonly<Record<string, Key<unknown>>>;

/**
 * All replicas run and are in sync again in time, measured from when a step fired or, if the step
 * ends by itself, from when it ended.
 */
export const ISR_RESTORED_WITHIN: ExpectationKind = {
  name: "isr-restored-within",
  meaning: "All replicas are in sync again in time.",
  example: "{ isr-restored-within: { partition: orders-0, time: 30s, after: back } }",
  keys: KEYS,
  read(map, reading) {
    const fields = readKeys(map, KEYS, reading)["isr-restored-within"];
    const { partition, time, after } = fields?.values ?? {};
    if (partition === undefined || time === undefined || after === undefined) return undefined;
    const place = entryOf(map, "isr-restored-within")?.keyPlace ?? map.place;
    return new IsrRestoredWithin(partition, time, after, place);
  },
};

class IsrRestoredWithin implements Expectation {
  readonly name = "isr-restored-within";
  readonly text: string;
  readonly place: Place;
  readonly partition: PartitionName;
  readonly time: Duration;
  readonly after: string;

  constructor(partition: PartitionName, time: Duration, after: string, place: Place) {
    this.partition = partition;
    this.time = time;
    this.after = after;
    this.place = place;
    this.text = `isr-restored-within ${formatDuration(time)}`;
  }

  watch(context: WatchContext): ExpectationWatch {
    return new RestorationWatch(this, context);
  }
}

class RestorationWatch implements ExpectationWatch, PredicateWatcher {
  readonly #expectation: IsrRestoredWithin;
  #since: Instant | undefined;
  #isFull = false;
  /** From the step on to the first time that the ISR became full; undefined: not yet. */
  #took: Duration | undefined;

  constructor(expectation: IsrRestoredWithin, { facts, board }: WatchContext) {
    this.#expectation = expectation;
    facts.on("fault-begun", (fact, at) => {
      if (fact.name === expectation.after) this.#begin(at);
    });
    facts.on("fault-ended", (fact, at) => {
      if (fact.name === expectation.after) this.#begin(at);
    });
    board.watch(hasFullIsr(expectation.partition), this);
  }

  changed(isHolding: boolean, at: Instant): void {
    this.#isFull = isHolding;
    if (isHolding && this.#since !== undefined) this.#took ??= at - this.#since;
  }

  result(end: RunEnd): ExpectationResult {
    if (this.#since === undefined) return resultOf(this.#expectation, undefined);
    // If it never became full anew, it is so because it never was not.
    const took = this.#took ?? (this.#isFull ? 0 : undefined);
    if (took !== undefined) {
      return resultOf(this.#expectation, took <= this.#expectation.time, formatMeasured(took));
    }
    const waited = end.at - this.#since;
    const ok = waited > this.#expectation.time || end.isComplete ? false : undefined;
    return resultOf(this.#expectation, ok, `not in ${formatMeasured(waited)}`);
  }

  #begin(at: Instant): void {
    this.#since = at;
    this.#took = undefined;
  }
}
