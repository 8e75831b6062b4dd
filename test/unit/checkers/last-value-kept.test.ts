import { expect, test } from "vitest";
import { LAST_VALUE_KEPT } from "../../../src/checkers/last-value-kept.ts";
import { resolveConfigs } from "../../../src/kafka/config/config-table.ts";
import { PRODUCER_CONFIGS } from "../../../src/kafka/config/producer-configs.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { emptied, History } from "../../support/fact-builders.ts";

function historyOf(topic: HistoryOptions["topic"] = {}): History {
  return new History({
    guarantees: [LAST_VALUE_KEPT],
    topic: { isCompacted: true, deleteRetentionMs: 60_000, ...topic },
  });
}

/** Three batches: a b, a, c; all committed. */
function written(topic: HistoryOptions["topic"] = {}): History {
  const history = historyOf(topic);
  history.commit([0, 1], { keys: ["a", "b"] });
  history.commit([2], { keys: ["a"] });
  history.commit([3], { keys: ["c"] });
  return history;
}

function told(history: History): string[] {
  return history.violations().map(({ text }) => text.join(" "));
}

test("values that a later one of their key follows may go", () => {
  const history = written();

  history.clean(1, 0, 4, [1, 2, 3]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("a cleaner that drops the last value of a key is caught", () => {
  const history = written();

  history.clean(2, 0, 4, [2, 3]);

  const [violation] = history.violations();
  expect(violation?.text).toEqual([
    "broker-2 cleaned offsets 0..3, and with that took the last value of 1 key, at offset 1.",
  ]);
  expect(violation?.permitted).toBeUndefined();
});

test("a value is not followed by one that is gone itself", () => {
  const history = written();
  history.clean(1, 0, 3, [1, 2]);

  history.clean(1, 0, 3, [1]);

  expect(told(history)).toEqual([
    "broker-1 cleaned offsets 0..2, and with that took the last value of 1 key, at offset 2.",
  ]);
});

test("nor by one that is in another replica's log only", () => {
  const history = written();
  history.isr = [1, 2];
  history.commit([4], { keys: ["c"] });

  history.clean(3, 0, 4, [1, 2]);

  expect(told(history)).toHaveLength(1);
});

test("nor by one that is not below the high watermark", () => {
  const history = written();
  history.write([4], { keys: ["c"] });

  history.clean(1, 0, 4, [1, 2]);

  expect(told(history)).toEqual([
    "broker-1 cleaned offsets 0..3, and with that took 1 record whose later values are not below the high watermark, at offset 3.",
  ]);
});

test("what a transaction wrote that was aborted is no value, and neither needed nor enough", () => {
  const cleaned = (type: "ABORT" | "COMMIT", left: readonly number[]): string[] => {
    const history = new History({
      guarantees: [LAST_VALUE_KEPT],
      topic: { isCompacted: true },
      clients: {
        p1: { configs: resolveConfigs(PRODUCER_CONFIGS, { "transactional.id": "t" }) },
      },
    });
    history.commit([0], { keys: ["a"], producerId: 7 });
    history.commit([1], { keys: ["a"], isTransactional: true });
    history.endTransaction(type);
    history.copy([2, 3]).highWatermark(1, 3);
    history.clean(1, 0, 2, left);
    return told(history);
  };
  const lost = (offset: number): string[] => [
    `broker-1 cleaned offsets 0..1, and with that took the last value of 1 key, at offset ${offset}.`,
  ];

  expect(cleaned("ABORT", [0])).toEqual([]);
  expect(cleaned("ABORT", [1])).toEqual(lost(0));
  expect(cleaned("COMMIT", [1])).toEqual([]);
  expect(cleaned("COMMIT", [0])).toEqual(lost(1));
});

test("what a replica lacks because it copied a cleaned log, its own cleaning does not take", () => {
  const history = historyOf();
  history.isr = [1, 2];
  history.commit([0], { keys: ["a"] });
  history.commit([1], { keys: ["b"] });
  history.commit([2], { keys: ["a"] });
  history.clean(1, 0, 2, [1]);
  history.copy([3]).highWatermark(3, 3);

  history.clean(3, 0, 2, [1]);

  expect(history.violations()).toEqual([]);
});

test("a header that stays of a batch keeps no value", () => {
  const history = historyOf();
  const batch = history.commit([0], { keys: ["a"] });

  history.cleaned(1, 0, 1, [emptied(batch)]);

  expect(told(history)).toHaveLength(1);
});

test("a tombstone goes when delete.retention.ms is over since it first survived a cleaning", () => {
  const history = historyOf();
  history.commit([0], { keys: ["a"] });
  history.commit([1], { keys: ["a"], tombstones: [0] });
  history.commit([2], { keys: ["b"] });
  history.clean(1, 0, 2, [1]);
  const firstClean = history.now;

  history.now = firstClean + 59_000_000;
  history.clean(1, 0, 2, []);

  expect(history.violations()).toEqual([]);
});

test("before that it is caught, and so is one that no cleaning has met", () => {
  const history = historyOf();
  history.commit([0], { keys: ["a"], tombstones: [0] });
  history.commit([1], { keys: ["b"], tombstones: [0] });
  history.commit([2], { keys: ["c"] });
  history.clean(1, 0, 2, [0]);

  history.now += 50_000_000;
  history.clean(1, 0, 2, []);

  expect(told(history)).toEqual([
    "broker-1 cleaned offsets 0..1, and with that took 1 tombstone before delete.retention.ms was over, at offset 1.",
    "broker-1 cleaned offsets 0..1, and with that took 1 tombstone before delete.retention.ms was over, at offset 0.",
  ]);
});

test("a tombstone that goes before the value it deletes is caught", () => {
  const history = historyOf({ deleteRetentionMs: 0 });
  history.commit([0], { keys: ["a"] });
  history.commit([1], { keys: ["a"], tombstones: [0] });
  history.commit([2], { keys: ["b"] });
  history.clean(1, 1, 2, [1]);

  history.clean(1, 1, 2, []);

  expect(told(history)).toEqual([
    "broker-1 cleaned offsets 1..1, and with that took tombstones while 1 record with their keys is left, at offset 0.",
  ]);
});

test("a value below the log's start is nobody's", () => {
  const history = written();
  history.moveStart(1, 2, "delete-records");

  history.cleaned(1, 0, 4, (history.logs.get(2) ?? []).slice(1));

  expect(history.violations()).toEqual([]);
});

test("what a power loss may have brought back is given the benefit of the doubt", () => {
  const history = historyOf();
  history.commit([0], { keys: ["a"] });
  history.commit([1], { keys: ["a"] });
  history.commit([2], { keys: ["a"] });
  history.clean(3, 0, 2, []);
  history.stop(3, "power-off").restart(3, 2).highWatermark(3, 2);

  // The segments before the cleaning are back, the last record is not.
  history.clean(3, 0, 2, [1]);

  expect(history.violations()).toEqual([]);
});

test("a topic that is not compacted is not to be cleaned", () => {
  const history = written({ isCompacted: false });

  history.clean(1, 0, 4, [1, 2, 3]);

  expect(told(history)[0]).toMatch(/though cleanup.policy is not compact/);
});

test("a tombstone whose time is over goes also when a later value is not committed yet", () => {
  const history = historyOf({ deleteRetentionMs: 0 });
  history.commit([0], { keys: ["a"], tombstones: [0] });
  history.commit([1], { keys: ["b"] });
  history.clean(1, 0, 1, [0]);
  history.write([2], { keys: ["a"] });

  history.clean(1, 0, 1, []);

  expect(history.violations()).toEqual([]);
});

test("a value may go together with the tombstone that followed it", () => {
  const history = historyOf({ deleteRetentionMs: 0 });
  history.isr = [1, 2];
  history.commit([0], { keys: ["a"] });
  history.commit([1], { keys: ["a"], tombstones: [0] });
  history.commit([2], { keys: ["b"] });
  history.clean(1, 0, 2, [1]);
  history
    .append(3, history.logs.get(2)?.[0] ?? history.batch([9]))
    .copy([3])
    .highWatermark(3, 3);

  history.clean(3, 0, 2, []);

  expect(history.violations()).toEqual([]);
});
