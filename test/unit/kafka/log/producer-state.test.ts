import fc from "fast-check";
import { expect, test } from "vitest";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { decodeSnapshot, encodeSnapshot } from "../../../../src/kafka/log/producer-snapshot.ts";
import { ProducerState } from "../../../../src/kafka/log/producer-state.ts";
import type { RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../../../src/kafka/log/record-batch.ts";
import { ProducerStateTwin } from "../../../support/producer-state-twin.ts";

const MAX_SEQUENCE = 2 ** 31 - 1;

const ERROR_OF = {
  append: ERRORS.NONE,
  duplicate: ERRORS.NONE,
  "stale-epoch": ERRORS.INVALID_PRODUCER_EPOCH,
  "out-of-order": ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER,
};

interface Sent {
  readonly producerId?: number;
  readonly epoch?: number;
  readonly sequence: number;
  readonly count?: number;
  readonly offset?: number;
  readonly timestamp?: number;
}

function batchOf({
  producerId = 1,
  epoch = 0,
  sequence,
  count = 1,
  offset = 0,
  timestamp = 5,
}: Sent): RecordBatch {
  return buildBatch(new Array(count).fill({ timestamp }), {
    producerId,
    producerEpoch: epoch,
    baseSequence: sequence,
    baseOffset: offset,
  });
}

function stateOf(...batches: readonly Sent[]): ProducerState {
  const state = new ProducerState();
  for (const batch of batches) state.add(batchOf(batch));
  return state;
}

test("a batch that equals one of the last five is answered with the original's offsets", () => {
  const state = stateOf(
    ...[0, 1, 2, 3, 4, 5].map((n) => ({ sequence: n * 2, count: 2, offset: 100 + n * 2 })),
  );

  const ofFive = [1, 2, 3, 4, 5].map((n) => state.check(batchOf({ sequence: n * 2, count: 2 })));
  const older = state.check(batchOf({ sequence: 0, count: 2 }));
  const shorter = state.check(batchOf({ sequence: 2, count: 1 }));

  expect(ofFive.map(({ duplicateOf }) => duplicateOf?.baseOffset)).toEqual([
    102, 104, 106, 108, 110,
  ]);
  expect(older.error).toBe(ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER);
  expect(shorter.error).toBe(ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER);
});

test("the next sequence is accepted, a gap is refused", () => {
  const state = stateOf({ sequence: 0, count: 3 });

  expect(state.check(batchOf({ sequence: 3 })).error).toBe(ERRORS.NONE);
  expect(state.check(batchOf({ sequence: 4 })).error).toBe(ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER);
});

test("sequences go on at 0 behind 2^31-1", () => {
  const state = stateOf({ sequence: MAX_SEQUENCE - 1, count: 2 });
  const across = stateOf({ sequence: MAX_SEQUENCE, count: 2 });

  expect(state.check(batchOf({ sequence: 0 })).error).toBe(ERRORS.NONE);
  expect(across.check(batchOf({ sequence: 1 })).error).toBe(ERRORS.NONE);
  expect(across.check(batchOf({ sequence: MAX_SEQUENCE, count: 2 })).duplicateOf).toBeDefined();
});

test("a smaller epoch is fenced, a larger one must begin at 0", () => {
  const state = stateOf({ epoch: 3, sequence: 7 });

  expect(state.check(batchOf({ epoch: 2, sequence: 8 })).error).toBe(ERRORS.INVALID_PRODUCER_EPOCH);
  expect(state.check(batchOf({ epoch: 4, sequence: 8 })).error).toBe(
    ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER,
  );
  expect(state.check(batchOf({ epoch: 4, sequence: 0 })).error).toBe(ERRORS.NONE);
});

test("a producer that is not known may begin anywhere", () => {
  const state = new ProducerState();

  expect(state.check(batchOf({ sequence: 17 })).error).toBe(ERRORS.NONE);
});

test("a replica takes what its leader took, in order or not", () => {
  const state = stateOf(
    { sequence: 0 },
    { sequence: 9 },
    { epoch: 5, sequence: 4 },
    { epoch: 2, sequence: 6 },
  );

  expect(state.get(1)?.epoch).toBe(2);
  expect(state.get(1)?.lastSequence).toBe(6);
});

test("a producer that was idle for the expiration time is forgotten", () => {
  const state = stateOf(
    { producerId: 1, sequence: 0, timestamp: 1_000 },
    { producerId: 2, sequence: 0, timestamp: 1_001 },
  );

  state.expire(86_401_000, 86_400_000);

  expect([...state.entries()].map(({ producerId }) => producerId)).toEqual([2]);
});

test("a snapshot is Kafka's version 1: CRC, then 46 bytes for each producer", () => {
  const state = stateOf({
    producerId: 258,
    epoch: 2,
    sequence: 5,
    count: 3,
    offset: 40,
    timestamp: 9,
  });

  const bytes = encodeSnapshot(state);

  expect([...bytes.subarray(0, 2)]).toEqual([0, 1]);
  expect([...bytes.subarray(6)]).toEqual([
    ...[0, 0, 0, 1], // entries
    ...[0, 0, 0, 0, 0, 0, 1, 2], // producer id
    ...[0, 2], // epoch
    ...[0, 0, 0, 7], // last sequence
    ...[0, 0, 0, 0, 0, 0, 0, 42], // last offset
    ...[0, 0, 0, 2], // offset delta
    ...[0, 0, 0, 0, 0, 0, 0, 9], // timestamp
    ...[255, 255, 255, 255], // coordinator epoch
    ...[255, 255, 255, 255, 255, 255, 255, 255], // first offset of the open transaction
  ]);
});

test("a snapshot keeps the last batch of each producer, across the wrap too", () => {
  const state = stateOf(
    { producerId: 1, sequence: 0, offset: 10 },
    { producerId: 1, sequence: 1, offset: 11 },
    { producerId: 2, sequence: MAX_SEQUENCE, count: 4, offset: 12 },
  );

  const entries = decodeSnapshot(encodeSnapshot(state)) ?? [];

  expect(entries.map(({ producerId, lastBatch }) => [producerId, lastBatch])).toEqual([
    [1, { baseSequence: 1, lastSequence: 1, baseOffset: 11, lastOffset: 11, maxTimestamp: 5 }],
    [
      2,
      {
        baseSequence: MAX_SEQUENCE,
        lastSequence: 2,
        baseOffset: 12,
        lastOffset: 15,
        maxTimestamp: 5,
      },
    ],
  ]);
});

test("a snapshot that is cut short or damaged anywhere is not taken", () => {
  const bytes = encodeSnapshot(stateOf({ sequence: 0 }));

  for (let at = 0; at < bytes.length; at++) {
    const damaged = bytes.slice();
    damaged[at] = (damaged[at] as number) ^ 1;
    expect(decodeSnapshot(damaged)).toBeUndefined();
    expect(decodeSnapshot(bytes.slice(0, at))).toBeUndefined();
  }
});

test("the table agrees with a plain list of all that was appended", () => {
  const sent = fc.record({
    producerId: fc.integer({ min: 1, max: 2 }),
    epoch: fc.integer({ min: 0, max: 2 }),
    /** How far from the sequence that would be right, mostly right or a repetition. */
    skew: fc.oneof(fc.constant(0), fc.integer({ min: -8, max: 2 })),
    count: fc.integer({ min: 1, max: 3 }),
    /** Sends again what was sent so many attempts ago. */
    again: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined, freq: 2 }),
  });
  const seen = { append: 0, duplicate: 0, "stale-epoch": 0, "out-of-order": 0 };
  interface Attempt {
    producerId: number;
    epoch: number;
    skew: number;
    count: number;
    again: number | undefined;
  }
  const check = (attempts: Attempt[]): void => {
    const state = new ProducerState();
    const twin = new ProducerStateTwin();
    const all: RecordBatch[] = [];
    let offset = 0;
    for (const { producerId, epoch, skew, count, again } of attempts) {
      const known = state.get(producerId);
      // Near the wrap, so that it is crossed often.
      const fresh = known === undefined ? MAX_SEQUENCE - 3 : 0;
      const right = known?.epoch === epoch ? known.lastSequence + 1 : fresh;
      const sequence = (right + skew + 2 ** 31) % 2 ** 31;
      const repeated = again === undefined ? undefined : all.at(-again);
      const batch = repeated ?? batchOf({ producerId, epoch, sequence, count, offset });
      all.push(batch);

      const { answer, original } = twin.judge(batch);
      const { error, duplicateOf } = state.check(batch);

      seen[answer]++;
      expect(error).toBe(ERROR_OF[answer]);
      expect(duplicateOf).toBe(original);
      if (answer !== "append") continue;
      state.add(batch);
      twin.add(batch);
      offset += batch.recordCount;
    }
  };
  fc.assert(fc.property(fc.array(sent, { maxLength: 40 }), check), { seed: 42, numRuns: 500 });
  // All four answers were really drawn.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(100);
});
