import { describe, expect, test, vi } from "vitest";
import { MILLISECOND, SECOND } from "../../../../src/base/time.ts";
import type { ErrorName } from "../../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import type { RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import { parseBatch } from "../../../../src/kafka/log/record-batch.ts";
import {
  FETCH,
  LIST_OFFSETS,
  OFFSET_FOR_LEADER_EPOCH,
} from "../../../../src/kafka/protocol/apis.ts";
import type {
  FetchPartition,
  FetchPartitionResponse,
  FetchRequest,
} from "../../../../src/kafka/protocol/fetch.ts";
import {
  EARLIEST_TIMESTAMP,
  LATEST_TIMESTAMP,
} from "../../../../src/kafka/protocol/list-offsets.ts";
import type { ProtocolSwitches } from "../../../../src/kafka/protocol-switches.ts";
import { BROKER_TIMER } from "../../../../src/nodes/broker/broker-timers.ts";
import type { Partition } from "../../../../src/nodes/broker/partition.ts";
import { ReplicaFetcher } from "../../../../src/nodes/broker/replica-fetcher.ts";
import { DiskError } from "../../../../src/ports/disk.ts";
import { addressOf, BrokerFixture, epochOf, TOPIC_ID } from "../../../support/broker-fixture.ts";
import type { FakeRequest } from "../../../support/fake-world.ts";
import { ScriptedDisk } from "../../../support/scripted-disk.ts";

/** Broker 1 follows orders-0 at broker 2 in leader epoch 5; the test plays broker 2. */
class Following {
  readonly broker: BrokerFixture;
  readonly fetcher: ReplicaFetcher;
  readonly partition: Partition;

  /** Begins with records of these epochs in the follower's log, `highWatermark` of them replicated. */
  constructor(
    epochs: readonly number[],
    options: { highWatermark?: number; switches?: Partial<ProtocolSwitches> } = {},
  ) {
    this.broker = new BrokerFixture(options.switches ? { switches: options.switches } : {});
    this.fetcher = new ReplicaFetcher(this.broker, 2);
    this.broker.addPartition(epochs);
    this.partition = this.broker.follow();
    this.partition.followHighWatermark(options.highWatermark ?? 0);
    this.fetcher.add(this.partition);
    this.settle();
  }

  /** Lets what is under way arrive. */
  settle(): this {
    this.broker.world.run(10 * MILLISECOND);
    return this;
  }

  /** Every fetch so far, as to orders-0. */
  get fetches(): FetchPartition[] {
    return this.broker.world
      .requestsOf(FETCH)
      .flatMap(({ topics }) => topics.flatMap(({ partitions }) => partitions))
      .filter(({ partition }) => partition === 0);
  }

  get lastFetch(): FetchPartition {
    const fetch = this.fetches.at(-1);
    if (fetch === undefined) throw new Error("nothing was fetched");
    return fetch;
  }

  get lastRequest(): FakeRequest {
    const request = this.broker.world.requests.at(-1);
    if (request === undefined) throw new Error("nothing was asked");
    return request;
  }

  /** Broker 2 answers the last fetch, which asks for orders-0 alone. */
  answer(more: Partial<FetchPartitionResponse>): this {
    return this.answerAll([{ partitionIndex: 0, ...more }]);
  }

  answerAll(partitions: readonly Partial<FetchPartitionResponse>[], sessionId = 0): this {
    this.lastRequest.reply(FETCH, {
      throttleTimeMs: 0,
      errorCode: 0,
      sessionId,
      responses: [
        { topicId: TOPIC_ID, partitions: partitions.map((one) => ({ ...EMPTY, ...one })) },
      ],
    });
    return this.settle();
  }

  fail(error: ErrorName): this {
    return this.answer({ errorCode: ERRORS[error].code });
  }

  /** Batches of one record, as the leader has them: of these epochs, from `baseOffset` on. */
  batches(baseOffset: number, epochs: readonly number[]): RecordBatch[] {
    return epochs.map((epoch, i) => this.broker.batch().withOffsets(baseOffset + i, epoch));
  }

