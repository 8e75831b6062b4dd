import { afterEach, expect, test, vi } from "vitest";
import type { RunResult } from "../../src/cluster/run-result.ts";
import { Simulation } from "../../src/cluster/simulation.ts";
import { ERRORS } from "../../src/kafka/error-code.ts";
import { CONTROLLER_RULES } from "../../src/kafka/metadata/controller-rules.ts";
import * as registration from "../../src/kafka/metadata/partition-registration.ts";
import type { ListOffsetsTopic } from "../../src/kafka/protocol/list-offsets.ts";
import { EARLIEST_TIMESTAMP } from "../../src/kafka/protocol/list-offsets.ts";
import { PRESENT_RULES } from "../../src/kafka/protocol-switches.ts";
import { KRAFT_RULES } from "../../src/kafka/quorum/quorum-rules.ts";
import type { ReplicationRules } from "../../src/kafka/replication/replication-rules.ts";
import { replicationRules } from "../../src/kafka/replication/replication-rules.ts";
import { IsrChannel } from "../../src/nodes/broker/isr-channel.ts";
import { OffsetsHandler } from "../../src/nodes/broker/offsets-handler.ts";
import { Partition } from "../../src/nodes/broker/partition.ts";
import { Delivery } from "../../src/nodes/consumer/delivery.ts";
import { PartitionLog } from "../../src/storage/partition-log.ts";
import { scenarioOf } from "../support/scenario-text.ts";

vi.mock("../../src/kafka/metadata/partition-registration.ts", { spy: true });

afterEach(() => {
  vi.resetAllMocks();
  vi.restoreAllMocks();
});

interface Play {
  readonly faults: string;
  readonly acks?: string;
  readonly reset?: string;
  readonly rules?: (rules: ReplicationRules) => ReplicationRules;
}

/** Three brokers, three controllers, a partition that broker-1 leads. */
function play({ faults, acks = "all", reset = "earliest", rules }: Play): RunResult {
  const scenario = scenarioOf(`
version: 1
name: culprit
summary: One rule is broken.
seed: 1
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 3
  config: { replica.lag.time.max.ms: 4000 }
topics:
  orders:
    replicas: { 0: [1, 2, 3] }
    config: { min.insync.replicas: 2 }
clients:
  p1: { produce: orders, rate: 50/s, config: { acks: ${acks} } }
  c1: { consume: orders, config: { auto.offset.reset: ${reset} } }
faults:${faults}
duration: 40s
settle: 10s
`);
  const simulation = new Simulation(scenario, {
    seed: "1",
    ...(rules === undefined ? {} : { rules }),
  });
  while (simulation.advance(100_000));
  return simulation.finish(undefined);
}

const LEADER_DIES = `
  - { at: 5s, crash: broker-1, for: 15s }`;
const FOLLOWER_DIES = `
  - { at: 5s, crash: broker-3, for: 10s }`;
const FOLLOWERS_DIE = `
  - { at: 5s, crash: broker-2, for: 20s }
  - { at: 6s, crash: broker-3, for: 20s }`;
const ALL_DIE = `
  - { at: 15s, crash: brokers, for: 5s }`;
const CONTROLLERS_PART = `
  - { at: 5s, isolate: controller, for: 15s }`;
const FOLLOWERS_CUT_OFF = `
  - { at: 5s, isolate: brokers - broker-1, for: 15s }`;
const CONTROLLERS_DIE = `
  - { at: 5s, crash: controllers, for: 1s }
  - { at: 10s, crash: controllers, for: 1s }
  - { at: 15s, crash: controllers, for: 1s }`;

const LEADER_SHUTS_DOWN = `
  - { at: 5s, shutdown: broker-1, for: 10s }`;
/** The leader asks for broker-3 at 12 s; that takes 6 s to the controller. */
const RESTARTS_WHILE_ASKED_FOR = `
  - { at: 4s, isolate: broker-3, for: 8s }
  - { at: 11s, delay-link: 6s, from: broker-1, to: controllers, for: 6s }
  - { at: 12200ms, shutdown: broker-3, for: 2s }`;

const CONSUMER_RESTARTS = `
  - { at: 5s, crash: c1, for: 5s }`;

function askedForEarliest(topic: ListOffsetsTopic): ListOffsetsTopic {
  const partitions = topic.partitions.map((one) => ({ ...one, timestamp: EARLIEST_TIMESTAMP }));
  return { ...topic, partitions };
}

function bugs({ violations }: RunResult): string[] {
  const names = violations.filter(({ permitted }) => permitted === undefined);
  return [...new Set(names.map(({ guarantee }) => guarantee))];
}

