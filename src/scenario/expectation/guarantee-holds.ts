import { GUARANTEES } from "../../checkers/registry.ts";
import type { Place } from "../place.ts";
import type { Expectation, ExpectationResult, ExpectationWatch, RunEnd } from "./expectation.ts";
import { resultOf } from "./expectation.ts";

/** The names by which scenarios expect guarantees. */
export const GUARANTEE_NAMES: readonly string[] = GUARANTEES.map(({ name }) => name);

/** Every kind of violation that a guarantee can report. */
export const VIOLATION_KINDS: readonly string[] = GUARANTEES.flatMap(({ kinds }) => kinds);

/** A guarantee held all the time: `no-acked-loss`. Not even a permitted violation is expected. */
export class GuaranteeHolds implements Expectation, ExpectationWatch {
  readonly name: string;
  readonly text: string;
  readonly place: Place;

  constructor(name: string, place: Place) {
    this.name = name;
    this.text = name;
    this.place = place;
  }

  watch(): ExpectationWatch {
    return this;
  }

  result(end: RunEnd): ExpectationResult {
    const broken = end.violations.filter(({ guarantee }) => guarantee === this.name).length;
    if (broken > 0) return resultOf(this, false);
    if (!end.isComplete) return resultOf(this, undefined);
    return end.isTested(this.name) ? resultOf(this, true) : resultOf(this, undefined, "untested");
  }
}
