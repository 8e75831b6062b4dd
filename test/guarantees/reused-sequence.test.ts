import { expect, test } from "vitest";
import type { Violation } from "../../src/checkers/guarantee.ts";
import { run } from "../support/run-scenario.ts";
import { scenarioOf } from "../support/scenario-text.ts";

/**
 * The second record of a transaction is in the log, and waits for a follower, when its producer freezes in the midst of its
 * commit, and when the leader goes: the answer that it is no leader any more is read after delivery.timeout.ms is over.
 */
function violations(transactionVersion: number): readonly Violation[] {
  const scenario = scenarioOf(`
version: 1
name: reused-sequence
summary: A producer gives up a record while it commits.
seed: 1
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 1
  features: { transaction.version: ${transactionVersion} }
  config: { transaction.state.log.num.partitions: 1 }
topics:
  orders: { replicas: { 0: [1, 2, 3] }, config: { min.insync.replicas: 2 } }
clients:
  p1:
    produce: orders
    rate: 20/s
    transaction: { records: 2 }
    config: { transactional.id: app, request.timeout.ms: 5000, delivery.timeout.ms: 6000 }
  c1: { consume: orders, config: { isolation.level: read_committed, auto.offset.reset: earliest } }
  c2: { consume: orders, config: { auto.offset.reset: earliest } }
faults:
  - { at: 5030ms, pause: broker-3, for: 6s }
  - { at: 5500ms, pause: p1, for: 8s }
  - { at: 6s, shutdown: broker-1 }
duration: 25s
settle: 60s
`);
  return run(scenario, 1).violations;
}

test("a producer that uses a sequence again below transaction.version 2 loses an acknowledged record, and it is told why that is permitted", () => {
  const found = violations(1);

  expect(found.map(({ kind }) => kind)).toContain("acked-record-lost");
  for (const { kind, permitted } of found) {
    expect(permitted, kind).toMatch(/used its sequence again in the same epoch/);
  }
});

test("with transaction.version 2 it goes on in another epoch", () => {
  expect(violations(2)).toEqual([]);
});
