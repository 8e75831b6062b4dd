import { expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../src/base/time.ts";
import { isIdempotent } from "../../../../src/kafka/client/idempotence.ts";
import { payloadValue } from "../../../../src/kafka/client/payload.ts";
import { resolveConfigs } from "../../../../src/kafka/config/config-table.ts";
import { PRODUCER_CONFIGS } from "../../../../src/kafka/config/producer-configs.ts";
import type { ErrorName } from "../../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import type { RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import { METADATA, PRODUCE } from "../../../../src/kafka/protocol/apis.ts";
import type { LeaderIdAndEpoch } from "../../../../src/kafka/protocol/produce.ts";
import { Producer } from "../../../../src/nodes/producer/producer.ts";
import type { ProducerOptions } from "../../../../src/nodes/producer/producer-options.ts";
import { addressOf, FakeCluster, TOPIC, TOPIC_ID } from "../../../support/fake-cluster.ts";
import type { FakeRequest } from "../../../support/fake-world.ts";
import { FakeWorld } from "../../../support/fake-world.ts";

/** What the brokers answer for one partition of a produce request. */
interface Answer {
  readonly error?: ErrorName;
  readonly baseOffset?: number;
  readonly hint?: LeaderIdAndEpoch;
  readonly logStartOffset?: number;
}

/** Does not answer. */
const SILENCE = "silence";

class Bench {
  readonly world = new FakeWorld();
  readonly cluster: FakeCluster;
  readonly producer: Producer;
  /** Batches in the order in which they reached a broker. */
  readonly received: { broker: number; partition: number; batch: RecordBatch; at: number }[] = [];
  readonly requests: FakeRequest[] = [];
  /** Decides each answer; `nth` counts batches from 0. */
  answer: (batch: RecordBatch, nth: number, broker: number) => Answer | typeof SILENCE = () => ({});
  #ends = new Map<number, number>();

  constructor(
    configs: Record<string, unknown> = {},
    options: Partial<ProducerOptions> = {},
    partitions = 1,
  ) {
    this.cluster = new FakeCluster(this.world, partitions);
    this.cluster.onRequest = (request, broker) => this.#produce(request, broker);
    const resolved = resolveConfigs(PRODUCER_CONFIGS, configs);
    this.producer = new Producer(this.world, {
      name: "p1",
      address: this.world.self,
      topic: TOPIC,
      arrival: 10 * MILLISECOND,
      records: 1,
      keys: { kind: "none" },
      recordSize: 100,
      tombstones: undefined,
      transaction: undefined,
      transactionVersion: 2,
      configs: resolved,
      idempotence: isIdempotent(resolved, "enable.idempotence" in configs),
      bootstrap: [addressOf(1), addressOf(2)],
      ...options,
    });
    this.world.begin(this.producer);
  }

  /** The numbers of the records of each batch received. */
  get values(): number[][] {
    return this.received.map(({ batch }) => valuesOf(batch));
  }

  get ends(): { outcome: string; values: readonly number[]; error: string; baseOffset: number }[] {
    return this.world
      .factsOf("send-ended")
      .map(({ outcome, values, error, baseOffset }) => ({ outcome, values, error, baseOffset }));
  }

  #produce(request: FakeRequest, broker: number): void {
    const body = request.body(PRODUCE);
    this.requests.push(request);
    const answers = body.topicData.flatMap(({ partitionData }) =>
      partitionData.map(({ index, records }) => {
        const nth = this.received.push({
          broker,
          partition: index,
          batch: records,
          at: this.world.now,
        });
        return { index, answer: this.answer(records, nth - 1, broker), records };
      }),
    );
    if (body.acks === 0 || answers.some(({ answer }) => answer === SILENCE)) return;
    request.reply(PRODUCE, {
      throttleTimeMs: 0,
      responses: [
        {
          topicId: TOPIC_ID,
          partitionResponses: answers.map(({ index, answer, records }) => {
            const given = answer === SILENCE ? {} : answer;
            const end = this.#ends.get(index) ?? 0;
            const isGood = given.error === undefined;
            if (isGood) this.#ends.set(index, end + records.recordCount);
            return {
              index,
              errorCode: ERRORS[given.error ?? "NONE"].code,
              baseOffset: given.baseOffset ?? (isGood ? end : -1),
              logAppendTimeMs: -1,
              logStartOffset: given.logStartOffset ?? 0,
              currentLeader: given.hint,
            };
          }),
        },
      ],
    });
  }
}

