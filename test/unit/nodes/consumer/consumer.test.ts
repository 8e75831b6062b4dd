import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../src/base/time.ts";
import { encodeUtf8 } from "../../../../src/base/utf8.ts";
import { encodePayload, payloadValue } from "../../../../src/kafka/client/payload.ts";
import { resolveConfigs } from "../../../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../../../src/kafka/config/consumer-configs.ts";
import type { ErrorName } from "../../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { buildBatch, RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import {
  FETCH,
  LIST_OFFSETS,
  OFFSET_FOR_LEADER_EPOCH,
} from "../../../../src/kafka/protocol/apis.ts";
import type {
  FetchPartition,
  FetchPartitionResponse,
} from "../../../../src/kafka/protocol/fetch.ts";
import {
  EARLIEST_TIMESTAMP,
  LATEST_TIMESTAMP,
} from "../../../../src/kafka/protocol/list-offsets.ts";
import type { LeaderIdAndEpoch } from "../../../../src/kafka/protocol/produce.ts";
import type { ProtocolSwitches } from "../../../../src/kafka/protocol-switches.ts";
import { PRESENT_RULES } from "../../../../src/kafka/protocol-switches.ts";
import { Consumer } from "../../../../src/nodes/consumer/consumer.ts";
import type { ConsumerOptions } from "../../../../src/nodes/consumer/consumer-options.ts";
import { batchWithBlock } from "../../../support/batch-with-block.ts";
import { addressOf, FakeCluster, TOPIC, TOPIC_ID } from "../../../support/fake-cluster.ts";
import type { FakeRequest } from "../../../support/fake-world.ts";
import { FakeWorld } from "../../../support/fake-world.ts";

interface Refusal {
  readonly error: ErrorName;
  readonly hint?: LeaderIdAndEpoch;
}

class Bench {
  readonly world = new FakeWorld();
  readonly cluster: FakeCluster;
  readonly consumer: Consumer;
  /** By partition: the log, the same at all brokers. */
  readonly logs: RecordBatch[][];
  logStart = 0;
  /** The answer to OffsetForLeaderEpoch; undefined: what the log says. */
  epochEnd: { epoch: number; endOffset: number } | undefined;
  /** Do brokers that lead no more still answer fetches as if they did? */
  hasZombies = false;
  answersEpochs = true;
  /** From this offset on nothing is small enough to be fetched. */
  tooLarge = Number.POSITIVE_INFINITY;
  /** The first record that is not older, as ListOffsets tells; -1: there is none. */
  since: (timestamp: number) => number = () => -1;
  /** Refuses a fetch; undefined lets it pass. */
  refuse: (partition: number, broker: number) => Refusal | undefined = () => undefined;
  readonly fetches: { broker: number; partitions: readonly FetchPartition[] }[] = [];
  /** Do brokers keep fetch sessions? Their ids are those of the brokers. */
  hasSessions = false;
  /** What brokers' sessions have, by partition. */
  readonly sessions: Map<number, FetchPartition>[] = [];
  #next = 0;

  constructor(
    configs: Record<string, unknown> = {},
    options: Partial<ConsumerOptions> = {},
    partitions = 1,
  ) {
    this.cluster = new FakeCluster(this.world, partitions);
    this.cluster.onRequest = (request, broker) => this.#answer(request, broker);
    this.logs = Array.from({ length: partitions }, () => []);
    this.consumer = new Consumer(this.world, {
      name: "c1",
      topic: TOPIC,
      partitions: undefined,
      startAt: undefined,
      configs: resolveConfigs(CONSUMER_CONFIGS, { "auto.offset.reset": "earliest" }, configs),
      bootstrap: [addressOf(1), addressOf(2)],
      ...options,
    });
  }

  begin(duration = 0): this {
    this.world.begin(this.consumer);
    this.world.run(duration);
    return this;
  }

