import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeUtf8 } from "../../../../../src/base/utf8.ts";
import { controlKey, encodeEndTransaction } from "../../../../../src/kafka/log/control-record.ts";
import type { BatchOptions, RecordBatch } from "../../../../../src/kafka/log/record-batch.ts";
import { buildBatch, parseBatch } from "../../../../../src/kafka/log/record-batch.ts";
import type { AbortedTransaction } from "../../../../../src/kafka/log/transaction-index-format.ts";
import { cleanBatches } from "../../../../support/clean-batches.ts";

const NOW_MS = 1_000_000;
const DAY_MS = 86_400_000;

describe("of each key", () => {
  test("the last record stays, where it was", () => {
    const first = batch(0, "a=1 b=1 a=2");
    const second = batch(3, "b=2 c=1");

    const left = clean([first, second, batch(5, "d=1")]);

    expect(left).toEqual(["0-2: 2:a=2", "3-4: 3:b=2 4:c=1", "5-5: 5:d=1"]);
  });

  test("records that are not mapped yet all stay", () => {
    const log = { segments: [[batch(0, "a=1 a=2"), batch(2, "a=3 b=1 a=4")]], end: 5 };

    const { batches, nextDirty } = cleanBatches(log, 0, NOW_MS, { mapCapacity: 2 });

    // The map being full, the run ends before the next record, though its key is there.
    expect(batches.map(told)).toEqual(["2-4: 2:a=3 3:b=1 4:a=4"]);
    expect(nextDirty).toBe(4);
  });

  test("a tombstone removes what was before it at once, and itself after delete.retention.ms", () => {
    const log = [batch(0, "a=1 b=1"), batch(2, "a"), batch(3, "c=1")];

    const once = cleanAll(log, NOW_MS);
    const early = cleanAll(once, NOW_MS + DAY_MS - 1);
    const late = cleanAll(early, NOW_MS + DAY_MS);

    expect(once.map(told)).toEqual(["0-1: 1:b=1", "2-2: 2:a", "3-3: 3:c=1"]);
    expect(once[1]).toMatchObject({ hasDeleteHorizon: true, baseTimestamp: NOW_MS + DAY_MS });
    expect(once[1]?.records()[0]?.timestamp).toBe(2);
    expect(early.map(told)).toEqual(once.map(told));
    expect(late.map(told)).toEqual(["0-1: 1:b=1", "3-3: 3:c=1"]);
  });

  test("a record without a key, as a topic can have from before its policy changed, does not stay", () => {
    const keyless = buildBatch([{ timestamp: 0, value: encodeUtf8("x") }], { baseOffset: 0 });

    expect(clean([keyless, batch(1, "a=1")])).toEqual(["1-1: 1:a=1"]);
  });
});

describe("a batch that loses records", () => {
  test("keeps its offsets, sequences and flags, and gets a CRC that agrees", () => {
    const options = { producerId: 7, producerEpoch: 2, baseSequence: 40, partitionLeaderEpoch: 3 };
    const before = batch(10, "a=1 b=1 a=2 a=3", options);

    const [left] = cleanAll([before, batch(14, "a=4")], NOW_MS);

    const read = parseBatch(left?.bytes ?? new Uint8Array(0));
    expect(told(read as RecordBatch)).toBe("10-13: 11:b=1");
    expect(read?.isValid()).toBe(true);
    expect(read).toMatchObject({ ...options, lastSequence: 43, recordCount: 1 });
    expect(read?.maxTimestamp).toBe(11);
  });

  test.each([1, 2, 3, 4])("stays compressed, by codec %i", (compression) => {
    const [left] = cleanAll([batch(0, "a=1 b=1", { compression }), batch(2, "a=2")], NOW_MS);

    expect(left?.compression).toBe(compression);
    expect(told(left as RecordBatch)).toBe("0-1: 1:b=1");
  });

  test("keeps the time of its append, if that is what the topic tells", () => {
    const stamped = batch(0, "a=1 b=1").withOffsets(0, 0, 5_000);

    const [left] = cleanAll([stamped, batch(2, "a=2")], NOW_MS);

    expect(left).toMatchObject({ isLogAppendTime: true, maxTimestamp: 5_000 });
    expect(left?.records().map(({ timestamp }) => timestamp)).toEqual([5_000]);
  });

  test("stays as it is, to the byte, if it loses none", () => {
    const before = batch(0, "a=1 b=1");

    expect(cleanAll([before, batch(2, "c=1")], NOW_MS)[0]).toBe(before);
  });
});