function valuesOf(batch: RecordBatch): number[] {
  return batch.records().map(({ value }) => payloadValue(value ?? new Uint8Array(12), 0));
}

test("what the brokers wrote is acked with its offsets", () => {
  const bench = new Bench({ "linger.ms": 0 }, { records: 3 });

  bench.world.run(SECOND);

  expect(bench.values).toEqual([[0], [1], [2]]);
  expect(bench.ends.map(({ outcome, baseOffset }) => [outcome, baseOffset])).toEqual([
    ["acked", 0],
    ["acked", 1],
    ["acked", 2],
  ]);
  expect(bench.received.every(({ batch }) => batch.isValid())).toBe(true);
  expect(bench.world.factsOf("record-sent").map(({ value }) => value)).toEqual([0, 1, 2]);
  expect(bench.producer.isIdle).toBe(true);
});

test("linger gathers, batch.size cuts", () => {
  const options = { records: 20, arrival: MILLISECOND };
  const lingering = new Bench({ "linger.ms": 5 }, options);
  const small = new Bench({ "linger.ms": 1000, "batch.size": 300 }, options);

  lingering.world.run(SECOND);
  small.world.run(SECOND / 2);

  // A batch is sent 5 ms after its first record: with those of the 5 ms in it.
  expect(
    lingering.values
      .slice(1)
      .map((values) => values.length)
      .slice(0, 2),
  ).toEqual([5, 5]);
  expect(lingering.values.flat()).toEqual(Array.from({ length: 20 }, (_, i) => i));
  // Two records of about 110 bytes fit beside the header; a third does not, and closes the batch.
  expect(small.values.every((values) => values.length === 2)).toBe(true);
  expect(small.received.every(({ batch }) => batch.sizeInBytes <= 300)).toBe(true);
});

test("batches of one broker's partitions share a request", () => {
  const bench = new Bench(
    { "linger.ms": 50 },
    { records: 8, arrival: MILLISECOND, keys: { kind: "cycle", count: 8 } },
    4,
  );

  bench.world.run(SECOND);

  const partitions = new Set(bench.received.map(({ partition }) => partition));
  expect(partitions.size).toBeGreaterThan(1);
  expect(bench.requests).toHaveLength(1);
  expect(bench.ends.flatMap(({ values }) => values).sort((a, b) => a - b)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7,
  ]);
});

test("records with one key go to one partition", () => {
  const bench = new Bench(
    { "linger.ms": 0 },
    { records: 60, keys: { kind: "cycle", count: 12 } },
    5,
  );

  bench.world.run(2 * SECOND);

  const partitionsOf = new Map<string, Set<number>>();
  for (const { partition, batch } of bench.received) {
    for (const { key } of batch.records()) {
      const name = String.fromCharCode(...(key ?? []));
      const seen = partitionsOf.get(name) ?? new Set();
      partitionsOf.set(name, seen.add(partition));
    }
  }
  expect(partitionsOf.size).toBe(12);
  expect([...partitionsOf.values()].every((seen) => seen.size === 1)).toBe(true);
  expect(new Set(bench.received.map(({ partition }) => partition)).size).toBeGreaterThan(2);
});

test("tombstones have a key and no value, in the share that was asked for, and end as others do", () => {
  const tombstones = { times: 1, outOf: 4 };
  const bench = new Bench(
    { "linger.ms": 0 },
    { records: 400, keys: { kind: "cycle", count: 9 }, tombstones },
  );

  bench.world.run(6 * SECOND);

  const records = bench.received.flatMap(({ batch }) => batch.records());
  const withoutValue = records.filter(({ value }) => value === undefined);
  expect(records.length).toBe(400);
  expect(records.every(({ key }) => key !== undefined)).toBe(true);
  expect(withoutValue.length).toBeGreaterThan(75);
  expect(withoutValue.length).toBeLessThan(125);
  const acked = bench.ends.filter(({ outcome }) => outcome === "acked");
  expect(acked.flatMap(({ values }) => values).length).toBe(400);
});

