import { describe, expect, test } from "vitest";
import { SECOND } from "../../../../src/base/time.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { UP_TO_HIGH_WATERMARK } from "../../../../src/kafka/protocol/delete-records.ts";
import type { Partition } from "../../../../src/nodes/broker/partition.ts";
import { BrokerFixture, epochOf, TOPIC_ID } from "../../../support/broker-fixture.ts";

/** Broker 1 leads orders-0, five records long, of which four are on all three replicas. */
function leading(): BrokerFixture {
  const broker = new BrokerFixture();
  broker.addPartition([5, 5, 5, 5, 5]);
  broker.lead();
  for (const follower of [2, 3]) replicate(broker, follower, 4, 0);
  return broker;
}

function replicate(
  broker: BrokerFixture,
  replicaId: number,
  fetchOffset: number,
  logStartOffset: number,
): void {
  broker.fetch({ fetchOffset, logStartOffset }, { replicaId, maxWaitMs: 0 });
}

function orders(broker: BrokerFixture): Partition {
  const partition = broker.partition(TOPIC_ID, 0);
  if (partition === undefined) throw new Error("orders-0 is gone");
  return partition;
}

describe("a deletion of records", () => {
  test("moves the leader's log start at once, and is answered when all replicas have followed", () => {
    const broker = leading();

    const client = broker.deleteRecords(3);
    expect(orders(broker).log.logStartOffset).toBe(3);
    expect(broker.deleted(client)).toBeUndefined();

    replicate(broker, 2, 4, 3);
    expect(broker.deleted(client)).toBeUndefined();
    replicate(broker, 3, 4, 4);
    expect(broker.deleted(client)).toEqual({ partitionIndex: 0, lowWatermark: 3, errorCode: 0 });
    expect(broker.world.answersTo(client)).toHaveLength(1);
    expect(orders(broker).deletions.size).toBe(0);
    expect(broker.world.factsOf("log-start-moved")).toEqual([
      {
        kind: "log-start-moved",
        broker: 1,
        partition: "orders-0",
        from: 0,
        to: 3,
        reason: "delete-records",
      },
    ]);
  });

  test("may ask for all that is committed", () => {
    const broker = leading();

    broker.deleteRecords(UP_TO_HIGH_WATERMARK);

    expect(orders(broker).log.logStartOffset).toBe(4);
  });

  test("does not wait for replicas whose broker is fenced", () => {
    const broker = leading();
    broker.register(3, epochOf(3), true);

    const client = broker.deleteRecords(3);
    replicate(broker, 2, 4, 3);

    expect(broker.deleted(client)).toMatchObject({ errorCode: 0, lowWatermark: 3 });
  });

  test("of what is gone already is answered at once, and moves nothing back", () => {
    const broker = leading();
    broker.deleteRecords(3);
    for (const follower of [2, 3]) replicate(broker, follower, 4, 3);

    const client = broker.deleteRecords(1);

    expect(broker.deleted(client)).toMatchObject({ errorCode: 0, lowWatermark: 3 });
    expect(orders(broker).log.logStartOffset).toBe(3);
  });

  test("of what is not committed, or of a negative offset, is refused", () => {
    const broker = leading();

    for (const offset of [5, 100, -2]) {
      expect(broker.deleted(broker.deleteRecords(offset))).toEqual({
        partitionIndex: 0,
        lowWatermark: -1,
        errorCode: ERRORS.OFFSET_OUT_OF_RANGE.code,
      });
    }
    expect(orders(broker).log.logStartOffset).toBe(0);
  });

  test("of a topic that is only compacted is refused", () => {
    const broker = leading();
    const { log } = orders(broker);
    log.updateConfig({ ...log.config, "cleanup.policy": "compact" });
    const errorCode = ERRORS.POLICY_VIOLATION.code;
    expect(broker.deleted(broker.deleteRecords(3))).toMatchObject({ errorCode });

    log.updateConfig({ ...log.config, "cleanup.policy": "compact,delete" });
    broker.deleteRecords(3);
    expect(log.logStartOffset).toBe(3);
  });

  test("is for the leader only, also while it waits", () => {
    const broker = leading();
    const waiting = broker.deleteRecords(3);

    broker.follow({ leader: 2, leaderEpoch: 6, partitionEpoch: 8 });

    const errorCode = ERRORS.NOT_LEADER_OR_FOLLOWER.code;
    expect(broker.deleted(waiting)).toMatchObject({ errorCode, lowWatermark: -1 });
    expect(broker.deleted(broker.deleteRecords(3))).toMatchObject({ errorCode });
  });

  test("that is not done in time says so, and stays done on the leader", () => {
    const broker = leading();
    const client = broker.deleteRecords(3, 10_000);

    broker.world.run(10 * SECOND);

    expect(broker.deleted(client)).toMatchObject({
      errorCode: ERRORS.REQUEST_TIMED_OUT.code,
      lowWatermark: 0,
    });
    expect(orders(broker).log.logStartOffset).toBe(3);
    expect(orders(broker).deletions.size).toBe(0);
  });
});

test("a fetch below the start of the log is told to begin elsewhere", () => {
  const broker = leading();
  broker.deleteRecords(3);

  const consumer = broker.fetch({ fetchOffset: 2 });

  expect(broker.fetched(consumer)).toMatchObject({ errorCode: ERRORS.OFFSET_OUT_OF_RANGE.code });
  expect(broker.fetched(broker.fetch({ fetchOffset: 3 }))).toMatchObject({
    errorCode: 0,
    logStartOffset: 3,
  });
});