test("nothing is caught while all rules are Kafka's", () => {
  const all = [
    LEADER_DIES,
    FOLLOWER_DIES,
    FOLLOWERS_DIE,
    ALL_DIE,
    CONTROLLERS_PART,
    CONTROLLERS_DIE,
    FOLLOWERS_CUT_OFF,
    LEADER_SHUTS_DOWN,
    RESTARTS_WHILE_ASKED_FOR,
  ];
  expect(all.flatMap((faults) => bugs(play({ faults })))).toEqual([]);
});

test("a controller that elects whoever is next is caught", () => {
  const { elect } = CONTROLLER_RULES;
  vi.spyOn(CONTROLLER_RULES, "elect").mockImplementation((input) => {
    const right = elect(input);
    const outsider = input.partition.replicas.find(
      (replica) => !input.targetIsr.includes(replica) && input.isAcceptable(replica),
    );
    return right.leader === input.partition.leader || outsider === undefined
      ? right
      : { leader: outsider, unclean: true };
  });

  const faults = `
  - { at: 5s, isolate: broker-3, for: 10s }
  - { at: 14900ms, crash: broker-1, for: 15s }`;
  expect(bugs(play({ faults }))).toContain("clean-election");
});

test("a controller that takes into the ISR whom nobody asked for is caught", async () => {
  const { mergeChange } = await vi.importActual<typeof registration>(
    "../../src/kafka/metadata/partition-registration.ts",
  );
  vi.mocked(registration.mergeChange).mockImplementation((before, change) => {
    const after = mergeChange(before, change);
    return after.isr.length > 1 ? after : { ...after, isr: [...new Set([...after.isr, 2])] };
  });

  expect(bugs(play({ faults: FOLLOWERS_DIE }))).toContain("isr-grows-by-request");
});

test("a controller that takes back into the ISR who is shutting down is caught", () => {
  // A leader that knows its followers does not even ask.
  vi.spyOn(Partition.prototype, "isEligibleForIsr").mockImplementation(() => true);
  const { judgeAlterPartition } = CONTROLLER_RULES;
  vi.spyOn(CONTROLLER_RULES, "judgeAlterPartition").mockImplementation((image, ...asked) => {
    const error = judgeAlterPartition(image, ...asked);
    return error === ERRORS.INELIGIBLE_REPLICA ? ERRORS.NONE : error;
  });

  const found = play({ faults: LEADER_SHUTS_DOWN }).violations.map(({ text }) => text.join(" "));

  expect(found).toContain(
    "The controller let broker-1 into the ISR {2,3,1}, though broker-1 is shutting down.",
  );
});

test("a controller that does not ask which life of a replica its leader has seen is caught", () => {
  const { judgeAlterPartition } = CONTROLLER_RULES;
  vi.spyOn(CONTROLLER_RULES, "judgeAlterPartition").mockImplementation(
    (image, sender, of, asked) => {
      const newIsrWithEpochs = asked.newIsrWithEpochs.map((member) => ({
        ...member,
        brokerEpoch: -1,
      }));
      return judgeAlterPartition(image, sender, of, { ...asked, newIsrWithEpochs });
    },
  );

  expect(bugs(play({ faults: RESTARTS_WHILE_ASKED_FOR }))).toEqual(["isr-grows-by-request"]);
});

test("a follower that takes back what it has copied is caught", () => {
  const rules = (kafkas: ReplicationRules): ReplicationRules => ({
    ...kafkas,
    historiesPart: (end, epoch, offset) =>
      offset % 100 === 0 || kafkas.historiesPart(end, epoch, offset),
    truncationPoint: (_follower, offset) => ({ offset: Math.max(0, offset - 1), settled: true }),
  });

  expect(bugs(play({ faults: FOLLOWER_DIES, rules }))).toContain("promise-kept");
});

test("a consumer that leaves out a batch that it was given is caught", () => {
  const deliver = Delivery.prototype.deliver;
  vi.spyOn(Delivery.prototype, "deliver").mockImplementation(function (
    this: Delivery,
    partition,
    batches,
    aborted,
  ) {
    return deliver.call(this, partition, batches.slice(batches.length > 9 ? 1 : 0), aborted);
  });

  expect(bugs(play({ faults: CONSUMER_RESTARTS }))).toContain("reads-complete");
});