test("records without a key stay with a partition for a batch's worth of bytes", () => {
  const bench = new Bench({ "linger.ms": 0, "batch.size": 1000 }, { records: 200 }, 3);

  bench.world.run(3 * SECOND);

  const runs: number[] = [];
  let last = -1;
  for (const { partition } of bench.received) {
    if (partition === last) runs[runs.length - 1] = (runs.at(-1) ?? 0) + 1;
    else runs.push(1);
    last = partition;
  }
  // Six batches of one record make 1,000 bytes; while the last has room they may be twice as many.
  expect(Math.min(...runs.slice(0, -1))).toBeGreaterThanOrEqual(6);
  expect(runs.length).toBeGreaterThan(5);
});

test("a retried batch keeps its sequence", () => {
  const bench = new Bench({ "linger.ms": 0 }, { records: 2 });
  bench.answer = (_batch, nth) => (nth === 0 ? { error: "NOT_ENOUGH_REPLICAS" } : {});

  bench.world.run(5 * SECOND);

  const [first, ...rest] = bench.received.map(({ batch }) => batch);
  const again = rest.find((batch) => valuesOf(batch)[0] === 0);
  expect(again).toBe(first);
  expect(first?.baseSequence).toBe(0);
  expect(first?.producerId).toBe(7);
  expect(bench.ends.every(({ outcome }) => outcome === "acked")).toBe(true);
});

test("batches of one partition are drained in sequence order after a failure", () => {
  const bench = new Bench({ "linger.ms": 0 }, { records: 4, arrival: MILLISECOND / 2 });
  let isBroken = true;
  bench.answer = () => (isBroken ? SILENCE : {});

  bench.world.run(20 * MILLISECOND);
  const lost = bench.received.length;
  isBroken = false;
  const brokenAt = bench.world.now;
  bench.world.disconnect(addressOf(1));
  bench.world.run(5 * SECOND);

  expect(lost).toBe(4);
  // Four requests were lost, but one connection: so it may be opened again when they are due.
  const again = bench.world.attempts.find(({ to, at }) => to === addressOf(1) && at > brokenAt);
  expect((again?.at ?? 0) - brokenAt).toBeLessThanOrEqual(120 * MILLISECOND);
  expect(bench.received.slice(lost).map(({ batch }) => batch.baseSequence)).toEqual([0, 1, 2, 3]);
  expect(bench.ends.map(({ values }) => values)).toEqual([[0], [1], [2], [3]]);
});

test("without idempotence a retried batch is overtaken; with one request in flight it is not", () => {
  const configs = { "linger.ms": 0, "enable.idempotence": false };
  const options = { records: 3, arrival: MILLISECOND / 2 };
  const overtaken = new Bench(configs, options);
  const ordered = new Bench({ ...configs, "max.in.flight.requests.per.connection": 1 }, options);
  for (const bench of [overtaken, ordered]) {
    bench.answer = (_batch, nth) => (nth === 0 ? { error: "NOT_ENOUGH_REPLICAS" } : {});
  }

  overtaken.world.run(5 * SECOND);
  ordered.world.run(5 * SECOND);

  expect(overtaken.ends.flatMap(({ values }) => values)).toEqual([1, 2, 0]);
  expect(ordered.ends.flatMap(({ values }) => values)).toEqual([0, 1, 2]);
});

test("at most max.in.flight requests wait for one broker", () => {
  const bench = new Bench({ "linger.ms": 0 }, { records: 50, arrival: MILLISECOND / 10 });
  bench.answer = () => SILENCE;

  bench.world.run(SECOND);

  expect(bench.requests).toHaveLength(5);
});

test("acks=0 is acked without an offset, and never sent again", () => {
  const bench = new Bench({ acks: "0", "linger.ms": 0 }, { records: 3 });

  bench.world.run(SECOND);

  expect(bench.values).toEqual([[0], [1], [2]]);
  expect(bench.received[0]?.batch.producerId).toBe(-1);
  expect(bench.ends).toEqual(
    [0, 1, 2].map((value) => ({
      outcome: "acked",
      values: [value],
      error: "NONE",
      baseOffset: -1,
    })),
  );
});

