import { expect, test } from "vitest";
import { SECOND } from "../../src/base/time.ts";
import { Simulation } from "../../src/cluster/simulation.ts";
import type { Fact, FactOf } from "../../src/trace/fact.ts";
import { scenarioOf } from "../support/scenario-text.ts";

/** Three brokers and a partition that broker-1 leads and may not go on with alone. */
function play(acks: string, faults: string): { facts: Fact[]; at: number[]; verdict: string } {
  const scenario = scenarioOf(`
version: 1
name: restarted
summary: A broker comes back.
seed: 1
kafka: "4.3"
cluster: { brokers: 3, controllers: 3 }
topics:
  orders:
    replicas: { 0: [1, 2, 3] }
    config: { min.insync.replicas: 2 }
clients:
  p1: { produce: orders, rate: 50/s, config: { acks: ${acks} } }
  c1: { consume: orders, config: { auto.offset.reset: earliest } }
faults:${faults}
duration: 60s
settle: 30s
`);
  const simulation = new Simulation(scenario, { seed: "1" });
  const facts: Fact[] = [];
  const at: number[] = [];
  simulation.onFact((fact) => {
    facts.push(fact);
    at.push(simulation.cluster.clock.now);
  });
  while (simulation.advance(1000));
  return { facts, at, verdict: simulation.finish(undefined).verdict };
}

test("a restarted leader remembers min.insync.replicas: alone it shows no record as committed", () => {
  // Every broker has restarted before the followers go away for good.
  const { facts, at } = play(
    "1",
    `
  - { at: 2s, crash: broker-1, for: 500ms }
  - { at: 14s, crash: broker-2, for: 500ms }
  - { at: 26s, crash: broker-3, for: 500ms }
  - { name: alone, at: 45s, crash: brokers - leader(orders-0) }`,
  );

  const alone = facts.findIndex((fact) => fact.kind === "fault-begun" && fact.name === "alone");
  const shrunk = facts.findIndex(
    (fact, i) => i > alone && fact.kind === "partition-changed" && fact.isr.length === 1,
  );
  const settled = facts.findIndex((fact) => fact.kind === "fault-begun" && fact.verb === "settle");
  const between = facts.slice(shrunk, settled);
  expect(shrunk).toBeGreaterThan(alone);
  expect(between.filter((fact) => fact.kind === "appended").length).toBeGreaterThan(10);
  expect(between.filter((fact) => fact.kind === "high-watermark-moved")).toEqual([]);
  expect((at[settled] ?? 0) - (at[shrunk] ?? 0)).toBeGreaterThan(SECOND);
});

test("a leader that lost its tail in a power cut and is back at once leads nobody", () => {
  // Back before its session ends: all metadata still name it as the leader.
  const { facts, verdict } = play(
    "all",
    `
  - { at: 5s, power-off: leader(orders-0), unflushed: lost, for: 500ms }`,
  );

  const lost = facts.filter((fact) => fact.kind === "unflushed-lost");
  const terms = facts.filter((fact): fact is FactOf<"became-leader"> => {
    return fact.kind === "became-leader" && fact.partition === "orders-0";
  });
  const epochs = terms.map(({ leaderEpoch }) => leaderEpoch);
  expect(lost.length).toBeGreaterThan(0);
  expect(new Set(epochs).size).toBe(epochs.length);
  expect(epochs.length).toBeGreaterThan(1);
  expect(verdict).toBe("pass");
});

test("a restarted broker takes no request before the controller has unfenced it", () => {
  const { facts } = play(
    "all",
    `
  - { name: down, at: 5s, crash: leader(orders-0), for: 500ms }`,
  );

  const restarted = facts.findLastIndex((fact) => fact.kind === "node-started");
  const unfenced = facts.findIndex(
    (fact, i) => i > restarted && fact.kind === "broker-unfenced" && fact.broker === 1,
  );
  const meanwhile = facts.slice(restarted, unfenced);
  expect(unfenced).toBeGreaterThan(restarted);
  // Who tries finds nobody; the connection is refused rather than closed after a request.
  expect(
    meanwhile.filter((fact) => fact.kind === "appended" && fact.broker === 1 && fact.asLeader),
  ).toEqual([]);
});