  get epochs(): number[] {
    const { log } = this.partition;
    return log
      .read(log.logStartOffset, 1_000_000, log.logEndOffset, true)
      .batches.map(({ partitionLeaderEpoch }) => partitionLeaderEpoch);
  }
}

const EMPTY: FetchPartitionResponse = {
  partitionIndex: 0,
  errorCode: 0,
  highWatermark: 0,
  lastStableOffset: 0,
  logStartOffset: 0,
  divergingEpoch: undefined,
  currentLeader: undefined,
  snapshotId: undefined,
  abortedTransactions: undefined,
  preferredReadReplica: -1,
  records: [],
};

describe("a follower fetches", () => {
  test("from its end, naming who it is, its epoch, its last record's, and the leader's", () => {
    const following = new Following([1, 3]);

    const [request] = following.broker.world.requestsOf(FETCH);
    expect(request).toMatchObject({
      replicaId: 1,
      replicaEpoch: epochOf(1),
      maxWaitMs: 500,
      minBytes: 1,
      maxBytes: 10_485_760,
    });
    expect(following.lastFetch).toMatchObject({
      currentLeaderEpoch: 5,
      fetchOffset: 2,
      lastFetchedEpoch: 3,
      logStartOffset: 0,
      partitionMaxBytes: 1_048_576,
    });
  });

  test("from 0 without an epoch to name, if it has nothing", () => {
    const following = new Following([]);

    expect(following.lastFetch).toMatchObject({ fetchOffset: 0, lastFetchedEpoch: -1 });
  });

  test("one request at a time", () => {
    const following = new Following([3]);

    following.fetcher.wake();
    following.settle();

    expect(following.fetches).toHaveLength(1);
  });

  test("on from what it got, at once", () => {
    const following = new Following([3]);

    following.answer({ records: following.batches(1, [3, 5]) });

    expect(following.epochs).toEqual([3, 3, 5]);
    expect(following.lastFetch).toMatchObject({ fetchOffset: 3, lastFetchedEpoch: 5 });
    expect(following.broker.world.factsOf("appended")).toMatchObject([
      { asLeader: false },
      { asLeader: false },
    ]);
  });

  test("and takes over the high watermark, as far as its log goes", () => {
    const following = new Following([3]);

    following.answer({ records: following.batches(1, [3]), highWatermark: 9 });

    expect(following.partition.highWatermark).toBe(2);
  });

  test("and lets its log start where the leader's does", () => {
    const following = new Following([3, 3, 3]);

    following.answer({ logStartOffset: 2, highWatermark: 3 });

    expect(following.partition.log.logStartOffset).toBe(2);
    expect(following.broker.world.factsOf("log-start-moved")).toMatchObject([
      { broker: 1, from: 0, to: 2, reason: "leader" },
    ]);
    expect(following.lastFetch).toMatchObject({ fetchOffset: 3, logStartOffset: 2 });
  });

  test("nothing of a later epoch than it follows in", () => {
    const following = new Following([3]);

    following.answer({ records: following.batches(1, [5, 6]) });

    expect(following.epochs).toEqual([3, 5]);
  });

  test("all partitions that it follows there in one request", () => {
    const following = new Following([3]);
    following.broker.addPartition([1], 1);
    following.fetcher.add(following.broker.follow({}, 1));
    following.answer({});

    const request = following.broker.world.requestsOf(FETCH).at(-1);
    expect(request?.topics.map(({ partitions }) => partitions.length)).toEqual([2]);
  });
});