test("the KIP-951 hint saves the metadata round trip and the backoff", () => {
  const bench = new Bench({ "linger.ms": 0 });
  bench.cluster.leaders = [{ leader: 1, epoch: 0 }];
  bench.answer = (_batch, _nth, broker) =>
    broker === 1 ? { error: "NOT_LEADER_OR_FOLLOWER", hint: { leaderId: 2, leaderEpoch: 1 } } : {};

  bench.world.run(SECOND);

  const [first, second] = bench.received;
  expect([first?.broker, second?.broker]).toEqual([1, 2]);
  // Answer, connection, request: three latencies.
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(3 * MILLISECOND);
  expect(bench.ends.map(({ outcome }) => outcome)).toEqual(["acked"]);
});

test("without a hint the producer asks who leads, and believes no older epoch", () => {
  const bench = new Bench({ "linger.ms": 0 });
  bench.cluster.leaders = [{ leader: 1, epoch: 4 }];
  bench.answer = (_batch, _nth, broker) =>
    broker === 1 ? { error: "NOT_LEADER_OR_FOLLOWER" } : {};

  bench.world.run(50 * MILLISECOND);
  bench.cluster.leaders = [{ leader: 2, epoch: 3 }];
  bench.world.run(SECOND);
  const beforeElection = bench.received.map(({ broker }) => broker);
  bench.cluster.leaders = [{ leader: 2, epoch: 5 }];
  bench.world.run(3 * SECOND);

  expect(new Set(beforeElection)).toEqual(new Set([1]));
  expect(bench.received.at(-1)?.broker).toBe(2);
  expect(bench.ends.map(({ outcome }) => outcome)).toEqual(["acked"]);
  const metadata = bench.world.requests.filter((request) => request.is(METADATA));
  expect(metadata.length).toBeGreaterThan(2);
});

test("a send is failed only if every attempt definitely failed", () => {
  const outcomeOf = (errors: readonly (ErrorName | typeof SILENCE)[]): string | undefined => {
    const bench = new Bench({
      "linger.ms": 0,
      retries: errors.length - 1,
      "enable.idempotence": false,
      "request.timeout.ms": 200,
    });
    bench.answer = (_batch, nth) => {
      const error = errors[nth] ?? "NOT_ENOUGH_REPLICAS";
      return error === SILENCE ? SILENCE : { error };
    };
    bench.world.run(20 * SECOND);
    expect(bench.received).toHaveLength(errors.length);
    return bench.ends[0]?.outcome;
  };

  expect(outcomeOf(["NOT_ENOUGH_REPLICAS"])).toBe("failed");
  expect(outcomeOf(["NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS"])).toBe("failed");
  expect(outcomeOf(["NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS"])).toBe("unknown");
  expect(outcomeOf(["NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NOT_ENOUGH_REPLICAS"])).toBe("unknown");
  expect(outcomeOf([SILENCE, "NOT_ENOUGH_REPLICAS"])).toBe("unknown");
  expect(outcomeOf(["NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT"])).toBe("unknown");
});

test("delivery.timeout.ms ends a send wherever it is", () => {
  const configs = { "linger.ms": 0, "request.timeout.ms": 1000, "delivery.timeout.ms": 3000 };
  const inFlight = new Bench(configs);
  inFlight.answer = () => SILENCE;
  const waiting = new Bench(configs);
  waiting.cluster.leaders = [{ leader: -1, epoch: 1 }];
  const backingOff = new Bench({ ...configs, "retry.backoff.ms": 900 });
  backingOff.answer = () => ({ error: "NOT_ENOUGH_REPLICAS" });
  const benches = [inFlight, waiting, backingOff];

  for (const bench of benches) bench.world.run(2900 * MILLISECOND);
  const early = benches.map(({ ends }) => ends.length);
  for (const bench of benches) bench.world.run(200 * MILLISECOND);

  expect(early).toEqual([0, 0, 0]);
  expect(benches.map(({ ends }) => ends[0]?.outcome)).toEqual(["unknown", "failed", "failed"]);
  expect(benches.map(({ ends }) => ends[0]?.error)).toEqual([
    "REQUEST_TIMED_OUT",
    "REQUEST_TIMED_OUT",
    "REQUEST_TIMED_OUT",
  ]);
});

