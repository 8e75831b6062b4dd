import type { GeneratorSpec, RandomFaultsSpec, ShapeName } from "../scenario/random-faults.ts";
import { SHAPES } from "../scenario/random-faults.ts";
import type { Rng } from "../sim/rng.ts";
import { Dice } from "./dice.ts";
import type { Limits } from "./limits.ts";
import { describeLimits, drawLimits } from "./limits.ts";
import type { Terrain } from "./terrain.ts";

/** A generator that this run has. */
export interface LiveGenerator {
  /** In the profile and, with a number, of its steps. */
  readonly name: string;
  readonly spec: GeneratorSpec;
  /** It strikes so many times as often as it would. */
  readonly fierceness: number;
}

/** The character of one run: which misfortunes there are, how often they strike, and what they may kill. */
export interface ChaosProfile {
  readonly generators: readonly LiveGenerator[];
  readonly limits: Limits;
}

/** How many times as often as usual, and how it is printed. */
const FIERCENESS: ReadonlyMap<number, string> = new Map([
  [0.5, "x1/2"],
  [1, "x1"],
  [2, "x2"],
  [4, "x4"],
]);

/**
 * Swarm testing: most runs lack most kinds of faults. Where all of them are always there, some hide what others
 * would show: with a crash every second no ISR ever shrinks for lag.
 */
export function drawProfile(spec: RandomFaultsSpec, terrain: Terrain, random: Rng): ChaosProfile {
  const limits = drawLimits(terrain, spec.unlimited, new Dice(random.fork("limits")));
  const all = named(spec.generators.length > 0 ? spec.generators : wholeCatalogue(spec));
  const candidates = all.map(({ name, generator }) => {
    const dice = new Dice(random.fork(`swarm/${name}`));
    const fierceness = spec.swarm ? dice.of([...FIERCENESS.keys()]) : 1;
    return { name, spec: generator, fierceness, isIn: !spec.swarm || dice.percent(40) };
  });
  const chosen = candidates.filter(({ isIn }) => isIn);
  const generators = chosen.length > 0 ? chosen : [new Dice(random.fork("swarm")).of(candidates)];
  return { generators, limits };
}

/** `crash x2, swizzle x1/2; processes die, page caches survive`. */
export function describeProfile({ generators, limits }: ChaosProfile): string {
  const parts = generators.map(
    ({ name, fierceness }) => `${name} ${FIERCENESS.get(fierceness) ?? ""}`,
  );
  return `${parts.join(", ")}; ${describeLimits(limits)}`;
}

function wholeCatalogue({ unlimited, place }: RandomFaultsSpec): GeneratorSpec[] {
  return Object.entries(SHAPES)
    .filter(([, { scope }]) => scope === "always" || unlimited)
    .map(([shape]) => {
      const usual = { every: undefined, for: undefined };
      return { kind: "shape", shape: shape as ShapeName, ...usual, place };
    });
}

/** Each with a name of its own: its shape or its fault, numbered from the second one of a kind on. */
function named(
  generators: readonly GeneratorSpec[],
): { readonly name: string; readonly generator: GeneratorSpec }[] {
  const counts = new Map<string, number>();
  return generators.map((generator) => {
    const word = generator.kind === "shape" ? generator.shape : generator.action.kind.name;
    const count = (counts.get(word) ?? 0) + 1;
    counts.set(word, count);
    return { name: count === 1 ? word : `${word}-no${count}`, generator };
  });
}
