import { afterEach, expect, test, vi } from "vitest";
import { Simulation } from "../../src/cluster/simulation.ts";
import { ERRORS } from "../../src/kafka/error-code.ts";
import { ProducerState } from "../../src/kafka/log/producer-state.ts";
import { TransactionMetadata } from "../../src/kafka/transaction/transaction-metadata.ts";
import { MarkerChannel } from "../../src/nodes/broker/transaction-coordinator/marker-channel.ts";
import { TransactionShard } from "../../src/nodes/broker/transaction-coordinator/transaction-shard.ts";
import { PartitionLog } from "../../src/storage/partition-log.ts";
import { scenarioOf } from "../support/scenario-text.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** A coordinator that crashes, and a producer that another replaces; what is broken, and by nothing that permits it. */
function bugs(membership = ""): string[] {
  const scenario = scenarioOf(`
version: 1
name: culprit
summary: One rule is broken.
seed: 1
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 3
  config:
    transaction.state.log.num.partitions: 1
    transaction.abort.timed.out.transaction.cleanup.interval.ms: 1000
topics:
  orders:
    replicas: { 0: [1, 2, 3], 1: [2, 3, 1] }
    config: { min.insync.replicas: 2 }
clients:
  p1:
    produce: orders
    rate: 100/s
    transaction: { records: 20, abort: 30% }
    config: { transactional.id: one, transaction.timeout.ms: 5000, request.timeout.ms: 3000 }
  p2:
    produce: orders
    rate: 100/s
    transaction: { records: 20 }
    config: { transactional.id: one, transaction.timeout.ms: 5000 }
  c1:
    consume: orders
    ${membership}
    config: { isolation.level: read_committed, auto.offset.reset: earliest }
faults:
  - { at: 0s, crash: p2, for: 15s }
  - { at: 5s, crash: transaction-coordinator(one), for: 4s }
  - { at: 10s, pause: broker-2, for: 4s }
  - { at: 14900ms, crash: p1 }
duration: 20s
settle: 40s
`);
  const simulation = new Simulation(scenario, { seed: "1" });
  while (simulation.advance(100_000));
  const { violations } = simulation.finish(undefined);
  const broken = violations.filter(({ permitted }) => permitted === undefined);
  return [...new Set(broken.map(({ guarantee }) => guarantee))];
}

test("nothing is caught while all rules are Kafka's", () => {
  expect(bugs()).toEqual([]);
});

test("a last stable offset that waits for nothing is caught, by what it is and by what is read", () => {
  vi.spyOn(PartitionLog.prototype, "lastStableOffset").mockImplementation((mark) => mark);

  const found = bugs();

  expect(found).toContain("no-aborted-read");
  expect(found).toContain("transactions-whole");
});

test("it is caught by what a member of a group is given, too", () => {
  vi.spyOn(PartitionLog.prototype, "lastStableOffset").mockImplementation((mark) => mark);

  expect(bugs("group: readers")).toContain("transactions-whole");
});

test("a last stable offset that is one too high is caught", () => {
  const { lastStableOffset } = PartitionLog.prototype;
  vi.spyOn(PartitionLog.prototype, "lastStableOffset").mockImplementation(function (
    this: PartitionLog,
    mark,
  ) {
    return Math.min(mark, lastStableOffset.call(this, mark) + 1);
  });

  expect(bugs()).toContain("last-stable-offset");
});

test("a leader that tells nobody what was aborted is caught", () => {
  vi.spyOn(PartitionLog.prototype, "abortedWithin").mockReturnValue([]);

  const found = bugs();

  expect(found).toContain("no-aborted-read");
  expect(found).toContain("transactions-whole");
});

test("a coordinator that does not read the end of its log is caught", () => {
  const { replay } = TransactionShard.prototype;
  vi.spyOn(TransactionShard.prototype, "replay").mockImplementation(function (
    this: TransactionShard,
    batch,
  ) {
    if (batch.nextOffset < this.log.partition.logEndOffset) replay.call(this, batch);
  });

  expect(bugs()).toContain("coordinator-knows-log");
});

test("a coordinator that leaves one partition without its marker is caught", () => {
  const { complete } = MarkerChannel.prototype;
  vi.spyOn(MarkerChannel.prototype, "complete").mockImplementation(function (
    this: MarkerChannel,
    shard,
    metadata,
    transition,
  ) {
    const [first] = metadata.partitions.keys();
    if (first !== undefined) metadata.removePartition(first);
    complete.call(this, shard, metadata, transition);
  });

  expect(bugs()).toContain("markers-follow-decision");
});

test("a coordinator that decides otherwise than it was asked is caught", () => {
  const { prepareAbortOrCommit } = TransactionMetadata.prototype;
  vi.spyOn(TransactionMetadata.prototype, "prepareAbortOrCommit").mockImplementation(function (
    this: TransactionMetadata,
    state,
    ...rest
  ) {
    const other = state === "PrepareAbort" && this.state === "Ongoing" ? "PrepareCommit" : state;
    return prepareAbortOrCommit.call(this, other, ...rest);
  });

  expect(bugs()).toContain("told-as-decided");
});

test("leaders that take every batch for new are caught", () => {
  vi.spyOn(ProducerState.prototype, "check").mockReturnValue({
    error: ERRORS.NONE,
    duplicateOf: undefined,
  });

  expect(bugs()).toContain("sequences-in-order");
});
