import fc from "fast-check";
import { expect, test } from "vitest";
import { BatchTree, NO_VALUE } from "../../../src/checkers/batch-tree.ts";
import { ReplicaLog } from "../../../src/checkers/replica-log.ts";
import { encodePayload } from "../../../src/kafka/client/payload.ts";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import { ReplicaLogTwin } from "../../support/replica-log-twin.ts";

const REPLICAS = 3;

/** Few different contents and epochs, so that replicas meet again after they parted. */
function batchAt(baseOffset: number, size: number, epoch: number, content: number): RecordBatch {
  const records = Array.from({ length: size }, (_, i) => ({
    timestamp: 0,
    value: encodePayload(content, i, 12),
  }));
  return buildBatch(records, { baseOffset, partitionLeaderEpoch: epoch });
}

interface Step {
  readonly replica: number;
  readonly other: number;
  readonly what: "append" | "copy" | "cut" | "overwrite";
  readonly size: number;
  readonly epoch: number;
  readonly content: number;
  readonly back: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    replica: fc.nat(REPLICAS - 1),
    other: fc.nat(REPLICAS - 1),
    what: fc.constantFrom("append", "append", "copy", "copy", "copy", "cut", "overwrite"),
    size: fc.integer({ min: 1, max: 3 }),
    epoch: fc.nat(1),
    content: fc.nat(1),
    back: fc.nat(9),
  }),
  { maxLength: 120 },
);

test("logs as paths of one tree agree with whole arrays compared", () => {
  fc.assert(
    fc.property(steps, (history) => {
      const tree = new BatchTree("values");
      const logs = Array.from({ length: REPLICAS }, (_, i) => new ReplicaLog(tree, i + 1));
      const twins = logs.map(() => new ReplicaLogTwin());
      for (const step of history) apply(step, logs, twins);

      for (const [i, log] of logs.entries()) {
        const twin = twins[i] as ReplicaLogTwin;
        expect(log.end).toBe(twin.end);
        for (let offset = twin.end; offset >= -1; offset--) {
          expect(log.indexOf(offset)).toBe(twin.indexOf(offset));
        }
        for (let offset = 0; offset < twin.end; offset += 2) {
          expect(log.indexOf(offset)).toBe(twin.indexOf(offset));
        }
        for (const [j, other] of logs.entries()) {
          const common = twin.commonCount(twins[j] as ReplicaLogTwin);
          expect(log.commonCount(other)).toBe(common);
          for (let index = 0; index < other.count; index++) {
            expect(log.contains(other.nodes[index] as number)).toBe(index < common);
          }
        }
      }
    }),
    { seed: 42, numRuns: 300 },
  );
});

test("a log follows the path to any node of the tree", () => {
  fc.assert(
    fc.property(steps, (history) => {
      const tree = new BatchTree("values");
      const logs = Array.from({ length: REPLICAS }, (_, i) => new ReplicaLog(tree, i + 1));
      const twins = logs.map(() => new ReplicaLogTwin());
      for (const step of history) apply(step, logs, twins);
      const [from, to] = [logs[0] as ReplicaLog, logs[1] as ReplicaLog];

      from.follow(to.tip);

      expect(from.count).toBe(to.count);
      expect(from.commonCount(to)).toBe(to.count);
    }),
    { seed: 7, numRuns: 200 },
  );
});

test("what a batch carries can be read back by offset", () => {
  const tree = new BatchTree("values");
  const log = new ReplicaLog(tree, 1);
  const values = [3, 5, 8].map((value) => ({ timestamp: 0, value: encodePayload(9, value, 40) }));

  const node = log.append(buildBatch(values, { baseOffset: 10, partitionLeaderEpoch: 2 }));

  expect([10, 11, 12].map((offset) => tree.valueAt(node, offset))).toEqual([3, 5, 8]);
  expect(tree.writerOf(node).client).toBe(9);
});

test("records that are no simulated application's have no value", () => {
  const tree = new BatchTree("values");
  const log = new ReplicaLog(tree, 1);

  const short = log.append(buildBatch([{ timestamp: 0, value: new Uint8Array(3) }]));
  const empty = log.append(buildBatch([{ timestamp: 0 }], { baseOffset: 1 }));

  expect([tree.valueAt(short, 0), tree.valueAt(empty, 1)]).toEqual([NO_VALUE, NO_VALUE]);
});

function apply(step: Step, logs: readonly ReplicaLog[], twins: readonly ReplicaLogTwin[]): void {
  const log = logs[step.replica] as ReplicaLog;
  const twin = twins[step.replica] as ReplicaLogTwin;
  switch (step.what) {
    case "append":
    case "overwrite": {
      const base = step.what === "append" ? twin.end : Math.max(0, twin.end - step.back);
      // Logs have no holes: an overwrite begins where a batch does.
      const index = twin.indexOf(base);
      const start = index < 0 ? twin.end : (twin.batches[index]?.baseOffset ?? 0);
      const batch = batchAt(start, step.size, step.epoch, step.content);
      log.append(batch);
      twin.append(batch);
      return;
    }
    case "copy": {
      const source = twins[step.other] as ReplicaLogTwin;
      const next = source.batches.find((batch) => batch.baseOffset === twin.end);
      if (next === undefined) return;
      log.append(next);
      twin.append(next);
      return;
    }
    case "cut": {
      const to = Math.max(0, twin.end - step.back);
      log.cutTo(to);
      twin.cutTo(to);
      return;
    }
    default:
      step.what satisfies never;
  }
}
