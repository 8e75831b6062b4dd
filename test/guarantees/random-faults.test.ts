import { beforeAll, expect, test } from "vitest";
import type { Probe } from "../support/probes.ts";
import { PROBE_NAMES } from "../support/probes.ts";
import type { StoryClass } from "../support/random-story.ts";
import type { StoryRun } from "../support/story-run.ts";
import { playStory } from "../support/story-run.ts";

/** Beyond what Kafka promises to survive: `safe` stories are played by no-false-alarm.campaign.test.ts. */
const KINDS = ["hostile-network", "lossy", "careless"] as const satisfies readonly StoryClass[];

/** The seeds of the stories; `test/support/campaign.ts` plays thousands. */
const SEEDS: Readonly<Record<(typeof KINDS)[number], readonly number[]>> = {
  "hostile-network": range(1, 12),
  lossy: range(1, 16),
  careless: range(1, 24),
};

/** More events in a simulated second than all that the busiest of these stories have to do. */
const STORM = 30_000;

const RUNS = new Map<StoryClass, readonly StoryRun[]>();

beforeAll(() => {
  for (const kind of KINDS) {
    RUNS.set(
      kind,
      SEEDS[kind].map((seed) => playStory(kind, seed)),
    );
  }
});

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

function total(probe: Probe): number {
  return [...RUNS.values()].flat().reduce((sum, { reached }) => sum + (reached.get(probe) ?? 0), 0);
}

/** What is wrong with each run, by its class and seed: nothing, it is to be hoped. */
function found(what: (run: StoryRun) => readonly string[]): string[] {
  return [...RUNS.values()]
    .flat()
    .flatMap((run) => what(run).map((line) => `${run.kind} ${run.seed}: ${line}`));
}

test("whatever befalls a cluster, no part of the simulator gives up, and no run ends early", () => {
  expect(found(({ exception }) => (exception === undefined ? [] : [exception]))).toEqual([]);
  expect(found(({ result }) => result?.reasons ?? [])).toEqual([]);
});

test("whatever befalls a cluster, nothing goes wrong, and it recovers, but for a cause that permits it", () => {
  const bugs = found(({ result }) =>
    (result?.violations ?? [])
      .filter(({ permitted }) => permitted === undefined)
      .map(({ kind, partition, text }) => `${kind} ${partition} ${text.join(" ")}`),
  );

  expect(bugs).toEqual([]);
});

test("no second holds a storm of events", () => {
  expect(found((run) => (run.busiestSecond > STORM ? [`${run.busiestSecond}`] : []))).toEqual([]);
});

test("the stories put the guarantees to the test", () => {
  expect(PROBE_NAMES.filter((probe) => total(probe) === 0)).toEqual([]);
  const lossy = [...(RUNS.get("lossy") ?? []), ...(RUNS.get("careless") ?? [])];
  const losses = lossy.filter(({ result }) =>
    result?.violations.some(({ kind }) => kind === "acked-record-lost"),
  );
  expect(losses.length).toBeGreaterThan(0);
});

test("a story comes out the same again, whatever was played before it in the same process", () => {
  for (const kind of KINDS) {
    const first = RUNS.get(kind)?.[0];
    const again = playStory(kind, first?.seed ?? 0);

    expect(again.result?.digest).toBe(first?.result?.digest);
    expect(again.result?.events).toBe(first?.result?.events);
  }
});
