import { expect, test } from "vitest";
import { controlKey, encodeEndTransaction } from "../../../../src/kafka/log/control-record.ts";
import {
  decodeSnapshot,
  encodeSnapshot,
  loadProducer,
} from "../../../../src/kafka/log/producer-snapshot.ts";
import { ProducerState } from "../../../../src/kafka/log/producer-state.ts";
import type { RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import { buildBatch, buildEmptyBatch } from "../../../../src/kafka/log/record-batch.ts";

const PRODUCER = { producerId: 7, isTransactional: true };

function data(baseOffset: number, baseSequence: number): RecordBatch {
  const options = { ...PRODUCER, producerEpoch: 0, baseSequence, baseOffset };
  return buildBatch([{ timestamp: 100 + baseOffset }], options);
}

function marker(type: "ABORT" | "COMMIT", baseOffset: number, producerEpoch: number): RecordBatch {
  const record = { timestamp: 100 + baseOffset, key: controlKey(type) };
  return buildBatch([{ ...record, value: encodeEndTransaction(3) }], {
    ...PRODUCER,
    producerEpoch,
    baseOffset,
    isControl: true,
  });
}

test("a transaction is open from its first batch to its marker", () => {
  const state = new ProducerState();
  state.add(data(4, 0));
  state.add(data(5, 1));

  expect(state.get(7)?.currentTxnFirstOffset).toBe(4);

  state.add(marker("COMMIT", 6, 0));

  expect(state.get(7)?.currentTxnFirstOffset).toBeUndefined();
  expect(state.get(7)?.coordinatorEpoch).toBe(3);
  expect(state.get(7)?.lastTimestamp).toBe(106);
  expect(state.get(7)?.lastSequence).toBe(1);
  expect(state.endOffset).toBe(7);
});

test("a marker of a new epoch makes the old epoch's batches forgotten", () => {
  const state = new ProducerState();
  state.add(data(0, 0));

  state.add(marker("ABORT", 1, 1));

  expect(state.get(7)).toMatchObject({ epoch: 1, lastBatch: undefined });
});

test("a marker makes a producer known that was not", () => {
  const state = new ProducerState();

  state.add(marker("COMMIT", 9, 2));

  expect(state.get(7)).toMatchObject({ epoch: 2, coordinatorEpoch: 3, lastTimestamp: 109 });
});

test("what cleaning left of a transaction that is gone says nothing of the producer", () => {
  const state = new ProducerState();

  const gone = { ...PRODUCER, isControl: true, baseOffset: 9, lastOffset: 9, maxTimestamp: 100 };
  state.add(buildEmptyBatch(gone));

  expect(state.size).toBe(0);
});

test("a producer does not expire while its transaction is open", () => {
  const state = new ProducerState();
  state.add(data(0, 0));

  state.expire(1_000_000, 1_000);
  expect(state.size).toBe(1);

  state.add(marker("COMMIT", 1, 0));
  state.expire(1_000_000, 1_000);
  expect(state.size).toBe(0);
});

test("a snapshot keeps the open transaction and the coordinator's epoch", () => {
  const state = new ProducerState();
  state.add(data(0, 0));
  state.add(marker("COMMIT", 1, 0));
  state.add(data(2, 1));

  const loaded = new ProducerState();
  for (const entry of decodeSnapshot(encodeSnapshot(state)) ?? []) loadProducer(loaded, entry);

  expect(loaded.get(7)).toMatchObject({ currentTxnFirstOffset: 2, coordinatorEpoch: 3 });
  expect(encodeSnapshot(loaded)).toEqual(encodeSnapshot(state));
});