test("what waits for a connection has not left the client", () => {
  const bench = new Bench({ "linger.ms": 0, "delivery.timeout.ms": 31_000 });
  bench.world.run(9 * MILLISECOND);
  bench.world.refused.add(addressOf(1));
  bench.world.refused.add(addressOf(2));
  bench.world.disconnect(addressOf(1));
  bench.world.disconnect(addressOf(2));

  bench.world.run(32 * SECOND);

  expect(bench.received).toEqual([]);
  expect(
    bench.world.factsOf("send-ended").map(({ outcome, attempts }) => [outcome, attempts]),
  ).toEqual([["failed", 0]]);
});

test("a request without an answer closes the connection, and the batch is sent again", () => {
  const bench = new Bench({ "linger.ms": 0, "request.timeout.ms": 500 });
  bench.answer = (_batch, nth) => (nth === 0 ? SILENCE : {});

  bench.world.run(3 * SECOND);

  expect(bench.received).toHaveLength(2);
  expect(bench.requests[0]?.connection).not.toBe(bench.requests[1]?.connection);
  expect(bench.ends.map(({ outcome }) => outcome)).toEqual(["acked"]);
  expect(bench.world.factsOf("request-failed")).toEqual([
    {
      kind: "request-failed",
      client: "p1",
      api: "Produce",
      broker: 1,
      partition: "orders-0",
      error: "NETWORK_EXCEPTION",
      retried: true,
    },
  ]);
});

test("retries back off, doubling up to the maximum", () => {
  const bench = new Bench({ "linger.ms": 0, "delivery.timeout.ms": 60_000 });
  bench.answer = () => ({ error: "NOT_ENOUGH_REPLICAS" });

  bench.world.run(10 * SECOND);

  const times = bench.received.map(({ at }) => at);
  const gaps = times.slice(1).map((at, i) => (at - (times[i] ?? 0)) / MILLISECOND - 2);
  const bases = [100, 200, 400, 800, 1000, 1000];
  for (const [i, base] of bases.entries()) {
    expect(gaps[i]).toBeGreaterThanOrEqual(base * 0.8 - 1);
    expect(gaps[i]).toBeLessThanOrEqual(Math.min(base * 1.2, 1000) + 1);
  }
});

test("a duplicate is a success whose offset is unknown", () => {
  const bench = new Bench({ "linger.ms": 0 });
  bench.answer = () => ({ error: "DUPLICATE_SEQUENCE_NUMBER" });

  bench.world.run(SECOND);

  expect(bench.ends).toEqual([{ outcome: "acked", values: [0], error: "NONE", baseOffset: -1 }]);
});

