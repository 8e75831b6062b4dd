import { expect, test } from "vitest";
import { makePlan } from "../../../src/cluster/plan.ts";
import { explicitScenario } from "../../../src/fuzz/explicit-scenario.ts";
import { writeYaml } from "../../../src/scenario/parse-yaml.ts";
import { run } from "../../support/run-scenario.ts";
import { scenarioOf } from "../../support/scenario-text.ts";

const SEEDS = Array.from({ length: 40 }, (_, seed) => String(seed));

function chaos(edges: boolean): string {
  return `version: 1
name: chaos
summary: Drawn.
kafka: "4.3"
cluster: { brokers: 3, controllers: 1, config: { replica.lag.time.max.ms: 4321 } }
topics:
  orders: { partitions: 1, replication.factor: 3, config: { min.insync.replicas: 2 } }
  bills: { partitions: 1, replication.factor: 3 }
clients:
  p1: { produce: orders, rate: 20/s, config: { linger.ms: 7 } }
  c1: { consume: orders }
  a1: { process: { from: orders, to: bills, group: billing, guarantee: at-least-once } }
random-faults: { edges: ${edges}, quiet-after: 4s }
settle: 20s
`;
}

test("a seed draws configs near their edges, other ones than another, and none that the scenario sets", () => {
  const scenario = scenarioOf(chaos(true));

  const drawn = SEEDS.map((seed) =>
    makePlan(scenario, seed).choices.filter(({ path }) => path.includes("config/")),
  );

  const names = new Set(drawn.flat().map(({ path }) => path));
  expect(new Set(drawn.map((one) => JSON.stringify(one))).size).toBe(SEEDS.length);
  expect(names.size).toBeGreaterThan(20);
  expect(names).not.toContain("cluster/config/replica.lag.time.max.ms");
  expect(names).not.toContain("clients/p1/config/linger.ms");
  expect(names).toContain("clients/a1/consumer-config/max.poll.records");
  expect(names).toContain("clients/a1/producer-config/linger.ms");
});

test("the cluster runs with what was drawn, and where nothing is to be drawn with what was written", () => {
  const edged = makePlan(scenarioOf(chaos(true)), "3");
  const plain = makePlan(scenarioOf(chaos(false)), "3");

  for (const { path, value } of edged.choices) {
    const [, name = ""] = path.split("cluster/config/");
    if (name !== "") expect(String(edged.cluster.configs[name])).toBe(value);
  }
  expect(edged.cluster.configs["replica.lag.time.max.ms"]).toBe(4321);
  expect(plain.cluster.configs).toEqual({ "replica.lag.time.max.ms": 4321 });
});

test("written out, with what was drawn in its place, it is the same run", () => {
  const text = chaos(true);
  const scenario = scenarioOf(text);

  const explicit = scenarioOf(writeYaml(explicitScenario(text, scenario, "5")));

  expect(run(explicit, 5).digest).toBe(run(scenario, 5).digest);
});
