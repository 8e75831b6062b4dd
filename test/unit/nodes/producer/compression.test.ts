import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../src/base/time.ts";
import { payloadValue } from "../../../../src/kafka/client/payload.ts";
import { resolveConfigs } from "../../../../src/kafka/config/config-table.ts";
import { PRODUCER_CONFIGS } from "../../../../src/kafka/config/producer-configs.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { CODECS } from "../../../../src/kafka/log/compression/codec.ts";
import type { RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import { parseBatch } from "../../../../src/kafka/log/record-batch.ts";
import { PRODUCE } from "../../../../src/kafka/protocol/apis.ts";
import { Producer } from "../../../../src/nodes/producer/producer.ts";
import { addressOf, FakeCluster, TOPIC, TOPIC_ID } from "../../../support/fake-cluster.ts";
import { FakeWorld } from "../../../support/fake-world.ts";

/** The batches that a producer sends to a broker that takes those of up to `limit` bytes. */
function batchesOf(
  configs: Record<string, unknown>,
  records: number,
  limit = Number.POSITIVE_INFINITY,
): { received: RecordBatch[]; acked: number[] } {
  const world = new FakeWorld();
  const cluster = new FakeCluster(world);
  const received: RecordBatch[] = [];
  let end = 0;
  cluster.onRequest = (request) => {
    const [topic] = request.body(PRODUCE).topicData;
    request.reply(PRODUCE, {
      throttleTimeMs: 0,
      responses: [
        {
          topicId: TOPIC_ID,
          partitionResponses: (topic?.partitionData ?? []).map(({ index, records: batch }) => {
            const isTaken = batch.sizeInBytes <= limit;
            if (isTaken) received.push(batch);
            const baseOffset = isTaken ? end : -1;
            if (isTaken) end += batch.recordCount;
            return {
              index,
              errorCode: (isTaken ? ERRORS.NONE : ERRORS.MESSAGE_TOO_LARGE).code,
              baseOffset,
              logAppendTimeMs: -1,
              logStartOffset: 0,
              currentLeader: undefined,
            };
          }),
        },
      ],
    });
  };
  const resolved = resolveConfigs(PRODUCER_CONFIGS, configs);
  world.begin(
    new Producer(world, {
      name: "p1",
      address: world.self,
      topic: TOPIC,
      arrival: MILLISECOND / 10,
      records,
      keys: { kind: "none" },
      recordSize: 100,
      tombstones: undefined,
      transaction: undefined,
      transactionVersion: 2,
      configs: resolved,
      idempotence: true,
      bootstrap: [addressOf(1)],
    }),
  );
  world.run(20 * SECOND);
  const acked = world
    .factsOf("send-ended")
    .filter(({ outcome }) => outcome === "acked")
    .flatMap(({ values }) => [...values]);
  return { received, acked };
}

function valuesOf(batch: RecordBatch): number[] {
  const read = parseBatch(batch.bytes.slice());
  return (read?.records() ?? []).map(({ value }) => payloadValue(value ?? new Uint8Array(12), 0));
}

const ALL = Array.from({ length: 2_000 }, (_, i) => i);

describe.each(CODECS)("compression.type %s", (type) => {
  const configs = { "compression.type": type, "batch.size": 2_000, "linger.ms": 100 };
  const { received, acked } = batchesOf(configs, ALL.length);

  test("is what the brokers get, every record once and in order", () => {
    expect(new Set(received.map(({ compression }) => CODECS[compression]))).toEqual(
      new Set([type]),
    );
    expect(received.flatMap(valuesOf)).toEqual(ALL);
    expect(acked).toEqual(ALL);
  });

  test("never makes a batch larger than batch.size by more than the codec adds", () => {
    for (const { sizeInBytes } of received) expect(sizeInBytes).toBeLessThanOrEqual(2_000);
  });
});

test("the better batches compress, the more records the next ones hold", () => {
  const configs = { "compression.type": "gzip", "batch.size": 2_000, "linger.ms": 1_000 };

  const { received } = batchesOf(configs, 5_000);

  const counts = received.slice(0, -1).map(({ recordCount }) => recordCount);
  // 17 would fit uncompressed; a twentieth is kept in reserve.
  expect(counts[0]).toBe(16);
  expect(counts.at(-1)).toBeGreaterThan(30);
  expect([...counts].sort((a, b) => a - b)).toEqual(counts);
});

test("a batch that compressed worse than expected is split, and nothing is lost", () => {
  const configs = { "compression.type": "zstd", "batch.size": 4_000, "linger.ms": 100 };

  const { received, acked } = batchesOf(configs, 200, 1_000);

  expect(received.flatMap(valuesOf)).toEqual(ALL.slice(0, 200));
  expect(acked).toEqual(ALL.slice(0, 200));
  const sequences = received.map(({ baseSequence }) => baseSequence);
  expect([...sequences].sort((a, b) => a - b)).toEqual(sequences);
});
