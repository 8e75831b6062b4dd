import { describe, expect, test } from "vitest";
import type { ErrorName } from "../../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { FETCH } from "../../../../src/kafka/protocol/apis.ts";
import type { FetchPartitionResponse } from "../../../../src/kafka/protocol/fetch.ts";
import type { BrokerFixtureOptions } from "../../../support/broker-fixture.ts";
import { BrokerFixture, epochOf, TOPIC_ID } from "../../../support/broker-fixture.ts";

/** Broker 1 leads orders-0 in epoch 5, with records of epochs 1, 1, 3, 3; high watermark 2. */
function leading(options: BrokerFixtureOptions = {}): BrokerFixture {
  const broker = new BrokerFixture(options);
  broker.addPartition([1, 1, 3, 3]);
  const partition = broker.lead({});
  for (const follower of [2, 3]) {
    partition.remote(follower)?.fetched(2, 0, broker.now(), 4, epochOf(follower));
  }
  partition.maybeAdvanceHighWatermark(broker.now());
  return broker;
}

type Fetched = Parameters<BrokerFixture["fetch"]>;

function answered(
  broker: BrokerFixture,
  from: Fetched[0],
  options: Fetched[1] = {},
): FetchPartitionResponse {
  const answer = broker.fetched(broker.fetch(from, { maxWaitMs: 0, ...options }));
  if (answer === undefined) throw new Error("the fetch is parked");
  return answer;
}

function offsets(answer: FetchPartitionResponse): number[] {
  return answer.records.map(({ baseOffset }) => baseOffset);
}

describe("who fetches reads", () => {
  test("below the high watermark, if it is a consumer", () => {
    const answer = answered(leading(), { fetchOffset: 0 });

    expect(offsets(answer)).toEqual([0, 1]);
    expect(answer).toMatchObject({ highWatermark: 2, lastStableOffset: 2, logStartOffset: 0 });
  });

  test("all there is, if it is a follower", () => {
    const answer = answered(leading(), { fetchOffset: 1 }, { replicaId: 2 });

    expect(offsets(answer)).toEqual([1, 2, 3]);
  });

  test("at least one batch, however few bytes it asks for, and no more than it asks for", () => {
    const broker = leading();
    const size = broker.batch().sizeInBytes;

    const little = answered(broker, { fetchOffset: 0, partitionMaxBytes: 1 }, { replicaId: 2 });
    const some = answered(broker, { fetchOffset: 0 }, { replicaId: 2, maxBytes: 2 * size + 1 });

    expect(offsets(little)).toEqual([0]);
    expect(offsets(some)).toEqual([0, 1]);
  });

  test("no batch more than it asks for, once another partition has given one", () => {
    const broker = leading();
    broker.addPartition([1, 1], 1);
    broker.lead({}, 1, 1);
    const one = {
      currentLeaderEpoch: 5,
      fetchOffset: 0,
      lastFetchedEpoch: -1,
      logStartOffset: 0,
      partitionMaxBytes: 1_000_000,
      highWatermark: -1,
    };
    const partitions = [0, 1].map((partition) => ({ ...one, partition }));
    const topics = [{ topicId: TOPIC_ID, partitions }];

    const on = broker.fetch(one, { replicaId: 2, maxBytes: 1, topics });

    const answer = broker.world.answerTo(FETCH, on)?.responses[0]?.partitions ?? [];
    expect(answer.map(offsets)).toEqual([[0], []]);
  });

  test("the high watermark from before its own fetch was taken into account", () => {
    const broker = leading();
    answered(broker, { fetchOffset: 4 }, { replicaId: 3 });

    const answer = answered(broker, { fetchOffset: 4 }, { replicaId: 2 });

    expect(answer.highWatermark).toBe(2);
    expect(broker.lead({}).highWatermark).toBe(4);
  });
});

