import { describe, expect, test, vi } from "vitest";
import { SECOND } from "../../../../src/base/time.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { PRODUCE } from "../../../../src/kafka/protocol/apis.ts";
import { DiskError } from "../../../../src/ports/disk.ts";
import { DEFAULT_LOG_CONFIG } from "../../../../src/storage/log-config.ts";
import type { BrokerFixtureOptions } from "../../../support/broker-fixture.ts";
import { BrokerFixture, SELF, TOPIC_ID } from "../../../support/broker-fixture.ts";
import { ScriptedDisk } from "../../../support/scripted-disk.ts";

/** Broker 1 leads orders-0, with 2 in the ISR; min.insync.replicas is 2. */
function leading(options: BrokerFixtureOptions = {}): BrokerFixture {
  const broker = new BrokerFixture(options);
  broker.lead({ replicas: [1, 2], isr: [1, 2] }, 2);
  return broker;
}

/** Follower 2 fetches from `offset` on, so has all below; its fetch is parked or answered. */
function replicate(broker: BrokerFixture, offset: number): void {
  broker.fetch({ fetchOffset: offset }, { replicaId: 2, maxWaitMs: 0 });
}

const ORIGINAL = { producerId: 7, producerEpoch: 0, baseSequence: 0 };

describe("a produce with acks=all", () => {
  test("is answered when all it wrote is on every member of the ISR", () => {
    const broker = leading();

    const client = broker.produce(broker.batch(3));
    replicate(broker, 0);
    expect(broker.produced(client)).toBeUndefined();

    replicate(broker, 3);
    expect(broker.produced(client)).toMatchObject({ errorCode: 0, baseOffset: 0 });
    expect(broker.world.answersTo(client)).toHaveLength(1);
    expect(broker.partition(TOPIC_ID, 0)?.produces.size).toBe(0);
  });

  test("is answered at once by a leader that is alone, if that is enough", () => {
    const broker = new BrokerFixture();
    broker.lead({ isr: [1] });

    const client = broker.produce(broker.batch());

    expect(broker.produced(client)).toMatchObject({ errorCode: 0, baseOffset: 0 });
  });

  test("is refused before anything is written while the ISR is below the minimum", () => {
    const broker = new BrokerFixture();
    const partition = broker.lead({ isr: [1] }, 2);

    const client = broker.produce(broker.batch());

    expect(broker.produced(client)).toMatchObject({
      errorCode: ERRORS.NOT_ENOUGH_REPLICAS.code,
      baseOffset: -1,
    });
    expect(partition.logEndOffset).toBe(0);
  });

  test("is told that too few were left, if the ISR shrank while it waited and nothing else holds it", () => {
    const broker = leading({ switches: { "leader.hw-requires-min-isr": false } });
    const client = broker.produce(broker.batch());

    const partition = broker.lead({ replicas: [1, 2], isr: [1], partitionEpoch: 8 }, 2);

    expect(broker.produced(client)?.errorCode).toBe(ERRORS.NOT_ENOUGH_REPLICAS_AFTER_APPEND.code);
    expect(partition.logEndOffset).toBe(1);
  });

  test("waits for a follower whose disk failed while that seems caught up, and is let go by its own retry", () => {
    const broker = new BrokerFixture({ configs: { "replica.lag.time.max.ms": 10_000 } });
    broker.lead({ isr: [1, 2, 3] }, 2);
    broker.fetch({ fetchOffset: 0 }, { replicaId: 3, maxWaitMs: 0 });
    const client = broker.produce(broker.batch(1, ORIGINAL));
    replicate(broker, 1);
    // The controller takes it out of the ISR, but its broker lives.
    broker.lead({ isr: [1, 2], partitionEpoch: 8 }, 2);
    broker.world.run(11 * SECOND);
    replicate(broker, 1);
    const before = broker.produced(client);

    const again = broker.produce(broker.batch(1, ORIGINAL));

    expect(before).toBeUndefined();
    for (const one of [client, again]) {
      expect(broker.produced(one)).toMatchObject({ errorCode: 0, baseOffset: 0 });
    }
  });

  test("goes on waiting if the ISR shrinks below the minimum: the high watermark stands still", () => {
    const broker = leading();
    const client = broker.produce(broker.batch());

    broker.lead({ replicas: [1, 2], isr: [1], partitionEpoch: 8 }, 2);

    expect(broker.produced(client)).toBeUndefined();
  });

  test("is told who leads now, when this broker no longer does", () => {
    const broker = leading();
    const client = broker.produce(broker.batch());

    broker.follow({ leader: 2, leaderEpoch: 6, partitionEpoch: 8 });

    expect(broker.produced(client)).toMatchObject({
      errorCode: ERRORS.NOT_LEADER_OR_FOLLOWER.code,
      currentLeader: { leaderId: 2, leaderEpoch: 6 },
    });
  });

  test("times out after its own patience, and what it wrote stays", () => {
    const broker = leading();
    const client = broker.produce(broker.batch(), { timeoutMs: 5_000 });

    broker.world.run(5 * SECOND - 1);
    expect(broker.produced(client)).toBeUndefined();
    broker.world.run(1);

    expect(broker.produced(client)?.errorCode).toBe(ERRORS.REQUEST_TIMED_OUT.code);
    expect(broker.partition(TOPIC_ID, 0)?.logEndOffset).toBe(1);
  });

  test("is answered once: neither its time nor its partition answers again", () => {
    const broker = leading();
    const client = broker.produce(broker.batch(), { timeoutMs: 5_000 });
    replicate(broker, 1);

    broker.world.run(10 * SECOND);
    broker.follow({ leader: 2, leaderEpoch: 6, partitionEpoch: 8 });

    expect(broker.world.answersTo(client)).toHaveLength(1);
    expect(broker.produced(client)?.errorCode).toBe(0);
  });

  test("meets a storage error when the disk fails while it waits", () => {
    const broker = leading();
    const client = broker.produce(broker.batch());
    const partition = broker.lead({ replicas: [1, 2], isr: [1, 2] }, 2);

    partition.offline = true;
    partition.completeDelayed();

    expect(broker.produced(client)?.errorCode).toBe(ERRORS.KAFKA_STORAGE_ERROR.code);
  });
});

