import { expect, test } from "vitest";
import { READS_COMPLETE } from "../../../src/checkers/reads-complete.ts";
import { resolveConfigs } from "../../../src/kafka/config/config-table.ts";
import { PRODUCER_CONFIGS } from "../../../src/kafka/config/producer-configs.ts";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History, ORDERS } from "../../support/fact-builders.ts";

const watch = (options: HistoryOptions = {}): History =>
  new History({ guarantees: [READS_COMPLETE], ...options });

const told = (history: History): string[] => history.violations().map(({ text }) => text.join(" "));

/** p1's transaction of two records, and the marker that ends it. */
function transaction(history: History, type: "ABORT" | "COMMIT"): void {
  history.write([0, 1], { isTransactional: true });
  history.endTransaction(type);
}

const TRANSACTIONAL: HistoryOptions = {
  clients: {
    p1: { configs: resolveConfigs(PRODUCER_CONFIGS, { "transactional.id": "t" }) },
  },
};

test("batches read one after the other, some in two polls, are complete", () => {
  const history = watch();
  const batches = [history.commit([0, 1]), history.commit([2, 3, 4]), history.commit([5])];
  const [first, second, third] = batches as [RecordBatch, RecordBatch, RecordBatch];

  history.poll([first]);
  const half = { kind: "polled", client: "c1", partition: ORDERS, batches: [second] } as const;
  history.note({ ...half, firstOffset: 2, lastOffset: 3 });
  history.note({ ...half, firstOffset: 4, lastOffset: 4 });
  history.poll([third]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 3 });
});

test("a batch that is passed over is found, though nobody else has read it", () => {
  const history = watch();
  const first = history.commit([0, 1]);
  history.commit([2, 3, 4]);
  const third = history.commit([5]);

  history.poll([first, third]);

  expect(history.violations()).toMatchObject([{ client: "c1", offsets: [2, 4], count: 3 }]);
  expect(told(history)).toEqual(["c1 read on from offset 2 at 5, past offsets 2..4: 3 records."]);
});

test("so is what stands between the offset to which a position is set and the first record", () => {
  const history = watch();
  history.commit([0, 1]);
  const second = history.commit([2]);
  const reset = { kind: "position-reset", client: "c1", partition: ORDERS, from: -1 } as const;

  history.note({ ...reset, to: 1, reason: "initial" }).poll([second]);

  expect(told(history)).toEqual(["c1 read on from offset 1 at 2, past offset 1: 1 record."]);
});

test("a position that is set anew passes nothing over, nor does a consumer that starts again", () => {
  const history = watch();
  const first = history.commit([0]);
  history.commit([1]);
  const third = history.commit([2]);
  history.commit([3]);
  const fifth = history.commit([4]);
  const reset = { kind: "position-reset", client: "c1", partition: ORDERS } as const;
  history.poll([first]).note({ ...reset, from: 1, to: 2, reason: "out-of-range" });
  history.poll([third]).note({ kind: "node-stopped", node: "c1", how: "crash", reason: "test" });

  history.poll([fifth]);

  expect(history.violations()).toEqual([]);
});

test("what a cleaning has taken may be missing, what it has left may not", () => {
  const history = watch({ topic: { isCompacted: true } });
  const [first] = [history.commit([0], { keys: ["a"] })];
  history.commit([1], { keys: ["b"] });
  history.commit([2], { keys: ["c"] });
  const fourth = history.commit([3], { keys: ["b"] });
  history.clean(1, 0, 3, [0, 2]);

  history.poll([first, fourth]);

  expect(told(history)).toEqual(["c1 read on from offset 1 at 3, past offset 2: 1 record."]);
});

test("an aborted transaction is passed over by who reads committed records only", () => {
  const reads = (isolation: string, type: "ABORT" | "COMMIT"): string[] => {
    const history = watch({ ...TRANSACTIONAL, isolation });
    const first = history.write([9]);
    transaction(history, type);
    const last = history.write([3]);
    return told(history.poll([first, last]));
  };
  const found = ["c1 read on from offset 1 at 4, past offsets 1..2: 2 records."];

  expect(reads("read_committed", "ABORT")).toEqual([]);
  expect(reads("read_committed", "COMMIT")).toEqual(found);
  expect(reads("read_uncommitted", "ABORT")).toEqual(found);
});
