import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Simulation } from "../../../src/cluster/simulation.ts";
import { explicitScenario } from "../../../src/fuzz/explicit-scenario.ts";
import { writeYaml } from "../../../src/scenario/parse-yaml.ts";
import { readScenario } from "../../../src/scenario/read-scenario.ts";
import type { Scenario } from "../../../src/scenario/scenario.ts";

function read(text: string): Scenario {
  const { scenario, complaints } = readScenario(text, "explicit.yaml");
  expect(complaints.map(({ message }) => message)).toEqual([]);
  if (scenario === undefined) throw new Error("no scenario");
  return scenario;
}

/** How a run begins: enough to see whether it is another. */
function beginning(scenario: Scenario, seed: string, events: number): string {
  const simulation = new Simulation(scenario, { seed, guarantees: [] });
  simulation.advance(events);
  const { digest, checkpoints, events: count } = simulation.finish(undefined);
  return `${count} ${digest} ${checkpoints.length}`;
}

const FILES = readdirSync("scenarios").filter((name) => name.endsWith(".yaml"));

test.each(FILES)("%s, written out for a seed, is the same run", (name) => {
  const text = readFileSync(`scenarios/${name}`, "utf8");
  const scenario = read(text);
  for (const one of [scenario, ...scenario.variants]) {
    const explicit = read(writeYaml(explicitScenario(text, one, "7")));

    expect(explicit.variants).toEqual([]);
    expect(beginning(explicit, "7", 6000)).toBe(beginning(one, "7", 6000));
  }
});

test("what is left to chance is written out as the seed decided", () => {
  const text = `version: 1
name: drawn
kafka: "4.3"
seed: 3
cluster:
  brokers: uniform(3..5)
  controllers: one-of(1|3)
topics:
  orders: { partitions: uniform(1..4), replication.factor: 3 }
clients:
  p1: { produce: orders, rate: 50/s, records: 200 }
faults:
  - at: uniform(1s..3s)
    crash: any(brokers)
    for: exponential(4s)
random-faults: { swarm: true }
duration: 20s
settle: 20s
`;
  const scenario = read(text);
  for (const seed of ["1", "2", "3", "4", "5"]) {
    const plain = explicitScenario(text, scenario, seed);
    const written = writeYaml(plain);
    const explicit = read(written);

    expect(written).toMatch(/brokers: [3-5]$/m);
    expect(written).not.toMatch(/(brokers|partitions|at|for): uniform|one-of|random-faults/);
    expect(explicit.seed).toBe(Number(seed));
    expect(beginning(explicit, seed, 100_000)).toBe(beginning(scenario, seed, 100_000));
    // Written out once more, nothing changes.
    expect(writeYaml(explicitScenario(written, explicit, seed))).toBe(written);
  }
});
