import { expect, test } from "vitest";
import { byText } from "../../../src/base/order.ts";
import type { Plan } from "../../../src/cluster/plan.ts";
import { makePlan } from "../../../src/cluster/plan.ts";
import type { FaultSpec } from "../../../src/scenario/scenario.ts";
import { writeSteps } from "../../../src/scenario/write-steps.ts";
import { run } from "../../support/run-scenario.ts";
import { scenarioOf } from "../../support/scenario-text.ts";

const SEEDS = Array.from({ length: 60 }, (_, seed) => String(seed));

function chaos(randomFaults: string, faults = ""): string {
  return `version: 1
name: chaos
summary: Drawn.
kafka: "4.3"
cluster: { brokers: 5, controllers: 3 }
topics:
  orders: { partitions: 2, replication.factor: 3, config: { min.insync.replicas: 2 } }
clients:
  p1: { produce: orders, rate: 50/s, config: { acks: all } }
  c1: { consume: orders }
${faults}random-faults: ${randomFaults}
settle: 20s
`;
}

function plans(text: string): Plan[] {
  const scenario = scenarioOf(text);
  return SEEDS.map((seed) => makePlan(scenario, seed));
}

function faultsOf(text: string): FaultSpec[] {
  return plans(text).flatMap(({ scenario }) => scenario.faults);
}

/** All that a step says, without where it stands. */
function meaning(steps: readonly FaultSpec[]): unknown {
  const replacer = (key: string, value: unknown): unknown => {
    if (key === "place" || key === "number") return undefined;
    if (key === "kind" && typeof value === "object" && value !== null && "name" in value) {
      return value.name;
    }
    return value instanceof Map ? [...value] : value;
  };
  return JSON.parse(JSON.stringify(steps, replacer));
}

test("the plan of a seed, written out as a scenario's steps, is read as the same steps", () => {
  const text = chaos(
    "{ unlimited: true, quiet-after: 40s, keep: alive(brokers) >= 2, generators: [loose-messages, damage, swizzle, partition, pause, crash-while-writing, { crash: any(brokers) - broker-1, every: exponential(10s), for: uniform(1s..5s) }] }",
  );
  for (const { scenario } of plans(text)) {
    const written = writeSteps(scenario.faults);

    const read = scenarioOf(chaos("{}", `faults:\n${written}`)).faults;

    expect(meaning(read)).toEqual(meaning(scenario.faults));
  }
});

test("a run of the steps that were drawn is the run itself", () => {
  const text = chaos("{ quiet-after: 10s }");
  const drawn = makePlan(scenarioOf(text), "3").scenario.faults;
  const explicit = text.replace(
    "random-faults: { quiet-after: 10s }",
    `duration: 10s\nfaults:\n${writeSteps(drawn)}`,
  );

  expect(drawn.length).toBeGreaterThan(3);
  expect(run(scenarioOf(explicit), 3).digest).toBe(run(scenarioOf(text), 3).digest);
});

test("seeds draw different kinds and different fierceness, and every shape is drawn by some", () => {
  const profiles = plans(chaos("{}")).map((plan) => plan.chaos ?? "");

  const kinds = new Set(profiles.flatMap((profile) => profile.match(/[a-z-]+(?= x)/g) ?? []));
  expect(new Set(profiles).size).toBeGreaterThan(50);
  expect([...kinds].sort(byText)).toEqual([
    "burst",
    "clock-skew",
    "crash",
    "crash-while-writing",
    "elections",
    "fail-overs",
    "isolate",
    "partition",
    "pause",
    "power-cut",
    "reset",
    "shutdown",
    "slow-disk",
    "slow-network",
    "stale-leader",
    "swizzle",
    "uneven-logs",
  ]);
  const all = plans(chaos("{ swarm: false }")).map((plan) => plan.chaos?.split(" x").length);
  expect(new Set(all)).toEqual(new Set([18]));
});

test("one generator more draws the same steps of the others", () => {
  const steps = (generators: string) =>
    plans(chaos(`{ swarm: false, generators: [${generators}] }`)).map(({ scenario }) =>
      scenario.faults.filter(({ name }) => name?.startsWith("isolate") === true),
    );

  expect(steps("isolate, pause").map(meaning)).toEqual(steps("crash, isolate").map(meaning));
});

