import { expect, test } from "vitest";
import { BatchTree, NO_NODE } from "../../../src/checkers/batch-tree.ts";
import { LeftRecords } from "../../../src/checkers/copied-batch.ts";
import { encodePayload } from "../../../src/kafka/client/payload.ts";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";

function batchOf(value: number): RecordBatch {
  const record = { timestamp: 1, key: Uint8Array.of(1), value: encodePayload(5, value, 20) };
  return buildBatch([record], { baseOffset: 0, partitionLeaderEpoch: 0 });
}

function changedAt(reads: "keys" | "values and keys", left: RecordBatch): number {
  const tree = new BatchTree(reads);
  const node = tree.enter(NO_NODE, batchOf(3));
  return new LeftRecords(tree, node, left).changedAt;
}

test("a record that a cleaning has left is the same if its value is, where values are known", () => {
  expect(changedAt("values and keys", batchOf(3))).toBe(-1);
  expect(changedAt("values and keys", batchOf(4))).toBe(0);
});

test("what coordinators write is known by its key alone", () => {
  expect(changedAt("keys", batchOf(3))).toBe(-1);
});
