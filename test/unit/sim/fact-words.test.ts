import { describe, expect, test } from "vitest";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import { Digest } from "../../../src/sim/digest.ts";
import { mixFactInto } from "../../../src/sim/fact-words.ts";
import type { Fact, FactKind, FactOf } from "../../../src/trace/fact.ts";

const BATCH = batch(7, 1);

/** One fact of each kind, every field present. */
const SAMPLES: { readonly [K in FactKind]: Required<FactOf<K>> } = {
  "node-started": { kind: "node-started", node: "broker-1", incarnation: 0 },
  "node-stopped": { kind: "node-stopped", node: "broker-1", how: "crash", reason: "fault" },
  "node-paused": { kind: "node-paused", node: "broker-1" },
  "node-resumed": { kind: "node-resumed", node: "broker-1" },
  "fault-begun": { kind: "fault-begun", fault: 0, verb: "crash", text: "broker-2", name: "boom" },
  "fault-ended": { kind: "fault-ended", fault: 0, verb: "crash", text: "broker-2", name: "boom" },
  "core-drawn": { kind: "core-drawn", core: ["broker-1"], frozen: ["broker-2"] },
  "unflushed-lost": { kind: "unflushed-lost", node: "broker-1", path: "orders-0/0.log", bytes: 1 },
  "disk-disturbed": {
    kind: "disk-disturbed",
    node: "broker-1",
    path: "kafka-logs/orders-0/0.log",
    partition: "orders-0",
    how: "bit-rot",
    position: 4096,
    bytes: 100,
  },
  "message-disturbed": {
    kind: "message-disturbed",
    how: "doubled",
    from: "p1",
    to: "broker-1",
    apiKey: 0,
    isResponse: false,
  },
  "controller-elected": { kind: "controller-elected", controller: 3001, quorumEpoch: 1 },
  "controller-resigned": { kind: "controller-resigned", controller: 3001, quorumEpoch: 1 },
  "broker-registered": {
    kind: "broker-registered",
    broker: 1,
    brokerEpoch: 5,
    cleanShutdown: true,
  },
  "broker-fenced": { kind: "broker-fenced", broker: 1, brokerEpoch: 5 },
  "broker-unfenced": { kind: "broker-unfenced", broker: 1, brokerEpoch: 5 },
  "broker-shutting-down": { kind: "broker-shutting-down", broker: 1, brokerEpoch: 5 },
  "partition-changed": {
    kind: "partition-changed",
    partition: "orders-0",
    replicas: [1, 2, 3],
    isr: [1, 2],
    elr: [3],
    leader: 1,
    leaderEpoch: 2,
    partitionEpoch: 3,
    recovering: false,
    election: "clean",
    minInsyncReplicas: 2,
  },
  "log-loaded": {
    kind: "log-loaded",
    broker: 1,
    partition: "orders-0",
    logStartOffset: 0,
    logEndOffset: 10,
    lastEpoch: 2,
    highWatermark: 9,
    cleanShutdown: true,
    truncatedBytes: 0,
  },
  appended: { kind: "appended", broker: 1, partition: "orders-0", batch: BATCH, asLeader: true },
  truncated: {
    kind: "truncated",
    broker: 1,
    partition: "orders-0",
    from: 10,
    to: 8,
    reason: "diverging-epoch",
  },
  "log-start-moved": {
    kind: "log-start-moved",
    broker: 1,
    partition: "orders-0",
    from: 0,
    to: 8,
    reason: "retention-time",
  },
  "log-cleaned": {
    kind: "log-cleaned",
    broker: 1,
    partition: "orders-0",
    from: 0,
    to: 9,
    batches: [BATCH],
  },
  "coordinator-loaded": {
    kind: "coordinator-loaded",
    broker: 1,
    partition: "__consumer_offsets-7",
    leaderEpoch: 2,
  },
  "coordinator-unloaded": {
    kind: "coordinator-unloaded",
    broker: 1,
    partition: "__consumer_offsets-7",
    leaderEpoch: 2,
  },
  "group-state-changed": {
    kind: "group-state-changed",
    broker: 1,
    group: "g",
    from: "Empty",
    to: "Stable",
    generation: 3,
    reason: "joined",
  },
  "group-migrated": {
    kind: "group-migrated",
    broker: 1,
    group: "g",
    to: "consumer",
    generation: 3,
  },
  "group-member-joined": {
    kind: "group-member-joined",
    broker: 1,
    group: "g",
    member: "c1-1",
    instance: "i1",
  },
  "group-member-left": {
    kind: "group-member-left",
    broker: 1,
    group: "g",
    member: "c1-1",
    instance: "i1",
    reason: "left",
  },
  "group-assigned": {
    kind: "group-assigned",
    broker: 1,
    group: "g",
    generation: 3,
    assignments: [{ member: "c1-1", topics: ["orders"], partitions: ["orders-0"] }],
  },
  "group-member-assigned": {
    kind: "group-member-assigned",
    broker: 1,
    group: "g",
    member: "c1-1",
    memberEpoch: 3,
    partitions: ["orders-0"],
    revoking: ["orders-1"],
  },
  "zookeeper-session-ended": {
    kind: "zookeeper-session-ended",
    session: 3,
    how: "expired",
    znodes: ["/brokers/ids/1"],
  },
  "zookeeper-rebalance-ended": {
    kind: "zookeeper-rebalance-ended",
    client: "c1",
    group: "g",
    member: "g_c1-1",
    attempt: 2,
    outcome: "conflict",
    partitions: ["orders-0"],
  },
  "offsets-removed": {
    kind: "offsets-removed",
    broker: 1,
    group: "g",
    partitions: ["orders-0"],
  },
  "offsets-committed": {
    kind: "offsets-committed",
    broker: 1,
    group: "g",
    member: "c1-1",
    generation: 3,
    offsets: [{ partition: "orders-0", offset: 9 }],
    producerId: -1,
  },
  "last-stable-offset-moved": {
    kind: "last-stable-offset-moved",
    broker: 1,
    partition: "orders-0",
    lastStableOffset: 7,
    leaderEpoch: 2,
  },
  "transaction-state-changed": {
    kind: "transaction-state-changed",
    broker: 1,
    coordinatorEpoch: 2,
    transactionalId: "app",
    producerId: 2_000,
    producerEpoch: 3,
    from: "Ongoing",
    to: "PrepareCommit",
    partitions: ["orders-0"],
    reason: "EndTxn",
  },
  "transaction-begun": {
    kind: "transaction-begun",
    client: "p1",
    transactionalId: "app",
    transaction: 4,
    producerId: 2_000,
    producerEpoch: 3,
  },
  "transaction-ended": {
    kind: "transaction-ended",
    client: "p1",
    transactionalId: "app",
    transaction: 4,
    outcome: "committed",
    error: "NONE",
  },
  "producer-fenced": {
    kind: "producer-fenced",
    client: "p1",
    transactionalId: "app",
    producerId: 2_000,
    producerEpoch: 3,
  },
  "producer-id-rotated": {
    kind: "producer-id-rotated",
    broker: 2,
    transactionalId: "app",
    from: 2_000,
    to: 2_001,
  },
  "hanging-transaction-found": {
    kind: "hanging-transaction-found",
    client: "admin",
    partition: "orders-0",
    producerId: 2_000,
    producerEpoch: 3,
    firstOffset: 40,
  },
  "log-directory-failed": {
    kind: "log-directory-failed",
    broker: 1,
    directory: "data",
    reason: "EIO: data/orders-0/00000000000000000000.log",
  },
  "high-watermark-moved": {
    kind: "high-watermark-moved",
    broker: 1,
    partition: "orders-0",
    highWatermark: 9,
    leaderEpoch: 2,
    asLeader: true,
  },
  "became-leader": {
    kind: "became-leader",
    broker: 1,
    partition: "orders-0",
    leaderEpoch: 2,
    partitionEpoch: 3,
    logEndOffset: 10,
    highWatermark: 9,
    isr: [1, 2],
  },
  "became-follower": {
    kind: "became-follower",
    broker: 1,
    partition: "orders-0",
    leader: 2,
    leaderEpoch: 2,
    logEndOffset: 10,
  },
  "isr-proposed": {
    kind: "isr-proposed",
    broker: 1,
    partition: "orders-0",
    isr: [1, 2],
    leaderEpoch: 2,
    partitionEpoch: 3,
  },
  "isr-adopted": {
    kind: "isr-adopted",
    broker: 1,
    partition: "orders-0",
    isr: [1, 2],
    by: "answer",
    leaderEpoch: 2,
    partitionEpoch: 4,
  },
  "metadata-loaded": {
    kind: "metadata-loaded",
    node: 3001,
    isVoter: true,
    logEndOffset: 40,
    lastEpoch: 2,
  },
  "metadata-appended": {
    kind: "metadata-appended",
    node: 3001,
    batch: BATCH,
    asLeader: true,
  },
  "metadata-truncated": { kind: "metadata-truncated", node: 3001, from: 40, to: 38 },
  "metadata-applied": { kind: "metadata-applied", node: 1, batch: BATCH },
  "offset-asked": {
    kind: "offset-asked",
    client: "reader",
    partition: "orders-0",
    broker: 1,
    which: "latest",
    purpose: "answer",
  },
  "offset-told": {
    kind: "offset-told",
    client: "reader",
    partition: "orders-0",
    call: "offsetsForTimes",
    offset: 12,
  },
  "call-failed": {
    kind: "call-failed",
    client: "reader",
    call: "seek",
    partition: "orders-0",
    error: "IllegalStateException: No current assignment for partition orders-0",
  },
  "record-sent": { kind: "record-sent", client: "writer", partition: "orders-0", value: 17 },
  "send-ended": {
    kind: "send-ended",
    client: "writer",
    partition: "orders-0",
    outcome: "acked",
    values: [17, 18],
    baseOffset: 7,
    acks: -1,
    error: "NONE",
    attempts: 1,
  },
  "request-failed": {
    kind: "request-failed",
    client: "writer",
    api: "Produce",
    broker: 1,
    partition: "orders-0",
    error: "NOT_LEADER_OR_FOLLOWER",
    retried: true,
  },
  polled: {
    kind: "polled",
    client: "reader",
    partition: "orders-0",
    firstOffset: 7,
    lastOffset: 8,
    batches: [BATCH],
  },
  "records-processed": {
    kind: "records-processed",
    client: "reader",
    group: "g",
    partition: "orders-0",
    firstOffset: 7,
    lastOffset: 8,
  },
  "record-derived": {
    kind: "record-derived",
    client: "app",
    group: "g",
    partition: "orders-0",
    offset: 7,
    value: 3,
  },
  "row-stored": {
    kind: "row-stored",
    client: "app",
    group: "g",
    store: "ledger",
    partition: "orders-0",
    offset: 7,
    isNew: true,
  },
  "partitions-assigned": {
    kind: "partitions-assigned",
    client: "reader",
    group: "g",
    member: "reader-1",
    generation: 3,
    partitions: ["orders-0", "orders-1"],
  },
  "partitions-revoked": {
    kind: "partitions-revoked",
    client: "reader",
    group: "g",
    member: "reader-1",
    generation: 3,
    partitions: ["orders-0"],
  },
  "partitions-lost": {
    kind: "partitions-lost",
    client: "reader",
    group: "g",
    member: "reader-1",
    generation: 3,
    partitions: ["orders-0"],
  },
  "commit-ended": {
    kind: "commit-ended",
    client: "reader",
    group: "g",
    member: "reader-1",
    generation: 3,
    how: "sync",
    offsets: [{ partition: "orders-0", offset: 9 }],
    outcome: "unknown",
    error: "NETWORK_EXCEPTION",
  },
  "position-reset": {
    kind: "position-reset",
    client: "reader",
    partition: "orders-0",
    from: -1,
    to: 0,
    reason: "initial",
  },
};