describe("a follower whose history parts from the leader's", () => {
  test("cuts what is not shared, and goes on from there", () => {
    const following = new Following([1, 1, 2, 2]);

    following.answer({ divergingEpoch: { epoch: 1, endOffset: 2 }, highWatermark: 2 });

    expect(following.epochs).toEqual([1, 1]);
    expect(following.lastFetch).toMatchObject({ fetchOffset: 2, lastFetchedEpoch: 1 });
    expect(following.broker.world.factsOf("truncated")).toMatchObject([
      { from: 4, to: 2, reason: "diverging-epoch" },
    ]);
  });

  test("takes no high watermark from an answer that tells so: first it cuts (KAFKA-14704)", () => {
    const following = new Following([1, 1, 2, 2]);

    following.answer({ divergingEpoch: { epoch: 1, endOffset: 3 }, highWatermark: 4 });

    expect(following.partition.highWatermark).toBe(0);
  });

  test("goes back epoch by epoch until the leader has no objection", () => {
    const following = new Following([1, 2, 4, 4]);

    following.answer({ divergingEpoch: { epoch: 3, endOffset: 9 } });
    expect(following.lastFetch).toMatchObject({ fetchOffset: 2, lastFetchedEpoch: 2 });

    following.answer({ divergingEpoch: { epoch: 1, endOffset: 1 } });
    expect(following.lastFetch).toMatchObject({ fetchOffset: 1, lastFetchedEpoch: 1 });
    expect(following.epochs).toEqual([1]);
  });
});

describe("an answer is ignored", () => {
  test.each([
    ["", false],
    [", also if it was not followed in between", true],
  ])("if the partition follows in another leader epoch since it was asked%s", (_, removed) => {
    const following = new Following([3]);
    const asked = following.lastRequest;
    following.broker.follow({ leaderEpoch: 6, partitionEpoch: 8 });
    if (removed) following.fetcher.remove(following.partition);
    following.fetcher.add(following.partition);
    const records = following.batches(1, [3]);

    asked.reply(FETCH, {
      throttleTimeMs: 0,
      errorCode: 0,
      sessionId: 0,
      responses: [{ topicId: TOPIC_ID, partitions: [{ ...EMPTY, records, highWatermark: 2 }] }],
    });
    following.settle();

    expect(following.epochs).toEqual([3]);
    expect(following.partition.highWatermark).toBe(0);
    expect(following.lastFetch).toMatchObject({ fetchOffset: 1, currentLeaderEpoch: 6 });
  });

  test("if the partition is not followed here any more", () => {
    const following = new Following([3]);
    following.fetcher.remove(following.partition);

    following.answer({ records: following.batches(1, [3]) });
    following.broker.world.run(10 * SECOND);

    expect(following.epochs).toEqual([3]);
    expect(following.fetches).toHaveLength(1);
  });

  test("not if it was merely told the same leader epoch again", () => {
    const following = new Following([3]);
    following.fetcher.add(following.broker.follow({ partitionEpoch: 8 }));

    following.answer({ records: following.batches(1, [3]) });

    expect(following.epochs).toEqual([3, 3]);
  });
});

