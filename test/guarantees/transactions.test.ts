import { describe, expect, test } from "vitest";
import { Simulation } from "../../src/cluster/simulation.ts";
import { runsOf } from "../support/campaign-runs.ts";
import { scenarioOf } from "../support/run-scenario.ts";
import { TransactionTruth } from "../support/transaction-truth.ts";

const STORY = `version: 1
name: transactions
summary: Two transactional producers, one that is not, and random faults.
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 3
  config: { transaction.state.log.num.partitions: 3 }
topics:
  orders: { partitions: 3, replication.factor: 3, config: { min.insync.replicas: 2 } }
clients:
  p1:
    produce: orders
    rate: 60/s
    transaction: { time: uniform(50ms..2s), abort: 20% }
    config: { transactional.id: one, transaction.timeout.ms: 15000, delivery.timeout.ms: 35000 }
  p2:
    produce: orders
    rate: 60/s
    transaction: { records: 20, abort: 10% }
    config: { transactional.id: two }
  p3: { produce: orders, rate: 30/s }
  c1:
    consume: orders
    config: { isolation.level: read_committed, auto.offset.reset: earliest }
random-faults: { quiet-after: 25s }
settle: 45s
`;

function judged(story: string, seed: string): TransactionTruth {
  const simulation = new Simulation(scenarioOf(story), { seed });
  const { cluster } = simulation;
  const names = new Map(cluster.table.clients.map(({ address, name }) => [address, name]));
  const truth = new TransactionTruth(cluster.facts, "c1", names);
  while (simulation.advance(100_000));
  simulation.finish(undefined);
  return truth;
}

describe("under random faults", () => {
  test("whoever reads committed records is given all of a transaction or nothing, as its producer was told", () => {
    const runs = runsOf(6, 1_000);
    const met = { committed: 0, aborted: 0, unknown: 0, fenced: 0, takenOver: 0 };
    for (let seed = 1; seed <= runs; seed++) {
      const truth = judged(STORY, `transactions ${seed}`);

      expect(truth.complaints(), `seed ${seed}`).toEqual([]);
      for (const key of Object.keys(met) as (keyof typeof met)[]) met[key] += truth.met[key];
    }

    expect(met.committed).toBeGreaterThan(15 * runs);
    expect(met.aborted).toBeGreaterThan(2 * runs);
    if (runs > 100) expect(met.takenOver).toBeGreaterThan(0.01 * runs);
  });

  test("whoever does not is given what was aborted: the judge sees it", () => {
    const careless = STORY.replace("isolation.level: read_committed, ", "");

    const complaints = judged(careless, "transactions 1").complaints();

    expect(complaints.join("\n")).toMatch(/\(aborted\): [0-9]+ of its records were read/);
  });
});
