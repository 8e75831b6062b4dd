import { describe, expect, test } from "vitest";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { controlKey, encodeEndTransaction } from "../../../../src/kafka/log/control-record.ts";
import { ProducerState } from "../../../../src/kafka/log/producer-state.ts";
import type { RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../../../src/kafka/log/record-batch.ts";
import type { TransactionVerification } from "../../../../src/kafka/log/transaction-verification.ts";

function data(baseSequence: number, producerEpoch = 0, baseOffset = 0): RecordBatch {
  const producer = { producerId: 7, producerEpoch, baseSequence, isTransactional: true };
  return buildBatch([{ timestamp: 100 }], { ...producer, baseOffset });
}

function abort(producerEpoch: number, baseOffset: number): RecordBatch {
  const record = { timestamp: 100, key: controlKey("ABORT"), value: encodeEndTransaction(0) };
  const producer = { producerId: 7, producerEpoch, isTransactional: true, isControl: true };
  return buildBatch([record], { ...producer, baseOffset });
}

function judge(
  state: ProducerState,
  batch: RecordBatch,
  verification?: TransactionVerification,
  isClient = true,
) {
  return state.check(batch, { isClient, mustBeVerified: true, verification }).error;
}

describe("the first records of a transaction", () => {
  test("are refused unless they come with the guard that was given for them", () => {
    const state = new ProducerState();
    expect(judge(state, data(0))).toBe(ERRORS.INVALID_TXN_STATE);

    const guard = state.beginVerification(7, 0, 0, true, 1_000);

    expect(judge(state, data(0), guard)).toBe(ERRORS.NONE);
    expect(judge(state, data(0))).toBe(ERRORS.INVALID_TXN_STATE);
  });

  test("need a new guard when a marker came in between (KAFKA-14884)", () => {
    const state = new ProducerState();
    const guard = state.beginVerification(7, 0, 1, true, 1_000);
    state.add(abort(1, 0));

    expect(judge(state, data(0, 1), guard)).toBe(ERRORS.INVALID_TXN_STATE);
    const next = state.beginVerification(7, 0, 1, true, 1_000);
    expect(judge(state, data(0, 1), guard)).toBe(ERRORS.INVALID_TXN_STATE);
    expect(judge(state, data(0, 1), next)).toBe(ERRORS.NONE);
  });

  test("tell a zombie of its epoch, not of the guard (KAFKA-19690)", () => {
    const state = new ProducerState();
    state.add(abort(3, 0));
    expect(judge(state, data(0, 2))).toBe(ERRORS.INVALID_PRODUCER_EPOCH);
  });

  test("do not overtake others that wait for the coordinator (KAFKA-14920)", () => {
    const state = new ProducerState();
    state.beginVerification(7, 5, 0, false, 1_000);
    const guard = state.beginVerification(7, 3, 0, false, 1_000);

    expect(judge(state, data(5), guard)).toBe(ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER);
    expect(judge(state, data(3), guard)).toBe(ERRORS.NONE);
  });

  test("of a later epoch begin the count anew", () => {
    const state = new ProducerState();
    state.beginVerification(7, 3, 0, false, 1_000);
    const guard = state.beginVerification(7, 4, 1, false, 1_000);

    expect(judge(state, data(4, 1), guard)).toBe(ERRORS.NONE);
  });

  test("begin at 0 where nothing is known of a producer of transaction.version 2", () => {
    const state = new ProducerState();
    const guard = state.beginVerification(7, 2, 0, true, 1_000);
    expect(judge(state, data(2), guard)).toBe(ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER);
    expect(judge(state, data(0), guard)).toBe(ERRORS.NONE);
  });

  test("of a coordinator need the guard, but no sequence", () => {
    const state = new ProducerState();
    const guard = state.beginVerification(7, -1, 0, true, 1_000);
    expect(judge(state, data(-1), guard, false)).toBe(ERRORS.NONE);
    expect(judge(state, data(-1), undefined, false)).toBe(ERRORS.INVALID_TXN_STATE);
  });
});

test("once something of the transaction is in the log, nothing needs to be verified", () => {
  const state = new ProducerState();
  const guard = state.beginVerification(7, 0, 0, true, 1_000);
  state.add(data(0));

  expect(state.beginVerification(7, 1, 0, true, 1_000)).toBeUndefined();
  expect(judge(state, data(1))).toBe(ERRORS.NONE);
  state.add(abort(1, 1));
  expect(judge(state, data(0, 1), guard)).toBe(ERRORS.INVALID_TXN_STATE);
});

test("a batch that is in the log already is a duplicate, verified or not", () => {
  const state = new ProducerState();
  state.add(data(0));
  state.add(abort(0, 1));
  const { error, duplicateOf } = state.check(data(0), {
    isClient: true,
    mustBeVerified: true,
    verification: undefined,
  });
  expect([error, duplicateOf?.baseOffset]).toEqual([ERRORS.NONE, 0]);
});

test("a verification that nobody came back to expires as producers do", () => {
  const state = new ProducerState();
  const guard = state.beginVerification(7, 0, 0, true, 1_000);

  state.expire(1_999, 1_000);
  expect(judge(state, data(0), guard)).toBe(ERRORS.NONE);
  state.expire(2_000, 1_000);
  expect(judge(state, data(0), guard)).toBe(ERRORS.INVALID_TXN_STATE);
});
