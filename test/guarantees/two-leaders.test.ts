import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { Simulation } from "../../src/cluster/simulation.ts";
import { readScenario } from "../../src/scenario/read-scenario.ts";

// The controllers break KIP-101's first rule: another leader, but no new leader epoch.
vi.mock("../../src/kafka/metadata/partition-registration.ts", async (original) => {
  const real =
    await original<typeof import("../../src/kafka/metadata/partition-registration.ts")>();
  const mergeChange: typeof real.mergeChange = (before, change) => ({
    ...real.mergeChange(before, change),
    leaderEpoch: before.leaderEpoch,
  });
  return { ...real, mergeChange };
});

test("two leaders in one epoch are caught", () => {
  const file = "scenarios/cut-off-leader.yaml";
  const { scenario } = readScenario(readFileSync(file, "utf8"), file);
  if (scenario === undefined) throw new Error(`${file} has mistakes`);

  const simulation = new Simulation(scenario, { seed: "1" });
  while (simulation.advance(100_000));

  const names = simulation
    .finish(undefined)
    .violations.filter(({ permitted }) => permitted === undefined);
  const found = names.map(({ guarantee }) => guarantee);
  expect(found).toContain("one-leader-per-epoch");
  expect(found).toContain("epochs-rise");
});
