import type { Duration, Instant } from "../base/time.ts";
import { MINUTE } from "../base/time.ts";
import { namesOf } from "../scenario/check-topology.ts";
import type { DurationSpec } from "../scenario/draw.ts";
import { NO_STEPS } from "../scenario/known-names.ts";
import type { RandomFaultsSpec } from "../scenario/random-faults.ts";
import type { StepWords } from "../scenario/read-steps.ts";
import { readSteps } from "../scenario/read-steps.ts";
import type { ArgumentSpec, FaultAction, FaultSpec, Scenario } from "../scenario/scenario.ts";
import { Distribution } from "../sim/distribution.ts";
import type { Rng } from "../sim/rng.ts";
import { CATALOGUE } from "./catalogue.ts";
import { Dice } from "./dice.ts";
import { drawDuration } from "./distribution-of.ts";
import { heldTo } from "./limits.ts";
import type { ChaosProfile, LiveGenerator } from "./profile.ts";
import { describeProfile, drawProfile } from "./profile.ts";
import type { Terrain } from "./terrain.ts";

/** What a seed has made of `random-faults`. */
export interface DrawnFaults {
  /** One line: which kinds there are, how fierce they are, and what may die. */
  readonly profile: string;
  /**
   * Ordinary steps, to follow the scenario's own: named, numbered on, in order of time. With them nothing about the
   * faults is left to chance but what a step says itself: whom `any(brokers)` means, drawn under the step's name.
   */
  readonly steps: readonly FaultSpec[];
  /** Nothing strikes from then on. */
  readonly until: Instant;
}

const USUAL_LENGTH: Duration = MINUTE;

/**
 * Draws all that `random-faults` of a scenario leaves to chance. Each generator has a stream of its own, and each of
 * its strikes too, so that one more or one less changes no other.
 */
export function drawFaults(
  scenario: Scenario,
  spec: RandomFaultsSpec,
  terrain: Terrain,
  random: Rng,
): DrawnFaults {
  const until = spec.quietAfter ?? scenario.duration ?? USUAL_LENGTH;
  const profile = drawProfile(spec, terrain, random);
  const season: Season = { scenario, spec, terrain, profile, until };
  const drawn = profile.generators.flatMap((generator) =>
    stepsOf(generator, season, random.fork(`generator/${generator.name}`)),
  );
  drawn.sort((left, right) => left.at - right.at);
  const names = new NewNames(scenario.faults);
  const first = scenario.faults.length;
  const steps = drawn.map(({ generator, step }, i) => {
    return { ...step, number: first + i, name: names.next(generator) };
  });
  return { profile: describeProfile(profile), steps, until };
}

/** All that strikes are drawn from. */
interface Season {
  readonly scenario: Scenario;
  readonly spec: RandomFaultsSpec;
  readonly terrain: Terrain;
  readonly profile: ChaosProfile;
  readonly until: Instant;
}

interface Unnamed {
  readonly at: Instant;
  readonly generator: string;
  readonly step: FaultSpec;
}

function stepsOf(generator: LiveGenerator, season: Season, random: Rng): Unnamed[] {
  const steps: Unnamed[] = [];
  const gaps = random.fork("every");
  let strikes = 0;
  let at = gapOf(generator, gaps);
  while (at < season.until) {
    const strike = random.fork(`strike/${strikes++}`);
    for (const drawn of strikeAt(at, generator, season, strike)) {
      const step = heldTo(season.profile.limits, drawn.step);
      if (step !== undefined && drawn.at < season.until) {
        steps.push({ at: drawn.at, generator: generator.name, step });
      }
    }
    at += gapOf(generator, gaps);
  }
  return steps;
}

/** At least a millisecond, whatever was asked for: time must go on. */
function gapOf({ spec, fierceness }: LiveGenerator, gaps: Rng): Duration {
  const gap =
    spec.every !== undefined || spec.kind === "fault"
      ? drawDuration(spec.every ?? NEVER, gaps)
      : Distribution.exponential(CATALOGUE[spec.shape].every).draw(gaps);
  return Math.max(LEAST_GAP, Math.round(gap / fierceness));
}

const NEVER: DurationSpec = { kind: "fixed", value: Number.MAX_SAFE_INTEGER };
const LEAST_GAP: Duration = 1_000;

function strikeAt(
  at: Instant,
  { spec }: LiveGenerator,
  { scenario, spec: { keep }, terrain, profile, until }: Season,
  random: Rng,
): { readonly at: Instant; readonly step: FaultSpec }[] {
  if (spec.kind === "fault") return [{ at, step: { ...fixedStep(at, spec.action, random), keep } }];
  const dice = new Dice(random.fork("dice"));
  const lengths = random.fork("for");
  const drawn = CATALOGUE[spec.shape].strike({
    at,
    until,
    terrain,
    limits: profile.limits,
    dice,
    length: (usual) => (spec.for === undefined ? dice.of(usual) : drawDuration(spec.for, lengths)),
  });
  const guard: StepWords = keep === undefined ? {} : { keep: keep.text };
  const names = namesOf(scenario.cluster, scenario.topics, scenario.clients, NO_STEPS);
  const steps = readSteps(
    drawn.map(({ words }) => ({ ...words, optional: true, ...guard })),
    names,
  );
  return steps.map((step, i) => ({ at: drawn[i]?.at ?? at, step }));
}

/** A fault of the scenario as one step, with everything drawn that a plan would draw. */
function fixedStep(at: Instant, action: FaultAction, random: Rng): FaultSpec {
  const time: DurationSpec = { kind: "fixed", value: at };
  const given = [...action.arguments].map(
    ([name, argument]) => [name, fixedArgument(argument, random.fork(name))] as const,
  );
  return {
    ...action,
    number: 0,
    name: undefined,
    trigger: { kind: "at", time },
    arguments: new Map(given),
    for: action.for && { kind: "fixed", value: drawDuration(action.for, random.fork("for")) },
  };
}

function fixedArgument(argument: ArgumentSpec, random: Rng): ArgumentSpec {
  if (argument.kind !== "word" || argument.word.kind === "fixed") return argument;
  const value = new Dice(random).of(argument.word.options);
  return { ...argument, word: { kind: "fixed", value }, text: value };
}

/** Names for steps that the scenario's own do not have. */
class NewNames {
  readonly #taken: ReadonlySet<string | undefined>;
  readonly #counts = new Map<string, number>();

  constructor(faults: readonly FaultSpec[]) {
    this.#taken = new Set(faults.map(({ name }) => name));
  }

  next(generator: string): string {
    let count = this.#counts.get(generator) ?? 0;
    do count++;
    while (this.#taken.has(`${generator}-${count}`));
    this.#counts.set(generator, count);
    return `${generator}-${count}`;
  }
}