describe("an error", () => {
  test.each([
    "UNKNOWN_LEADER_EPOCH",
    "NOT_LEADER_OR_FOLLOWER",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "UNKNOWN_TOPIC_ID",
    "KAFKA_STORAGE_ERROR",
  ] as const)("%s makes the partition wait for replica.fetch.backoff.ms", (name) => {
    const following = new Following([3]);
    const start = vi.spyOn(following.broker.world, "start");
    following.fail(name);
    following.broker.world.run(SECOND - 30 * MILLISECOND);
    expect(following.fetches).toHaveLength(1);
    expect(start.mock.calls.filter(([, kind]) => kind === BROKER_TIMER.fetcherBackoff)).toEqual([
      [SECOND, BROKER_TIMER.fetcherBackoff, following.fetcher],
    ]);

    following.broker.world.run(60 * MILLISECOND);
    expect(following.fetches).toHaveLength(2);
  });

  test("of one partition does not hold up another", () => {
    const following = new Following([3]);
    following.broker.addPartition([1], 1);
    following.fetcher.add(following.broker.follow({}, 1));
    following.answer({});

    following.answerAll([
      { partitionIndex: 0, errorCode: ERRORS.UNKNOWN_LEADER_EPOCH.code },
      { partitionIndex: 1 },
    ]);

    const last = following.broker.world.requestsOf(FETCH).at(-1)?.topics[0]?.partitions;
    expect(last?.map(({ partition }) => partition)).toEqual([1]);
  });

  test("that fences it in its own epoch stops it until newer metadata come", () => {
    const following = new Following([3]).fail("FENCED_LEADER_EPOCH");
    following.broker.world.run(60 * SECOND);
    expect(following.fetches).toHaveLength(1);

    following.fetcher.add(following.broker.follow({ leaderEpoch: 6, partitionEpoch: 8 }));
    following.settle();

    expect(following.lastFetch.currentLeaderEpoch).toBe(6);
  });

  test("in what was fetched makes it fetch again later, and nothing is kept of it", () => {
    const following = new Following([3]);
    const bytes = following.broker.batch().withOffsets(1, 3).bytes.slice();
    bytes[bytes.length - 1] = 77;
    const batch = parseBatch(bytes);

    following.answer({ records: batch === undefined ? [] : [batch], highWatermark: 2 });
    expect(following.fetches).toHaveLength(1);
    following.broker.world.run(SECOND);

    expect(following.epochs).toEqual([3]);
    expect(following.lastFetch.fetchOffset).toBe(1);
    expect(following.fetches).toHaveLength(2);
  });

  test("of the connection makes it connect and ask again later", () => {
    const following = new Following([3]);

    following.broker.world.disconnect(addressOf(2));
    following.broker.world.run(SECOND - 20 * MILLISECOND);
    expect(following.fetches).toHaveLength(1);
    following.broker.world.run(40 * MILLISECOND);

    expect(following.fetches).toHaveLength(2);
  });

  test("is also a leader that does not answer for replica.socket.timeout.ms", () => {
    const following = new Following([3]);

    following.broker.world.run(30 * SECOND);
    expect(following.fetches).toHaveLength(1);
    following.broker.world.run(2 * SECOND);

    expect(following.fetches).toHaveLength(2);
  });
});