describe("a batch that is sent again", () => {
  test("waits for its original, and is told the original's offset; it is written once", () => {
    const broker = leading();
    broker.produce(broker.batch(2));
    const first = broker.produce(broker.batch(1, ORIGINAL));

    const again = broker.produce(broker.batch(1, ORIGINAL));
    expect(broker.produced(again)).toBeUndefined();
    replicate(broker, 3);

    expect(broker.produced(first)).toMatchObject({ errorCode: 0, baseOffset: 2 });
    expect(broker.produced(again)).toMatchObject({ errorCode: 0, baseOffset: 2 });
    expect(broker.world.factsOf("appended")).toHaveLength(2);
  });

  test("is answered at once if its original is replicated", () => {
    const broker = leading();
    broker.produce(broker.batch(1, ORIGINAL));
    replicate(broker, 1);

    const again = broker.produce(broker.batch(1, ORIGINAL));

    expect(broker.produced(again)).toMatchObject({ errorCode: 0, baseOffset: 0 });
  });

  test("is not acknowledged by a new leader before that has it replicated", () => {
    const broker = leading();
    broker.produce(broker.batch(1, ORIGINAL), { acks: 1 });
    broker.follow({ leader: 2, leaderEpoch: 6, partitionEpoch: 8 });
    broker.lead({ replicas: [1, 2], isr: [1, 2], leaderEpoch: 7, partitionEpoch: 9 }, 2);

    const again = broker.produce(broker.batch(1, ORIGINAL));
    expect(broker.produced(again)).toBeUndefined();
    replicate(broker, 1);

    expect(broker.produced(again)).toMatchObject({ errorCode: 0, baseOffset: 0 });
  });
});

