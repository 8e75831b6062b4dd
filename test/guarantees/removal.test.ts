import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RunResult } from "../../src/cluster/run-result.ts";
import { Simulation } from "../../src/cluster/simulation.ts";
import * as retention from "../../src/kafka/log/cleaning/batch-retention.ts";
import * as dirt from "../../src/kafka/log/cleaning/dirt.ts";
import { Partition } from "../../src/nodes/broker/partition.ts";
import * as expiry from "../../src/storage/retention.ts";
import { scenarioOf } from "../support/scenario-text.ts";

// What may go of a log is decided in these three; each test breaks one of them.
vi.mock("../../src/kafka/log/cleaning/batch-retention.ts", { spy: true });
vi.mock("../../src/kafka/log/cleaning/dirt.ts", { spy: true });
vi.mock("../../src/storage/retention.ts", { spy: true });

interface Rules {
  readonly retain: typeof retention.retain;
  readonly dirtOf: typeof dirt.dirtOf;
  readonly countDeletable: typeof expiry.countDeletable;
}

/** As Kafka does it. */
let rules: Rules;

beforeEach(async () => {
  rules = {
    retain: (
      await vi.importActual<typeof retention>("../../src/kafka/log/cleaning/batch-retention.ts")
    ).retain,
    dirtOf: (await vi.importActual<typeof dirt>("../../src/kafka/log/cleaning/dirt.ts")).dirtOf,
    countDeletable: (await vi.importActual<typeof expiry>("../../src/storage/retention.ts"))
      .countDeletable,
  };
});

afterEach(() => {
  vi.resetAllMocks();
  vi.restoreAllMocks();
});

const COMPACTED = `
      cleanup.policy: compact
      min.cleanable.dirty.ratio: 0.01
      delete.retention.ms: 5000`;

const EXPIRING = `
      retention.ms: 5000`;

/** Three replicas of small segments, and a follower that is away for a while. */
function play(policy: string, faults: string, acks = "all"): RunResult {
  const scenario = scenarioOf(`
version: 1
name: removal
summary: Records go.
seed: 1
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 3
  config:
    log.cleaner.backoff.ms: 1000
    log.retention.check.interval.ms: 2000
    log.initial.task.delay.ms: 500
topics:
  orders:
    replicas: { 0: [1, 2, 3] }
    config:
      min.insync.replicas: 2
      segment.ms: 1000${policy}
clients:
  p1: { produce: orders, rate: 50/s, keys: 400, tombstones: 10%, config: { acks: ${acks} } }
  c1: { consume: orders, config: { auto.offset.reset: earliest } }
faults:${faults}
duration: 30s
settle: 20s
`);
  const simulation = new Simulation(scenario, { seed: "1" });
  while (simulation.advance(100_000));
  return simulation.finish(undefined);
}

const FOLLOWER_AWAY = `
  - { at: 8s, crash: broker-3, for: 8s }`;

/** The leader goes on alone, and its high watermark stands. */
const FOLLOWERS_AWAY = `
  - { at: 8s, crash: brokers - broker-1, for: 15s }`;

function bugs({ violations }: RunResult): string[] {
  const names = violations.filter(({ permitted }) => permitted === undefined);
  return [...new Set(names.map(({ guarantee }) => guarantee))];
}

function stateOf({ guarantees }: RunResult, name: string): string | undefined {
  return guarantees.find((one) => one.name === name)?.state;
}

test("nothing is caught while logs are cleaned and expire as Kafka's do", () => {
  for (const faults of [FOLLOWER_AWAY, FOLLOWERS_AWAY]) {
    const compacted = play(COMPACTED, faults);
    const expiring = play(EXPIRING, faults);

    expect(bugs(compacted)).toEqual([]);
    expect(bugs(expiring)).toEqual([]);
    for (const name of ["last-value-kept", "cleaned-below-hw", "offsets-never-change"]) {
      expect(stateOf(compacted, name)).toBe("held");
    }
    expect(stateOf(expiring, "expired-only-by-policy")).toBe("held");
  }
});

test("a cleaner that drops the last value of a key is caught", () => {
  vi.mocked(retention.retain).mockImplementation((batch, round) =>
    batch.nextOffset % 5 === 0 ? undefined : rules.retain(batch, round),
  );

  expect(bugs(play(COMPACTED, FOLLOWER_AWAY))).toEqual(["last-value-kept"]);
});

test("a cleaner that takes tombstones at once is caught", () => {
  vi.mocked(retention.retain).mockImplementation((batch, round) =>
    batch.records().every(({ value }) => value === undefined)
      ? undefined
      : rules.retain(batch, round),
  );

  expect(bugs(play(COMPACTED, FOLLOWER_AWAY))).toEqual(["last-value-kept"]);
});

test("a cleaner that runs over records that are not committed is caught", () => {
  vi.mocked(dirt.dirtOf).mockImplementation((log, ...more) =>
    rules.dirtOf({ ...log, lastStableOffset: log.logEndOffset }, ...more),
  );

  const found = bugs(play(COMPACTED, FOLLOWERS_AWAY, "1"));

  expect(found).toContain("cleaned-below-hw");
  expect(found).toContain("last-value-kept");
});

test("a cleaner that gives what it copies another leader epoch is caught", () => {
  vi.mocked(retention.retain).mockImplementation((batch, round) => {
    const left = rules.retain(batch, round);
    return left === undefined || left === "corrupt"
      ? left
      : left.withOffsets(left.baseOffset, left.partitionLeaderEpoch + 1);
  });

  expect(bugs(play(COMPACTED, FOLLOWER_AWAY))).toContain("offsets-never-change");
});

test("retention that takes what is too young is caught", () => {
  vi.mocked(expiry.countDeletable).mockImplementation((view, reason) =>
    rules.countDeletable({ ...view, nowMs: view.nowMs + 2000 }, reason),
  );

  expect(bugs(play(EXPIRING, FOLLOWER_AWAY))).toContain("expired-only-by-policy");
});

test("retention that passes the high watermark is caught, and so is the loss", () => {
  vi.mocked(expiry.countDeletable).mockImplementation((view, reason) =>
    rules.countDeletable({ ...view, highWatermark: view.logEndOffset }, reason),
  );

  const found = bugs(play(EXPIRING, FOLLOWERS_AWAY, "1"));

  expect(found).toContain("expired-only-by-policy");
  expect(found).toContain("no-acked-loss");
});

test("a follower whose log begins later than its leader's is caught", () => {
  const advance = Partition.prototype.advanceLogStart;
  vi.spyOn(Partition.prototype, "advanceLogStart").mockImplementation(function (
    this: Partition,
    offset,
    reason,
  ) {
    advance.call(this, reason === "leader" ? this.highWatermark : offset, reason);
  });

  expect(bugs(play(EXPIRING, FOLLOWER_AWAY))).toContain("expired-only-by-policy");
});
