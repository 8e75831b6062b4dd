import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../src/base/time.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { FETCH } from "../../../../src/kafka/protocol/apis.ts";
import type {
  FetchPartition,
  FetchRequest,
  FetchResponse,
} from "../../../../src/kafka/protocol/fetch.ts";
import type { ConnectionId } from "../../../../src/ports/network.ts";
import { BrokerFixture, epochOf, TOPIC_ID } from "../../../support/broker-fixture.ts";

/** Broker 1 leads orders-0 and orders-1, with two records each, which follower 2 has. */
class Leading {
  readonly broker: BrokerFixture;
  /** The session and epoch that follower 2 would name next. */
  sessionId = 0;
  epoch = 0;

  constructor(configs: Readonly<Record<string, unknown>> = {}) {
    this.broker = new BrokerFixture({ configs });
    for (const index of [0, 1]) {
      this.broker.addPartition([5, 5], index);
      const partition = this.broker.lead({ replicas: [1, 2], isr: [1, 2] }, 1, index);
      partition.remote(2)?.fetched(2, 0, this.broker.now(), 2, epochOf(2));
      partition.maybeAdvanceHighWatermark(this.broker.now());
    }
  }

  /** Follower 2 fetches these partitions, by default as its session's next fetch. */
  fetch(
    partitions: readonly (Partial<FetchPartition> & { partition: number })[],
    options: Partial<FetchRequest> & { on?: ConnectionId } = {},
  ): ConnectionId {
    const named = partitions.map((one) => ({ ...ASKED, ...one }));
    return this.broker.fetch(
      { fetchOffset: 2 },
      {
        replicaId: 2,
        maxWaitMs: 0,
        sessionId: this.sessionId,
        sessionEpoch: this.epoch,
        topics: named.length === 0 ? [] : [{ topicId: TOPIC_ID, partitions: named }],
        ...options,
      },
    );
  }

  answer(on: ConnectionId): FetchResponse | undefined {
    return this.broker.world.answerTo(FETCH, on);
  }

  /** Which partitions the answer to a fetch has. */
  told(on: ConnectionId): number[] | undefined {
    return this.answer(on)?.responses.flatMap(({ partitions }) =>
      partitions.map(({ partitionIndex }) => partitionIndex),
    );
  }

  /** Begins a session of both partitions, all of which follower 2 has. */
  begin(): this {
    const first = this.answer(this.fetch([{ partition: 0 }, { partition: 1 }]));
    this.sessionId = first?.sessionId ?? 0;
    this.epoch = 1;
    return this;
  }

  /** A client writes one record to a partition. */
  write(index: number): void {
    const { broker } = this;
    const partition = broker.partition(TOPIC_ID, index);
    partition?.log.appendAsLeader([broker.batch()], 5);
    partition?.completeDelayed();
  }
}

const ASKED: FetchPartition = {
  partition: 0,
  currentLeaderEpoch: 5,
  fetchOffset: 2,
  lastFetchedEpoch: 5,
  logStartOffset: 0,
  partitionMaxBytes: 1_000_000,
  highWatermark: -1,
};

describe("a full fetch", () => {
  test("is answered with all its partitions and begins a session", () => {
    const leading = new Leading();

    const first = leading.fetch([{ partition: 0 }, { partition: 1 }]);

    expect(leading.told(first)).toEqual([0, 1]);
    expect(leading.answer(first)?.sessionId).toBeGreaterThan(0);
  });

  test("of epoch -1 is answered likewise, but begins none", () => {
    const leading = new Leading();

    const only = leading.fetch([{ partition: 0 }], { sessionEpoch: -1 });

    expect(leading.told(only)).toEqual([0]);
    expect(leading.answer(only)?.sessionId).toBe(0);
  });

  test("ends the session that it names", () => {
    const leading = new Leading().begin();

    leading.fetch([{ partition: 0 }], { sessionEpoch: 0 });

    const later = leading.answer(leading.fetch([]));
    expect(later?.errorCode).toBe(ERRORS.FETCH_SESSION_ID_NOT_FOUND.code);
  });

  test("begins none if the broker keeps no sessions", () => {
    const leading = new Leading({ "max.incremental.fetch.session.cache.slots": 0 }).begin();

    expect(leading.sessionId).toBe(0);
  });
});

