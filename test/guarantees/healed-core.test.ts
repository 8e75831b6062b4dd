import { afterEach, expect, test, vi } from "vitest";
import type { RunResult } from "../../src/cluster/run-result.ts";
import { Simulation } from "../../src/cluster/simulation.ts";
import { BrokerSessions } from "../../src/kafka/metadata/broker-sessions.ts";
import type { FactOf } from "../../src/trace/fact.ts";
import { scenarioOf } from "../support/scenario-text.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

interface Settled {
  readonly result: RunResult;
  readonly drawn: FactOf<"core-drawn">;
  /** Of those with whom faults stay: who was started, or went on, since the cluster settled. */
  readonly awakened: readonly string[];
  readonly ackedSince: number;
}

/** Five brokers; when the story is over, most of the cluster is healed. */
function settle(faults: string, seed: number): Settled {
  const scenario = scenarioOf(`
version: 1
name: core
summary: A core is healed.
kafka: "4.3"
cluster:
  brokers: 5
  controllers: 3
  config: { replica.lag.time.max.ms: 5000 }
topics:
  orders: { partitions: 3, replication.factor: 3, config: { min.insync.replicas: 2 } }
clients:
  p1: { produce: orders, rate: 50/s }
  c1: { consume: orders, config: { auto.offset.reset: earliest, metadata.max.age.ms: 10000 } }
faults:${faults}
duration: 25s
settle: { time: 150s, core: majority }
`);
  const simulation = new Simulation(scenario, { seed: String(seed) });
  let drawn: FactOf<"core-drawn"> | undefined;
  const awakened = new Set<string>();
  let ackedSince = 0;
  simulation.onFact((fact) => {
    if (fact.kind === "core-drawn") drawn = fact;
    if (drawn === undefined) return;
    if (fact.kind === "node-started" || fact.kind === "node-resumed") awakened.add(fact.node);
    if (fact.kind === "send-ended" && fact.outcome === "acked") ackedSince += fact.values.length;
  });
  while (simulation.advance(100_000));
  if (drawn === undefined) throw new Error("no core was drawn");
  const { frozen } = drawn;
  const names = [...awakened].filter((name) => frozen.includes(name));
  return { result: simulation.finish(undefined), drawn, awakened: names, ackedSince };
}

function bugs({ violations }: RunResult): string[] {
  return violations
    .filter(({ permitted }) => permitted === undefined)
    .map(({ kind, text }) => `${kind}: ${text.join(" ")}`);
}

const MANY = `
  - { at: 5s, isolate: broker-1, direction: from }
  - { at: 8s, pause: broker-2 }
  - { at: 10s, crash: controller-1 }
  - { at: 12s, partition: { from: broker-3, to: controller-2, direction: to } }`;

test("whoever stays outside stays as it is, and the core converges and works", () => {
  // Seeds that leave each of them outside once.
  const runs = [3, 6, 8, 9].map((seed) => settle(MANY, seed));

  expect(runs.flatMap(({ result }) => bugs(result))).toEqual([]);
  expect(runs.flatMap(({ awakened }) => awakened)).toEqual([]);
  // Of the half of the time in which producers go on.
  expect(runs.filter(({ ackedSince }) => ackedSince < 2_000)).toEqual([]);
  const frozen = new Set(runs.flatMap(({ drawn }) => drawn.frozen));
  for (const name of ["broker-1", "broker-2", "broker-3", "controller-1"])
    expect(frozen).toContain(name);
  for (const { result } of runs) {
    const held = result.guarantees.filter(({ state }) => state === "held").map(({ name }) => name);
    expect(held).toContain("cluster-recovers");
    expect(held).toContain("work-goes-on");
  }
});

test("a controller that never fences is caught where a deaf leader stays deaf", () => {
  vi.spyOn(BrokerSessions.prototype, "stalest").mockImplementation(() => undefined);
  // Seeds that leave the leader outside.
  const kinds = [7, 8].flatMap((seed) =>
    bugs(settle("\n  - { at: 5s, isolate: leader(orders-0) }", seed).result),
  );

  expect(kinds.join("\n")).toContain("writes-stall");
});