function batch(baseOffset: number, leaderEpoch: number): RecordBatch {
  return buildBatch([{ timestamp: 1_000, value: Uint8Array.of(1, 2, 3) }], {
    baseOffset,
    partitionLeaderEpoch: leaderEpoch,
  });
}

function digestOf(fact: Fact): string {
  const digest = new Digest();
  mixFactInto(digest, fact);
  return digest.value();
}

/** Another value of the same type. */
function changed(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value === "string") return `${value}x`;
  if (Array.isArray(value)) return value.slice(1);
  return batch(8, 1);
}

describe("facts in the digest", () => {
  test.each(
    Object.values(SAMPLES).flatMap((fact) =>
      Object.keys(fact)
        .filter((field) => field !== "kind")
        .map((field): [Fact["kind"], string, Fact] => [fact.kind, field, fact]),
    ),
  )("%s: another %s is another digest", (_, field, fact) => {
    const other = { ...fact, [field]: changed(Reflect.get(fact, field)) };

    expect(digestOf(other)).not.toBe(digestOf(fact));
    expect(digestOf({ ...fact })).toBe(digestOf(fact));
  });

  test("no two kinds look alike", () => {
    const digests = new Set(Object.values(SAMPLES).map((fact) => digestOf(fact)));

    expect(digests.size).toBe(Object.keys(SAMPLES).length);
  });

  test("of a batch, its offset, its epoch and its records count", () => {
    const fact = SAMPLES.appended;
    const value = Uint8Array.of(1, 2, 4);
    const others = [
      batch(8, 1),
      batch(7, 2),
      buildBatch([{ timestamp: 1_000, value }], { baseOffset: 7, partitionLeaderEpoch: 1 }),
      buildBatch([{ timestamp: 1_001, value: Uint8Array.of(1, 2, 3) }], {
        baseOffset: 7,
        partitionLeaderEpoch: 1,
      }),
    ];

    const digests = [BATCH, ...others].map((other) => digestOf({ ...fact, batch: other }));

    expect(new Set(digests).size).toBe(5);
    expect(digestOf({ ...fact, batch: batch(7, 1) })).toBe(digests[0]);
  });
});
