import { expect, test } from "vitest";
import { DiskView } from "../../../src/cluster/disk-view.ts";
import { Simulation } from "../../../src/cluster/simulation.ts";
import { GOOD_SCENARIO, scenarioOf } from "../../support/scenario-text.ts";
import { bytes, FSYNC, Machine } from "../disk/machine.ts";

test("a view tells of each file what a power-off that loses all it can would leave", () => {
  const machine = new Machine();
  machine.step((disk) => {
    for (const path of ["appended", "kept", "older"]) {
      disk.open(path).write(0, bytes(5_000));
      disk.open(path).sync();
    }
  });
  machine.advance(10 * FSYNC);
  machine.step((disk) => {
    disk.open("appended").write(5_000, bytes(300));
    disk.open("older").write(0, bytes(9).reverse());
    disk.open("unnamed").write(0, bytes(7));
  });

  expect(new DiskView(machine.disk).files()).toEqual([
    { path: "appended", size: 5_300, durable: { bytes: 5_000 } },
    { path: "kept", size: 5_000, durable: "all" },
    { path: "older", size: 5_000, durable: "older" },
    { path: "unnamed", size: 7, durable: "nothing" },
  ]);
});

test("a run that goes to an instant handles what is due then, and nothing later", () => {
  const scenario = scenarioOf(GOOD_SCENARIO);
  const whole = new Simulation(scenario, { seed: "1" });
  const facts: number[] = [];
  whole.onFact((_fact, at) => facts.push(at));
  while (whole.advance(10_000));
  const until = facts.filter((at) => at > 0).at(100) ?? 0;

  const part = new Simulation(scenario, { seed: "1" });
  const early: number[] = [];
  part.onFact((_fact, at) => early.push(at));
  while (part.advanceTo(until, 7));

  expect(early).toEqual(facts.slice(0, early.length));
  expect(early.at(-1)).toBe(until);
  expect(facts[early.length]).toBeGreaterThan(until);
  expect(part.isOver).toBe(false);
  expect(part.now).toBeLessThanOrEqual(until);

  while (part.advanceTo(Number.POSITIVE_INFINITY, 10_000));

  expect(part.isOver).toBe(true);
  expect(early).toEqual(facts);
});

test("brokers and controllers have a disk, others none", () => {
  const scenario = scenarioOf(GOOD_SCENARIO);
  const simulation = new Simulation(scenario, { seed: "1" });
  simulation.advance(2_000);

  expect(simulation.diskOf("broker-1")?.files().length).toBeGreaterThan(0);
  expect(simulation.diskOf("controller-1")?.files().length).toBeGreaterThan(0);
  expect(simulation.diskOf("broker-9")).toBeUndefined();
});
