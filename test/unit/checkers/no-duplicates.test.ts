import { expect, test } from "vitest";
import { HOUR } from "../../../src/base/time.ts";
import { NO_DUPLICATES } from "../../../src/checkers/no-duplicates.ts";
import { PRODUCE } from "../../../src/kafka/protocol/apis.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (options: HistoryOptions = {}): History =>
  new History({ guarantees: [NO_DUPLICATES], ...options });

test("a value committed at two offsets is a bug of an idempotent producer's brokers", () => {
  const history = watch();
  history.commit([0, 1, 2]);
  history.failedAttempt();

  history.commit([1, 2]);

  expect(history.violations()).toMatchObject([
    {
      kind: "duplicate-record",
      client: "p1",
      offsets: [3, 4],
      count: 2,
      permitted: undefined,
      text: [
        "p1's record 1 (the first of them) stands at offset 1 and again at offset 3: 2 records.",
      ],
    },
  ]);
});

test("the same number from another client, or in another partition's log, is another record", () => {
  const history = watch();
  history.failedAttempt();
  history.commit([0, 1]);

  history.commit([0, 1], { client: 2 });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("a second copy that is never committed is none", () => {
  const history = watch();
  history.commit([0, 1]);
  history.write([0, 1]);

  history.elect(2, { isr: [2, 3] });
  history.commit([2]);

  expect(history.violations()).toEqual([]);
});

test("a value written again after its first copy was lost stands once", () => {
  const history = watch();
  history.commit([0]);
  history.shrink([1]).write([1, 2]);
  history.highWatermark(1, 3);
  history.elect(2, { isr: [2], election: "unclean" });

  history.commit([1, 2]);

  expect(history.violations()).toEqual([]);
});

test("values out of order are no duplicates", () => {
  const history = watch();
  history.commit([3, 4]);

  history.commit([0, 1]);
  history.commit([2]);

  expect(history.violations()).toEqual([]);
});

test("without idempotence, a record that was sent again may stand twice", () => {
  const history = watch({ clients: { p1: { idempotent: false } } });
  history.commit([0, 1]);
  history.failedAttempt();
  history.commit([0, 1]);

  history.ack([0, 1], 2, { attempts: 2 });

  expect(history.violations()).toMatchObject([
    { count: 2, permitted: "p1 sent it again, with enable.idempotence=false" },
  ]);
});

test("without idempotence, a record that was sent once may not", () => {
  const history = watch({ clients: { p1: { idempotent: false } } });
  history.failedAttempt();
  history.commit([0, 1]);
  history.commit([0, 1]);

  history.ack([0, 1], 0, { attempts: 1 });

  expect(history.violations()).toMatchObject([{ count: 2, permitted: undefined }]);
});

test("without idempotence, a record may stand twice if the network doubled a request", () => {
  const history = watch({ clients: { p1: { idempotent: false } } });
  history.note({
    kind: "message-disturbed",
    how: "doubled",
    from: "p1",
    to: "broker-1",
    apiKey: PRODUCE.key,
    isResponse: false,
  });
  history.commit([0, 1]);
  history.commit([0, 1]);

  history.ack([0, 1], 0, { attempts: 1 });

  expect(history.violations()).toMatchObject([
    { count: 2, permitted: "the network delivered it twice, with enable.idempotence=false" },
  ]);
});

test("a new producer epoch, after a record was given up, makes them different to brokers", () => {
  const history = watch();
  history.failedAttempt();
  history.commit([0, 1]);
  history.ack([7], -1, { outcome: "unknown", error: "REQUEST_TIMED_OUT" });

  history.commit([0, 1], { producerEpoch: 1, baseSequence: 0 });

  expect(history.violations()).toMatchObject([
    { permitted: "p1 had gone on with a new producer epoch, 0 to 1" },
  ]);
});

test("a new producer epoch that nothing asked for excuses no second copy", () => {
  const history = watch();
  history.failedAttempt();
  history.commit([0, 1]);

  history.commit([0, 1], { producerEpoch: 1, baseSequence: 0 });

  expect(history.violations()).toMatchObject([{ permitted: undefined }]);
});

test("one is excused if the broker that found a sequence out of order had started after the first copy", () => {
  const ownUp = (starts: boolean) => {
    const history = watch();
    history.commit([0, 1]);
    if (starts) history.restart(1);
    history.failedAttempt("p1", "OUT_OF_ORDER_SEQUENCE_NUMBER");
    history.commit([0, 1], { producerEpoch: 1, baseSequence: 0 });
    return history.violations();
  };

  expect(ownUp(true)).toMatchObject([
    { permitted: "p1 had gone on with a new producer epoch, 0 to 1" },
  ]);
  expect(ownUp(false)).toMatchObject([{ permitted: undefined }]);
});

test("and if the log does not begin with the producer's first sequence, which can never be written then", () => {
  const history = watch();
  history.failedAttempt();
  history.commit([5, 6], { baseSequence: 5 });

  history.commit([0, 1, 5, 6], { producerEpoch: 1, baseSequence: 0 });

  expect(history.violations()).toMatchObject([
    { count: 2, permitted: "p1 had gone on with a new producer epoch, 0 to 1" },
  ]);
});

// Redpanda #3039 and #5355 (checkers.md 5, 2 and 10) look like this; reading again does not.
test("a producer that sent nothing again leaves the guarantee untested", () => {
  const history = watch();

  const batch = history.commit([0, 1]);
  history.poll([batch]).poll([batch], "c2");

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "untested", evaluations: 1 });
});

test("a copy of what had expired is permitted: brokers may have forgotten it", () => {
  const history = new History({ guarantees: [NO_DUPLICATES], topic: { retentionMs: 0 } });
  history.commit([0]);
  history.commit([1]);
  history.moveStart(1, 1, "retention-time");

  history.commit([0]);

  expect(history.violations()).toMatchObject([
    { permitted: "the first copy had expired, and brokers may forget it then" },
  ]);
});

test("a second copy from a producer that was forgotten meanwhile is permitted, and not earlier", () => {
  for (const [idle, permitted] of [
    [23 * HOUR, undefined],
    [24 * HOUR, expect.stringContaining("producer.id.expiration.ms")],
  ] as const) {
    const history = watch();
    history.commit([0, 1]);
    history.failedAttempt();
    history.now += idle;

    history.commit([0, 1]);

    expect(history.violations()).toMatchObject([{ kind: "duplicate-record", permitted }]);
  }
});