  /** Appends a batch of `count` records, numbered on from the last. */
  append(count: number, { partition = 0, epoch = 0, isControl = false } = {}): void {
    const records = Array.from({ length: count }, () => ({
      timestamp: 0,
      value: encodePayload(1, this.#next++, 12),
    }));
    const batch = buildBatch(records, { isControl });
    this.logs[partition]?.push(batch.withOffsets(this.end(partition), epoch));
  }

  end(partition = 0): number {
    return this.logs[partition]?.at(-1)?.nextOffset ?? 0;
  }

  /** Cuts the log to what is below `offset`; batches of one record only. */
  truncate(offset: number): void {
    this.logs[0] = (this.logs[0] ?? []).filter((batch) => batch.lastOffset < offset);
  }

  /** What the application got of a partition: offset and number of each record. */
  polled(partition = 0): { offset: number; value: number }[] {
    const facts = this.world.factsOf("polled");
    return facts
      .filter((fact) => fact.partition === `${TOPIC}-${partition}`)
      .flatMap(({ batches, firstOffset, lastOffset }) =>
        batches
          .flatMap((batch) => [...batch.records()])
          .filter(({ offset }) => offset >= firstOffset && offset <= lastOffset),
      )
      .map(({ offset, value }) => ({
        offset,
        value: payloadValue(value ?? new Uint8Array(12), 0),
      }));
  }

  get offsets(): number[] {
    return this.polled().map(({ offset }) => offset);
  }

  #answer(request: FakeRequest, broker: number): void {
    if (request.is(FETCH)) this.#fetch(request, broker);
    else if (request.is(LIST_OFFSETS)) {
      const [topic] = request.body(LIST_OFFSETS).topics;
      request.reply(LIST_OFFSETS, {
        throttleTimeMs: 0,
        topics: [
          {
            name: TOPIC,
            partitions: (topic?.partitions ?? []).map(({ partitionIndex, timestamp }) => ({
              partitionIndex,
              errorCode: 0,
              timestamp: -1,
              offset: this.#offsetOf(timestamp, partitionIndex),
              leaderEpoch: 0,
            })),
          },
        ],
      });
    } else if (request.is(OFFSET_FOR_LEADER_EPOCH) && this.answersEpochs) {
      const [topic] = request.body(OFFSET_FOR_LEADER_EPOCH).topics;
      request.reply(OFFSET_FOR_LEADER_EPOCH, {
        throttleTimeMs: 0,
        topics: [
          {
            topic: TOPIC,
            partitions: (topic?.partitions ?? []).map(({ partition, leaderEpoch }) => ({
              errorCode: 0,
              partition,
              leaderEpoch: this.epochEnd?.epoch ?? leaderEpoch,
              endOffset: this.epochEnd?.endOffset ?? this.end(partition),
            })),
          },
        ],
      });
    }
  }