describe("an empty batch", () => {
  test("stays of a producer's last batch, for its sequence", () => {
    const producers = new Map([[7, { lastDataOffset: 2, producerEpoch: 0 }]]);
    const sent = { producerId: 7, producerEpoch: 0 };
    const log = [
      batch(0, "a=1", { ...sent, baseSequence: 0 }),
      batch(1, "a=2 b=1", { ...sent, baseSequence: 1 }),
      batch(3, "a=3 b=2"),
    ];

    const { batches } = cleanBatches({ segments: [log], end: 5, producers }, 0, NOW_MS);

    expect(batches.map(told)).toEqual(["1-2:", "3-4: 3:a=3 4:b=2"]);
    expect(batches[0]).toMatchObject({ baseSequence: 1, lastSequence: 2, recordCount: 0 });
    expect(batches[0]).toMatchObject({ sizeInBytes: 61, baseTimestamp: -1, maxTimestamp: 2 });
    expect(batches[0]?.isValid()).toBe(true);
    // Cleaned again it is the same.
    const again = cleanBatches({ segments: [batches], end: 5, producers }, 0, NOW_MS);
    expect(again.batches.map(({ bytes }) => bytes)).toEqual(batches.map(({ bytes }) => bytes));
    // And it goes with the producer.
    const forgotten = cleanBatches({ segments: [batches], end: 5 }, 0, NOW_MS);
    expect(forgotten.batches.map(told)).toEqual(["3-4: 3:a=3 4:b=2"]);
  });

  test("stays of the last batch of a run, for the end of the log (KAFKA-17076)", () => {
    const log = [batch(0, "a=1"), batch(1, "a")];
    const once = cleanAll(log, NOW_MS);

    const late = cleanAll(once, NOW_MS + DAY_MS);

    expect(late.map(told)).toEqual(["1-1:"]);
  });
});

describe("of transactions", () => {
  const ABORTED: readonly AbortedTransaction[] = [
    { producerId: 7, firstOffset: 1, lastOffset: 2, lastStableOffset: 3 },
  ];

  test("aborted records go at once and hide nothing, their marker a delete horizon later", () => {
    const log = [
      batch(0, "a=1"),
      batch(1, "a=2", { ...transactional(7), baseSequence: 0 }),
      marker(2, 7, "ABORT"),
      batch(3, "z=1"),
    ];

    const first = cleanBatches({ segments: [log], end: 4, aborted: ABORTED }, 0, NOW_MS);
    const second = cleanAll(first.batches, NOW_MS + 5, first.aborted);
    const early = cleanAll(second, NOW_MS + 4 + DAY_MS);
    const late = cleanAll(second, NOW_MS + 5 + DAY_MS);

    expect(first.batches.map(told)).toEqual(["0-0: 0:a=1", "2-2: ABORT", "3-3: 3:z=1"]);
    expect(first.batches[1]?.hasDeleteHorizon).toBe(false);
    expect(first.aborted).toEqual(ABORTED);
    expect(second[1]).toMatchObject({ baseTimestamp: NOW_MS + 5 + DAY_MS, isControl: true });
    expect(early.map(told)).toEqual(["0-0: 0:a=1", "2-2: ABORT", "3-3: 3:z=1"]);
    expect(late.map(told)).toEqual(["0-0: 0:a=1", "3-3: 3:z=1"]);
  });

  test("a commit marker stays while a record of its transaction does", () => {
    const log = [batch(0, "a=1 b=1", transactional(7)), marker(2, 7, "COMMIT"), batch(3, "b=2")];

    const left = cleanAll(log, NOW_MS);
    const overwritten = cleanAll([...left, batch(4, "a=2")], NOW_MS);

    expect(left.map(told)).toEqual(["0-1: 0:a=1", "2-2: COMMIT", "3-3: 3:b=2"]);
    expect(left[1]?.hasDeleteHorizon).toBe(false);
    // This run still met a batch of it; the next one does not.
    expect(overwritten.map(told)).toEqual(["2-2: COMMIT", "3-3: 3:b=2", "4-4: 4:a=2"]);
    expect(overwritten[0]?.hasDeleteHorizon).toBe(false);
    expect(cleanAll(overwritten, NOW_MS)[0]?.hasDeleteHorizon).toBe(true);
  });

  test("a producer's last marker stays, empty, for its epoch", () => {
    const producers = new Map([[7, { lastDataOffset: undefined, producerEpoch: 1 }]]);
    const log = [marker(0, 7, "COMMIT", 1), batch(1, "a=1")];
    const once = cleanBatches({ segments: [log], end: 2, producers }, 0, NOW_MS);

    const late = cleanBatches({ segments: [once.batches], end: 2, producers }, 0, NOW_MS + DAY_MS);

    expect(once.batches.map(told)).toEqual(["0-0: COMMIT", "1-1: 1:a=1"]);
    expect(late.batches.map(told)).toEqual(["0-0:", "1-1: 1:a=1"]);
    expect(late.batches[0]).toMatchObject({ isControl: true, producerEpoch: 1 });
  });
});

