import type { Violation } from "../checkers/guarantee.ts";
import type { RunResult } from "../cluster/run-result.ts";
import { Simulation } from "../cluster/simulation.ts";
import { explain } from "../explain/explain.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { ProbeWatch } from "./probes.ts";
import type { ScenarioSource } from "./scenario-in.ts";
import { scenarioIn } from "./scenario-in.ts";
import { StateShapes } from "./state-shapes.ts";

/** One run that a campaign wants made: plain data, so that it can cross to another thread. */
export interface Case extends ScenarioSource {
  readonly seed: string;
}

/** A way in which a run was not as it must be. */
export interface Failure {
  /** What failures of one kind have in common: they are one problem until somebody shows that they are two. */
  readonly kind: string;
  /** `no-acked-loss`; `expectation`, `budget` or `simulator` where it is no guarantee. */
  readonly guarantee: string;
  /** For people: the first sentence that can be said of it. */
  readonly text: string;
  /** `orders-2`; empty if it is about none. */
  readonly partition: string;
}

/** What a campaign learns from a run: plain data, too. */
export interface CaseOutcome {
  readonly failures: readonly Failure[];
  readonly verdict: RunResult["verdict"];
  readonly digest: string;
  readonly events: number;
  /** Probes that were reached, as bits in the order of `PROBES`. */
  readonly probes: number;
  readonly shapes: readonly number[];
}

/** A run of more events than this does not end by itself. */
export const EVENT_BUDGET = 20_000_000;

/**
 * Plays a case to its end. Never throws: what breaks in the simulator is a failure of the run. The
 * cause of a violation is looked for in a second, recorded run of the same seed.
 */
export function playCase(one: Case, budget: number = EVENT_BUDGET): CaseOutcome {
  const probes = new ProbeWatch();
  const shapes = new StateShapes();
  const known = { probes, shapes };
  let simulation: Simulation | undefined;
  try {
    const scenario = scenarioOf(one);
    simulation = new Simulation(scenario, { seed: one.seed });
    simulation.onFact((fact) => {
      probes.note(fact);
      shapes.note(fact);
    });
    const isOver = playOut(simulation, budget);
    const result = simulation.finish(isOver ? undefined : `${budget} events were not enough`);
    if (!isOver) return outcomeOf(result, [endless(budget)], known);
    return outcomeOf(result, failuresOf(scenario, one.seed, result), known);
  } catch (problem) {
    const failures = [brokenRule(problem)];
    const events = simulation?.events ?? 0;
    const { reached } = probes;
    return { failures, verdict: "fail", digest: "", events, probes: reached, shapes: [] };
  }
}

/** Cases of one campaign share their text: it is read once. */
let lastSource: ScenarioSource = { text: "", file: "", variant: undefined };
let lastScenario: Scenario | undefined;

function scenarioOf(source: ScenarioSource): Scenario {
  const { text, file, variant } = lastSource;
  const isSame = source.text === text && source.file === file && source.variant === variant;
  if (!isSame || lastScenario === undefined) {
    lastScenario = scenarioIn(source);
    lastSource = source;
  }
  return lastScenario;
}

const SLICE = 50_000;

/** False if the budget was spent first. */
function playOut(simulation: Simulation, budget: number): boolean {
  while (simulation.advance(Math.min(SLICE, budget - simulation.events))) {
    if (simulation.events >= budget) return false;
  }
  return true;
}

function outcomeOf(
  { verdict, digest, events }: RunResult,
  failures: readonly Failure[],
  known: { readonly probes: ProbeWatch; readonly shapes: StateShapes },
): CaseOutcome {
  return {
    failures,
    verdict: failures.length > 0 ? "fail" : verdict,
    digest,
    events,
    probes: known.probes.reached,
    shapes: [...known.shapes.seen],
  };
}

/**
 * Bugs; or else the expectations that were not met. Where one names a guarantee, what broke it is the
 * failure, permitted or not: it was expected to hold.
 */
function failuresOf(scenario: Scenario, seed: string, result: RunResult): Failure[] {
  const firsts = result.violations.filter(({ follows }) => follows === undefined);
  const bugs = firsts.filter(({ permitted }) => permitted === undefined);
  if (bugs.length > 0) return firstOfEachKind(bugs).map((bug) => failureOf(scenario, seed, bug));
  return result.expectations
    .filter(({ ok }) => ok === false)
    .map(({ text }) => {
      const violation = firsts.find(({ guarantee }) => guarantee === text);
      if (violation !== undefined) return failureOf(scenario, seed, violation);
      const kind = `expectation: ${text.replace(/[0-9]+/g, "N")}`;
      return { kind, guarantee: "expectation", text, partition: "" };
    });
}

/** It takes the run once more to tell how it came to each, and a broken rule is seen again and again in one run. */
function firstOfEachKind(violations: readonly Violation[]): Violation[] {
  return violations.filter(
    ({ kind }, i) => violations.findIndex((other) => other.kind === kind) === i,
  );
}

function failureOf(scenario: Scenario, seed: string, violation: Violation): Failure {
  const { guarantee, kind, partition, text } = violation;
  const { steps } = explain(scenario, violation, { seed, tries: false });
  const shape = new Set(steps.map(({ verb }) => verb));
  return {
    kind: `${kind}: ${[...shape].join(" ")}`,
    guarantee,
    text: text[0] ?? kind,
    partition,
  };
}

function endless(budget: number): Failure {
  const text = `The run did not end within ${budget} events.`;
  return { kind: "budget", guarantee: "budget", text, partition: "" };
}

/** Numbers in the message do not make two problems of one. */
function brokenRule(problem: unknown): Failure {
  const message = problem instanceof Error ? problem.message : String(problem);
  const kind = `simulator: ${message.replace(/[0-9]+/g, "N")}`;
  return { kind, guarantee: "simulator", text: message, partition: "" };
}