  #offsetOf(timestamp: number, partition: number): number {
    if (timestamp === LATEST_TIMESTAMP) return this.end(partition);
    return timestamp === EARLIEST_TIMESTAMP ? this.logStart : this.since(timestamp);
  }

  #fetch(request: FakeRequest, broker: number): void {
    const { maxWaitMs, topics } = request.body(FETCH);
    const named = topics.flatMap((topic) => topic.partitions);
    this.fetches.push({ broker, partitions: named });
    const isIncremental = request.body(FETCH).sessionEpoch > 0;
    const partitions = this.hasSessions ? this.#inSession(request, broker) : named;
    const answer = (): FetchPartitionResponse[] =>
      partitions.map((one) => this.#fetchPartition(one, broker));
    const reply = (responses: FetchPartitionResponse[]): void =>
      request.reply(FETCH, {
        throttleTimeMs: 0,
        errorCode: 0,
        sessionId: this.hasSessions ? broker : 0,
        responses: [
          {
            topicId: TOPIC_ID,
            partitions: isIncremental ? responses.filter(hasNews) : responses,
          },
        ],
      });
    const first = answer();
    if (first.some(hasNews)) reply(first);
    else this.world.later(maxWaitMs * MILLISECOND, () => reply(answer()));
  }

  /** What a fetch is for, and not just what it names. */
  #inSession(request: FakeRequest, broker: number): FetchPartition[] {
    const { sessionEpoch, topics, forgottenTopicsData } = request.body(FETCH);
    const known = this.sessions[broker];
    const session = sessionEpoch > 0 && known !== undefined ? known : new Map();
    this.sessions[broker] = session;
    for (const { partitions } of topics)
      for (const one of partitions) session.set(one.partition, one);
    for (const { partitions } of forgottenTopicsData)
      for (const one of partitions) session.delete(one);
    return [...session.values()];
  }

  #fetchPartition(request: FetchPartition, broker: number): FetchPartitionResponse {
    const { partition, currentLeaderEpoch, fetchOffset } = request;
    const { leader, epoch } = this.cluster.leaders[partition] ?? { leader: 1, epoch: 0 };
    let refusal = this.refuse(partition, broker);
    if (this.hasZombies && broker !== leader) refusal ??= undefined;
    else if (broker !== leader) refusal ??= { error: "NOT_LEADER_OR_FOLLOWER" };
    else if (currentLeaderEpoch < epoch) refusal ??= { error: "FENCED_LEADER_EPOCH" };
    else if (fetchOffset > this.end(partition)) refusal ??= { error: "OFFSET_OUT_OF_RANGE" };
    const log = this.logs[partition] ?? [];
    return {
      partitionIndex: partition,
      errorCode: ERRORS[refusal?.error ?? "NONE"].code,
      highWatermark: this.end(partition),
      lastStableOffset: this.end(partition),
      logStartOffset: this.logStart,
      divergingEpoch: undefined,
      currentLeader: refusal?.hint,
      snapshotId: undefined,
      abortedTransactions: undefined,
      preferredReadReplica: -1,
      records:
        refusal === undefined
          ? log.filter(
              (batch) => batch.lastOffset >= fetchOffset && batch.baseOffset < this.tooLarge,
            )
          : [],
    };
  }
}

function hasNews(one: FetchPartitionResponse): boolean {
  return one.records.length > 0 || one.errorCode !== 0;
}

function upTo(count: number, from = 0): number[] {
  return Array.from({ length: count - from }, (_, i) => from + i);
}

test("every record is handed over once, in order, as it comes", () => {
  const bench = new Bench();
  for (let i = 0; i < 3; i++) bench.append(4);

  bench.begin(SECOND);
  bench.append(2);
  bench.append(1);
  bench.world.run(2 * SECOND);

  expect(bench.polled()).toEqual(upTo(15).map((offset) => ({ offset, value: offset })));
  expect(bench.world.factsOf("position-reset")).toEqual([
    {
      kind: "position-reset",
      client: "c1",
      partition: "orders-0",
      from: -1,
      to: 0,
      reason: "initial",
    },
  ]);
});

test("auto.offset.reset decides where it starts, unless the application seeks", () => {
  const starts = (configs: Record<string, unknown>, startAt?: "earliest" | "latest"): number[] => {
    const bench = new Bench(configs, { startAt });
    bench.append(5);
    bench.begin(SECOND);
    bench.append(1);
    bench.world.run(SECOND);
    return bench.offsets;
  };

  expect(starts({ "auto.offset.reset": "latest" })).toEqual([5]);
  expect(starts({ "auto.offset.reset": "earliest" })).toEqual(upTo(6));
  expect(starts({ "auto.offset.reset": "none" }, "earliest")).toEqual(upTo(6));
  const lost = new Bench({ "auto.offset.reset": "none" }).begin(SECOND);
  expect(lost.world.exited).toMatch(/no position/);
});