describe("a fetch is refused", () => {
  test.each<readonly [string, Fetched[0], Fetched[1], ErrorName]>([
    [
      "of an older leader epoch",
      { fetchOffset: 0, currentLeaderEpoch: 4 },
      {},
      "FENCED_LEADER_EPOCH",
    ],
    [
      "of a newer leader epoch",
      { fetchOffset: 0, currentLeaderEpoch: 6 },
      {},
      "UNKNOWN_LEADER_EPOCH",
    ],
    [
      "of a follower that is no replica as far as is known here",
      { fetchOffset: 0, currentLeaderEpoch: 5 },
      { replicaId: 9 },
      "UNKNOWN_LEADER_EPOCH",
    ],
    ["beyond the end of the log", { fetchOffset: 5 }, { replicaId: 2 }, "OFFSET_OUT_OF_RANGE"],
    [
      "whose last epoch is above all that the leader knows",
      { fetchOffset: 4, lastFetchedEpoch: 9 },
      { replicaId: 2 },
      "OFFSET_OUT_OF_RANGE",
    ],
  ])("%s", (_, from, options, error) => {
    const answer = answered(leading(), from, options);

    expect(answer).toMatchObject({ errorCode: ERRORS[error].code, highWatermark: -1, records: [] });
  });

  test("below the start of the log", () => {
    const broker = new BrokerFixture();
    const partition = broker.addPartition([1, 1, 3, 3]);
    partition.log.advanceLogStart(1);
    broker.lead({ isr: [1] });

    const plain = answered(broker, { fetchOffset: 0 }, { replicaId: 2 });
    const withEpoch = answered(broker, { fetchOffset: 0, lastFetchedEpoch: 2 }, { replicaId: 2 });

    expect(plain.errorCode).toBe(ERRORS.OFFSET_OUT_OF_RANGE.code);
    expect(withEpoch.errorCode).toBe(ERRORS.OFFSET_OUT_OF_RANGE.code);
  });

  test("with the leader as known here, when that can help", () => {
    const broker = leading();

    const fenced = answered(broker, { fetchOffset: 0, currentLeaderEpoch: 4 });
    const unknown = answered(broker, { fetchOffset: 0, currentLeaderEpoch: 6 });

    expect(fenced.currentLeader).toEqual({ leaderId: 1, leaderEpoch: 5 });
    expect(unknown.currentLeader).toBeUndefined();
  });

  test("of an earlier life of the follower's broker", () => {
    const broker = leading();

    const answer = answered(
      broker,
      { fetchOffset: 4 },
      { replicaId: 2, replicaEpoch: epochOf(2) - 1 },
    );

    expect(answer.errorCode).toBe(ERRORS.NOT_LEADER_OR_FOLLOWER.code);
  });
});

describe("a follower whose history parts from the leader's", () => {
  const parted = { fetchOffset: 5, lastFetchedEpoch: 2, currentLeaderEpoch: 5 };

  test("is told the last epoch they may share and where it ends, and gets no records", () => {
    const answer = answered(leading(), parted, { replicaId: 2 });

    expect(answer).toMatchObject({
      errorCode: 0,
      divergingEpoch: { epoch: 1, endOffset: 2 },
      records: [],
    });
  });

  test("is told at once, however long it would wait", () => {
    const broker = leading();

    const follower = broker.fetch(parted, { replicaId: 2, maxWaitMs: 500 });

    expect(broker.fetched(follower)?.divergingEpoch).toEqual({ epoch: 1, endOffset: 2 });
  });

  test("has too much of a shared epoch", () => {
    const answer = answered(leading(), { fetchOffset: 3, lastFetchedEpoch: 1 }, { replicaId: 2 });

    expect(answer.divergingEpoch).toEqual({ epoch: 1, endOffset: 2 });
  });

  test("does not count as having what it asks from (KAFKA-13141)", () => {
    const present = leading();
    const old = leading({ switches: { "leader.update-state-on-diverging-fetch": true } });

    answered(present, parted, { replicaId: 2 });
    answered(old, parted, { replicaId: 2 });

    expect(present.lead({}).remote(2)?.logEndOffset).toBe(2);
    expect(old.lead({}).remote(2)?.logEndOffset).toBe(5);
  });

  test("is not one that ends where the leader's epoch does", () => {
    const answer = answered(leading(), { fetchOffset: 2, lastFetchedEpoch: 1 }, { replicaId: 2 });

    expect(answer.divergingEpoch).toBeUndefined();
    expect(offsets(answer)).toEqual([2, 3]);
  });
});