test("a leader that lets followers join while they lag is caught", () => {
  const rules = (kafkas: ReplicationRules): ReplicationRules => ({
    ...kafkas,
    canJoinIsr: (leader, follower) => !leader.isr.isr.includes(follower.brokerId),
  });

  expect(bugs(play({ faults: FOLLOWER_DIES, rules }))).toEqual(["isr-join-caught-up"]);
});

test("a leader that forgets whom it asked for is caught", () => {
  const propose = IsrChannel.prototype.proposeExpand;
  vi.spyOn(IsrChannel.prototype, "proposeExpand").mockImplementation(function (
    this: IsrChannel,
    partition,
    joining,
  ) {
    propose.call(this, partition, joining);
    const { isr } = partition;
    if (isr.kind !== "committed") partition.adoptIsr(isr.committed, "refusal");
  });

  expect(bugs(play({ faults: FOLLOWER_DIES }))).toContain("isr-known-to-leader");
});

test("a leader that commits what its followers lack is caught when they may be elected", () => {
  const rules = (kafkas: ReplicationRules): ReplicationRules => ({
    ...kafkas,
    leaderHighWatermark: (leader) => leader.logEndOffset,
  });

  const found = bugs(play({ faults: FOLLOWERS_CUT_OFF, rules }));

  expect(found).toContain("hw-within-isr");
  expect(found).toContain("candidates-complete");
});

test("a high watermark that one replica moves, where two are needed, is caught", () => {
  const { leaderHighWatermark } = replicationRules({
    ...PRESENT_RULES,
    "leader.hw-requires-min-isr": false,
  });
  const rules = (kafkas: ReplicationRules): ReplicationRules => ({
    ...kafkas,
    leaderHighWatermark,
  });

  expect(bugs(play({ faults: FOLLOWERS_DIE, acks: "1", rules }))).toEqual(["hw-needs-min-isr"]);
});

test("a high watermark beyond the log is caught", () => {
  const rules = (kafkas: ReplicationRules): ReplicationRules => ({
    ...kafkas,
    leaderHighWatermark: (leader) => leader.logEndOffset + 1,
  });

  expect(bugs(play({ faults: FOLLOWER_DIES, rules }))).toContain("log-in-bounds");
});

test("acks=all answered at once is caught before anything is lost", () => {
  const rules = (kafkas: ReplicationRules): ReplicationRules => ({
    ...kafkas,
    produceOutcome: () => ERRORS.NONE,
  });

  expect(bugs(play({ faults: FOLLOWER_DIES, rules }))).toContain("ack-after-commit");
});

test("a leader that goes on in the epoch before its own is caught", () => {
  const append = PartitionLog.prototype.appendAsLeader;
  vi.spyOn(PartitionLog.prototype, "appendAsLeader").mockImplementation(function (
    this: PartitionLog,
    batches,
    epoch,
    origin,
  ) {
    return append.call(this, batches, origin === "raft" ? epoch : Math.max(0, epoch - 1), origin);
  });

  expect(bugs(play({ faults: LEADER_DIES }))).toContain("appends-in-role");
});

test("a broker that tells of an end long past is caught", () => {
  const list = OffsetsHandler.prototype.listOffsets;
  vi.spyOn(OffsetsHandler.prototype, "listOffsets").mockImplementation(function (
    this: OffsetsHandler,
    request,
    body,
  ) {
    const behind = { ...body, topics: body.topics.map(askedForEarliest) };
    list.call(this, request, behind);
  });

  const found = bugs(play({ faults: CONSUMER_RESTARTS, reset: "latest" }));

  expect(found).toEqual(["end-not-behind"]);
});

test("brokers that all lose their logs, without a power cut, are caught", () => {
  const open = PartitionLog.open;
  vi.spyOn(PartitionLog, "open").mockImplementation((options) => {
    const log = open(options);
    if (options.topic === "orders" && log.logEndOffset > 10) log.truncateTo(10);
    return log;
  });

  expect(bugs(play({ faults: ALL_DIE }))).toContain("copy-left");
});

test("controllers that vote for anybody are caught", () => {
  vi.spyOn(KRAFT_RULES, "mayGrantVote").mockImplementation(() => true);

  const found = bugs(play({ faults: CONTROLLERS_DIE }));

  expect(found).toContain("one-controller-per-epoch");
  expect(found).toContain("metadata-agrees");
  expect(found).toContain("metadata-kept");
});

test("a controller that commits what it alone has is caught", () => {
  vi.spyOn(KRAFT_RULES, "committedOffset").mockImplementation((ends) => Math.max(...ends));

  expect(bugs(play({ faults: CONTROLLERS_PART }))).toContain("metadata-kept");
});