describe("auto.offset.reset by_duration (KIP-1106)", () => {
  const configs = { "auto.offset.reset": "by_duration:PT1M" };

  test("begins at the first record that is not older, by the consumer's own clock", () => {
    const bench = new Bench(configs);
    bench.world.now = 300 * SECOND;
    bench.append(5);
    const asked: number[] = [];
    bench.since = (timestamp) => {
      asked.push(timestamp);
      return 3;
    };

    bench.begin(SECOND);

    expect(asked).toEqual([240_003]);
    expect(bench.offsets).toEqual([3, 4]);
  });

  test("asks again after request.timeout.ms while no record is as young", () => {
    const bench = new Bench(configs);
    bench.append(5);
    let asked = 0;
    bench.since = () => (asked++ === 0 ? -1 : 4);

    bench.begin(29 * SECOND);

    expect([asked, bench.offsets]).toEqual([1, []]);
    bench.world.run(2 * SECOND);
    expect([asked, bench.offsets]).toEqual([2, [4]]);
  });
});

test("an application without a group pauses, resumes and seeks as well", () => {
  const bench = new Bench();
  bench.append(3);
  bench.begin(SECOND);

  bench.consumer.call({ kind: "pause", partition: undefined });
  bench.world.run(SECOND);
  bench.append(2);
  bench.world.run(SECOND);
  expect(bench.offsets).toEqual(upTo(3));

  bench.consumer.call({ kind: "resume", partition: undefined });
  bench.world.run(SECOND);
  expect(bench.offsets).toEqual(upTo(5));

  bench.consumer.call({ kind: "seek", partition: "orders-0", to: 3 });
  bench.world.run(SECOND);
  expect(bench.offsets).toEqual([...upTo(5), 3, 4]);
});

test("an application without a group asks for offsets, and takes nothing until it is told", () => {
  const bench = new Bench();
  bench.append(3);
  bench.begin(SECOND);
  bench.since = () => 1;

  bench.consumer.call({ kind: "ask-offsets", partition: "orders-0", which: "end" });
  bench.consumer.call({ kind: "seek", partition: "orders-0", to: { timestamp: 5 } });
  bench.append(2);
  bench.world.run(SECOND);

  const told = bench.world.factsOf("offset-told").map(({ call, offset }) => `${call} ${offset}`);
  expect(told).toEqual(["endOffsets 5", "offsetsForTimes 1"]);
  expect(bench.offsets).toEqual([...upTo(3), 1, 2, 3, 4]);
});

test("before KIP-74, and only then, an answer without what is there means a record that is too large", () => {
  const read = (switches: ProtocolSwitches): Bench => {
    const bench = new Bench({}, { switches });
    bench.hasSessions = true;
    bench.tooLarge = 2;
    for (let i = 0; i < 3; i++) bench.append(1);
    return bench.begin(SECOND);
  };

  const old = read({ ...PRESENT_RULES, "fetch.min-one-batch": false });

  expect(old.offsets).toEqual([0, 1]);
  expect(old.world.exited).toBe(
    "RecordTooLargeException: orders-0 has a record at offset 2 that is larger than max.partition.fetch.bytes=1048576",
  );
  expect(read(PRESENT_RULES).world.exited).toBeUndefined();
});

test("a poll gives max.poll.records at most, and loses none at the seams", () => {
  const bench = new Bench({ "max.poll.records": 4 });
  for (let i = 0; i < 5; i++) bench.append(3);

  bench.begin(SECOND);

  const sizes = bench.world
    .factsOf("polled")
    .map(({ firstOffset, lastOffset }) => lastOffset - firstOffset + 1);
  expect(sizes).toEqual([4, 4, 4, 3]);
  expect(bench.offsets).toEqual(upTo(15));
});

test("what lies below the position, and control batches, are not handed over", () => {
  const bench = new Bench();
  bench.append(4);
  bench.append(1, { isControl: true });
  bench.append(4);
  bench.logStart = 2;

  bench.begin(SECOND);

  expect(bench.offsets).toEqual([2, 3, 5, 6, 7, 8]);
});

