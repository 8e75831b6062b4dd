import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Simulation } from "../../../../src/cluster/simulation.ts";
import { explicitScenario } from "../../../../src/fuzz/explicit-scenario.ts";
import { changed, keysAt } from "../../../../src/fuzz/plain-path.ts";
import type { Fall } from "../../../../src/fuzz/shrink/fall.ts";
import { fallenIn, fallOf } from "../../../../src/fuzz/shrink/fall.ts";
import type { Shrunk } from "../../../../src/fuzz/shrink/shrink.ts";
import { shrink } from "../../../../src/fuzz/shrink/shrink.ts";
import { writeYaml } from "../../../../src/scenario/parse-yaml.ts";
import type { PlainMap } from "../../../../src/scenario/plain.ts";
import { scenarioOf } from "../../../support/scenario-text.ts";

/** A loss amid faults that have nothing to do with it. */
const LOSSY = `version: 1
name: lossy
kafka: "4.3"
seed: 3
cluster:
  brokers: 4
  controllers: 3
  protocol: { truncation: high-watermark }
topics:
  orders: { partitions: 2, replication.factor: 3, config: { min.insync.replicas: 2 } }
  others: { partitions: 1, replication.factor: 3 }
clients:
  p1: { produce: orders, rate: 50/s }
  p2: { produce: others, rate: 20/s, keys: 5 }
  c1: { consume: orders }
faults:
  - { name: slow, at: 1s, slow-disk: any(brokers), factor: 10, for: 2s }
  - { at: 2s, delay-link: 20ms, links: all, for: 3s }
  - { name: all, at: 4130ms, crash: brokers, for: 1s }
  - { after: all, delay: 2s, pause: controller, for: 1s }
  - { at: 9s, isolate: broker-4, for: 2s }
duration: 15s
settle: 20s
`;

function violationIn(plain: PlainMap, seed: string): Fall {
  const simulation = new Simulation(scenarioOf(writeYaml(plain)), { seed });
  while (simulation.advance(10_000)) {}
  const [first] = simulation.finish(undefined).violations;
  if (first === undefined) throw new Error("nothing went wrong");
  return fallOf(first);
}

const EXPLICIT = explicitScenario(LOSSY, scenarioOf(LOSSY), "3");
const FALL = violationIn(EXPLICIT, "3");
const SHRUNK = shrink(EXPLICIT, { seed: "3", fall: FALL }) as Shrunk;

test("of a failing run there remains what it takes", () => {
  const { after, before, plain } = SHRUNK;

  expect(before).toMatchObject({ faults: 5, brokers: 4, partitions: 3, clients: 3 });
  expect(after).toMatchObject({ faults: 1, partitions: 1, clients: 1 });
  expect(after.events).toBeLessThan(before.events / 20);
  expect(writeYaml(plain)).toMatch(/truncation: high-watermark/);
});

test("the smallest run fails in the same way, each time", () => {
  expect(violationIn(SHRUNK.plain, SHRUNK.seed)).toEqual(FALL);
  expect(shrink(EXPLICIT, { seed: "3", fall: FALL })?.plain).toEqual(SHRUNK.plain);
});

test("nothing of it can be left out", () => {
  const { plain, seed } = SHRUNK;
  const without = (...path: string[]): boolean =>
    fallenIn(writeYaml(changed(plain, path, undefined)), seed, FALL) !== undefined;

  expect(without("faults")).toBe(false);
  const [client = ""] = keysAt(plain, ["clients"]);
  expect(client).toMatch(/^p[12]$/);
  expect(without("clients", client)).toBe(false);
  expect(without("clients")).toBe(false);
  expect(without("cluster", "protocol")).toBe(false);
});

test("a run that does not fail is not shrunk", () => {
  const text = LOSSY.replace("truncation: high-watermark", "truncation: on-fetch");

  const explicit = explicitScenario(text, scenarioOf(text), "3");

  expect(shrink(explicit, { seed: "3", fall: FALL })).toBeUndefined();
});

test("a run that takes more events than it may is given up", () => {
  const { plain, seed, after } = SHRUNK;
  const within = (events: number): boolean =>
    fallenIn(writeYaml(plain), seed, FALL, events) !== undefined;

  expect([after.events, after.events - 1].map(within)).toEqual([true, false]);
});

test("a search that must end early has a run that fails, and says that it is not done", () => {
  const found = shrink(EXPLICIT, { seed: "3", fall: FALL, isEnough: (runs) => runs >= 5 });

  expect(found?.isUnfinished).toBe(true);
  expect(found && violationIn(found.plain, found.seed)).toEqual(FALL);
});

test("a failing run of a shipped scenario keeps its reason", () => {
  const text = readFileSync("scenarios/unclean-election.yaml", "utf8");
  const explicit = explicitScenario(text, scenarioOf(text), "7");
  const fall = violationIn(explicit, "7");

  const found = shrink(explicit, { seed: "7", fall });

  expect(fall.permitted).toMatch(/unclean/);
  expect(found && violationIn(found.plain, found.seed)).toEqual(fall);
  expect(found?.after.events).toBeLessThan((found?.before.events ?? 0) / 3);
}, 60_000);