test("nothing strikes after quiet-after, and the story ends then", () => {
  for (const { scenario, duration } of plans(chaos("{ quiet-after: 20s }"))) {
    expect(duration).toBe(20_000_000);
    for (const { trigger } of scenario.faults) {
      if (trigger.kind === "at" && trigger.time.kind === "fixed") {
        expect(trigger.time.value).toBeLessThan(20_000_000);
      }
    }
  }
});

test("within Kafka's promises either page caches survive, or only one broker of two in sync may die", () => {
  const deadly =
    "{ swarm: false, generators: [crash, power-cut, crash-while-writing, { power-off: brokers, every: 5s, for: 1s }] }";
  let lossy = 0;
  for (const { scenario } of plans(chaos(deadly))) {
    const victims = new Set<string>();
    const losers = new Set<string>();
    for (const { kind, arguments: given } of scenario.faults) {
      const target = given.get(kind.name)?.text ?? "";
      if (target.startsWith("controller")) continue;
      victims.add(target);
      const unflushed = given.get("unflushed")?.text ?? "lost";
      if (kind.name === "power-off" && unflushed !== "kept") losers.add(target);
    }
    if (losers.size === 0) continue;
    lossy++;
    expect([...victims]).toHaveLength(1);
    expect([...victims][0]).toMatch(/^broker-[1-5]$/);
  }
  expect(lossy).toBeGreaterThan(10);
  expect(lossy).toBeLessThan(50);
});

test("without limits anything may lose its page cache", () => {
  const steps = faultsOf(
    chaos(
      "{ unlimited: true, swarm: false, generators: [{ power-off: brokers, every: 5s, for: 1s }] }",
    ),
  );

  expect(new Set(steps.map(({ text }) => text))).toEqual(new Set(["power-off: brokers"]));
  expect(steps.some(({ arguments: given }) => given.has("unflushed"))).toBe(false);
});

test("a target is confined to who may die, whatever it is made of", () => {
  const targets = (target: string): Set<string> => {
    const generator = `{ crash: "${target}", every: 5s, for: 1s }, { power-off: controller, every: 9s, for: 1s }`;
    const found = new Set<string>();
    for (const { scenario, chaos: profile } of plans(
      chaos(`{ swarm: false, generators: [${generator}] }`),
    )) {
      const mortal = /only (broker-[0-9])/.exec(profile ?? "")?.[1];
      if (mortal === undefined) continue;
      for (const { kind, text } of scenario.faults) {
        if (kind.name === "crash") found.add(text.replaceAll(mortal, "MORTAL"));
      }
    }
    return found;
  };

  expect(targets("any 2 of brokers")).toEqual(new Set(["crash: any 2 of MORTAL"]));
  expect(targets("isr(orders-0) - leader(orders-0)")).toEqual(
    new Set(["crash: isr(orders-0) & MORTAL - leader(orders-0)"]),
  );
  expect(targets("all")).toEqual(new Set(["crash: MORTAL + controllers"]));
  expect(targets("controller")).toEqual(new Set(["crash: controller"]));
  expect(targets("broker-1 + controllers")).toEqual(
    new Set(["crash: controllers", "crash: MORTAL + controllers"]),
  );
});

test("pauses come close to the times at which something is decided", () => {
  const lengths = faultsOf(chaos("{ swarm: false, generators: [pause] }")).map(({ for: time }) =>
    time?.kind === "fixed" ? time.value : 0,
  );

  for (const limit of [9_000_000, 30_000_000]) {
    expect(lengths).toContain(limit * 0.98);
    expect(lengths).toContain(limit * 1.02);
  }
});

test("of a swizzle all are cut off before any comes back, and they come back in another order", () => {
  let reordered = 0;
  for (const { scenario } of plans(
    chaos("{ swarm: false, generators: [{ shape: swizzle, every: 59s }] }"),
  )) {
    const spans = scenario.faults.map(({ trigger, for: time }) => {
      const begin = trigger.kind === "at" && trigger.time.kind === "fixed" ? trigger.time.value : 0;
      return { begin, end: begin + (time?.kind === "fixed" ? time.value : 0) };
    });
    expect(Math.max(...spans.map(({ begin }) => begin))).toBeLessThan(
      Math.min(...spans.map(({ end }) => end)),
    );
    const ends = spans.map(({ end }) => end);
    if (ends.join() !== [...ends].sort((a, b) => a - b).join()) reordered++;
  }
  expect(reordered).toBeGreaterThan(30);
});