describe("a follower outside the leader's range", () => {
  /** The times that the leader was asked the offsets of. */
  function askedTimes(following: Following): number[] {
    return following.broker.world
      .requestsOf(LIST_OFFSETS)
      .map(({ topics }) => topics[0]?.partitions[0]?.timestamp ?? 0);
  }

  function tell(following: Following, offset: number, error: ErrorName = "NONE"): Following {
    const partition = {
      partitionIndex: 0,
      errorCode: ERRORS[error].code,
      timestamp: -1,
      offset,
      leaderEpoch: 5,
    };
    following.lastRequest.reply(LIST_OFFSETS, {
      throttleTimeMs: 0,
      topics: [{ name: "orders", partitions: [partition] }],
    });
    return following.settle();
  }

  test("cuts its log to the leader's end, if that is shorter", () => {
    const following = new Following([1, 1, 1]).fail("OFFSET_OUT_OF_RANGE");

    tell(following, 1);

    expect(askedTimes(following)).toEqual([LATEST_TIMESTAMP]);
    expect(following.epochs).toEqual([1]);
    expect(following.lastFetch).toMatchObject({ fetchOffset: 1, lastFetchedEpoch: 1 });
    expect(following.broker.world.factsOf("truncated")).toMatchObject([
      { from: 3, to: 1, reason: "offset-out-of-range" },
    ]);
  });

  test("throws all away and begins where the leader's log does, if that is past its end", () => {
    const following = new Following([1, 1, 1]).fail("OFFSET_OUT_OF_RANGE");

    tell(tell(following, 20), 10);

    expect(askedTimes(following)).toEqual([LATEST_TIMESTAMP, EARLIEST_TIMESTAMP]);
    expect(following.partition.log).toMatchObject({ logStartOffset: 10, logEndOffset: 10 });
    expect(following.partition.highWatermark).toBe(10);
    expect(following.lastFetch).toMatchObject({ fetchOffset: 10, lastFetchedEpoch: -1 });
    expect(following.broker.world.factsOf("log-start-moved")).toMatchObject([
      { broker: 1, from: 0, to: 10, reason: "fully-truncated" },
    ]);
  });

  test("begins with the batch within which the leader's log does, and then where that does", () => {
    const following = new Following([1, 1, 1]).fail("OFFSET_OUT_OF_RANGE");
    tell(tell(following, 20), 10);
    const batch = following.broker.batch(4).withOffsets(8, 2);

    following.answer({ records: [batch], highWatermark: 12, logStartOffset: 10 });

    expect(following.epochs).toEqual([2]);
    expect(following.partition.log).toMatchObject({ logStartOffset: 10, logEndOffset: 12 });
    expect(following.lastFetch).toMatchObject({ fetchOffset: 12, lastFetchedEpoch: 2 });
    expect(following.broker.world.factsOf("log-start-moved")).toMatchObject([
      { from: 0, to: 10 },
      { from: 10, to: 8, reason: "fully-truncated" },
      { from: 8, to: 10, reason: "leader" },
    ]);
  });

  test.each([
    ["cut", [1]],
    ["be emptied", [20, 10]],
  ])("whose disk fails as its log is to %s follows no more", (_what, offsets) => {
    const following = new Following([1, 1, 1]).fail("OFFSET_OUT_OF_RANGE");
    diskOf(following).failure = "EIO";

    for (const offset of offsets) tell(following, offset);
    following.broker.world.run(60 * SECOND);

    expect(following.broker.failed).toEqual([following.partition]);
    expect(following.fetches).toHaveLength(1);
  });

  test("tries again from its end, if that is within the leader's range", () => {
    const following = new Following([1, 1, 1]).fail("OFFSET_OUT_OF_RANGE");

    tell(tell(following, 20), 0);

    expect(following.epochs).toEqual([1, 1, 1]);
    expect(following.lastFetch).toMatchObject({ fetchOffset: 3, lastFetchedEpoch: 1 });
  });

  test("waits before it tries again, if the leader does not tell", () => {
    const following = new Following([1]).fail("OFFSET_OUT_OF_RANGE");

    tell(following, -1, "NOT_LEADER_OR_FOLLOWER");
    expect(following.fetches).toHaveLength(1);
    following.broker.world.run(SECOND);

    expect(following.fetches).toHaveLength(2);
  });

  test("waits for newer metadata, if its epoch is fenced there", () => {
    const following = new Following([1]).fail("OFFSET_OUT_OF_RANGE");

    tell(following, -1, "FENCED_LEADER_EPOCH");
    following.broker.world.run(60 * SECOND);

    expect(following.fetches).toHaveLength(1);
  });

  test("does as the answer says only if it still follows in the same epoch", () => {
    const following = new Following([1, 1, 1]).fail("OFFSET_OUT_OF_RANGE");
    const asked = following.lastRequest;
    following.fetcher.remove(following.partition);
    following.fetcher.add(following.broker.follow({ leaderEpoch: 6, partitionEpoch: 8 }));
    const partition = { partitionIndex: 0, errorCode: 0, timestamp: -1, offset: 1, leaderEpoch: 5 };

    asked.reply(LIST_OFFSETS, {
      throttleTimeMs: 0,
      topics: [{ name: "orders", partitions: [partition] }],
    });
    following.settle();

    expect(following.epochs).toEqual([1, 1, 1]);
  });
});

/** The disk of the follower, which a test can make fail. */
function diskOf({ broker }: Following): ScriptedDisk {
  const { disk } = broker.world;
  if (!(disk instanceof ScriptedDisk)) throw new Error("not the disk of a test");
  return disk;
}

