import { describe, expect, test } from "vitest";
import { MILLISECOND } from "../../../../src/base/time.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { BrokerFixture, epochOf } from "../../../support/broker-fixture.ts";

/** Broker 1 leads orders-0 with two records of epoch 3, all below the high watermark of 2. */
function leading(options: ConstructorParameters<typeof BrokerFixture>[0] = {}): BrokerFixture {
  const broker = new BrokerFixture(options);
  broker.addPartition([3, 3]);
  const partition = broker.lead({ replicas: [1, 2], isr: [1, 2] });
  partition.remote(2)?.fetched(2, 0, broker.now(), 2, epochOf(2));
  partition.maybeAdvanceHighWatermark(broker.now());
  return broker;
}

/** A client writes one record that is not waited for. */
function write(broker: BrokerFixture): void {
  broker.produce(broker.batch(), { acks: 1 });
}

/** Follower 2 has all below `offset`; it does not wait. */
function replicate(broker: BrokerFixture, offset: number): void {
  broker.fetch({ fetchOffset: offset }, { replicaId: 2, maxWaitMs: 0 });
}

describe("a follower's fetch with nothing to fetch", () => {
  test("is parked, and answered as soon as something is written", () => {
    const broker = leading();
    const follower = broker.fetch({ fetchOffset: 2 }, { replicaId: 2 });
    expect(broker.fetched(follower)).toBeUndefined();

    write(broker);

    expect(broker.fetched(follower)?.records.map(({ baseOffset }) => baseOffset)).toEqual([2]);
  });

  test("is not woken by the high watermark, which it learns with the next records", () => {
    const broker = new BrokerFixture();
    broker.addPartition([3, 3]);
    broker.lead({});
    const second = broker.fetch({ fetchOffset: 2 }, { replicaId: 2 });

    broker.fetch({ fetchOffset: 2 }, { replicaId: 3 });

    expect(broker.lead({}).highWatermark).toBe(2);
    expect(broker.fetched(second)).toBeUndefined();
    broker.world.run(500 * MILLISECOND);
    expect(broker.fetched(second)?.highWatermark).toBe(2);
  });
});

describe("a consumer's fetch with nothing to fetch", () => {
  test("is not woken by what is only written, but by what is replicated", () => {
    const broker = leading();
    const consumer = broker.fetch({ fetchOffset: 2 });

    write(broker);
    expect(broker.fetched(consumer)).toBeUndefined();
    replicate(broker, 3);

    expect(broker.fetched(consumer)).toMatchObject({ errorCode: 0, highWatermark: 3 });
    expect(broker.fetched(consumer)?.records).toHaveLength(1);
  });

  test("above the high watermark is answered at once, with nothing", () => {
    const broker = leading();
    write(broker);

    const consumer = broker.fetch({ fetchOffset: 3 });

    expect(broker.fetched(consumer)).toMatchObject({ errorCode: 0, records: [] });
  });

  test("of committed records above the last stable offset is answered at once, with nothing", () => {
    const configs = { "transaction.partition.verification.enable": false };
    const broker = leading({ configs, features: { "transaction.version": 1 } });
    const open = { producerId: 7, producerEpoch: 0, baseSequence: 0, isTransactional: true };
    broker.produce(broker.batch(2, open), { acks: 1, transactionalId: "app" });
    replicate(broker, 4);

    const [at, above] = [2, 3].map((fetchOffset) =>
      broker.fetch({ fetchOffset }, { isolationLevel: 1 }),
    );

    expect(at && broker.fetched(at)).toBeUndefined();
    expect(above && broker.fetched(above)).toMatchObject({ errorCode: 0, records: [] });
  });
});

