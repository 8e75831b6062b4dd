import type { Violation } from "../checkers/guarantee.ts";
import { Simulation } from "../cluster/simulation.ts";
import type { BrokerId, Offset } from "../kafka/ids.ts";
import type { ReplicationRules } from "../kafka/replication/replication-rules.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { Fact, PartitionChanged } from "../trace/fact.ts";
import { trialsOf } from "./counterfactual.ts";
import type { RecordedFact } from "./recording.ts";
import { Recording } from "./recording.ts";
import type { LogDrawing } from "./replica-pictures.ts";
import { ReplicaPictures } from "./replica-pictures.ts";
import type { Step } from "./steps.ts";
import { stepOf } from "./steps.ts";
import { witnessesOf } from "./witnesses.ts";

/** Why a guarantee did not hold: what contradicts what, how it came to that, and what would have kept it. */
export interface Explanation {
  readonly violation: Violation;
  /** Undefined if the violation is about no offsets. */
  readonly drawing: LogDrawing | undefined;
  /** In order of time, at most `MOST_STEPS`. */
  readonly steps: readonly Step[];
  /** Steps that decided something too, and found no room. */
  readonly left: number;
  /** Steps, by their place in `steps`, without whose fault it does not happen; undefined: not tried. */
  readonly needed: readonly number[] | undefined;
  /** Settings with which it does not happen though the same faults strike; undefined: not tried. */
  readonly avoidedBy: readonly string[] | undefined;
}

export interface ExplainOptions {
  readonly seed: string;
  /** The rules that the run was made with, if they are not the scenario's. */
  readonly rules?: (rules: ReplicationRules) => ReplicationRules;
  /** Called between the runs that it takes, with how many are done and how many there are in all. */
  readonly onProgress?: (done: number, all: number) => void;
  /** Is the same run to be made again without each fault, and with each safer setting? */
  readonly tries: boolean;
}

/** More than a person would read. */
const MOST_STEPS = 10;

/** Runs a scenario again, recorded, up to one of its violations, and tells how it came to that. */
export function explain(
  scenario: Scenario,
  violation: Violation,
  options: ExplainOptions,
): Explanation {
  const { simulation, recording } = recordUntil(scenario, violation.event, options);
  // With random faults written out, so that each can be left out by itself.
  const story = simulation.plan.scenario;
  const trials = options.tries ? trialsOf(story, violation, recording, options) : undefined;
  const witnesses = witnessesOf(violation, recording);
  const { steps, drawing } = narrate(recording, violation, witnesses);
  // A fault without which all comes to the same has no place in the story.
  const decisive = steps.filter(
    ({ fault }) => fault === undefined || trials === undefined || trials.needed.has(fault),
  );
  const told = [...decisive]
    .sort((left, right) => right.weight - left.weight || right.index - left.index)
    .slice(0, MOST_STEPS)
    .sort((left, right) => left.index - right.index);
  return {
    violation,
    drawing,
    steps: told,
    left: decisive.length - told.length,
    needed: trials && told.flatMap((step, at) => (isNeeded(step, trials.needed) ? [at] : [])),
    avoidedBy: trials?.avoidedBy,
  };
}

function isNeeded({ fault }: Step, needed: ReadonlySet<number>): boolean {
  return fault !== undefined && needed.has(fault);
}

/** A run with every fact and what led to it. */
export interface RecordedRun {
  readonly simulation: Simulation;
  readonly recording: Recording;
}

/** The same run once more, recorded, up to the end of an event or of the run. */
export function recordUntil(
  scenario: Scenario,
  event: number,
  { seed, rules }: Pick<ExplainOptions, "seed" | "rules">,
): RecordedRun {
  const simulation = new Simulation(scenario, { seed, ...(rules && { rules }), records: true });
  const recording = new Recording(simulation.causes);
  simulation.onFact((fact, at, number) => recording.note(fact, at, number));
  simulation.advance(event - simulation.events);
  return { simulation, recording };
}

interface Narrative {
  /** All steps that decided anything, in order of time. */
  readonly steps: readonly Step[];
  readonly drawing: LogDrawing | undefined;
}

function narrate(
  recording: Recording,
  { partition, offsets }: Violation,
  witnesses: ReadonlySet<number>,
): Narrative {
  const slice = recording.slice([...witnesses]);
  const pictures = new ReplicaPictures(partition);
  const ends = new Map<BrokerId, Offset>();
  let registration: PartitionChanged | undefined;
  let isDisturbed = false;
  const steps: Step[] = [];
  for (const recorded of recording.facts) {
    const { fact, index } = recorded;
    if (isPartOfStory(recorded) && slice.has(index)) {
      const scene = { pictures, registration, ends, isDisturbed, offsets };
      const step = stepOf(recorded, scene, witnesses.has(index));
      if (step !== undefined) steps.push(step);
    }
    pictures.note(fact);
    if (fact.kind === "fault-begun") isDisturbed = true;
    if ("partition" in fact && fact.partition === partition) {
      if (fact.kind === "partition-changed") registration = fact;
      noteEnd(ends, fact);
    }
  }
  const drawing = offsets === undefined ? undefined : pictures.draw(offsets[0], offsets[1]);
  return { steps, drawing };
}

/** Nothing before time zero: the cluster was only forming. */
function isPartOfStory({ at }: RecordedFact): boolean {
  return at >= 0;
}

function noteEnd(ends: Map<BrokerId, Offset>, fact: Fact): void {
  if (fact.kind === "appended") ends.set(fact.broker, fact.batch.nextOffset);
  if (fact.kind === "truncated") ends.set(fact.broker, fact.to);
  if (fact.kind === "log-loaded") ends.set(fact.broker, fact.logEndOffset);
}