describe("an incremental fetch", () => {
  test("is answered without the partitions that have nothing new", () => {
    const leading = new Leading().begin();
    leading.write(1);

    const next = leading.fetch([]);

    expect(leading.told(next)).toEqual([1]);
    expect(leading.answer(next)).toMatchObject({ errorCode: 0, sessionId: leading.sessionId });
    leading.epoch = 2;
    expect(leading.told(leading.fetch([{ partition: 1, fetchOffset: 3 }]))).toEqual([]);
  });

  test("has a partition whose high watermark rose, once", () => {
    const leading = new Leading().begin();
    leading.write(1);
    leading.fetch([]);
    leading.epoch = 2;
    leading.fetch([{ partition: 1, fetchOffset: 3 }]);
    expect(leading.broker.partition(TOPIC_ID, 1)?.highWatermark).toBe(3);
    leading.epoch = 3;

    const next = leading.answer(leading.fetch([]));

    expect(next?.responses[0]?.partitions).toMatchObject([
      { partitionIndex: 1, highWatermark: 3, records: [] },
    ]);
    leading.epoch = 4;
    expect(leading.told(leading.fetch([]))).toEqual([]);
  });

  test("has a partition whose log starts elsewhere", () => {
    const leading = new Leading().begin();
    leading.broker.partition(TOPIC_ID, 0)?.log.advanceLogStart(1);

    const next = leading.answer(leading.fetch([]));

    expect(next?.responses[0]?.partitions).toMatchObject([
      { partitionIndex: 0, logStartOffset: 1 },
    ]);
  });

  test("has a partition with an error each time, and once more when it is gone", () => {
    const leading = new Leading().begin();
    const behind = { partition: 0, currentLeaderEpoch: 4 };
    expect(leading.told(leading.fetch([behind]))).toEqual([0]);
    leading.epoch = 2;
    const again = leading.answer(leading.fetch([]));
    expect(again?.responses[0]?.partitions).toMatchObject([
      { partitionIndex: 0, errorCode: ERRORS.FENCED_LEADER_EPOCH.code },
    ]);
    leading.epoch = 3;

    const next = leading.answer(leading.fetch([{ partition: 0 }]));

    expect(next?.responses[0]?.partitions).toMatchObject([{ partitionIndex: 0, errorCode: 0 }]);
    leading.epoch = 4;
    expect(leading.told(leading.fetch([]))).toEqual([]);
  });

  test("has a partition whose history parts", () => {
    const leading = new Leading().begin();

    const next = leading.answer(leading.fetch([{ partition: 1, lastFetchedEpoch: 4 }]));

    expect(next?.responses[0]?.partitions).toMatchObject([
      { partitionIndex: 1, records: [], divergingEpoch: { endOffset: 0 } },
    ]);
  });

  test("adds the partitions that it names, and drops those that it forgets", () => {
    const leading = new Leading();
    const first = leading.answer(leading.fetch([{ partition: 0 }]));
    leading.sessionId = first?.sessionId ?? 0;
    leading.epoch = 1;
    const forgottenTopicsData = [{ topicId: TOPIC_ID, partitions: [0] }];

    const next = leading.fetch([{ partition: 1 }], { forgottenTopicsData });

    expect(leading.told(next)).toEqual([1]);
    leading.write(0);
    leading.write(1);
    leading.epoch = 2;
    expect(leading.told(leading.fetch([]))).toEqual([1]);
  });

  test("that forgets all partitions ends its session", () => {
    const leading = new Leading().begin();
    const forgottenTopicsData = [{ topicId: TOPIC_ID, partitions: [0, 1] }];

    const last = leading.answer(leading.fetch([], { forgottenTopicsData }));

    expect(last).toMatchObject({ errorCode: 0, sessionId: 0, responses: [] });
    leading.epoch = 2;
    const later = leading.answer(leading.fetch([]));
    expect(later?.errorCode).toBe(ERRORS.FETCH_SESSION_ID_NOT_FOUND.code);
  });

  test("of an epoch that is not the next is refused, and changes nothing", () => {
    const leading = new Leading().begin();
    leading.fetch([]);

    const twice = leading.answer(leading.fetch([{ partition: 1, fetchOffset: 0 }]));

    expect(twice).toMatchObject({
      errorCode: ERRORS.INVALID_FETCH_SESSION_EPOCH.code,
      responses: [],
    });
    leading.epoch = 2;
    expect(leading.told(leading.fetch([]))).toEqual([]);
  });

  test("tells of a follower's time in all its partitions, also those it does not name", () => {
    const leading = new Leading().begin();
    leading.broker.world.run(SECOND);

    leading.fetch([{ partition: 1 }]);

    for (const index of [0, 1]) {
      expect(leading.broker.partition(TOPIC_ID, index)?.remote(2)).toMatchObject({
        lastFetchAt: leading.broker.now(),
        lastCaughtUpAt: leading.broker.now(),
      });
    }
  });

  test("of an earlier life of its follower is refused in every partition (KIP-903)", () => {
    const leading = new Leading().begin();
    leading.broker.register(2, epochOf(2) + 1);

    const next = leading.answer(leading.fetch([]));

    expect(next?.responses[0]?.partitions.map(({ errorCode }) => errorCode)).toEqual([
      ERRORS.NOT_LEADER_OR_FOLLOWER.code,
      ERRORS.NOT_LEADER_OR_FOLLOWER.code,
    ]);
  });

  test("gives what it served the last place, so that a limit hits others", () => {
    const leading = new Leading().begin();
    for (const index of [0, 1]) for (let i = 0; i < 2; i++) leading.write(index);
    const maxBytes = 1;

    expect(leading.told(leading.fetch([], { maxBytes }))).toEqual([0]);

    leading.epoch = 2;
    expect(leading.told(leading.fetch([{ partition: 0, fetchOffset: 3 }], { maxBytes }))).toEqual([
      1,
    ]);
  });
});