test("a consumer never skips when the leader changes", () => {
  const bench = new Bench();
  for (let i = 0; i < 5; i++) bench.append(1);
  bench.begin(SECOND);

  bench.cluster.elect(0, 2);
  for (let i = 0; i < 5; i++) bench.append(1, { epoch: 1 });
  bench.world.run(3 * SECOND);

  expect(bench.offsets).toEqual(upTo(10));
  const [question] = bench.world.requestsOf(OFFSET_FOR_LEADER_EPOCH);
  expect(question?.topics[0]?.partitions).toEqual([
    { partition: 0, currentLeaderEpoch: 1, leaderEpoch: 0 },
  ]);
  expect(bench.fetches.at(-1)?.broker).toBe(2);
});

test("it does not fetch from a new leader before its position is proved", () => {
  const bench = new Bench();
  bench.append(3);
  bench.begin(SECOND);

  bench.cluster.elect(0, 2);
  bench.world.run(3 * SECOND);

  const asked = bench.world.requests.findIndex((request) => request.is(OFFSET_FOR_LEADER_EPOCH));
  const fetched = bench.world.requests.findIndex(
    (request) => request.is(FETCH) && request.to === addressOf(2),
  );
  expect(asked).toBeGreaterThan(0);
  expect(fetched).toBeGreaterThan(asked);
});

test("a hint about the new leader is followed without asking for metadata", () => {
  const bench = new Bench();
  bench.append(3);
  bench.begin(SECOND);

  bench.cluster.elect(0, 2);
  bench.refuse = (_partition, broker) =>
    broker === 1
      ? { error: "NOT_LEADER_OR_FOLLOWER", hint: { leaderId: 2, leaderEpoch: 1 } }
      : undefined;
  const before = bench.world.now;
  bench.world.run(SECOND);

  const refused = bench.world.factsOf("request-failed");
  expect(refused.map(({ error }) => error)).toEqual(["NOT_LEADER_OR_FOLLOWER"]);
  const asked = bench.world.requests.find((request) => request.is(OFFSET_FOR_LEADER_EPOCH));
  expect(asked?.to).toBe(addressOf(2));
  expect((asked?.at ?? 0) - before).toBeLessThan(600 * MILLISECOND);
});

test("where the log was cut below the position, it goes back to where the histories part", () => {
  const bench = new Bench();
  for (let i = 0; i < 6; i++) bench.append(1);
  bench.begin(SECOND);

  bench.truncate(4);
  bench.cluster.elect(0, 2);
  bench.epochEnd = { epoch: 0, endOffset: 4 };
  bench.append(1, { epoch: 1 });
  bench.append(1, { epoch: 1 });
  bench.world.run(3 * SECOND);

  expect(bench.world.factsOf("position-reset").at(-1)).toMatchObject({
    from: 6,
    to: 4,
    reason: "truncation",
  });
  expect(bench.polled().slice(6)).toEqual([
    { offset: 4, value: 6 },
    { offset: 5, value: 7 },
  ]);
});

test("where no common offset is known, the policy decides; without one it stops", () => {
  const cut = (policy: string): Bench => {
    const bench = new Bench({ "auto.offset.reset": policy }, { startAt: "earliest" });
    bench.append(3);
    bench.begin(SECOND);
    bench.cluster.elect(0, 2);
    bench.epochEnd = { epoch: -1, endOffset: -1 };
    bench.world.run(3 * SECOND);
    return bench;
  };

  const earliest = cut("earliest").world.factsOf("position-reset").at(-1);
  expect(earliest).toMatchObject({ from: 3, to: 0, reason: "truncation" });
  expect(cut("none").world.exited).toMatch(/cut below the position, 3/);
});

