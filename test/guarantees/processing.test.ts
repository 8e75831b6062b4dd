import { afterEach, describe, expect, test, vi } from "vitest";
import { Simulation } from "../../src/cluster/simulation.ts";
import { OwnedPartitions } from "../../src/nodes/consumer/group/owned-partitions.ts";
import { TransactionManager } from "../../src/nodes/producer/transaction/transaction-manager.ts";
import { scenarioOf } from "../support/scenario-text.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

interface Outcome {
  readonly violations: readonly string[];
  readonly bugs: readonly string[];
  /** Records that c1 was given. */
  readonly read: number;
  readonly reprocessed: boolean;
}

const MIDST = "read(a1) + read(a2) == processed(billing) + reprocessed(billing) + 12";

const PRODUCER =
  "producer-config: { transaction.timeout.ms: 6000, delivery.timeout.ms: 2000, request.timeout.ms: 1500 }";

/** One freezes for longer than its transactions may take, the other crashes, and one is out of the group when it thaws. */
const TROUBLE = `
  - { when: processed(billing) >= 200 and ${MIDST}, pause: a1, for: 8s }
  - { when: processed(billing) >= 700 and ${MIDST}, crash: a2, for: 2s }
  - { when: processed(billing) >= 1000 and ${MIDST}, optional: true, pause: a1, for: 15s }
`;

/** Two applications share the work. */
function play(guarantee: string, more = "", faults = TROUBLE): Outcome {
  const scenario = scenarioOf(`
version: 1
name: processing
summary: Two applications share the work.
seed: 1
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 1
  config:
    offsets.topic.num.partitions: 1
    transaction.state.log.num.partitions: 1
    transaction.abort.timed.out.transaction.cleanup.interval.ms: 1000
topics:
  orders: { partitions: 2, replication.factor: 3, config: { min.insync.replicas: 2 } }
  bills: { partitions: 2, replication.factor: 3, config: { min.insync.replicas: 2 } }
clients:
  p1: { produce: orders, rate: 150/s, records: 1500, keys: 7 }
  a1:
    process: { from: orders, to: bills, group: billing, guarantee: ${guarantee}, work: uniform(4ms..10ms)${more} }
    consumer-config: { max.poll.records: 20, session.timeout.ms: 9000 }
    ${guarantee === "exactly-once" ? PRODUCER : ""}
  a2:
    process: { from: orders, to: bills, group: billing, guarantee: ${guarantee}, work: uniform(4ms..10ms)${more} }
    consumer-config: { max.poll.records: 20, session.timeout.ms: 9000 }
    ${guarantee === "exactly-once" ? PRODUCER : ""}
  c1: { consume: bills, config: { isolation.level: read_committed, auto.offset.reset: earliest } }
faults:${faults}duration: 60s
settle: 30s
`);
  const simulation = new Simulation(scenario, { seed: "1" });
  const worked = new Set<string>();
  let reprocessed = false;
  simulation.onFact((fact) => {
    if (fact.kind !== "records-processed") return;
    const key = `${fact.partition} ${fact.firstOffset}`;
    reprocessed ||= worked.has(key);
    worked.add(key);
  });
  while (simulation.advance(100_000));
  const { violations, clients } = simulation.finish(undefined);
  const reader = clients.find(({ name }) => name === "c1");
  return {
    violations: [...new Set(violations.map(({ kind }) => kind))],
    bugs: [
      ...new Set(
        violations.filter(({ permitted }) => permitted === undefined).map(({ kind }) => kind),
      ),
    ],
    read: reader?.kind === "consumer" ? reader.read : -1,
    reprocessed,
  };
}

describe("while all is as it should be", () => {
  test("exactly-once makes one bill of each order, though some were worked on twice", () => {
    expect(play("exactly-once")).toMatchObject({ bugs: [], read: 1500, reprocessed: true });
  });

  test("at-least-once leaves no order without a bill, and some have two", () => {
    const { bugs, read } = play("at-least-once");

    expect(bugs).toEqual([]);
    expect(read).toBeGreaterThan(1500);
  });

  test("at-most-once gives no order two, and some none", () => {
    const { bugs, read, reprocessed } = play("at-most-once");

    expect(bugs).toEqual([]);
    expect(read).toBeLessThan(1500);
    expect(reprocessed).toBe(false);
  });

  test("exactly-once does not reach a store, of which the guarantee tells why", () => {
    const { bugs, violations } = play("exactly-once", ", store: { name: ledger, key: none }");

    expect(bugs).toEqual([]);
    expect(violations).toEqual(["row-doubled"]);
  });
});

describe("caught is", () => {
  test("an application that goes on after an abort where it stands", () => {
    vi.spyOn(OwnedPartitions.prototype, "rewind").mockReturnValue();
    // Bills are given up, which aborts their transaction, and their applications are members still.
    const faults = `
  - { when: processed(billing) >= 200 and ${MIDST}, pause: leader(bills-0), for: 4s }
`;

    expect(play("exactly-once", "", faults).bugs).toContain("input-passed-over");
  });

  test("one that leaves its offsets out of its transactions", () => {
    vi.spyOn(TransactionManager.prototype, "sendOffsetsToTransaction").mockReturnValue();

    const { bugs } = play("exactly-once");

    expect(bugs).toContain("input-doubled");
    expect(bugs).toContain("input-ahead");
  });
});
