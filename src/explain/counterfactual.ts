import type { Violation } from "../checkers/guarantee.ts";
import { watchedFor } from "../checkers/registry.ts";
import { Simulation } from "../cluster/simulation.ts";
import { MARK } from "../faults/mark.ts";
import type { FaultSpec, Scenario } from "../scenario/scenario.ts";
import type { ExplainOptions } from "./explain.ts";
import type { Recording } from "./recording.ts";
import type { SaferSetting } from "./safer-settings.ts";
import { SAFER_SETTINGS } from "./safer-settings.ts";

/** What the same run comes to with something changed. */
export interface Trials {
  /** Numbers of the faults without which the violation does not happen. */
  readonly needed: ReadonlySet<number>;
  /** Settings with which it does not, though every needed fault strikes. */
  readonly avoidedBy: readonly string[];
}

/**
 * Runs the scenario again, with the same seed, without each of its faults in turn and with each safer
 * setting. Whatever is drawn is drawn under its own name, so that nothing else changes by that.
 */
export function trialsOf(
  scenario: Scenario,
  violation: Violation,
  recording: Recording,
  options: ExplainOptions,
): Trials {
  const quiet: Scenario = { ...scenario, expect: [] };
  const timed: Scenario = { ...quiet, faults: asTheyStruck(quiet.faults, recording) };
  const settings = SAFER_SETTINGS.filter(({ apply }) => apply(quiet) !== undefined);
  const faults = quiet.faults.filter(({ kind }) => kind !== MARK);
  const all = faults.length + settings.length;
  let done = 0;
  const tell = (): void => options.onProgress?.(++done, all);

  const needed = new Set<number>();
  for (const fault of faults) {
    const outcome = run({ ...quiet, faults: without(fault, quiet.faults) }, violation, options);
    if (!outcome.happens) needed.add(fault.number);
    tell();
  }
  const avoidedBy = settings.flatMap((setting) => {
    const isAvoided = avoids(setting, { quiet, timed, needed }, violation, options);
    tell();
    return isAvoided ? [setting.name] : [];
  });
  return { needed, avoidedBy };
}

interface Stories {
  readonly quiet: Scenario;
  readonly timed: Scenario;
  readonly needed: ReadonlySet<number>;
}

/**
 * The violation must not happen when every needed fault strikes as it did, and not when the faults wait
 * for their own conditions either: a setting that only shifts the moment is none that avoids.
 */
function avoids(
  { apply }: SaferSetting,
  { quiet, timed, needed }: Stories,
  violation: Violation,
  options: ExplainOptions,
): boolean {
  const outcomes = [timed, quiet].map((scenario) => {
    const changed = apply(scenario);
    return changed === undefined ? undefined : run(changed, violation, options);
  });
  const [asItWas, byCondition] = outcomes;
  if (asItWas === undefined || asItWas.happens || asItWas.acked === 0) return false;
  if (![...needed].every((fault) => asItWas.struck.has(fault))) return false;
  return byCondition?.happens !== true;
}

/**
 * The faults at the instants at which they struck: a condition that waited for the damage itself, such
 * as an acknowledged record that no follower has, would never come true once the damage is avoided.
 */
function asTheyStruck(faults: readonly FaultSpec[], { facts }: Recording): FaultSpec[] {
  return faults.map((fault) => {
    const strikes = facts.filter(
      (one) => one.fact.kind === "fault-begun" && one.fact.fault === fault.number,
    );
    const [first] = strikes;
    if (first === undefined || strikes.length > 1) return fault;
    return { ...fault, trigger: { kind: "at", time: { kind: "fixed", value: first.at } } };
  });
}

/** A fault less, and less what waits for it. */
function without(fault: FaultSpec, faults: readonly FaultSpec[]): FaultSpec[] {
  const gone = new Set([fault]);
  for (const one of faults) {
    const { trigger } = one;
    if (trigger.kind !== "after") continue;
    for (const before of gone) if (before.name === trigger.fault) gone.add(one);
  }
  return faults.filter((one) => !gone.has(one));
}

interface Outcome {
  /** Is the same guarantee violated in the same partition? */
  readonly happens: boolean;
  /** Numbers of the faults that fired. */
  readonly struck: ReadonlySet<number>;
  /** Records that were acknowledged: without any, nothing was avoided. */
  readonly acked: number;
}

function run(
  scenario: Scenario,
  { guarantee, partition }: Violation,
  { seed, rules }: ExplainOptions,
): Outcome {
  const guarantees = watchedFor(guarantee);
  const simulation = new Simulation(scenario, { seed, guarantees, ...(rules && { rules }) });
  const struck = new Set<number>();
  simulation.onFact((fact) => {
    if (fact.kind === "fault-begun") struck.add(fact.fault);
  });
  while (simulation.advance(SLICE)) {}
  const { violations, clients } = simulation.finish(undefined);
  const happens = violations.some(
    (one) => one.guarantee === guarantee && one.partition === partition,
  );
  let acked = 0;
  for (const client of clients) if (client.kind === "producer") acked += client.acked;
  return { happens, struck, acked };
}

const SLICE = 100_000;