describe("a parked fetch", () => {
  test("is answered with nothing when its time is up, not before and not again", () => {
    const broker = leading();
    const consumer = broker.fetch({ fetchOffset: 2 }, { maxWaitMs: 500 });

    broker.world.run(500 * MILLISECOND - 1);
    expect(broker.fetched(consumer)).toBeUndefined();
    broker.world.run(1);
    write(broker);
    replicate(broker, 3);

    expect(broker.fetched(consumer)).toMatchObject({ errorCode: 0, records: [] });
    expect(broker.world.answersTo(consumer)).toHaveLength(1);
  });

  test("is no more timed once it is answered", () => {
    const broker = leading();
    const follower = broker.fetch({ fetchOffset: 2 }, { replicaId: 2 });
    write(broker);

    broker.world.run(1_000 * MILLISECOND);

    expect(broker.world.answersTo(follower)).toHaveLength(1);
  });

  test("waits until there is as much as it asks for", () => {
    const broker = leading();
    const size = broker.batch().sizeInBytes;
    const follower = broker.fetch({ fetchOffset: 2 }, { replicaId: 2, minBytes: 2 * size });

    write(broker);
    expect(broker.fetched(follower)).toBeUndefined();
    write(broker);

    expect(broker.fetched(follower)?.records).toHaveLength(2);
  });

  test("is answered with the new leader when this broker leads no more", () => {
    const broker = leading();
    const consumer = broker.fetch({ fetchOffset: 2 });

    broker.follow({ leader: 2, leaderEpoch: 6, partitionEpoch: 8 });

    expect(broker.fetched(consumer)).toMatchObject({
      errorCode: ERRORS.NOT_LEADER_OR_FOLLOWER.code,
      currentLeader: { leaderId: 2, leaderEpoch: 6 },
    });
  });

  test("of a leader epoch that has ended is fenced, although the same broker leads", () => {
    const broker = leading();
    const follower = broker.fetch({ fetchOffset: 2, currentLeaderEpoch: 5 }, { replicaId: 2 });

    broker.lead({ replicas: [1, 2], isr: [1, 2], leaderEpoch: 6, partitionEpoch: 8 });

    expect(broker.fetched(follower)?.errorCode).toBe(ERRORS.FENCED_LEADER_EPOCH.code);
  });

  test("is answered when the log was cut under it", () => {
    const broker = leading();
    const follower = broker.fetch({ fetchOffset: 2 }, { replicaId: 2 });
    const partition = broker.lead({ replicas: [1, 2], isr: [1, 2] });
    expect(broker.fetched(follower)).toBeUndefined();

    partition.truncateTo(1, "diverging-epoch");
    partition.completeDelayed();

    expect(broker.fetched(follower)?.errorCode).toBe(ERRORS.OFFSET_OUT_OF_RANGE.code);
  });

  test("is answered when the histories part under it", () => {
    const broker = leading();
    const from = { fetchOffset: 2, lastFetchedEpoch: 3 };
    const follower = broker.fetch(from, { replicaId: 2 });
    const partition = broker.lead({ replicas: [1, 2], isr: [1, 2] });
    expect(broker.fetched(follower)).toBeUndefined();

    partition.truncateTo(1, "diverging-epoch");
    write(broker);

    expect(broker.fetched(follower)?.divergingEpoch).toEqual({ epoch: 3, endOffset: 1 });
  });

  test("teaches nothing of its follower when it is answered: that was done when it came", () => {
    const broker = leading();
    broker.fetch({ fetchOffset: 2 }, { replicaId: 2 });
    const replica = broker.lead({ replicas: [1, 2], isr: [1, 2] }).remote(2);
    const before = { ...replica };

    broker.world.run(100 * MILLISECOND);
    write(broker);

    expect({ ...replica }).toEqual(before);
    expect(replica?.lastFetchAt).toBe(broker.now() - 100 * MILLISECOND);
  });

  test("is forgotten when its asker is gone", () => {
    const broker = leading();
    const follower = broker.fetch({ fetchOffset: 2 }, { replicaId: 2 });
    broker.hangUp(follower);

    write(broker);
    broker.world.run(1_000 * MILLISECOND);

    expect(broker.world.answersTo(follower)).toEqual([]);
    expect(broker.lead({ replicas: [1, 2] }).fetches.size).toBe(0);
  });
});

describe("a fetch is not parked", () => {
  test("if it does not want to wait", () => {
    const broker = leading();

    const consumer = broker.fetch({ fetchOffset: 2 }, { maxWaitMs: 0 });

    expect(broker.fetched(consumer)).toMatchObject({ errorCode: 0, records: [] });
  });

  test("if something is wrong with any of its partitions", () => {
    const broker = new BrokerFixture();
    broker.follow();

    const consumer = broker.fetch({ fetchOffset: 0 });

    expect(broker.fetched(consumer)?.errorCode).toBe(ERRORS.NOT_LEADER_OR_FOLLOWER.code);
  });
});