describe("a parked incremental fetch", () => {
  test("is woken by a partition that it did not name, and has that alone", () => {
    const leading = new Leading().begin();
    const next = leading.fetch([], { maxWaitMs: 500 });
    expect(leading.answer(next)).toBeUndefined();

    leading.write(1);

    expect(leading.told(next)).toEqual([1]);
    leading.epoch = 2;
    leading.broker.world.run(SECOND);
    expect(leading.broker.world.answersTo(next)).toHaveLength(1);
  });

  test("is answered with no partition when its time is up", () => {
    const leading = new Leading().begin();
    const next = leading.fetch([], { maxWaitMs: 500 });

    leading.broker.world.run(500 * MILLISECOND);

    expect(leading.answer(next)).toMatchObject({ errorCode: 0, responses: [] });
  });

  test("is not parked if it let in a produce to a partition that was read before", () => {
    const leading = new Leading().begin();
    const { broker } = leading;
    const on = broker.produce(broker.batch(), { index: 1 });
    leading.fetch([]);
    leading.epoch = 2;
    broker.produce(broker.batch(), { index: 0, on });

    const next = leading.fetch([{ partition: 1, fetchOffset: 3 }], { maxWaitMs: 500 });

    expect(leading.told(next)).toContain(0);
  });

  test("has each partition that changed meanwhile, if it waits for more bytes than one", () => {
    const leading = new Leading().begin();
    const minBytes = 2 * leading.broker.batch().sizeInBytes;
    const next = leading.fetch([], { maxWaitMs: 500, minBytes });

    leading.write(1);
    expect(leading.answer(next)).toBeUndefined();
    leading.write(0);

    expect(leading.told(next)).toEqual([0, 1]);
  });

  test("is refused when a later fetch of its session comes", () => {
    const leading = new Leading().begin();
    const parked = leading.fetch([], { maxWaitMs: 500 });
    leading.epoch = 2;

    const later = leading.fetch([]);

    expect(leading.answer(parked)?.errorCode).toBe(ERRORS.INVALID_FETCH_SESSION_EPOCH.code);
    expect(leading.answer(later)?.errorCode).toBe(0);
  });

  test("leaves nothing behind when its asker is gone, and its session is ended", () => {
    const leading = new Leading().begin();
    leading.broker.hangUp(leading.fetch([], { maxWaitMs: 500 }));

    leading.write(0);

    for (const index of [0, 1]) {
      expect(leading.broker.partition(TOPIC_ID, index)?.fetches.size).toBe(0);
    }
  });
});

describe("a broker with no room for another session", () => {
  const ONE_SLOT = { "max.incremental.fetch.session.cache.slots": 1 };
  const CONSUMER = { replicaId: -1, replicaEpoch: -1, sessionId: 0, sessionEpoch: 0 };

  test("keeps a follower's before a consumer's, however large", () => {
    const leading = new Leading(ONE_SLOT).begin();

    const other = leading.answer(leading.fetch([{ partition: 0 }, { partition: 1 }], CONSUMER));

    expect(other?.sessionId).toBe(0);
    expect(leading.answer(leading.fetch([]))?.errorCode).toBe(0);
  });

  test("gives up a consumer's for a follower's", () => {
    const leading = new Leading(ONE_SLOT);
    const consumer = leading.answer(leading.fetch([{ partition: 0 }], CONSUMER));

    leading.begin();

    expect(leading.sessionId).toBeGreaterThan(0);
    const sessionId = consumer?.sessionId ?? 0;
    const later = leading.answer(leading.fetch([], { ...CONSUMER, sessionId, sessionEpoch: 1 }));
    expect(later?.errorCode).toBe(ERRORS.FETCH_SESSION_ID_NOT_FOUND.code);
  });

  test("gives up one that was not used for two minutes", () => {
    const leading = new Leading(ONE_SLOT).begin();
    leading.broker.world.run(121 * SECOND);

    const other = leading.answer(leading.fetch([{ partition: 0 }], CONSUMER));

    expect(other?.sessionId).toBeGreaterThan(0);
  });
});
