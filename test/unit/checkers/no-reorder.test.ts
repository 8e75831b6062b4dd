import { expect, test } from "vitest";
import { NO_REORDER } from "../../../src/checkers/no-reorder.ts";
import { PRODUCE } from "../../../src/kafka/protocol/apis.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (options: HistoryOptions = {}): History =>
  new History({ guarantees: [NO_REORDER], ...options });

test("acknowledged records that stand in another order than they were sent are found", () => {
  const history = watch();
  history.commit([2, 3]);
  history.commit([0, 1]);

  history.ack([2, 3], 0).ack([0, 1], 2);

  expect(history.violations()).toMatchObject([
    {
      kind: "record-reordered",
      client: "p1",
      offsets: [2, 3],
      count: 2,
      permitted: undefined,
      text: ["p1 sent record 0 before record 2, but they stand at offsets 2 and 0: 2 records."],
    },
  ]);
});

test("acknowledgements may arrive in another order than the records stand", () => {
  const history = watch();
  history.failedAttempt();
  history.commit([0]);
  history.commit([1]);
  history.commit([2]);

  history.ack([2], 2).ack([0], 0).ack([1], 1);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 3 });
});

test("two clients have no order between them", () => {
  const history = watch();
  history.commit([5], { client: 2 });
  history.commit([0]);

  history.ack([5], 0, { client: "p2" }).ack([0], 1);

  expect(history.violations()).toEqual([]);
});

test("a record that was never acknowledged may stand anywhere", () => {
  const history = watch();
  history.commit([1]);
  history.commit([0]);

  history.ack([1], 0).ack([0], -1, { outcome: "unknown", error: "REQUEST_TIMED_OUT" });

  expect(history.violations()).toEqual([]);
});

test("what is lost has no place, so that later records may stand lower", () => {
  const history = watch();
  history.commit([0]);
  history.ack([0], 0);
  history.write([1, 2, 3]);
  history.ack([1, 2, 3], 1);
  history.elect(2, { isr: [2, 3] });

  history.commit([4]);
  history.ack([4], 1);

  expect(history.violations()).toEqual([]);
});

test("what two leaders told of two logs that part has no order", () => {
  const history = watch();
  history.commit([0]);
  const late = history.batch([2]);
  history.elect(2, { isr: [2, 3] });
  history.commit([5]);
  history.commit([1]);
  history.ack([1], 2, { acks: 1 }).stop(2);
  // The leader of before has not heard of it yet, and nobody is in office of whom it could be told lost.
  history.append(1, late, true);

  history.ack([2], 1, { acks: 1 });

  expect(history.violations()).toEqual([]);
});

test("without idempotence a retry explains the order, and only a retry", () => {
  const reorder = (attempts: number): History => {
    const history = watch({ clients: { p1: { idempotent: false } } });
    history.failedAttempt();
    history.commit([1]);
    history.commit([0]);
    return history.ack([1], 0).ack([0], 1, { attempts });
  };

  expect(reorder(2).violations()).toMatchObject([
    { permitted: "p1 sent one of them again, with enable.idempotence=false" },
  ]);
  expect(reorder(1).violations()).toMatchObject([{ permitted: undefined }]);
});

test("a new epoch excuses another order only if the network has lost an answer", () => {
  for (const isLost of [true, false]) {
    const history = watch();
    history.commit([2, 3]);
    if (isLost) {
      history.note({
        kind: "message-disturbed",
        how: "dropped",
        from: "broker-1",
        to: "p1",
        apiKey: PRODUCE.key,
        isResponse: true,
      });
    }
    history.commit([0, 1], { producerEpoch: 1, baseSequence: 0 });
    history.ack([2, 3], 0).ack([0, 1], 2);

    const permitted = isLost
      ? "the network lost an answer, and p1 had gone on with a new producer epoch"
      : undefined;
    expect(history.violations()).toMatchObject([{ count: 2, permitted }]);
  }
});
