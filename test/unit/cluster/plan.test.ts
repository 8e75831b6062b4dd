import { expect, test } from "vitest";
import { makePlan } from "../../../src/cluster/plan.ts";
import { scenarioOf, withText } from "../../support/scenario-text.ts";

function planOf(from: string, to: string, seed = "1") {
  return makePlan(scenarioOf(withText(from, to)), seed);
}

test("what a scenario leaves to chance is drawn once and written down", () => {
  const scenario = scenarioOf(
    withText("brokers: 3", "brokers: one-of(3|5)").replace("at: 5s", "at: uniform(1s..9s)"),
  );
  const plans = Array.from({ length: 30 }, (_, seed) => makePlan(scenario, String(seed)));

  expect(new Set(plans.map(({ cluster }) => cluster.brokers.length))).toEqual(new Set([3, 5]));
  expect(makePlan(scenario, "7").choices).toEqual(makePlan(scenario, "7").choices);
  expect(plans[0]?.choices.map(({ path }) => path)).toEqual(["cluster/brokers", "faults/2/at"]);
  for (const { faults } of plans) {
    expect(faults[2]?.delay).toBeGreaterThanOrEqual(1_000_000);
    expect(faults[2]?.delay).toBeLessThanOrEqual(9_000_000);
  }
});

test("one choice more moves no other", () => {
  const before = planOf("at: 5s", "at: uniform(1s..9s)");
  const after = makePlan(
    scenarioOf(
      withText("at: 5s", "at: uniform(1s..9s)").replace("delay: 20s", "delay: uniform(1s..30s)"),
    ),
    "1",
  );

  expect(after.faults[2]?.delay).toBe(before.faults[2]?.delay);
  expect(after.faults[1]?.delay).not.toBe(before.faults[1]?.delay);
});

test.each([
  ["acks: all, enable.idempotence: true", true],
  ["acks: all", true],
  ["acks: 1", false],
  ["retries: 0", false],
  ["acks: all, enable.idempotence: false", false],
])("a producer with { %s } is idempotent: %s", (config, expected) => {
  const plan = planOf("acks: all, enable.idempotence: true", config);

  const producer = plan.cluster.clients[0];

  expect(producer?.kind === "producer" && producer.idempotence).toBe(expected);
});

test("replicas are placed by factor, by default, or by hand", () => {
  const topic = (from: string, to: string) => planOf(from, to).cluster.topics[0];

  expect(topic("seed: 42", "seed: 42")).toMatchObject({
    numPartitions: 2,
    replicationFactor: 3,
    assignments: [],
  });
  const without = "    replication.factor: 3\n    config:\n      min.insync.replicas: 2\n";
  expect(topic(without, "")).toMatchObject({ replicationFactor: 1 });
  expect(
    topic(
      "    partitions: 2\n    replication.factor: 3\n",
      "    replicas: { 0: [3, 1], 1: [1, 2] }\n",
    ),
  ).toMatchObject({
    numPartitions: -1,
    replicationFactor: -1,
    assignments: [
      { partitionIndex: 0, brokerIds: [3, 1] },
      { partitionIndex: 1, brokerIds: [1, 2] },
    ],
  });
});

test("brokers by list keep their racks, configs and clocks", () => {
  const plan = planOf(
    "brokers: 3",
    "brokers: [ { id: 1, rack: a, clock: { offset: 5s, drift: -20ppm } }, { id: 4, config: { broker.rack: b } }, { id: 6 } ]",
  );

  expect(plan.cluster.brokers.map(({ id, rack }) => [id, rack])).toEqual([
    [1, "a"],
    [4, "b"],
    [6, undefined],
  ]);
  expect([...plan.clocks]).toEqual([["broker-1", { offset: 5_000_000, driftPpm: -20 }]]);
});

test("protocol switches and feature levels come over the present ones", () => {
  const plan = planOf(
    "  controllers: 3\n",
    "  controllers: 3\n  protocol: { truncation: high-watermark, fetch.epoch-fencing: false }\n  features: { eligible.leader.replicas.version: 0 }\n",
  );

  expect(plan.cluster.rules.switches).toMatchObject({
    truncation: "high-watermark",
    "fetch.epoch-fencing": false,
    "isr.hw-set": "maximal",
  });
  expect(plan.cluster.features).toEqual({
    "eligible.leader.replicas.version": 0,
    "transaction.version": 2,
  });
});

test("a rate becomes the time from one record to the next", () => {
  const arrival = (rate: string) => {
    const client = planOf("100/s", rate).cluster.clients[0];
    return client?.kind === "producer" ? client.arrival : undefined;
  };

  expect(arrival("100/s")).toBe(10_000);
  expect(arrival("30/m")).toBe(2_000_000);
  expect(arrival("exponential(50/s)")).toMatchObject({
    describe: "exponential, 20000 us on average",
  });
});