test("an offset out of range is reset by the policy; without one it stops", () => {
  const outOfRange = (policy: string): Bench => {
    const bench = new Bench({ "auto.offset.reset": policy }, { startAt: "earliest" });
    for (let i = 0; i < 4; i++) bench.append(1);
    bench.begin(SECOND);
    bench.truncate(2);
    bench.world.run(2 * SECOND);
    return bench;
  };

  expect(outOfRange("latest").world.factsOf("position-reset").at(-1)).toMatchObject({
    from: 4,
    to: 2,
    reason: "out-of-range",
  });
  expect(outOfRange("none").world.exited).toMatch(/no offset 4/);
});

test("errors that pass are tried again after a backoff", () => {
  for (const error of [
    "UNKNOWN_LEADER_EPOCH",
    "OFFSET_NOT_AVAILABLE",
    "UNKNOWN_TOPIC_ID",
    "KAFKA_STORAGE_ERROR",
  ] as const) {
    const bench = new Bench();
    bench.append(2);
    let refusals = 0;
    bench.refuse = () => (refusals++ < 3 ? { error } : undefined);

    bench.begin(2 * SECOND);

    expect(bench.offsets, error).toEqual([0, 1]);
    expect(bench.fetches.length, error).toBeLessThan(10);
    expect(bench.world.factsOf("request-failed").every(({ retried }) => retried)).toBe(true);
  }
});

test("what the leader itself finds damaged ends the application, as an exception from poll would", () => {
  const bench = new Bench();
  bench.append(2);
  bench.refuse = () => ({ error: "CORRUPT_MESSAGE" });

  bench.begin(2 * SECOND);

  expect(bench.world.exited).toMatch(/CORRUPT_MESSAGE/);
  expect(bench.world.factsOf("request-failed").map(({ retried }) => retried)).toEqual([false]);
});

test("one broker's trouble does not hold up the partitions of another", () => {
  const bench = new Bench({}, {}, 2);
  bench.cluster.leaders[1] = { leader: 2, epoch: 0 };
  bench.world.refused.add(addressOf(1));
  bench.append(3, { partition: 1 });

  bench.begin(5 * SECOND);
  const during = bench.polled(1).length;
  bench.append(2, { partition: 0 });
  bench.world.refused.clear();
  bench.world.run(5 * SECOND);

  expect(during).toBe(3);
  expect(bench.polled(0).map(({ offset }) => offset)).toEqual([0, 1]);
});

test("partitions of one broker share a fetch", () => {
  const bench = new Bench({}, {}, 3);
  bench.begin(3 * SECOND);

  expect(bench.fetches.at(-1)?.partitions.map(({ partition }) => partition)).toEqual([0, 1, 2]);
  // A long poll of 500 ms and two latencies each, after some 10 ms to begin.
  expect(bench.fetches.length).toBeLessThanOrEqual(6);
});

test("only the assigned partitions are read", () => {
  const bench = new Bench({}, { partitions: [1] }, 3);
  for (const partition of [0, 1, 2]) bench.append(1, { partition });

  bench.begin(SECOND);

  expect([0, 1, 2].map((partition) => bench.polled(partition).length)).toEqual([0, 1, 0]);
});

test("a damaged batch ends it, after what came before was handed over", () => {
  const bench = new Bench();
  bench.append(2);
  bench.append(2);
  const last = bench.logs[0]?.pop();
  const bytes = Uint8Array.from(last?.bytes ?? []);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  bench.logs[0]?.push(new RecordBatch(bytes, 0, bytes.length, false));

  bench.begin(SECOND);

  expect(bench.offsets).toEqual([0, 1]);
  expect(bench.world.exited).toMatch(/damaged at offset 2/);
});

test("a block that cannot be decompressed ends it as damage does, though the CRC is right", () => {
  const bench = new Bench();
  bench.append(2);
  const unreadable = batchWithBlock(1, encodeUtf8("this was never compressed"));
  bench.logs[0]?.push(unreadable.withOffsets(2, 0));

  bench.begin(SECOND);

  expect(bench.offsets).toEqual([0, 1]);
  expect(bench.world.exited).toMatch(/damaged at offset 2/);
});

