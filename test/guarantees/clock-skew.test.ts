import { expect, test } from "vitest";
import { Simulation } from "../../src/cluster/simulation.ts";
import type { Fact } from "../../src/trace/fact.ts";
import { scenarioOf } from "../support/scenario-text.ts";

test("a controller whose clock is set an hour ahead fences nobody: sessions do not go by the wall clock", () => {
  const scenario = scenarioOf(`
version: 1
name: skewed
summary: The clock of the active controller jumps.
seed: 1
kafka: "4.3"
cluster: { brokers: 3, controllers: 3 }
topics:
  orders:
    partitions: 1
    replication.factor: 3
clients:
  p1: { produce: orders, rate: 20/s }
faults:
  - { at: 5s, clock-skew: controller, offset: 1h, for: 10s }
  - { at: 25s, clock-skew: controller, offset: -1h, for: 10s }
duration: 45s
settle: 5s
`);
  const simulation = new Simulation(scenario, { seed: "1" });
  const facts: Fact[] = [];
  simulation.onFact((fact) => facts.push(fact));

  while (simulation.advance(1000));

  expect(facts.filter(({ kind }) => kind === "fault-begun").length).toBe(3);
  expect(facts.filter(({ kind }) => kind === "broker-fenced")).toEqual([]);
});