test("whatever was written, cleaning keeps the last value of each key, and no key twice", () => {
  const write = fc.record({ key: fc.nat(6), isTombstone: fc.boolean(), endsBatch: fc.boolean() });
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 60 }), fc.nat(60), (writes, split) => {
      const batches: RecordBatch[] = [];
      const values = new Map<string, string | undefined>();
      let words: string[] = [];
      let base = 0;
      for (const [i, { key, isTombstone, endsBatch }] of writes.entries()) {
        values.set(`k${key}`, isTombstone ? undefined : `v${i}`);
        words.push(isTombstone ? `k${key}` : `k${key}=v${i}`);
        if (!endsBatch && i < writes.length - 1) continue;
        batches.push(batch(base, words.join(" ")));
        base += words.length;
        words = [];
      }
      const early = batches.filter(({ lastOffset }) => lastOffset < split);

      const once = [...cleanAll(early, NOW_MS), ...batches.slice(early.length)];
      const twice = cleanAll(once, NOW_MS + 2 * DAY_MS);
      const last = cleanAll(twice, NOW_MS + 4 * DAY_MS);

      const found = new Map<string, string>();
      for (const { key, value, offset } of last.flatMap((one) => one.records())) {
        const name = Buffer.from(key ?? []).toString();
        expect(found.has(name)).toBe(false);
        found.set(name, Buffer.from(value ?? []).toString());
        expect(writes[offset]?.key).toBe(Number(name.slice(1)));
      }
      for (const [key, value] of values) if (value === undefined) values.delete(key);
      expect(found).toEqual(values);
      expect(last.at(-1)?.nextOffset).toBe(base);
    }),
    { seed: 42, numRuns: 300 },
  );
});

/** `a=1 b` is a record of key a and value 1, and a tombstone of b. Timestamps are the offsets. */
function batch(baseOffset: number, words: string, options: BatchOptions = {}): RecordBatch {
  const records = words.split(" ").map((word, i) => {
    const [key = "", value] = word.split("=");
    return {
      timestamp: baseOffset + i,
      key: encodeUtf8(key),
      value: value === undefined ? undefined : encodeUtf8(value),
    };
  });
  return buildBatch(records, { baseOffset, partitionLeaderEpoch: 0, ...options });
}

function transactional(producerId: number): BatchOptions {
  return { producerId, producerEpoch: 0, baseSequence: 0, isTransactional: true };
}

function marker(
  baseOffset: number,
  producerId: number,
  type: "ABORT" | "COMMIT",
  producerEpoch = 0,
): RecordBatch {
  const record = { timestamp: 0, key: controlKey(type), value: encodeEndTransaction(0) };
  return buildBatch([record], {
    baseOffset,
    producerId,
    producerEpoch,
    isTransactional: true,
    isControl: true,
  });
}

/** What a run leaves of a log all of which is dirty. */
function cleanAll(
  batches: readonly RecordBatch[],
  nowMs: number,
  aborted: readonly AbortedTransaction[] = [],
): readonly RecordBatch[] {
  const end = batches.at(-1)?.nextOffset ?? 0;
  return cleanBatches({ segments: [batches], end, aborted }, 0, nowMs).batches;
}

function clean(batches: readonly RecordBatch[]): readonly string[] {
  return cleanAll(batches, NOW_MS).map(told);
}

/** `base-last: offset:key=value ...` */
function told(batch: RecordBatch): string {
  const { baseOffset, lastOffset } = batch;
  const words = batch.records().map(({ offset, key, value }) => {
    if (batch.isControl) return key?.[3] === 0 ? "ABORT" : "COMMIT";
    const text = `${offset}:${Buffer.from(key ?? []).toString()}`;
    return value === undefined ? text : `${text}=${Buffer.from(value).toString()}`;
  });
  return [`${baseOffset}-${lastOffset}:`, ...words].join(" ");
}