test("a gap at the head bumps the epoch, and what is under way is numbered from 0", () => {
  const bench = new Bench({ "linger.ms": 0 }, { records: 4 });
  bench.answer = (batch) =>
    batch.producerEpoch === 0 && batch.baseSequence >= 2
      ? { error: "OUT_OF_ORDER_SEQUENCE_NUMBER" }
      : {};

  bench.world.run(5 * SECOND);

  const acked = bench.received.filter(
    ({ batch }) => batch.producerEpoch === 1 || batch.baseSequence < 2,
  );
  expect(acked.map(({ batch }) => [batch.producerEpoch, batch.baseSequence])).toEqual([
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
  expect(bench.ends.map(({ values }) => values)).toEqual([[0], [1], [2], [3]]);
});

test("a batch given up in its retries stops new ones until the epoch is bumped", () => {
  const bench = new Bench(
    { "linger.ms": 0, "request.timeout.ms": 400, "delivery.timeout.ms": 1000 },
    { records: 2, arrival: 900 * MILLISECOND },
  );
  bench.answer = (batch) => (batch.producerEpoch === 0 ? SILENCE : {});

  bench.world.run(10 * SECOND);

  expect(bench.ends.map(({ outcome, values }) => [outcome, values])).toEqual([
    ["unknown", [0]],
    ["acked", [1]],
  ]);
  expect(bench.received.at(-1)?.batch.producerEpoch).toBe(1);
  expect(bench.received.at(-1)?.batch.baseSequence).toBe(0);
});

test("a batch too large for the broker is split until it fits", () => {
  const all = Array.from({ length: 40 }, (_, i) => i);
  // The slower application leaves the queue empty behind what is split, and then sends on.
  const cases = [
    { arrival: MILLISECOND / 2, limit: 2 },
    { arrival: 7.5 * MILLISECOND, limit: 1 },
  ];
  for (const { arrival, limit } of cases) {
    const bench = new Bench({ "linger.ms": 10 }, { records: 40, arrival });
    bench.answer = (batch) => (batch.recordCount > limit ? { error: "MESSAGE_TOO_LARGE" } : {});

    bench.world.run(5 * SECOND);

    const written = bench.received.filter(({ batch }) => batch.recordCount <= limit);
    expect(written.flatMap(({ batch }) => valuesOf(batch))).toEqual(all);
    let sequence = 0;
    for (const { batch } of written) {
      expect(batch.baseSequence).toBe(sequence);
      sequence += batch.recordCount;
    }
    expect(bench.ends.flatMap(({ values }) => values)).toEqual(all);
  }
});

test("without memory the application waits, and after max.block.ms its record has failed", () => {
  const configs = {
    "linger.ms": 0,
    "batch.size": 200,
    "buffer.memory": 400,
    "max.block.ms": 2000,
    "request.timeout.ms": 1000,
  };
  const blocked = new Bench(configs, { records: 3 });
  blocked.answer = () => SILENCE;
  const relieved = new Bench(configs, { records: 3 });
  relieved.answer = () => (relieved.world.now < SECOND ? SILENCE : {});

  blocked.world.run(3 * SECOND);
  relieved.world.run(10 * SECOND);

  expect(blocked.world.factsOf("send-ended")).toMatchObject([
    { outcome: "failed", values: [2], attempts: 0, error: "REQUEST_TIMED_OUT" },
  ]);
  expect(relieved.ends.map(({ outcome, values }) => [outcome, values])).toEqual([
    ["acked", [0]],
    ["acked", [1]],
    ["acked", [2]],
  ]);
});

test("stopped, the application makes no more records, and those it made still end", () => {
  const bench = new Bench({ "linger.ms": 200 }, { records: undefined });

  bench.world.run(95 * MILLISECOND);
  bench.producer.stop();
  bench.world.run(SECOND);

  expect(bench.ends.flatMap(({ values }) => values)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(bench.world.exited).toBeUndefined();
});

test("shut down, it first brings all to its end, and does not linger", () => {
  const bench = new Bench({ "linger.ms": 1000 }, { records: undefined });

  bench.world.run(95 * MILLISECOND);
  bench.producer.onShutdown();
  const atOnce = bench.world.exited;
  bench.world.run(SECOND / 2);

  expect(atOnce).toBeUndefined();
  expect(bench.world.exited).toBe("closed");
  expect(bench.values).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8]]);
});

test("with one request in flight nothing overtakes, not even by way of another leader", () => {
  const bench = new Bench(
    {
      "linger.ms": 0,
      "enable.idempotence": false,
      "max.in.flight.requests.per.connection": 1,
      "metadata.max.age.ms": 100,
    },
    { records: 2, arrival: 300 * MILLISECOND },
  );
  bench.answer = (_batch, _nth, broker) => (broker === 1 ? SILENCE : {});

  bench.world.run(350 * MILLISECOND);
  bench.cluster.elect(0, 2);
  bench.world.run(2 * SECOND);
  const whileInFlight = bench.values;
  bench.world.disconnect(addressOf(1));
  bench.world.run(2 * SECOND);

  expect(whileInFlight).toEqual([[0]]);
  expect(bench.ends.map(({ values }) => values)).toEqual([[0], [1]]);
});

