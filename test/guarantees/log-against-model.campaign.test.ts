import fc from "fast-check";
import { expect, test } from "vitest";
import { runsOf } from "../support/campaign-runs.ts";
import { playStory } from "../support/log-player.ts";
import { allKinds, STORY } from "../support/log-story.ts";

/**
 * A log on a simulated disk against a list in memory, through random operations and stops: what was flushed
 * is there, nothing appears that was never written, offsets never change, the last value of each key
 * survives cleaning, epochs lie where their batches do.
 */
test("a log holds what its model holds, and after any stop what was flushed", () => {
  const runs = runsOf(300, 10_000);
  const met = new Map<string, number>();

  fc.assert(
    fc.property(STORY, (story) => {
      for (const kind of playStory(story)) met.set(kind, (met.get(kind) ?? 0) + 1);
    }),
    { seed: 42, numRuns: runs },
  );

  // A campaign that seldom meets a fault says little of it.
  const seldom = allKinds().filter((kind) => (met.get(kind) ?? 0) < runs / 100);
  expect(seldom).toEqual([]);
});
