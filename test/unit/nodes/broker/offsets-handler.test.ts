import { describe, expect, test } from "vitest";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { buildBatch } from "../../../../src/kafka/log/record-batch.ts";
import { LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH } from "../../../../src/kafka/protocol/apis.ts";
import type {
  ListOffsetsPartitionResponse,
  ListOffsetsRequest,
} from "../../../../src/kafka/protocol/list-offsets.ts";
import {
  EARLIEST_LOCAL_TIMESTAMP,
  EARLIEST_PENDING_UPLOAD_TIMESTAMP,
  EARLIEST_TIMESTAMP,
  LATEST_TIERED_TIMESTAMP,
  LATEST_TIMESTAMP,
  MAX_TIMESTAMP,
} from "../../../../src/kafka/protocol/list-offsets.ts";
import type {
  OffsetForLeaderEpochRequest,
  OffsetForLeaderPartitionResult,
} from "../../../../src/kafka/protocol/offset-for-leader-epoch.ts";
import { OffsetsHandler } from "../../../../src/nodes/broker/offsets-handler.ts";
import { RpcServer } from "../../../../src/nodes/rpc/rpc-server.ts";
import { ASKER } from "../../../support/asked-world.ts";
import { BrokerFixture, epochOf } from "../../../support/broker-fixture.ts";

/** Broker 1 leads orders-0 in epoch 5 from offset 4 on; records of epochs 1, 1, 3, 3 lie below. */
function leading(highWatermark: number, switches = {}): BrokerFixture {
  const broker = new BrokerFixture({ switches });
  broker.addPartition([1, 1, 3, 3]);
  const partition = broker.lead({});
  for (const follower of [2, 3]) {
    partition.remote(follower)?.fetched(highWatermark, 0, broker.now(), 4, epochOf(follower));
  }
  partition.maybeAdvanceHighWatermark(broker.now());
  return broker;
}

function list(
  broker: BrokerFixture,
  timestamp: number,
  { replicaId = -1, topic = "orders", currentLeaderEpoch = 5 } = {},
): ListOffsetsPartitionResponse | undefined {
  const handler = new OffsetsHandler(broker);
  const server = new RpcServer(broker.world, {
    onRequest: (request) => handler.listOffsets(request, request.body as ListOffsetsRequest),
  });
  const on = broker.world.accept();
  const partitions = [{ partitionIndex: 0, currentLeaderEpoch, timestamp }];
  const body = {
    replicaId,
    isolationLevel: 0,
    topics: [{ name: topic, partitions }],
    timeoutMs: 1000,
  };
  server.onFrame(on, ASKER, broker.world.request(LIST_OFFSETS, body));
  return broker.world.answerTo(LIST_OFFSETS, on)?.topics[0]?.partitions[0];
}

function epochEnd(
  broker: BrokerFixture,
  leaderEpoch: number,
): OffsetForLeaderPartitionResult | undefined {
  const handler = new OffsetsHandler(broker);
  const server = new RpcServer(broker.world, {
    onRequest: (request) =>
      handler.offsetForLeaderEpoch(request, request.body as OffsetForLeaderEpochRequest),
  });
  const on = broker.world.accept();
  const partitions = [{ partition: 0, currentLeaderEpoch: 5, leaderEpoch }];
  const body = { replicaId: -1, topics: [{ topic: "orders", partitions }] };
  server.onFrame(on, ASKER, broker.world.request(OFFSET_FOR_LEADER_EPOCH, body));
  return broker.world.answerTo(OFFSET_FOR_LEADER_EPOCH, on)?.topics[0]?.partitions[0];
}

describe("the end of a log", () => {
  test("is the high watermark for clients, the log's end for followers", () => {
    const broker = leading(4);
    broker.partition("orders-topic-id-000000", 0)?.log.appendAsLeader([broker.batch()], 5);

    expect(list(broker, LATEST_TIMESTAMP)).toMatchObject({
      errorCode: 0,
      offset: 4,
      leaderEpoch: 5,
    });
    expect(list(broker, LATEST_TIMESTAMP, { replicaId: 2 })).toMatchObject({ offset: 5 });
  });

  test("is not told to clients before a new leader knows what the old one promised", () => {
    const broker = leading(2);

    expect(list(broker, LATEST_TIMESTAMP)).toMatchObject({
      errorCode: ERRORS.OFFSET_NOT_AVAILABLE.code,
    });
    expect(list(broker, EARLIEST_TIMESTAMP)).toMatchObject({ errorCode: 0 });
  });
});

