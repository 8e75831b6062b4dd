import { expect, test } from "vitest";
import { complaintAbout, run, shipped } from "../support/run-scenario.ts";

test("a leader's death loses nothing for 200 seeds, each a run of its own", () => {
  const scenario = shipped("leader-failover");
  const seeds = Array.from({ length: 200 }, (_, i) => i + 1);

  const results = seeds.map((seed) => run(scenario, seed));

  expect(results.map(complaintAbout).filter(Boolean)).toEqual([]);
  expect(new Set(results.map(({ digest }) => digest)).size).toBe(seeds.length);
});
