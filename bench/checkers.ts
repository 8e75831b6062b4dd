import type { CheckSetup } from "../src/checkers/check-setup.ts";
import { createCheckers } from "../src/checkers/checker-set.ts";
import type { Guarantee } from "../src/checkers/guarantee.ts";
import { GUARANTEES } from "../src/checkers/registry.ts";
import { encodePayload } from "../src/kafka/client/payload.ts";
import { BROKER_CONFIGS } from "../src/kafka/config/broker-configs.ts";
import { resolveConfigs } from "../src/kafka/config/config-table.ts";
import { PRODUCER_CONFIGS } from "../src/kafka/config/producer-configs.ts";
import { buildBatch } from "../src/kafka/log/record-batch.ts";
import { PRESENT_FEATURES, PRESENT_RULES } from "../src/kafka/protocol-switches.ts";
import type { Fact } from "../src/trace/fact.ts";
import { FactRecorder } from "../src/trace/recorder.ts";
import type { Contender, Outcome } from "./measure.ts";
import { timed } from "./measure.ts";

const RECORDS = 100_000;
/** Facts are made and told in turn, as in a run: what is told was made a moment ago. */
const CHUNK = 100;
const PARTITION = "orders-0";
const REPLICAS = [1, 2, 3];

/**
 * What the guarantees cost a record: one record a batch, three replicas, acks=all, one consumer that
 * keeps up. The recorder alone, then with the state that all guarantees share, then with all of them.
 */
export function checkerContenders(): Contender[] {
  const contender = (name: string, guarantees: readonly Guarantee[] | undefined): Contender => ({
    name: `checkers: ${name}`,
    run: () => replay(guarantees),
  });
  return [
    contender("recorder alone", undefined),
    contender("shared state", []),
    contender("all guarantees", GUARANTEES),
  ];
}

function replay(guarantees: readonly Guarantee[] | undefined): Outcome {
  const clock = { now: 0, event: 0, mixFact: () => undefined };
  const recorder = new FactRecorder(clock);
  if (guarantees !== undefined) createCheckers(recorder, SETUP, guarantees);
  for (const fact of beginning()) recorder.note(fact);
  let nanoseconds = 0;
  for (let value = 0; value < RECORDS; value += CHUNK) {
    const facts: Fact[] = [];
    for (let i = 0; i < CHUNK; i++) pushRecord(facts, value + i);
    nanoseconds += timed(CHUNK, () => tell(recorder, clock, facts)).nanoseconds;
  }
  return { operations: RECORDS, nanoseconds };
}

function tell(
  recorder: FactRecorder,
  clock: { now: number; event: number },
  facts: readonly Fact[],
): void {
  for (const fact of facts) {
    clock.now++;
    clock.event++;
    recorder.note(fact);
  }
}

const SETUP: CheckSetup = {
  brokers: REPLICAS.map(() => resolveConfigs(BROKER_CONFIGS, {})),
  clients: new Map([
    [
      "p1",
      { address: 10, acks: -1, idempotent: true, configs: resolveConfigs(PRODUCER_CONFIGS, {}) },
    ],
  ]),
  consumers: new Map(),
  members: new Map(),
  working: new Set(),
  processors: new Map(),
  commitsEarly: new Set(),
  topics: new Map([
    [
      "orders",
      {
        flushMessages: 9e15,
        uncleanLeaderElection: false,
        deletesOldSegments: true,
        isCompacted: false,
        retentionMs: -1,
        retentionBytes: -1,
        deleteRetentionMs: 0,
      },
    ],
  ]),
  switches: PRESENT_RULES,
  features: PRESENT_FEATURES,
  clockStart: 0,
};

function beginning(): Fact[] {
  return [
    {
      kind: "partition-changed",
      partition: PARTITION,
      replicas: REPLICAS,
      isr: REPLICAS,
      elr: [],
      leader: 1,
      leaderEpoch: 0,
      partitionEpoch: 0,
      recovering: false,
      election: "initial",
      minInsyncReplicas: 2,
    },
    {
      kind: "became-leader",
      broker: 1,
      partition: PARTITION,
      leaderEpoch: 0,
      partitionEpoch: 0,
      logEndOffset: 0,
      highWatermark: 0,
      isr: REPLICAS,
    },
  ];
}

/** The facts of one record, from its sending to its being read. */
function pushRecord(facts: Fact[], value: number): void {
  const partition = PARTITION;
  const record = { timestamp: value, value: encodePayload(10, value, 100) };
  const batch = buildBatch([record], {
    baseOffset: value,
    partitionLeaderEpoch: 0,
    producerId: 1,
    producerEpoch: 0,
    baseSequence: value,
  });
  facts.push({ kind: "record-sent", client: "p1", partition, value });
  for (const broker of REPLICAS) {
    facts.push({ kind: "appended", broker, partition, batch, asLeader: broker === 1 });
  }
  for (const broker of REPLICAS) {
    const highWatermark = value + 1;
    const asLeader = broker === 1;
    facts.push({
      kind: "high-watermark-moved",
      broker,
      partition,
      highWatermark,
      leaderEpoch: 0,
      asLeader,
    });
  }
  facts.push({
    kind: "send-ended",
    client: "p1",
    partition,
    outcome: "acked",
    values: [value],
    baseOffset: value,
    acks: -1,
    error: "NONE",
    attempts: 1,
  });
  facts.push({
    kind: "polled",
    client: "c1",
    partition,
    firstOffset: value,
    lastOffset: value,
    batches: [batch],
  });
}