describe("a follower whose disk fails", () => {
  test("follows that partition no more, but goes on with others", () => {
    const following = new Following([3]);
    const { broker, fetcher, partition } = following;
    broker.addPartition([], 1);
    const other = broker.follow({}, 1);
    fetcher.add(other);
    following.answer({});
    const disk = diskOf(following);
    vi.spyOn(disk, "note").mockImplementation((_call, path) => {
      if (path.startsWith(partition.log.directory)) throw new DiskError("EIO", path);
    });

    const [first, second] = [following.batches(1, [3]), following.batches(0, [3])];
    following.answerAll([
      { partitionIndex: 0, records: first, highWatermark: 2 },
      { partitionIndex: 1, records: second, highWatermark: 1 },
    ]);
    const before = following.fetches.length;
    following.answerAll([{ partitionIndex: 1 }]);

    expect(broker.failed).toEqual([partition]);
    expect([partition.log.logEndOffset, other.log.logEndOffset]).toEqual([1, 1]);
    expect(following.fetches).toHaveLength(before);
    expect(following.lastRequest.is(FETCH)).toBe(true);
  });

  test("tells what it had appended before: it is in the log, and may be found there", () => {
    const following = new Following([]);
    let writes = 0;
    vi.spyOn(diskOf(following), "note").mockImplementation((call, path) => {
      if (call !== "write" || !path.endsWith(".log")) return;
      writes++;
      if (writes === 3) throw new DiskError("ENOSPC", path);
    });

    following.answer({ records: following.batches(0, [3, 3, 3, 3]), highWatermark: 4 });

    const appended = following.broker.world.factsOf("appended");
    expect(appended.map(({ batch }) => batch.baseOffset)).toEqual([0, 1]);
    expect(following.partition.log.logEndOffset).toBe(2);
    expect(following.broker.failed).toEqual([following.partition]);
  });

  test("as it cuts what the leader does not have, follows no more", () => {
    const following = new Following([1, 1, 2]);
    diskOf(following).failure = "EROFS";

    following.answer({ divergingEpoch: { epoch: 1, endOffset: 2 } });
    following.broker.world.run(60 * SECOND);

    expect(following.broker.failed).toEqual([following.partition]);
    expect(following.fetches).toHaveLength(1);
  });
});

test("a follower that is sent what does not continue its log stops until newer metadata come", () => {
  const following = new Following([3, 3]);

  following.answer({ records: following.batches(1, [3]), highWatermark: 2 });
  following.broker.world.run(60 * SECOND);
  expect(following.fetches).toHaveLength(1);
  following.broker.follow({ leaderEpoch: 6, partitionEpoch: 8 });
  following.fetcher.add(following.partition);
  following.settle();

  expect(following.fetches).toHaveLength(2);
});

describe("before truncation on fetch", () => {
  /** Broker 2 answers where an epoch ends in its log. */
  function tellEnd(following: Following, leaderEpoch: number, endOffset: number): Following {
    following.lastRequest.reply(OFFSET_FOR_LEADER_EPOCH, {
      throttleTimeMs: 0,
      topics: [
        { topic: "orders", partitions: [{ errorCode: 0, partition: 0, leaderEpoch, endOffset }] },
      ],
    });
    return following.settle();
  }

  function askedEpochs(following: Following): number[] {
    return following.broker.world
      .requestsOf(OFFSET_FOR_LEADER_EPOCH)
      .map(({ topics }) => topics[0]?.partitions[0]?.leaderEpoch ?? -1);
  }

  test("a follower cut to its high watermark, whatever the leader had (before KIP-101)", () => {
    const switches = { truncation: "high-watermark" } as const;
    const following = new Following([3, 3, 3], { highWatermark: 1, switches });

    expect(following.epochs).toEqual([3]);
    expect(following.lastFetch).toMatchObject({ fetchOffset: 1, lastFetchedEpoch: -1 });
    expect(following.broker.world.factsOf("truncated")).toMatchObject([
      { from: 3, to: 1, reason: "high-watermark" },
    ]);
  });

  test.each(["kip-101", "kip-279"] as const)(
    "a follower asked first where its last epoch ends, and cut there (%s)",
    (truncation) => {
      const following = new Following([1, 1, 3, 3], { highWatermark: 1, switches: { truncation } });
      expect(following.fetches).toEqual([]);
      expect(askedEpochs(following)).toEqual([3]);

      tellEnd(following, truncation === "kip-101" ? -1 : 3, 3);

      expect(following.epochs).toEqual([1, 1, 3]);
      expect(following.lastFetch).toMatchObject({ fetchOffset: 3, lastFetchedEpoch: -1 });
    },
  );

  test("a follower asked again with an older epoch until one was shared (KIP-279)", () => {
    const switches = { truncation: "kip-279" } as const;
    const following = new Following([1, 1, 3, 4], { switches });

    tellEnd(following, 2, 9);
    expect(askedEpochs(following)).toEqual([4, 1]);
    expect(following.fetches).toEqual([]);
    tellEnd(following, 1, 2);

    expect(following.epochs).toEqual([1, 1]);
    expect(following.lastFetch.fetchOffset).toBe(2);
  });
});

