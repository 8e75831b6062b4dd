import { afterEach, expect, test, vi } from "vitest";
import { Simulation } from "../../src/cluster/simulation.ts";
import * as outcome from "../../src/kafka/client/outcome.ts";
import { ERRORS } from "../../src/kafka/error-code.ts";
import { ProducerState } from "../../src/kafka/log/producer-state.ts";
import type { ReplicationRules } from "../../src/kafka/replication/replication-rules.ts";
import { Delivery } from "../../src/nodes/consumer/delivery.ts";
import { scenarioOf } from "../support/scenario-text.ts";

vi.mock("../../src/kafka/client/outcome.ts", { spy: true });

afterEach(() => {
  vi.resetAllMocks();
  vi.restoreAllMocks();
});

/** Which guarantees are broken, and by nothing that permits it, as far as clients alone can see it. */
function bugs(
  faults: string,
  rules: (kafkas: ReplicationRules) => ReplicationRules = (kafkas) => kafkas,
): string[] {
  const scenario = scenarioOf(`
version: 1
name: culprit
summary: One rule is broken.
seed: 1
kafka: "4.3"
cluster: { brokers: 3, controllers: 3 }
topics:
  orders:
    replicas: { 0: [1, 2, 3] }
    config: { min.insync.replicas: 2 }
clients:
  p1: { produce: orders, rate: 500/s, config: { acks: all, request.timeout.ms: 2000, delivery.timeout.ms: 8000 } }
  c1: { consume: orders, config: { auto.offset.reset: earliest } }
faults:${faults}
duration: 40s
settle: 40s
`);
  const simulation = new Simulation(scenario, { seed: "1", rules });
  while (simulation.advance(100_000));
  const { violations } = simulation.finish(undefined);
  const broken = violations.filter(({ permitted }) => permitted === undefined);
  return [...new Set(broken.map(({ guarantee }) => guarantee))];
}

const LEADER_CUT_OFF = `
  - at: 5s
    partition: { from: broker-1, to: brokers + controllers - broker-1 }
    for: 20s`;
const LEADER_PAUSES = `
  - { at: 5s, pause: broker-1, for: 4s }
  - { at: 15s, reset: p1 }
  - { at: 16s, crash: broker-1, for: 5s }`;
const PRODUCER_DEAF = `
  - at: 5s
    partition: { from: p1, to: brokers, direction: from }
    for: 15s`;
const CONSUMER_RESTARTS = `
  - { at: 15s, crash: c1, for: 2s }`;

test("nothing is caught while all rules are Kafka's", () => {
  for (const faults of [LEADER_CUT_OFF, LEADER_PAUSES, PRODUCER_DEAF, CONSUMER_RESTARTS]) {
    expect(bugs(faults)).toEqual([]);
  }
});

test("acks=all answered by a leader that is cut off is seen by clients, too", () => {
  const found = bugs(LEADER_CUT_OFF, (kafkas) => ({
    ...kafkas,
    produceOutcome: () => ERRORS.NONE,
  }));

  expect(found).toContain("no-acked-loss");
  expect(found).toContain("offsets-agree");
  expect(found).toContain("acked-gets-read");
  expect(found).toContain("appends-in-real-time");
});

test("brokers that take every batch for new are seen by clients, too", () => {
  vi.spyOn(ProducerState.prototype, "check").mockImplementation(() => ({
    error: ERRORS.NONE,
    duplicateOf: undefined,
  }));

  const found = bugs(LEADER_PAUSES);

  expect(found).toContain("no-duplicates");
  expect(found).toContain("seen-once");
});

test("a producer that calls failed what may have been written is caught", () => {
  vi.mocked(outcome.sendOutcome).mockImplementation((last) =>
    last === "acked" ? "acked" : "failed",
  );
  vi.mocked(outcome.attemptOutcome).mockImplementation((error) =>
    error === ERRORS.NONE ? "acked" : "failed",
  );

  expect(bugs(PRODUCER_DEAF)).toContain("failed-never-read");
});

test("a consumer that leaves out a batch now and then is caught", () => {
  let count = 0;
  const deliver = Delivery.prototype.deliver;
  vi.spyOn(Delivery.prototype, "deliver").mockImplementation(function (
    this: Delivery,
    partition,
    batches,
  ) {
    const isCareless = batches.length > 0 && ++count % 50 === 0;
    const given = deliver.call(this, partition, isCareless ? batches.slice(1) : batches);
    const last = batches.at(-1);
    if (isCareless && last !== undefined) {
      partition.position.advance(last.nextOffset, last.partitionLeaderEpoch);
    }
    return given;
  });

  const found = bugs(CONSUMER_RESTARTS);

  expect(found).toContain("polls-in-order");
  expect(found).toContain("readers-agree");
});
