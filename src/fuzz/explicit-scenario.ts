import type { PlannedArgument, PlannedFault } from "../cluster/plan.ts";
import { makePlan } from "../cluster/plan.ts";
import { formatDuration } from "../scenario/duration.ts";
import type { Plain, PlainMap } from "../scenario/plain.ts";
import { plainScenario, plainYaml } from "../scenario/plain.ts";
import type { ArgumentSpec, FaultSpec, Scenario } from "../scenario/scenario.ts";
import { writeSteps } from "../scenario/write-steps.ts";
import { changed } from "./plain-path.ts";

/**
 * The run of a seed written out as a scenario of its own: one variant, and every choice that the seed
 * made, random faults among them, in its place. It is the same run, event by event, and stays what it
 * is when the way in which faults are drawn changes. `text` is the file that `scenario` was read from.
 */
export function explicitScenario(text: string, scenario: Scenario, seed: string): PlainMap {
  const plan = makePlan(scenario, seed);
  let explicit = plainScenario(text, scenario.variant);
  for (const { path, value } of plan.choices) {
    if (!isAboutFaults(path)) explicit = changed(explicit, path.split("/"), scalarOf(value));
  }
  for (const key of ["variants", "random-faults", "lesson"]) delete explicit[key];
  explicit["seed"] = Number(seed);
  if (plan.duration !== undefined) explicit["duration"] = formatDuration(plan.duration);
  if (plan.faults.length > 0) explicit["faults"] = plainSteps(plan.faults.map(fixed));
  return explicit;
}

/** Steps as they would stand under `faults:`. */
export function plainSteps(steps: readonly FaultSpec[]): Plain {
  return steps.length === 0 ? [] : plainYaml(writeSteps(steps));
}

/** Those are written as whole steps. */
function isAboutFaults(path: string): boolean {
  return path.startsWith("faults/") || path.startsWith("random-faults");
}

/** A step with what was drawn for it in the place of what it is drawn from. */
function fixed({ spec, delay, for: time, arguments: drawn }: PlannedFault): FaultSpec {
  const { trigger } = spec;
  const due = { kind: "fixed", value: delay } as const;
  return {
    ...spec,
    trigger:
      trigger.kind === "at"
        ? { ...trigger, time: due }
        : trigger.kind === "after"
          ? { ...trigger, delay: due }
          : trigger,
    for: time === undefined ? undefined : { kind: "fixed", value: time },
    arguments: new Map(
      [...spec.arguments].map(([name, argument]) => [
        name,
        fixedArgument(argument, drawn.get(name)),
      ]),
    ),
  };
}

function fixedArgument(argument: ArgumentSpec, drawn: PlannedArgument | undefined): ArgumentSpec {
  if (argument.kind !== "word" || drawn?.kind !== "word") return argument;
  return { ...argument, word: { kind: "fixed", value: drawn.word }, text: drawn.word };
}

function scalarOf(text: string): Plain {
  return /^-?[0-9]+$/.test(text) ? Number(text) : text;
}