test("a connection that breaks is opened again, and nothing is read twice", () => {
  const bench = new Bench();
  bench.append(5);
  bench.begin(SECOND);

  bench.world.disconnect(addressOf(1));
  bench.append(5);
  bench.world.run(2 * SECOND);

  expect(bench.offsets).toEqual(upTo(10));
});

test("an answer that comes after the leader is known to have changed is not believed", () => {
  const bench = new Bench({ "metadata.max.age.ms": 100, "fetch.max.wait.ms": 5000 });
  bench.append(3);
  bench.begin(SECOND);

  bench.hasZombies = true;
  bench.answersEpochs = false;
  bench.cluster.elect(0, 2);
  bench.append(2);
  bench.world.run(6 * SECOND);

  expect(bench.world.requestsOf(OFFSET_FOR_LEADER_EPOCH).length).toBeGreaterThan(0);
  expect(bench.offsets).toEqual([0, 1, 2]);
});

test("a new leader ends the backoff", () => {
  const bench = new Bench({
    "retry.backoff.ms": 20_000,
    "retry.backoff.max.ms": 20_000,
    "metadata.max.age.ms": 100,
  });
  bench.append(3);
  bench.refuse = (_partition, broker) =>
    broker === 1 ? { error: "UNKNOWN_LEADER_EPOCH" } : undefined;
  bench.begin(SECOND);

  bench.cluster.elect(0, 2);
  bench.world.run(2 * SECOND);

  expect(bench.offsets).toEqual([0, 1, 2]);
});

describe("a consumer with a session at a broker", () => {
  function inSession(): Bench {
    const bench = new Bench({}, {}, 2);
    bench.hasSessions = true;
    bench.cluster.leaders[1] = { leader: 1, epoch: 0 };
    bench.append(2, { partition: 0 });
    bench.append(3, { partition: 1 });
    return bench.begin(SECOND);
  }

  function named(bench: Bench): number[] | undefined {
    return bench.fetches.at(-1)?.partitions.map(({ partition }) => partition);
  }

  test("names a partition again only when it goes on in it", () => {
    const bench = inSession();
    const before = bench.fetches.length;

    bench.append(1, { partition: 1 });
    bench.world.run(SECOND);

    const later = bench.fetches.slice(before).flatMap(({ partitions }) => partitions);
    expect(later).toMatchObject([{ partition: 1, fetchOffset: 4 }]);
    expect(bench.polled(1)).toHaveLength(4);
    expect(bench.polled(0)).toHaveLength(2);
  });

  test("has a partition forgotten that it cannot fetch for a while, and adds it again", () => {
    const bench = inSession();
    bench.refuse = (partition) => (partition === 1 ? { error: "KAFKA_STORAGE_ERROR" } : undefined);
    bench.append(1, { partition: 1 });
    bench.world.run(600 * MILLISECOND);
    bench.refuse = () => undefined;

    bench.world.run(2 * SECOND);

    const forgotten = bench.world.requestsOf(FETCH).flatMap((one) => one.forgottenTopicsData);
    expect(forgotten[0]).toEqual({ topicId: TOPIC_ID, partitions: [1] });
    expect(bench.polled(1)).toHaveLength(4);
  });

  test("begins another when its connection broke, and loses nothing", () => {
    const bench = inSession();

    bench.world.disconnect(addressOf(1));
    bench.append(1, { partition: 0 });
    bench.world.run(2 * SECOND);

    expect(bench.world.requestsOf(FETCH).filter((one) => one.sessionEpoch === 0)).toHaveLength(2);
    expect(bench.polled(0)).toHaveLength(3);
    expect(named(bench)).toBeDefined();
  });
});