describe("a produce with fewer acks", () => {
  test("of 1 is answered once it is written here", () => {
    const broker = leading();

    const client = broker.produce(broker.batch(), { acks: 1 });

    expect(broker.produced(client)).toMatchObject({ errorCode: 0, baseOffset: 0 });
  });

  test("of 1 asks for no minimum of replicas", () => {
    const broker = new BrokerFixture();
    broker.lead({ isr: [1] }, 2);

    const client = broker.produce(broker.batch(), { acks: 1 });

    expect(broker.produced(client)?.errorCode).toBe(0);
  });

  test("of 0 is not answered, and the next one on its connection is worked on", () => {
    const broker = leading();

    const client = broker.produce(broker.batch(), { acks: 0 });
    broker.produce(broker.batch(), { acks: 1, on: client });

    expect(broker.world.answersOf(PRODUCE)).toHaveLength(1);
    expect(broker.produced(client)?.baseOffset).toBe(1);
    expect(broker.world.hungUp).toEqual([]);
  });

  test("of 0 that goes wrong is told so by the end of its connection", () => {
    const broker = new BrokerFixture();
    broker.follow();

    const client = broker.produce(broker.batch(), { acks: 0 });

    expect(broker.world.answersTo(client)).toEqual([]);
    expect(broker.world.hungUp).toEqual([client]);
  });

  test("of any other number is refused", () => {
    const broker = leading();

    const client = broker.produce(broker.batch(), { acks: 2 });

    expect(broker.produced(client)?.errorCode).toBe(ERRORS.INVALID_REQUIRED_ACKS.code);
    expect(broker.world.factsOf("appended")).toEqual([]);
  });
});

describe("a produce to a partition that is not led here", () => {
  test("is told who leads, as far as this broker knows", () => {
    const broker = new BrokerFixture();
    broker.follow({ leader: 2, leaderEpoch: 5 });

    const client = broker.produce(broker.batch());

    expect(broker.produced(client)).toMatchObject({
      errorCode: ERRORS.NOT_LEADER_OR_FOLLOWER.code,
      currentLeader: { leaderId: 2, leaderEpoch: 5 },
    });
  });

  test("is told that the partition is unknown, if the metadata do not have it", () => {
    const broker = new BrokerFixture();

    const client = broker.produce(broker.batch());

    expect(broker.produced(client)?.errorCode).toBe(ERRORS.UNKNOWN_TOPIC_OR_PARTITION.code);
  });
});

test("what is written is stored with the leader's epoch and told as a fact", () => {
  const broker = leading();

  broker.produce(broker.batch(2));

  const [fact] = broker.world.factsOf("appended");
  expect(fact).toMatchObject({ broker: SELF, partition: "orders-0", asLeader: true });
  expect(fact?.batch).toMatchObject({ baseOffset: 0, lastOffset: 1, partitionLeaderEpoch: 5 });
});

test("what is pipelined behind a parked produce waits its turn, and so keeps its order", () => {
  const broker = leading();
  const client = broker.produce(broker.batch());
  broker.produce(broker.batch(2), { on: client });
  expect(broker.world.factsOf("appended")).toHaveLength(1);

  replicate(broker, 1);
  replicate(broker, 3);

  const offsets = broker.world
    .answersOf(PRODUCE)
    .map(({ responses }) => responses[0]?.partitionResponses[0]?.baseOffset);
  expect(offsets).toEqual([0, 1]);
});

test("a produce that was written, but not flushed as its topic has it, fails and is told of all the same", () => {
  const broker = leading();
  const partition = broker.partition(TOPIC_ID, 0);
  partition?.log.updateConfig({ ...DEFAULT_LOG_CONFIG, "flush.messages": 1 });
  const { disk } = broker.world;
  if (!(disk instanceof ScriptedDisk)) throw new Error("not the disk of a test");
  vi.spyOn(disk, "note").mockImplementation((call, path) => {
    if (call === "sync" && path.endsWith(".log")) throw new DiskError("EIO", path);
  });

  const client = broker.produce(broker.batch(3));

  expect(broker.produced(client)?.errorCode).toBe(ERRORS.KAFKA_STORAGE_ERROR.code);
  expect(broker.failed).toEqual([partition]);
  // It is in the log, and may come back with it.
  expect(broker.world.factsOf("appended").map(({ batch }) => batch.recordCount)).toEqual([3]);
  expect(broker.produced(broker.produce(broker.batch()))?.errorCode).toBe(
    ERRORS.KAFKA_STORAGE_ERROR.code,
  );
});
