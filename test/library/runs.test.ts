import type { ScenarioValue } from "kafka-sim";
import {
  defineGuarantee,
  defineScenario,
  describeRun,
  expectGuarantees,
  explainViolation,
  GuaranteesBroken,
  parseScenario,
  ScenarioMistakes,
  shrinkRun,
  simulate,
} from "kafka-sim";
import "kafka-sim/vitest";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const VALUE: ScenarioValue = {
  version: 1,
  name: "mine",
  kafka: "4.3",
  seed: 3,
  cluster: { brokers: 3, controllers: 1 },
  topics: { orders: { partitions: 1, "replication.factor": 3 } },
  clients: { p1: { produce: "orders", rate: "100/s", records: 100 } },
};

const failover = parseScenario(
  readFileSync("scenarios/leader-failover.yaml", "utf8"),
  "leader-failover.yaml",
);
const lost = simulate(
  parseScenario(readFileSync("scenarios/acks-1-gap.yaml", "utf8"), "acks-1-gap.yaml"),
);

test("a value is the same scenario as its YAML: the same run, to the event", () => {
  const fromValue = simulate(defineScenario(VALUE));
  const fromYaml = simulate(parseScenario(fromValue.yaml), { seed: 3 });

  expect(fromValue.verdict).toBe("pass");
  expect(fromYaml.digest).toBe(fromValue.digest);
  expect(simulate(defineScenario(VALUE), { seed: 4 }).digest).not.toBe(fromValue.digest);
});

test("all that is wrong with a value is told at once, with the text in which it is wrong", () => {
  const wrong: ScenarioValue = {
    ...VALUE,
    clients: { p1: { produce: "order" } },
    faults: [{ at: "1s", crash: "leader(orders-7)" }],
  };

  const define = (): unknown => defineScenario(wrong);

  expect(define).toThrow(ScenarioMistakes);
  expect(define).toThrow(/did you mean `orders`\?(.|\n)*produce: order\n(.|\n)*orders-7/);
});

test("part of a value that stands in two places is no anchor", () => {
  const config = { "min.insync.replicas": 2 };
  const topic = { "replication.factor": 3, config };
  const { yaml } = defineScenario({ ...VALUE, topics: { orders: topic, returns: topic } });

  expect(yaml).not.toMatch(/[&*]a1/);
});

test("variants and seeds that there are none of are refused", () => {
  expect(failover.variants.length).toBeGreaterThan(0);
  expect(() => simulate(failover, { variant: "no-such" })).toThrow(failover.variants[0]);
  expect(() => simulate(failover, { seed: 0.5 })).toThrow(RangeError);
});

test("a permitted loss is taken, unless the guarantee is asked for by name", () => {
  expect(lost.violations.some(({ permitted }) => permitted !== undefined)).toBe(true);

  expect(() => expectGuarantees(lost)).not.toThrow();
  expect(() => expectGuarantees(lost, "no-acked-loss")).toThrow(GuaranteesBroken);
  expect(() => expectGuarantees(lost, "no-acked-loss")).toThrow("acked-record-lost");
  expect(() => expectGuarantees(lost, "no-acked-los")).toThrow("did you mean `no-acked-loss`?");
});

test("the matchers say the same, and their messages tell what happened", () => {
  expect(lost).toHoldGuarantees();
  expect(lost).toViolate("no-acked-loss");
  expect(lost).toViolate("acked-record-lost");
  expect(() => expect(lost).toHoldGuarantees("no-acked-loss")).toThrow("acked-record-lost");
  expect(() => expect(lost).not.toViolate("no-acked-loss")).toThrow("PERMITTED");
  expect(() => expect(lost).toViolate("no-dirty-read")).toThrow("should be violated, and is not");
});

test("a violation can be explained, and shrunk to a scenario that has it", () => {
  const [violation] = lost.violations;
  if (violation === undefined) throw new Error("nothing was lost");

  const story = explainViolation(lost, violation);
  const shrunk = shrinkRun(lost, violation, { runs: 3 });

  expect(describeRun(lost)).toContain("acked-record-lost");
  expect(story).toContain("because");
  expect(shrunk && simulate(shrunk.scenario)).toViolate("acked-record-lost");
});

test("a guarantee that sees nothing of what it is about is untested, and one that is broken fails the run", () => {
  const begin = (): { count: number } => ({ count: 0 });
  const quiet = defineGuarantee({ name: "quiet", sentence: "Nobody is fenced.", begin, on: {} });
  const few = defineGuarantee({
    name: "few",
    sentence: "No more than 50 records are sent.",
    begin,
    on: { "record-sent": (state) => void state.count++ },
    atEnd({ count }, { broken }) {
      if (count > 50) broken({ text: `There were ${count}.`, client: "p1", count });
    },
  });

  const run = simulate(defineScenario(VALUE), { guarantees: [quiet, few] });

  expect(run.verdict).toBe("fail");
  expect(run).toViolate("few");
  expect(run.guarantees.find(({ name }) => name === "quiet")?.state).toBe("untested");
  expect(run.violations).toMatchObject([
    { guarantee: "few", text: ["There were 100."], count: 100 },
  ]);
});
