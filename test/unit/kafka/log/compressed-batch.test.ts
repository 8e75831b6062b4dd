import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeUtf8 } from "../../../../src/base/utf8.ts";
import { Payload } from "../../../../src/kafka/client/payload.ts";
import { compress, GZIP, LZ4, SNAPPY, ZSTD } from "../../../../src/kafka/log/compression/codec.ts";
import type { NewRecord, RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import { buildBatch, parseBatch } from "../../../../src/kafka/log/record-batch.ts";
import { RecordCursor } from "../../../../src/kafka/log/record-cursor.ts";
import { batchWithBlock } from "../../../support/batch-with-block.ts";
import { sampleText } from "./compression/zstd-samples.ts";

const CODECS = [GZIP, SNAPPY, LZ4, ZSTD];

function parsed(bytes: Uint8Array): RecordBatch {
  const batch = parseBatch(bytes.slice());
  if (batch === undefined) throw new Error("no batch");
  return batch;
}

const bytes = fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined });
const records = fc.array(
  fc.record({
    timestamp: fc.integer({ min: 0, max: 2 ** 45 }),
    key: bytes,
    value: bytes,
    headers: fc.array(fc.record({ key: fc.string({ maxLength: 5 }), value: bytes }), {
      maxLength: 3,
    }),
  }),
  { minLength: 1, maxLength: 20 },
);

test.each(CODECS)("codec %i: what was written is what is read", (codec) => {
  const prop = fc.property(records, fc.nat(2 ** 31), (written, baseOffset) => {
    const plain = buildBatch(written, { baseOffset });
    const batch = parsed(buildBatch(written, { baseOffset, compression: codec }).bytes);

    expect(batch.isValid()).toBe(true);
    expect(batch.compression).toBe(codec);
    expect(batch.records()).toEqual(plain.records());
    // The header tells of the records, not of how they are stored.
    expect([batch.lastOffset, batch.maxTimestamp, batch.recordCount]).toEqual([
      plain.lastOffset,
      plain.maxTimestamp,
      plain.recordCount,
    ]);
  });
  fc.assert(prop, { seed: 42, numRuns: 100 });
});

test.each(CODECS)("codec %i: a cursor finds keys and values in its own buffer", (codec) => {
  const value = encodeUtf8("value ".repeat(20));
  const batch = parsed(
    buildBatch([{ timestamp: 1 }, { timestamp: 2, key: encodeUtf8("k"), value }], {
      compression: codec,
    }).bytes,
  );
  const cursor = new RecordCursor(batch);

  expect(cursor.next()).toBe(true);
  expect(cursor.valueStart).toBe(-1);
  expect(cursor.next()).toBe(true);
  expect(cursor.buffer.subarray(cursor.valueStart, cursor.valueEnd)).toEqual(value);
  expect(cursor.next()).toBe(false);
  expect(cursor.malformed).toBe(false);

  // The same cursor reads a plain batch afterwards.
  const plain = buildBatch([{ timestamp: 3, value }], { baseOffset: 9 });
  cursor.moveTo(plain);
  expect(cursor.next()).toBe(true);
  expect([cursor.offset, cursor.buffer]).toEqual([9, plain.buffer]);
});

test("a copy with other offsets or with an append time has the same records", () => {
  const written: NewRecord[] = [1, 2].map((n) => ({ timestamp: n, value: encodeUtf8(`v${n}`) }));
  const batch = buildBatch(written, { compression: LZ4 });

  const moved = parsed(batch.withOffsets(100, 7).bytes);
  const stamped = parsed(batch.withOffsets(100, 7, 5_000).bytes);

  expect(moved.crc).toBe(batch.crc);
  expect(moved.records().map(({ offset }) => offset)).toEqual([100, 101]);
  expect(stamped.isValid()).toBe(true);
  expect(stamped.records().map(({ timestamp }) => timestamp)).toEqual([5_000, 5_000]);
});

test("values that write themselves are compressed as those that are written already", () => {
  const ready = new Uint8Array(64);
  const unwritten = new Payload(3, 12345, 64);
  unwritten.writeTo(ready, 0);

  const one = buildBatch([{ timestamp: 1, value: unwritten }], { compression: GZIP });
  const other = buildBatch([{ timestamp: 1, value: ready }], { compression: GZIP });

  expect(one.bytes).toEqual(other.bytes);
});

test("gzip's level is heeded", () => {
  const value = sampleText(5_000);
  const [fast, best] = [1, 9].map((compressionLevel) => {
    return buildBatch([{ timestamp: 1, value }], { compression: GZIP, compressionLevel });
  });
  expect(best?.sizeInBytes).toBeLessThan(fast?.sizeInBytes ?? 0);
  expect(fast?.records()).toEqual(best?.records());
});

test("a block that cannot be decompressed is told as a value, whatever the CRC says", () => {
  const batch = batchWithBlock(GZIP, encodeUtf8("this was never compressed"));
  const cursor = new RecordCursor(batch);

  expect(batch.isValid()).toBe(true);
  expect(cursor.corruptBlock?.message).toBe("not gzip: it begins otherwise");
  expect(cursor.next()).toBe(false);
  expect(cursor.malformed).toBe(true);
  expect(batch.isReadable()).toBe(false);
});

test("a codec that Kafka does not have is told as a value", () => {
  const batch = batchWithBlock(5, new Uint8Array(10));
  expect(new RecordCursor(batch).corruptBlock?.message).toBe("there is no codec 5");
});

test("a block that decompresses to what are no records is malformed", () => {
  const batch = batchWithBlock(ZSTD, compress(ZSTD, encodeUtf8("no records")));
  expect(new RecordCursor(batch).corruptBlock).toBeUndefined();
  expect(batch.isReadable()).toBe(false);
});

test("a batch that cleaning has emptied has no block, and that is no fault", () => {
  const batch = batchWithBlock(LZ4, new Uint8Array(0), 0);
  expect(batch.isReadable()).toBe(true);
  expect(batch.records()).toEqual([]);
});

test("more batches than are remembered are all read again rightly", () => {
  const batches = Array.from({ length: 200 }, (_, n) =>
    buildBatch([{ timestamp: n, value: encodeUtf8(`value ${n}`) }], {
      baseOffset: n,
      compression: CODECS[n % 4] as number,
    }),
  );
  for (const round of [1, 2]) {
    const values = batches.map((batch) =>
      String.fromCharCode(...(batch.records()[0]?.value ?? [])),
    );
    expect(values, `round ${round}`).toEqual(batches.map((_, n) => `value ${n}`));
  }
});
