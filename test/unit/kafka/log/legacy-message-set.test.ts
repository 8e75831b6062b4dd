import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeUtf8 } from "../../../../src/base/utf8.ts";
import { GZIP, LZ4, SNAPPY, ZSTD } from "../../../../src/kafka/log/compression/codec.ts";
import type { RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import {
  buildBatch,
  parseBatch,
  parseBatches,
  parseBatchHeader,
} from "../../../../src/kafka/log/record-batch.ts";
import { RecordCursor } from "../../../../src/kafka/log/record-cursor.ts";
import type { LegacyMessage } from "../../../support/legacy-messages.ts";
import { legacyMessage, legacyWrapper } from "../../../support/legacy-messages.ts";

const KEY = encodeUtf8("key");
const VALUE = encodeUtf8("value");

function parsed(bytes: Uint8Array): RecordBatch {
  const batch = parseBatch(bytes);
  if (batch === undefined) throw new Error("no batch");
  return batch;
}

describe("a message of magic 0", () => {
  const batch = parsed(legacyMessage({ magic: 0, offset: 7, key: KEY, value: VALUE }));

  test("is a batch of one record without a timestamp", () => {
    expect(batch.magic).toBe(0);
    expect([batch.baseOffset, batch.lastOffset, batch.recordCount]).toEqual([7, 7, 1]);
    expect(batch.maxTimestamp).toBe(-1);
    expect(batch.records()).toEqual([
      { offset: 7, timestamp: -1, key: KEY, value: VALUE, headers: [] },
    ]);
  });

  test("has no producer, no leader epoch and no flags", () => {
    expect(batch.hasProducerId).toBe(false);
    expect([batch.producerEpoch, batch.baseSequence, batch.lastSequence]).toEqual([-1, -1, -1]);
    expect(batch.partitionLeaderEpoch).toBe(-1);
    expect([batch.isControl, batch.isTransactional, batch.hasDeleteHorizon]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

test("a message of magic 1 has a timestamp of its own, and a null key and value are none", () => {
  const batch = parsed(legacyMessage({ magic: 1, offset: 7, timestamp: 1_700 }));

  expect(batch.isLogAppendTime).toBe(false);
  expect(batch.records()).toEqual([
    { offset: 7, timestamp: 1_700, key: undefined, value: undefined, headers: [] },
  ]);
});

test.each([GZIP, SNAPPY, LZ4])("codec %i in magic 0 holds absolute offsets", (codec) => {
  // Compaction took 41.
  const inner = [40, 42].map((offset) => legacyMessage({ magic: 0, offset, value: VALUE }));

  const batch = parsed(legacyWrapper({ magic: 0, offset: 42 }, codec, inner));

  expect([batch.baseOffset, batch.lastOffset, batch.recordCount]).toEqual([40, 42, 2]);
  expect(batch.compression).toBe(codec);
  expect(batch.records().map(({ offset }) => offset)).toEqual([40, 42]);
});

describe.each([GZIP, SNAPPY, LZ4])("codec %i in magic 1", (codec) => {
  const inner = [0, 1, 3].map((offset) =>
    legacyMessage({ magic: 1, offset, timestamp: 100 + offset, key: KEY }),
  );

  test("holds offsets that count from the first; the wrapper has the last", () => {
    const batch = parsed(legacyWrapper({ magic: 1, offset: 43, timestamp: 103 }, codec, inner));

    expect([batch.baseOffset, batch.lastOffset, batch.recordCount]).toEqual([40, 43, 3]);
    expect(batch.maxTimestamp).toBe(103);
    expect(batch.records().map(({ offset, timestamp }) => [offset, timestamp])).toEqual([
      [40, 100],
      [41, 101],
      [43, 103],
    ]);
  });

  test("has the wrapper's time on all records if that is the time of append", () => {
    const wrapper = { magic: 1, offset: 43, timestamp: 999, attributes: 8 };
    const batch = parsed(legacyWrapper(wrapper, codec, inner));

    expect(batch.isLogAppendTime).toBe(true);
    expect(batch.records().map(({ timestamp }) => timestamp)).toEqual([999, 999, 999]);
  });

  test("from a producer that leaves the wrapper's offset 0 begins at 0", () => {
    const batch = parsed(legacyWrapper({ magic: 1, offset: 0, timestamp: 103 }, codec, inner));
    expect(batch.records().map(({ offset }) => offset)).toEqual([0, 1, 3]);
  });
});

test("sets of all formats stand one behind the other in a file, and each is found", () => {
  const inner = [0, 1].map((offset) => legacyMessage({ magic: 1, offset }));
  const file = Buffer.concat([
    legacyMessage({ magic: 0, offset: 5 }),
    legacyWrapper({ magic: 1, offset: 7 }, GZIP, inner),
    buildBatch([{ timestamp: 1, value: VALUE }], { baseOffset: 8 }).bytes,
  ]);

  const batches = parseBatches(new Uint8Array(file));

  const told = batches.map(({ magic, baseOffset, nextOffset }) => [magic, baseOffset, nextOffset]);
  expect(told).toEqual([
    [0, 5, 6],
    [1, 6, 8],
    [2, 8, 9],
  ]);
  for (const batch of batches) {
    expect(batch.isValid()).toBe(true);
    expect(parseBatchHeader(batch.bytes.subarray(0, 61))).toEqual({
      nextOffset: batch.nextOffset,
      sizeInBytes: batch.sizeInBytes,
    });
  }
});

test("the CRC-32 covers everything from the magic on", () => {
  const { bytes } = parsed(legacyMessage({ magic: 1, offset: 7, key: KEY, value: VALUE }));
  expect(parsed(bytes).crc).toBe(new DataView(bytes.slice().buffer).getUint32(12));
  for (let at = 17; at < bytes.length; at++) {
    const damaged = bytes.slice();
    damaged[at] = (damaged[at] as number) ^ 0x10;
    expect(parseBatch(damaged)?.isValid()).toBe(false);
  }
});

describe("a wrapper with a right CRC", () => {
  const inner = [legacyMessage({ magic: 1, offset: 0 }), legacyMessage({ magic: 1, offset: 9 })];
  const torn = legacyMessage({ magic: 1, offset: 0, value: VALUE });
  torn[30] = 1;
  const nested = legacyWrapper({ magic: 1, offset: 0 }, GZIP, inner);
  const cases: [name: string, bytes: Uint8Array, reason: string][] = [
    ["of no value", legacyMessage({ magic: 1, offset: 9, attributes: GZIP }), "without a value"],
    ["of a block that is none", wrapperOf(VALUE), "too short to be gzip"],
    ["of nothing", legacyWrapper({ magic: 1, offset: 9 }, GZIP, []), "none within"],
    ["within a wrapper", legacyWrapper({ magic: 1, offset: 9 }, LZ4, [nested]), "within another"],
    ["of a torn message", legacyWrapper({ magic: 1, offset: 9 }, GZIP, [torn]), "fails its CRC"],
    ["below its own last", legacyWrapper({ magic: 1, offset: 8 }, GZIP, inner), "below those"],
    ["of Zstandard", legacyWrapper({ magic: 1, offset: 9 }, ZSTD, inner), "old format"],
  ];

  function wrapperOf(value: Uint8Array): Uint8Array {
    return legacyMessage({ magic: 1, offset: 9, value, attributes: GZIP });
  }

  test.each(cases)("%s has no records, which its reader is told", (_, bytes, reason) => {
    const batch = parsed(bytes);
    const cursor = new RecordCursor(batch);

    expect(batch.isValid()).toBe(true);
    expect(cursor.next()).toBe(false);
    expect(cursor.malformed).toBe(true);
    expect(cursor.corruptBlock?.message).toContain(reason);
    expect(batch.isReadable()).toBe(false);
    expect([batch.baseOffset, batch.lastOffset]).toEqual([batch.lastOffset, batch.lastOffset]);
  });
});

test("a message cut short within another ends the set, as if it were not there", () => {
  const last = legacyMessage({ magic: 1, offset: 1, value: VALUE });
  const inner = [legacyMessage({ magic: 1, offset: 0 }), last.subarray(0, last.length - 1)];

  const batch = parsed(legacyWrapper({ magic: 1, offset: 6 }, GZIP, inner));

  expect(batch.records().map(({ offset }) => offset)).toEqual([6]);
});

test("a set is never written again", () => {
  const batch = parsed(legacyMessage({ magic: 1, offset: 7 }));
  expect(() => batch.withOffsets(8, 1)).toThrow("not written any more");
});

test("what was written is what is read, and damage is noticed or changes nothing", () => {
  const bytes = fc.option(fc.uint8Array({ maxLength: 60 }), { nil: undefined });
  const record = fc.record({ timestamp: fc.nat(2 ** 31 - 1), key: bytes, value: bytes });
  const set = fc.record({
    magic: fc.constantFrom(0, 1),
    codec: fc.constantFrom(GZIP, SNAPPY, LZ4),
    base: fc.nat(2 ** 31 - 1),
    records: fc.array(record, { minLength: 1, maxLength: 8 }),
    damage: fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })),
  });
  const prop = fc.property(set, ({ magic, codec, base, records, damage: [at, flips] }) => {
    const inner = records.map((one, i): LegacyMessage => {
      return { magic, offset: magic === 0 ? base + i : i, ...one };
    });
    const lastOffset = base + records.length - 1;
    const written = legacyWrapper({ magic, offset: lastOffset }, codec, inner.map(legacyMessage));
    // An offset of 0 has a meaning of its own.
    fc.pre(magic === 0 || lastOffset > 0);

    expect(parsed(written).records()).toEqual(
      records.map(({ timestamp, key, value }, i) => ({
        offset: base + i,
        timestamp: magic === 0 ? -1 : timestamp,
        key,
        value,
        headers: [],
      })),
    );

    const damaged = written.slice();
    damaged[at % written.length] = (damaged[at % written.length] as number) ^ flips;
    const batch = parseBatch(damaged);
    if (batch === undefined || batch.magic === 2) return;
    batch.isReadable();
    if (at % written.length > 16) expect(batch.isValid()).toBe(false);
  });
  fc.assert(prop, { seed: 42, numRuns: 500 });
});
