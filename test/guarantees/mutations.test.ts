import { afterAll, beforeAll, expect, test } from "vitest";
import { GUARANTEES } from "../../src/checkers/registry.ts";
import type { Engine } from "../support/mutations/mutant-engines.ts";
import { MutantEngines, mutated } from "../support/mutations/mutant-engines.ts";
import type { Mutation } from "../support/mutations/mutation.ts";
import { STORY_NAMES, storyText } from "../support/mutations/mutation-stories.ts";
import { MUTATIONS } from "../support/mutations/mutations.ts";

let engines: MutantEngines;

beforeAll(async () => {
  engines = await MutantEngines.of(MUTATIONS);
});

afterAll(() => engines.dispose());

/** The guarantee that a run names first of those that nothing permits it to break; undefined if all hold. */
function firstBroken(engine: Engine, story: string, seed: number): string | undefined {
  const { scenario } = engine.readScenario(story, "mutation.yaml");
  if (scenario === undefined) throw new Error(`a story with mistakes:\n${story}`);
  const simulation = new engine.Simulation(scenario, { seed: String(seed) });
  while (simulation.advance(100_000));
  const { violations } = simulation.finish(undefined);
  const first = violations.find(({ permitted, follows }) => {
    return permitted === undefined && follows === undefined;
  });
  return first?.guarantee;
}

/** Plays the story with one seed after the other until something is broken. */
function caught(engine: Engine, { story, seeds }: Mutation): string | undefined {
  for (let seed = 1; seed <= seeds; seed++) {
    const first = firstBroken(engine, storyText(story), seed);
    if (first !== undefined) return first;
  }
  return undefined;
}

test("nothing is caught in these stories while all rules are Kafka's", async () => {
  const engine = await engines.load(undefined);

  const found = STORY_NAMES.map((name) => [name, firstBroken(engine, storyText(name), 1)]);

  expect(found.filter(([, first]) => first !== undefined)).toEqual([]);
});

test("there are enough of them, each of another name, and each breaks another rule", () => {
  const rules = MUTATIONS.map(({ file, find, put }) => `${file}: ${find} -> ${put}`);

  expect(MUTATIONS.length).toBeGreaterThanOrEqual(40);
  expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
  expect(new Set(rules).size).toBe(MUTATIONS.length);
});

test("what each of them changes is still in the source, once, and each names a guarantee", () => {
  const guarantees = GUARANTEES.map(({ name }) => name);
  for (const mutation of MUTATIONS) {
    expect(mutated(mutation)).toContain(mutation.put);
    expect(guarantees).toContain(mutation.caughtBy);
  }
});

test.each(MUTATIONS)("$name is caught by $caughtBy", async (mutation) => {
  expect(caught(await engines.load(mutation), mutation)).toBe(mutation.caughtBy);
});
