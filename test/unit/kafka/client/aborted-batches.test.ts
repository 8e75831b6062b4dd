import { expect, test } from "vitest";
import { AbortedBatches } from "../../../../src/kafka/client/aborted-batches.ts";
import { controlKey, encodeEndTransaction } from "../../../../src/kafka/log/control-record.ts";
import type { RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../../../src/kafka/log/record-batch.ts";

function data(producerId: number, baseOffset: number, isTransactional = true): RecordBatch {
  const options = { producerId, producerEpoch: 0, baseSequence: 0, isTransactional, baseOffset };
  return buildBatch([{ timestamp: 1 }], options);
}

function marker(producerId: number, baseOffset: number, type: "ABORT" | "COMMIT"): RecordBatch {
  const record = { timestamp: 1, key: controlKey(type), value: encodeEndTransaction(0) };
  const options = { producerId, producerEpoch: 1, baseOffset };
  return buildBatch([record], { ...options, isTransactional: true, isControl: true });
}

test("from where an aborted transaction begins to its marker nothing of its producer is handed over", () => {
  const aborted = new AbortedBatches([
    { producerId: 8, firstOffset: 4 },
    { producerId: 7, firstOffset: 1 },
  ]);
  const batches = [
    data(7, 0),
    data(7, 1),
    data(9, 2),
    marker(7, 3, "ABORT"),
    data(8, 4),
    data(7, 5),
    marker(7, 6, "COMMIT"),
    data(8, 7, false),
    marker(8, 8, "ABORT"),
    data(8, 9),
  ];

  const left = batches.filter((batch) => !aborted.has(batch));

  expect(left.map(({ baseOffset }) => baseOffset)).toEqual([0, 2, 3, 5, 6, 7, 8, 9]);
});

test("a transaction that began before what was fetched is left out from the first batch on", () => {
  const aborted = new AbortedBatches([{ producerId: 7, firstOffset: 1 }]);
  expect(aborted.has(data(7, 100))).toBe(true);
});

test("two transactions of one producer end each with its own marker", () => {
  const aborted = new AbortedBatches([
    { producerId: 7, firstOffset: 0 },
    { producerId: 7, firstOffset: 2 },
  ]);
  const batches = [
    data(7, 0),
    marker(7, 1, "ABORT"),
    data(7, 2),
    marker(7, 3, "ABORT"),
    data(7, 4),
  ];
  expect(batches.map((batch) => aborted.has(batch))).toEqual([true, false, true, false, false]);
});
