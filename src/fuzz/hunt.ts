import { byNumber } from "../base/order.ts";
import type { Instant } from "../base/time.ts";
import { MINUTE } from "../base/time.ts";
import { writeYaml } from "../scenario/parse-yaml.ts";
import type { PlainMap } from "../scenario/plain.ts";
import { readScenario } from "../scenario/read-scenario.ts";
import type { FaultSpec } from "../scenario/scenario.ts";
import { Rng } from "../sim/rng.ts";
import { explicitScenario, plainSteps } from "./explicit-scenario.ts";
import { mutateStory } from "./mutate-story.ts";
import type { Case, CaseOutcome } from "./play-case.ts";
import { PROBES } from "./probes.ts";
import { scenarioIn } from "./scenario-in.ts";

export interface HuntOptions {
  /** The scenario's file and what is in it; it has random faults. */
  readonly file: string;
  readonly text: string;
  readonly variant: string | undefined;
  /** Runs are of this seed, the next, and so on. */
  readonly seed: number;
  /** Are runs that reached something rare or new followed by others like them? */
  readonly isGuided: boolean;
  /** This hunt makes every `count`-th of the runs, from the one numbered `index` on (from 0). */
  readonly shard: { readonly index: number; readonly count: number };
}

/** A case with its number in the hunt. */
export interface HuntCase extends Case {
  readonly number: number;
  /** The number of the run that it is a mutant of; undefined for a seed of its own. */
  readonly parent: number | undefined;
}

/** Failures that are one problem, as far as one can tell. */
export interface FailureKind {
  readonly kind: string;
  readonly guarantee: string;
  readonly text: string;
  readonly partition: string;
  /** In how many runs, and in which of them first: the number of the run. */
  readonly runs: number;
  readonly first: number;
  /** The run of the fewest events. */
  readonly smallest: HuntCase & { readonly events: number };
  /** Seeds in which it was found without a mutation, the first few. */
  readonly seeds: readonly string[];
}

/** Cases are handed out in rounds, which depend on those that ended two rounds ago and on nothing else. */
export const ROUND = 32;
/** Rounds that may be under way at once: so that nobody waits for the slowest run of a round. */
export const ROUNDS_AHEAD = 2;

/** Mutants that a run gets for having reached something, at first. */
const ENERGY = 8;
/** A probe that fewer than one run in so many reaches is rare. */
const RARE = 100;
const SEEDS_NAMED = 5;
/** The worth of a rare probe, in new shapes. */
const RARE_PROBE = 20;
const MOST_PARENTS = 200;

interface Parent {
  readonly case: HuntCase;
  readonly score: number;
  energy: number;
  /** Its run written out, once it has had a child. */
  story: Story | undefined;
}

/** What mutants are made from. */
interface Story {
  readonly plain: PlainMap;
  readonly faults: readonly FaultSpec[];
  readonly until: Instant;
}

/**
 * A search for failing runs, as a function: given the outcomes of its cases it always asks for the same
 * ones, on any machine and with any number of workers.
 */
export class Hunt {
  readonly kinds: Map<string, FailureKind> = new Map();
  /** By probe: in how many runs it was reached. */
  readonly reached: number[] = PROBES.map(() => 0);
  runs = 0;
  events = 0;
  inconclusive = 0;
  readonly #options: HuntOptions;
  readonly #shapes = new Set<number>();
  readonly #parents: Parent[] = [];
  readonly #random: Rng;
  #handedOut = 0;
  #seedsUsed = 0;

  constructor(options: HuntOptions) {
    this.#options = options;
    this.#random = new Rng(`hunt/${options.seed}/${options.shard.index}`);
  }

  /** Shapes of a cluster's state, and steps between them, that were ever seen. */
  get shapes(): number {
    return this.#shapes.size;
  }

  /** The next cases, in order. To be called when the outcomes of all but the last round are in. */
  nextRound(): HuntCase[] {
    const cases: HuntCase[] = [];
    for (let i = 0; i < ROUND; i++) {
      const number = ++this.#handedOut;
      const mutant = this.#options.isGuided && i % 2 === 1 ? this.#mutant(number) : undefined;
      cases.push(mutant ?? this.#fresh(number));
    }
    return cases;
  }

  /** Outcomes are to be handed in in the order of their cases. */
  take(one: HuntCase, outcome: CaseOutcome): void {
    this.runs++;
    this.events += outcome.events;
    if (outcome.verdict === "inconclusive") this.inconclusive++;
    let score = 0;
    for (const shape of outcome.shapes) {
      if (this.#shapes.has(shape)) continue;
      this.#shapes.add(shape);
      score++;
    }
    for (let i = 0; i < PROBES.length; i++) {
      if ((outcome.probes & (1 << i)) === 0) continue;
      const before = this.reached[i] ?? 0;
      if (before * RARE < this.runs) score += RARE_PROBE;
      this.reached[i] = before + 1;
    }
    if (score > 0) this.#adopt({ case: one, score, energy: ENERGY, story: undefined });
    for (const failure of outcome.failures) {
      const known = this.kinds.get(failure.kind);
      const found = { ...one, events: outcome.events };
      const seeds = known?.seeds ?? [];
      this.kinds.set(failure.kind, {
        ...failure,
        runs: (known?.runs ?? 0) + 1,
        first: known?.first ?? one.number,
        smallest:
          known === undefined || known.smallest.events > found.events ? found : known.smallest,
        seeds:
          one.parent === undefined && seeds.length < SEEDS_NAMED ? [...seeds, one.seed] : seeds,
      });
    }
  }

  /** The smallest first. */
  findings(): FailureKind[] {
    return [...this.kinds.values()].sort((left, right) =>
      byNumber(left.smallest.events, right.smallest.events),
    );
  }

  #fresh(number: number): HuntCase {
    const { file, text, variant, seed, shard } = this.#options;
    const at = this.#seedsUsed++ * shard.count + shard.index;
    return { number, parent: undefined, file, text, variant, seed: String(seed + at) };
  }

  /** A child of the most promising parent that has any energy left. */
  #mutant(number: number): HuntCase | undefined {
    const parent = this.#parents.find(({ energy }) => energy > 0);
    if (parent === undefined) return undefined;
    parent.energy--;
    const { case: of } = parent;
    const random = this.#random.fork(`mutant/${number}`);
    parent.story ??= storyOf(of);
    const { plain, until } = parent.story;
    const faults = plainSteps(mutateStory(parent.story.faults, until, random));
    // Half of them in the same world, half in another.
    const seed = random.below(2) === 0 ? of.seed : String(this.#options.seed + number);
    const mutant = writeYaml({ ...plain, faults, seed: Number(seed) });
    const isFine = readScenario(mutant, of.file).scenario !== undefined;
    if (!isFine) return undefined;
    return { number, parent: of.number, file: of.file, text: mutant, variant: undefined, seed };
  }

  #adopt(parent: Parent): void {
    if (!this.#options.isGuided) return;
    const at = this.#parents.findIndex(({ score }) => score < parent.score);
    this.#parents.splice(at < 0 ? this.#parents.length : at, 0, parent);
    if (this.#parents.length > MOST_PARENTS) this.#parents.pop();
  }
}

function storyOf(one: HuntCase): Story {
  const plain = explicitScenario(one.text, scenarioIn(one), one.seed);
  const { faults, duration } = scenarioIn({ ...one, text: writeYaml(plain), variant: undefined });
  return { plain, faults, until: duration ?? MINUTE };
}
