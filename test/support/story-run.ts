import { SECOND } from "../../src/base/time.ts";
import type { RunResult } from "../../src/cluster/run-result.ts";
import { Simulation } from "../../src/cluster/simulation.ts";
import type { ReplicationRules } from "../../src/kafka/replication/replication-rules.ts";
import type { Fact } from "../../src/trace/fact.ts";
import type { Probe } from "./probes.ts";
import { PROBE_NAMES, PROBES } from "./probes.ts";
import type { StoryClass } from "./random-story.ts";
import { randomStory } from "./random-story.ts";
import { scenarioOf } from "./scenario-text.ts";

/** How one random story went. */
export interface StoryRun {
  readonly kind: StoryClass;
  readonly seed: number;
  /** Undefined if the run ended with an exception. */
  readonly result: RunResult | undefined;
  readonly exception: string | undefined;
  /** Sends that had no end when the healed cluster had had its time, in words. */
  readonly unanswered: readonly string[];
  /** How often each probe was reached in the story, the warm-up not counted. */
  readonly reached: ReadonlyMap<Probe, number>;
  /** The most events within one simulated second. */
  readonly busiestSecond: number;
}

/** More events than any honest story takes: a run that gets there is a storm. */
const EVENT_LIMIT = 1_000_000;

/** Draws the story of a seed and plays it to its end. */
export function playStory(
  kind: StoryClass,
  seed: number,
  rules?: (rules: ReplicationRules) => ReplicationRules,
): StoryRun {
  const scenario = scenarioOf(randomStory(kind, seed));
  const simulation = new Simulation(scenario, {
    seed: String(seed),
    ...(rules === undefined ? {} : { rules }),
  });
  const reached = new Map<Probe, number>(PROBE_NAMES.map((name) => [name, 0]));
  /** What each client heard last. */
  const errors = new Map<string, string>();
  simulation.onFact((fact) => {
    if (simulation.now > 0) countInto(reached, fact);
    if (fact.kind === "request-failed") errors.set(fact.client, fact.error);
  });
  let busiestSecond = 0;
  let exception: string | undefined;
  let result: RunResult | undefined;
  try {
    let second = 0;
    let before = 0;
    while (simulation.advance(200)) {
      const now = Math.floor(simulation.now / SECOND);
      if (now !== second) {
        busiestSecond = Math.max(busiestSecond, simulation.events - before);
        second = now;
        before = simulation.events;
      }
      if (simulation.events > EVENT_LIMIT) throw new Error(`a storm of events at ${now}s`);
    }
    result = simulation.finish(undefined);
  } catch (problem) {
    exception = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem);
  }
  return {
    kind,
    seed,
    result,
    exception,
    unanswered: result === undefined ? [] : unanswered(result, errors),
    reached,
    busiestSecond,
  };
}

function countInto(reached: Map<Probe, number>, fact: Fact): void {
  for (const name of PROBE_NAMES) {
    if (PROBES[name](fact)) reached.set(name, (reached.get(name) ?? 0) + 1);
  }
}

/** Producers that have not heard of all that they sent. */
function unanswered({ clients }: RunResult, errors: ReadonlyMap<string, string>): string[] {
  return clients.flatMap((client) => {
    if (client.kind !== "producer") return [];
    const { name, sent, acked, failed, unknown } = client;
    const left = sent - acked - failed - unknown;
    return left === 0 ? [] : [`${name} waits for ${left}, having heard ${errors.get(name)}`];
  });
}