describe("a follower with a session at its leader", () => {
  /** Follows orders-0 and orders-1, each with one record, in session 77. */
  function inSession(): Following {
    const following = new Following([3]);
    following.broker.addPartition([3], 1);
    following.fetcher.add(following.broker.follow({}, 1));
    following.answer({});
    return following.answerAll([{ partitionIndex: 0 }, { partitionIndex: 1 }], 77);
  }

  function lastOf(following: Following): FetchRequest | undefined {
    return following.broker.world.requestsOf(FETCH).at(-1);
  }

  function named(following: Following): number[] | undefined {
    return lastOf(following)?.topics.flatMap(({ partitions }) =>
      partitions.map(({ partition }) => partition),
    );
  }

  function failWith(following: Following, error: ErrorName): void {
    following.lastRequest.reply(FETCH, {
      throttleTimeMs: 0,
      errorCode: ERRORS[error].code,
      sessionId: 0,
      responses: [],
    });
    following.settle();
  }

  test("names all its partitions first, and then those that it got something of", () => {
    const following = inSession();
    expect(lastOf(following)).toMatchObject({ sessionId: 77, sessionEpoch: 1, topics: [] });

    following.answerAll([{ partitionIndex: 1, records: following.batches(1, [5]) }], 77);

    expect(lastOf(following)).toMatchObject({ sessionId: 77, sessionEpoch: 2 });
    expect(lastOf(following)?.topics[0]?.partitions).toMatchObject([
      { partition: 1, fetchOffset: 2, lastFetchedEpoch: 5 },
    ]);
  });

  test("has a partition forgotten while it waits after an error, and adds it again", () => {
    const following = inSession();

    following.answerAll([{ partitionIndex: 0, errorCode: ERRORS.UNKNOWN_LEADER_EPOCH.code }], 77);

    expect(lastOf(following)?.forgottenTopicsData).toEqual([
      { topicId: TOPIC_ID, partitions: [0] },
    ]);
    following.broker.world.run(SECOND);
    following.answerAll([], 77);
    expect(named(following)).toEqual([0]);
  });

  test("has a partition forgotten that it follows here no more", () => {
    const following = inSession();
    following.fetcher.remove(following.partition);

    following.answerAll([], 77);

    expect(lastOf(following)?.forgottenTopicsData).toEqual([
      { topicId: TOPIC_ID, partitions: [0] },
    ]);
  });

  test("takes nothing of a partition that it follows anew since it asked", () => {
    const following = inSession();
    following.broker.follow({ leaderEpoch: 6, partitionEpoch: 8 });
    following.fetcher.add(following.partition);

    following.answerAll([{ partitionIndex: 0, records: following.batches(1, [5]) }], 77);

    expect(following.epochs).toEqual([3]);
    expect(lastOf(following)?.topics[0]?.partitions).toMatchObject([
      { partition: 0, fetchOffset: 1, currentLeaderEpoch: 6 },
    ]);
  });

  test("begins another at once if the leader does not know it", () => {
    const following = inSession();

    failWith(following, "FETCH_SESSION_ID_NOT_FOUND");

    expect(lastOf(following)).toMatchObject({ sessionId: 0, sessionEpoch: 0 });
    expect(named(following)).toEqual([0, 1]);
  });

  test("ends it for another if the leader is at another epoch", () => {
    const following = inSession();

    failWith(following, "INVALID_FETCH_SESSION_EPOCH");

    expect(lastOf(following)).toMatchObject({ sessionId: 77, sessionEpoch: 0 });
    expect(named(following)).toEqual([0, 1]);
  });

  test("ends it for another when no answer came, after the back-off", () => {
    const following = inSession();

    following.broker.world.run(30 * SECOND);
    following.broker.world.run(SECOND);

    expect(lastOf(following)).toMatchObject({ sessionId: 77, sessionEpoch: 0 });
    expect(named(following)).toEqual([0, 1]);
  });
});