test("the start of a log is told with its leader epoch", () => {
  const broker = leading(4);
  expect(list(broker, EARLIEST_TIMESTAMP)).toMatchObject({ offset: 0, leaderEpoch: 1 });

  broker.partition("orders-topic-id-000000", 0)?.advanceLogStart(3, "delete-records");

  expect(list(broker, EARLIEST_TIMESTAMP)).toMatchObject({ offset: 3, leaderEpoch: 3 });
});

describe("a search by time", () => {
  test("does not tell of a record that a new leader does not know to be committed", () => {
    const broker = leading(2);
    const now = broker.now() / 1000;
    broker.world.now += 10_000;
    broker.partition("orders-topic-id-000000", 0)?.log.appendAsLeader([broker.batch()], 5);

    expect(list(broker, now)).toMatchObject({ errorCode: 0, offset: 0 });
    const refused = { errorCode: ERRORS.OFFSET_NOT_AVAILABLE.code, offset: -1 };
    expect(list(broker, now + 5)).toMatchObject(refused);
    expect(list(broker, now + 500)).toMatchObject(refused);
    expect(list(broker, now + 5, { replicaId: 2 })).toMatchObject({ errorCode: 0, offset: 4 });
  });

  test("begins at the log's start", () => {
    const broker = leading(4);
    broker.partition("orders-topic-id-000000", 0)?.advanceLogStart(2, "delete-records");

    expect(list(broker, 0)).toMatchObject({ offset: 2, leaderEpoch: 3 });
  });

  test("for the largest timestamp finds the first record that has it", () => {
    const broker = leading(4);
    const partition = broker.partition("orders-topic-id-000000", 0);
    const latest = broker.now() / 1000 + 7;
    for (const timestamps of [[latest - 3, latest, latest], [latest - 1]]) {
      const records = timestamps.map((timestamp) => ({ timestamp }));
      partition?.log.appendAsLeader([buildBatch(records)], 5);
    }

    expect(list(broker, MAX_TIMESTAMP, { replicaId: 2 })).toEqual({
      partitionIndex: 0,
      errorCode: 0,
      timestamp: latest,
      offset: 5,
      leaderEpoch: 5,
    });
    // To a client it is not committed yet.
    expect(list(broker, MAX_TIMESTAMP)).toMatchObject({ errorCode: 0, offset: -1 });
  });

  test("finds nothing in tiered storage, which there is not", () => {
    const broker = leading(4);

    for (const timestamp of [LATEST_TIERED_TIMESTAMP, EARLIEST_PENDING_UPLOAD_TIMESTAMP]) {
      expect(list(broker, timestamp)).toMatchObject({ errorCode: 0, offset: -1, leaderEpoch: -1 });
    }
    expect(list(broker, EARLIEST_LOCAL_TIMESTAMP)).toMatchObject({ offset: 0, leaderEpoch: 1 });
  });

  test("finds the first visible record that is no older", () => {
    const broker = leading(4);
    const now = broker.now() / 1000;

    expect(list(broker, now - 5)).toMatchObject({ offset: 0, timestamp: now, leaderEpoch: 1 });
    expect(list(broker, now + 1)).toMatchObject({ errorCode: 0, offset: -1, timestamp: -1 });
  });
});

test("who asks in another leader epoch, or for what is not there, is told so", () => {
  const broker = leading(4);

  expect(list(broker, LATEST_TIMESTAMP, { currentLeaderEpoch: 4 })).toMatchObject({
    errorCode: ERRORS.FENCED_LEADER_EPOCH.code,
  });
  expect(list(broker, LATEST_TIMESTAMP, { topic: "payments" })).toMatchObject({
    errorCode: ERRORS.UNKNOWN_TOPIC_OR_PARTITION.code,
  });
});

describe("the end of a leader epoch", () => {
  test("is where the next one begins, and names the largest epoch that is not above", () => {
    const broker = leading(4);

    expect(epochEnd(broker, 1)).toMatchObject({ leaderEpoch: 1, endOffset: 2 });
    expect(epochEnd(broker, 2)).toMatchObject({ leaderEpoch: 1, endOffset: 2 });
    expect(epochEnd(broker, 6)).toMatchObject({ leaderEpoch: -1, endOffset: -1 });
  });

  test("does not say which epoch it closes under the rule of KIP-101", () => {
    const broker = leading(4, { truncation: "kip-101" });

    expect(epochEnd(broker, 2)).toMatchObject({ leaderEpoch: 2, endOffset: 2 });
  });
});
