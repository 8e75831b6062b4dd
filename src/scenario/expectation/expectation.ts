import type { Instant } from "../../base/time.ts";
import type { Violation } from "../../checkers/guarantee.ts";
import type { FactRecorder } from "../../trace/recorder.ts";
import type { ExpressionWorld } from "../expression-world.ts";
import type { Key } from "../form.ts";
import type { Place } from "../place.ts";
import type { PredicateBoard } from "../predicate-board.ts";
import type { Reading } from "../reading.ts";
import type { YamlMap } from "../yaml-node.ts";

/** Something that a scenario says will be so. */
export interface Expectation {
  /** Its key in the scenario: `leader-within`, `no-acked-loss`. */
  readonly name: string;
  /** What is expected, in the words of the scenario: `leader-within 15s`. */
  readonly text: string;
  readonly place: Place;
  /** Begins to watch, at time zero. */
  watch(context: WatchContext): ExpectationWatch;
}

/** What expectations watch a run with. */
export interface WatchContext {
  readonly facts: FactRecorder;
  readonly board: PredicateBoard;
  readonly world: ExpressionWorld;
  /** Time zero of the scenario. */
  readonly start: Instant;
}

/** One expectation at work in one run. */
export interface ExpectationWatch {
  /** To be called once, when the run is over and the board has been evaluated. */
  result(end: RunEnd): ExpectationResult;
}

/** How a run ended. */
export interface RunEnd {
  readonly at: Instant;
  /** False if a limit or a violation stopped it: what is said about the end was not reached. */
  readonly isComplete: boolean;
  readonly violations: readonly Violation[];
  /** Was the guarantee of this name really exercised? */
  isTested(guarantee: string): boolean;
}

export interface ExpectationResult {
  readonly name: string;
  /** undefined: the run did not get so far that it could be told. */
  readonly ok: boolean | undefined;
  /** `leader-within 15s (9.19s)` */
  readonly text: string;
  readonly place: Place;
}

/** A kind of expectation: everything that is to be known about it, in one place. */
export interface ExpectationKind {
  /** The key by which it is recognised. */
  readonly name: string;
  readonly meaning: string;
  /** For the reference. */
  readonly example: string;
  /** What may stand in its mapping, its own key among it. */
  readonly keys: Readonly<Record<string, Key<unknown>>>;
  /** Reads a mapping that has its key; undefined after complaining. */
  read(map: YamlMap, reading: Reading): Expectation | undefined;
}

/** The expectation with what was found behind its words. */
export function resultOf(
  expectation: Expectation,
  ok: boolean | undefined,
  found = "",
): ExpectationResult {
  const { name, text, place } = expectation;
  return { name, ok, text: found === "" ? text : `${text} (${found})`, place };
}
