import { afterEach, expect, test, vi } from "vitest";
import type { RunResult } from "../../src/cluster/run-result.ts";
import { Simulation } from "../../src/cluster/simulation.ts";
import { CONTROLLER_RULES } from "../../src/kafka/metadata/controller-rules.ts";
import type { ReplicationRules } from "../../src/kafka/replication/replication-rules.ts";
import { IsrChannel } from "../../src/nodes/broker/isr-channel.ts";
import { ReplicaFetcher } from "../../src/nodes/broker/replica-fetcher.ts";
import { Fetcher } from "../../src/nodes/consumer/fetcher.ts";
import { Sender } from "../../src/nodes/producer/sender.ts";
import { scenarioOf } from "../support/scenario-text.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

interface Play {
  readonly faults: string;
  readonly settle?: string;
  readonly delivery?: number;
  readonly rules?: (rules: ReplicationRules) => ReplicationRules;
}

/** Three brokers, three controllers, a partition that broker-1 leads; time enough for all bounds. */
function play({ faults, settle = "150s", delivery = 40_000, rules }: Play): RunResult {
  const scenario = scenarioOf(`
version: 1
name: culprit
summary: One rule is broken.
seed: 1
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 3
  config: { replica.lag.time.max.ms: 4000, replica.socket.timeout.ms: 5000 }
topics:
  orders:
    replicas: { 0: [1, 2, 3] }
    config: { min.insync.replicas: 2 }
clients:
  p1: { produce: orders, rate: 50/s, config: { delivery.timeout.ms: ${delivery} } }
  c1: { consume: orders, config: { auto.offset.reset: earliest } }
faults:${faults}
duration: 20s
settle: ${settle}
`);
  const simulation = new Simulation(scenario, {
    seed: "1",
    ...(rules === undefined ? {} : { rules }),
  });
  while (simulation.advance(100_000));
  return simulation.finish(undefined);
}

const LEADER_DIES = `
  - { at: 5s, crash: broker-1, for: 10s }`;
const FOLLOWER_DIES = `
  - { at: 5s, crash: broker-3, for: 10s }`;

const GUARANTEES = [
  "cluster-recovers",
  "isr-requests-end",
  "isr-refills",
  "replicas-converge",
  "acked-everywhere",
  "work-goes-on",
  "sends-end",
];

function bugs({ violations }: RunResult): string[] {
  const found = violations.filter(({ permitted }) => permitted === undefined);
  return [...new Set(found.map(({ kind }) => kind))];
}

const FOLLOWER_RESET = `
  - { at: 5s, reset: broker-3 }`;
/** Nobody can write when the cluster begins to settle. */
const FOLLOWERS_DIE_AT_LAST = `
  - { at: 10s, crash: broker-2 + broker-3 }`;
const CONSUMER_RESET = `
  - { at: 5s, reset: c1 }`;

function stateOf({ guarantees }: RunResult, name: string): string | undefined {
  return guarantees.find((guarantee) => guarantee.name === name)?.state;
}

test("nothing is caught while all rules are Kafka's, and each guarantee is put to the test", () => {
  const stories = [LEADER_DIES, FOLLOWER_RESET, CONSUMER_RESET, FOLLOWERS_DIE_AT_LAST];
  const runs = stories.map((faults) => play({ faults }));

  expect(runs.flatMap(bugs)).toEqual([]);
  const held = GUARANTEES.filter((name) => runs.some((run) => stateOf(run, name) === "held"));
  expect(held).toEqual(GUARANTEES);
});

test("a cluster that had too little time to settle is not judged", () => {
  const run = play({ faults: LEADER_DIES, settle: "30s" });

  expect(GUARANTEES.map((name) => stateOf(run, name))).toEqual(GUARANTEES.map(() => "untested"));
});

test("a leader that never lets a follower join again is caught", () => {
  const rules = (kafkas: ReplicationRules): ReplicationRules => ({
    ...kafkas,
    canJoinIsr: () => false,
  });

  const run = play({ faults: FOLLOWER_DIES, rules });

  expect(bugs(run)).toEqual(["isr-stays-small"]);
  expect(run.violations[0]?.text[0]).toContain("it has all that broker-1, the leader, has");
});

test("a follower that does not fetch again once its connection broke is caught", () => {
  vi.spyOn(ReplicaFetcher.prototype, "onDisconnect").mockImplementation(() => undefined);

  const found = bugs(play({ faults: FOLLOWER_RESET }));

  expect(found).toEqual(["isr-stays-small", "replicas-differ", "acked-record-not-everywhere"]);
});

test("a leader that does not hear the answer of the controller is caught", () => {
  vi.spyOn(IsrChannel.prototype, "onResponse").mockImplementation(() => undefined);

  const found = bugs(play({ faults: FOLLOWER_DIES }));

  expect(found).toContain("isr-request-pending");
});

test("a controller that elects nobody is caught, and with it a producer that never gives up", () => {
  const { elect } = CONTROLLER_RULES;
  vi.spyOn(CONTROLLER_RULES, "elect").mockImplementation((input) => {
    const right = elect(input);
    return right.leader === input.partition.leader ? right : { leader: -1, unclean: false };
  });
  expect(bugs(play({ faults: LEADER_DIES }))).toEqual(["no-leader"]);

  vi.spyOn(Sender.prototype, "expire").mockImplementation(() => undefined);
  const found = bugs(play({ faults: LEADER_DIES }));
  expect(found).toEqual(["no-leader", "send-unanswered"]);
});

test("a leader that answers no producer is caught", () => {
  const rules = (kafkas: ReplicationRules): ReplicationRules => ({
    ...kafkas,
    produceOutcome: () => undefined,
  });

  expect(bugs(play({ faults: LEADER_DIES, rules, delivery: 120_000 }))).toContain("writes-stall");
});

test("a consumer that does not fetch again once its connection broke is caught", () => {
  vi.spyOn(Fetcher.prototype, "onDisconnect").mockImplementation(() => undefined);

  expect(bugs(play({ faults: CONSUMER_RESET }))).toEqual(["acked-record-unseen", "reads-stall"]);
});