test("a batch that backs off is not taken along by others of the same broker", () => {
  const bench = new Bench(
    { "linger.ms": 0, "retry.backoff.ms": 500 },
    { records: 40, keys: { kind: "cycle", count: 8 } },
    4,
  );
  const first = (): number => bench.received[0]?.partition ?? -1;
  bench.answer = (_batch, nth) => (nth === 0 ? { error: "NOT_ENOUGH_REPLICAS" } : {});

  bench.world.run(3 * SECOND);

  const [refused, again] = bench.received.filter(({ partition }) => partition === first());
  expect(again?.batch).toBe(refused?.batch);
  expect((again?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(400 * MILLISECOND);
  expect(bench.received.length).toBeGreaterThan(20);
});

test("a batch that expires in flight at its first attempt may have been written", () => {
  const bench = new Bench({
    "linger.ms": 0,
    "request.timeout.ms": 2000,
    "delivery.timeout.ms": 3000,
  });
  bench.cluster.leaders = [{ leader: -1, epoch: 1 }];
  bench.answer = () => SILENCE;

  bench.world.run(1500 * MILLISECOND);
  bench.cluster.elect(0, 1);
  bench.world.run(3 * SECOND);

  expect(bench.received).toHaveLength(1);
  expect(bench.ends.map(({ outcome, error }) => [outcome, error])).toEqual([
    ["unknown", "REQUEST_TIMED_OUT"],
  ]);
});

test("max.request.size bounds what is sent together", () => {
  const bench = new Bench(
    { "linger.ms": 50, "max.request.size": 500 },
    { records: 8, arrival: MILLISECOND, keys: { kind: "cycle", count: 8 } },
    4,
  );

  bench.world.run(SECOND);

  const sizes = bench.world
    .requestsOf(PRODUCE)
    .map(({ topicData }) =>
      topicData
        .flatMap(({ partitionData }) => partitionData)
        .reduce((sum, { records }) => sum + records.sizeInBytes, 0),
    );
  expect(sizes.length).toBeGreaterThan(1);
  expect(sizes.every((size) => size <= 500)).toBe(true);
  expect(bench.ends.flatMap(({ values }) => values)).toHaveLength(8);
});

test("a record larger than a request may be fails at once", () => {
  const bench = new Bench({ "max.request.size": 200 }, { recordSize: 300 });

  bench.world.run(SECOND);

  expect(bench.received).toEqual([]);
  expect(bench.ends).toMatchObject([{ outcome: "failed", error: "MESSAGE_TOO_LARGE" }]);
});

test("it connects again with growing pauses", () => {
  const bench = new Bench({ "linger.ms": 0 });
  bench.world.run(9 * MILLISECOND);
  bench.world.refused.add(addressOf(1));
  bench.world.disconnect(addressOf(1));

  bench.world.run(10 * SECOND);

  const times = bench.world.attempts.filter(({ to }) => to === addressOf(1)).map(({ at }) => at);
  const gaps = times.slice(2).map((at, i) => (at - (times[i + 1] ?? 0)) / MILLISECOND - 1);
  const bases = [100, 200, 400, 800, 1000, 1000];
  for (const [i, base] of bases.entries()) {
    expect(gaps[i]).toBeGreaterThanOrEqual(base * 0.8 - 1);
    expect(gaps[i]).toBeLessThanOrEqual(Math.min(base * 1.2, 1000) + 1);
  }
});

test("while a partition has no leader, it is asked for with growing pauses", () => {
  const bench = new Bench({ "linger.ms": 0 });
  bench.cluster.leaders = [{ leader: -1, epoch: 1 }];

  bench.world.run(10 * SECOND);

  const asked = bench.world.requests.filter((request) => request.is(METADATA)).length;
  expect(asked).toBeGreaterThan(8);
  expect(asked).toBeLessThan(20);
});

test("what a restarted client sends can be told from what it sent before", () => {
  const world = new FakeWorld();
  world.incarnation = 3;
  const cluster = new FakeCluster(world);
  const values: number[] = [];
  cluster.onRequest = (request) => {
    for (const { partitionData } of request.body(PRODUCE).topicData) {
      for (const { records } of partitionData) values.push(...valuesOf(records));
    }
  };
  const configs = resolveConfigs(PRODUCER_CONFIGS, {});
  world.begin(
    new Producer(world, {
      name: "p1",
      address: world.self,
      topic: TOPIC,
      arrival: 10 * MILLISECOND,
      records: 2,
      keys: { kind: "none" },
      recordSize: 12,
      tombstones: undefined,
      transaction: undefined,
      transactionVersion: 2,
      configs,
      idempotence: true,
      bootstrap: [addressOf(1)],
    }),
  );

  world.run(SECOND);

  expect(values).toEqual([3 * 2 ** 24, 3 * 2 ** 24 + 1]);
  expect(world.factsOf("record-sent").map(({ value }) => value)).toEqual(values);
});
