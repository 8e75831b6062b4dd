import { afterEach, expect, test, vi } from "vitest";
import type { RunResult } from "../../src/cluster/run-result.ts";
import { Simulation } from "../../src/cluster/simulation.ts";
import { CleanedTransactions } from "../../src/kafka/log/cleaning/cleaned-transactions.ts";
import { scenarioOf } from "../support/scenario-text.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Transactions on a compacted topic whose keys come seldom: most records stay, and markers with them. */
const SCENARIO = scenarioOf(`
version: 1
name: cleaned-marker
summary: Brokers compact what transactions have written.
seed: 1
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 3
  config:
    log.cleaner.backoff.ms: 50
    transaction.state.log.num.partitions: 1
topics:
  table:
    partitions: 1
    replication.factor: 3
    config:
      cleanup.policy: compact
      segment.ms: 200
      min.cleanable.dirty.ratio: 0.1
      delete.retention.ms: 500
      min.insync.replicas: 2
clients:
  p1:
    produce: table
    rate: 50/s
    keys: 100
    transaction: { records: 10 }
    config: { transactional.id: app }
  c1:
    consume: table
    config: { isolation.level: read_committed, auto.offset.reset: earliest }
duration: 8s
settle: 2s
`);

function play(): RunResult {
  const simulation = new Simulation(SCENARIO, { seed: "1" });
  while (simulation.advance(100_000));
  return simulation.finish(undefined);
}

function stateOf({ guarantees }: RunResult): string | undefined {
  return guarantees.find(({ name }) => name === "markers-outlive-data")?.state;
}

test("markers that go before what they have committed are caught", () => {
  const right = play();
  const meet = CleanedTransactions.prototype.meetControl;
  vi.spyOn(CleanedTransactions.prototype, "meetControl").mockImplementation(function (
    this: CleanedTransactions,
    batch,
  ) {
    meet.call(this, batch);
    return true;
  });

  const wrong = play();

  expect(right.violations).toEqual([]);
  expect(stateOf(right)).toBe("held");
  expect(stateOf(wrong)).toBe("violated");
});
