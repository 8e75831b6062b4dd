import { expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../src/base/time.ts";
import type { ErrorCode } from "../../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { DELETE_RECORDS, METADATA } from "../../../../src/kafka/protocol/apis.ts";
import { UP_TO_HIGH_WATERMARK } from "../../../../src/kafka/protocol/delete-records.ts";
import { Admin } from "../../../../src/nodes/admin/admin.ts";
import { FakeWorld } from "../../../support/fake-world.ts";

const ORDERS_1 = { topic: "orders", partition: 1 };

/** Two brokers, at 11 and 12, of which `leaderId` leads orders-1; it answers a deletion with these errors in turn. */
function asking(leaderId: number, errors: readonly ErrorCode[]) {
  const world = new FakeWorld();
  let answers = 0;
  world.onRequest = (request) => {
    if (request.is(METADATA)) {
      request.reply(METADATA, {
        throttleTimeMs: 0,
        brokers: [1, 2].map((nodeId) => ({ nodeId, host: "", port: 10 + nodeId, rack: undefined })),
        clusterId: "c",
        controllerId: 1,
        topics: [
          {
            errorCode: 0,
            name: "orders",
            topicId: "AAAAAAAAAAAAAAAAAAAAAA",
            isInternal: false,
            partitions: [0, 1].map((partitionIndex) => ({
              errorCode: 0,
              partitionIndex,
              leaderId: partitionIndex === 1 ? leaderId : -1,
              leaderEpoch: 3,
              replicaNodes: [1, 2],
              isrNodes: [1, 2],
              offlineReplicas: [],
            })),
          },
        ],
        errorCode: 0,
      });
      return;
    }
    const { code: errorCode } = errors[Math.min(answers++, errors.length - 1)] ?? ERRORS.NONE;
    const result = { partitionIndex: 1, lowWatermark: -1, errorCode };
    const topics = [{ name: "orders", partitions: [result] }];
    request.reply(DELETE_RECORDS, { throttleTimeMs: 0, topics });
  };
  const admin = new Admin(world, { brokers: [11, 12], topics: [] });
  world.begin(admin);
  return { world, admin };
}

test("the leader of the partition is asked, once", () => {
  const { world, admin } = asking(2, [ERRORS.NONE]);

  admin.deleteRecords(ORDERS_1, 40);
  world.run(SECOND);

  const asked = world.requests.filter((request) => request.is(DELETE_RECORDS));
  expect(asked.map(({ to }) => to)).toEqual([12]);
  expect(asked.map((request) => request.body(DELETE_RECORDS))).toEqual([
    {
      topics: [{ name: "orders", partitions: [{ partitionIndex: 1, offset: 40 }] }],
      timeoutMs: 60_000,
    },
  ]);
  expect(world.notes).toEqual([]);
});

test("who leads is asked again after an error that may pass", () => {
  const { world, admin } = asking(1, [ERRORS.NOT_LEADER_OR_FOLLOWER, ERRORS.NONE]);

  admin.deleteRecords(ORDERS_1, UP_TO_HIGH_WATERMARK);
  world.run(SECOND);

  expect(world.requestsOf(METADATA)).toHaveLength(2);
  expect(world.requestsOf(DELETE_RECORDS)).toHaveLength(2);
  expect(world.factsOf("request-failed")).toEqual([
    {
      kind: "request-failed",
      client: "admin",
      api: "DeleteRecords",
      broker: 1,
      partition: "orders-1",
      error: "NOT_LEADER_OR_FOLLOWER",
      retried: true,
    },
  ]);
});

test("a refusal is told and is final", () => {
  const { world, admin } = asking(1, [ERRORS.POLICY_VIOLATION]);

  admin.deleteRecords(ORDERS_1, 40);
  world.run(90 * SECOND);

  expect(world.requestsOf(DELETE_RECORDS)).toHaveLength(1);
  expect(world.factsOf("request-failed")).toMatchObject([
    { error: "POLICY_VIOLATION", retried: false },
  ]);
});

test("without a leader it is tried for a minute", () => {
  const { world, admin } = asking(-1, []);

  admin.deleteRecords(ORDERS_1, 40);
  world.run(120 * SECOND);

  const failures = world.factsOf("request-failed");
  expect(failures.at(-1)).toMatchObject({ error: "LEADER_NOT_AVAILABLE", retried: false });
  expect(failures.filter(({ retried }) => !retried)).toHaveLength(1);
  expect(world.now).toBe(120 * SECOND);
  // Each try takes a pause of 100 ms and a request.
  expect(failures.length).toBeGreaterThan((60 * SECOND) / (110 * MILLISECOND));
});
