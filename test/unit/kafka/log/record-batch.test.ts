import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeUtf8 } from "../../../../src/base/utf8.ts";
import { encodePayload, PAYLOAD_MIN_BYTES, Payload } from "../../../../src/kafka/client/payload.ts";
import type { BatchOptions, NewRecord } from "../../../../src/kafka/log/record-batch.ts";
import {
  buildBatch,
  incrementSequence,
  parseBatch,
  parseBatches,
  parseBatchHeader,
} from "../../../../src/kafka/log/record-batch.ts";
import { RecordCursor } from "../../../../src/kafka/log/record-cursor.ts";

test("a batch is, byte for byte, what Kafka's documents say of magic 2", () => {
  const batch = buildBatch(
    [
      {
        timestamp: 1_000_000_000_000,
        key: encodeUtf8("k"),
        value: encodeUtf8("v1"),
        headers: [
          { key: "h", value: encodeUtf8("x") },
          { key: "n", value: undefined },
        ],
      },
      { timestamp: 1_000_000_000_070, value: encodeUtf8("") },
    ],
    {
      baseOffset: 258,
      partitionLeaderEpoch: 5,
      producerId: 4_294_967_298,
      producerEpoch: 3,
      baseSequence: 7,
      isTransactional: true,
    },
  );

  // Worked out by hand from the description of the format; the CRC bit by bit.
  const beforeCrc = [
    "0000000000000102", // base offset 258
    "0000004a", // length: 61 + 17 + 8 bytes in all, less 12
    "00000005", // partition leader epoch
    "02", // magic
  ].join("");
  const afterCrc = [
    "0010", // attributes: transactional
    "00000001", // last offset delta
    "000000e8d4a51000", // base timestamp
    "000000e8d4a51046", // max timestamp
    "0000000100000002", // producer id
    "0003", // producer epoch
    "00000007", // base sequence
    "00000002", // records
    // Record 0: 16 bytes; attributes, delta 0, delta 0, key of 1, value of 2, 2 headers.
    "20",
    "00",
    "00",
    "00",
    "02",
    "6b",
    "04",
    "7631",
    "04",
    "02",
    "68",
    "02",
    "78", // h = x
    "02",
    "6e",
    "01", // n = null
    // Record 1: 7 bytes; timestamp delta 70 takes two bytes; no key, empty value, no headers.
    "0e",
    "00",
    "8c01",
    "02",
    "01",
    "00",
    "00",
  ].join("");
  const crc = bitwiseCrc(fromHex(afterCrc)).toString(16).padStart(8, "0");

  expect(toHex(batch.bytes)).toBe(beforeCrc + crc + afterCrc);
});

test("fields that are absent are -1, in all their bytes", () => {
  const { bytes } = buildBatch([{ timestamp: -1 }]);

  expect(toHex(bytes.subarray(0, 8))).toBe("0000000000000000");
  expect(toHex(bytes.subarray(12, 16))).toBe("ffffffff");
  expect(toHex(bytes.subarray(27, 57))).toBe("f".repeat(60));
});

test("attributes carry timestamp type, transaction, control and delete horizon", () => {
  const records = [{ timestamp: 50, value: encodeUtf8("a") }];
  const attributesOf = (options: BatchOptions): number => buildBatch(records, options).attributes;

  expect(attributesOf({})).toBe(0);
  expect(attributesOf({ logAppendTime: 90 })).toBe(0x08);
  expect(attributesOf({ isTransactional: true })).toBe(0x10);
  expect(attributesOf({ isControl: true })).toBe(0x20);
  expect(attributesOf({ deleteHorizon: 70 })).toBe(0x40);
});

test("under LogAppendTime every record has the batch's max timestamp", () => {
  const batch = buildBatch([{ timestamp: 10 }, { timestamp: 20 }]);

  const stamped = batch.withOffsets(100, 4, 7_000_000_000_000);

  expect(stamped.isLogAppendTime).toBe(true);
  expect(stamped.isValid()).toBe(true);
  expect(parseBatch(stamped.bytes)?.isValid()).toBe(true);
  expect(stamped.records().map(({ timestamp }) => timestamp)).toEqual([
    7_000_000_000_000, 7_000_000_000_000,
  ]);
});

test("a delete horizon takes the place of the base timestamp, and timestamps stay what they were", () => {
  const batch = buildBatch([{ timestamp: 10 }, { timestamp: 20 }], { deleteHorizon: 500 });

  expect(batch.hasDeleteHorizon).toBe(true);
  expect(batch.baseTimestamp).toBe(500);
  expect(batch.records().map(({ timestamp }) => timestamp)).toEqual([10, 20]);
});

test("offsets and leader epoch are patched outside the CRC, on a copy", () => {
  const sent = buildBatch([{ timestamp: 1 }, { timestamp: 2 }], { producerId: 9, baseSequence: 0 });
  const before = sent.bytes.slice();

  const stored = sent.withOffsets(5_000_000_000, 12);

  expect(stored.baseOffset).toBe(5_000_000_000);
  expect(stored.lastOffset).toBe(5_000_000_001);
  expect(stored.partitionLeaderEpoch).toBe(12);
  expect(stored.crc).toBe(sent.crc);
  expect(parseBatch(stored.bytes)?.isValid()).toBe(true);
  expect(sent.bytes).toEqual(before);
});

test("what was written is what is read", { timeout: 60_000 }, () => {
  const bytes = fc.option(fc.uint8Array({ maxLength: 80 }), { nil: undefined });
  const record = fc.record({
    timestamp: fc.integer({ min: -1, max: 2 ** 45 }),
    key: bytes,
    value: bytes,
    headers: fc.array(
      fc.record({ key: fc.string({ unit: "grapheme", maxLength: 5 }), value: bytes }),
      {
        maxLength: 3,
      },
    ),
  });
  const options = fc.record({
    baseOffset: fc.integer({ min: 0, max: 2 ** 50 }),
    partitionLeaderEpoch: fc.integer({ min: -1, max: 2 ** 31 - 1 }),
    producerId: fc.integer({ min: -1, max: 2 ** 50 }),
    producerEpoch: fc.integer({ min: -1, max: 32767 }),
    baseSequence: fc.integer({ min: -1, max: 2 ** 31 - 1 }),
    isTransactional: fc.boolean(),
    isControl: fc.boolean(),
  });
  const check = (
    records: NewRecord[],
    written: Required<
      Omit<
        BatchOptions,
        "logAppendTime" | "deleteHorizon" | "lastOffset" | "compression" | "compressionLevel"
      >
    >,
  ): void => {
    const built = buildBatch(records, written);
    const batch = parseBatch(built.bytes.slice());

    expect(batch).toBeDefined();
    if (batch === undefined) return;
    expect(batch.isValid()).toBe(true);
    for (const [name, value] of Object.entries(written)) {
      expect(batch[name as keyof typeof written]).toBe(value);
    }
    expect(batch.recordCount).toBe(records.length);
    expect(batch.maxTimestamp).toBe(Math.max(...records.map(({ timestamp }) => timestamp)));
    expect(batch.records()).toEqual(
      records.map((one, i) => ({ ...one, offset: written.baseOffset + i })),
    );
    expect(parseBatchHeader(built.bytes)).toEqual({
      nextOffset: batch.nextOffset,
      sizeInBytes: batch.sizeInBytes,
    });
  };
  fc.assert(fc.property(fc.array(record, { minLength: 1, maxLength: 20 }), options, check), {
    seed: 42,
    numRuns: 300,
  });
});

test("batches that follow each other are taken apart again, up to the one that is cut short", () => {
  const batches = [1, 2, 3].map((n) =>
    buildBatch([{ timestamp: n, value: new Uint8Array(n * 10) }], { baseOffset: n }),
  );
  const whole = concat(batches.map(({ bytes }) => bytes));

  expect(parseBatches(whole).map(({ baseOffset }) => baseOffset)).toEqual([1, 2, 3]);
  expect(parseBatches(whole.slice(0, -1)).map(({ baseOffset }) => baseOffset)).toEqual([1, 2]);
  expect(parseBatches(new Uint8Array(200))).toEqual([]);
});

test("a flipped bit anywhere behind the CRC makes the batch invalid", () => {
  const { bytes } = buildBatch([
    { timestamp: 1, key: encodeUtf8("key"), value: encodeUtf8("value") },
  ]);

  for (let at = 21; at < bytes.length; at++) {
    const damaged = bytes.slice();
    damaged[at] = (damaged[at] as number) ^ 0x10;
    expect(parseBatch(damaged)?.isValid()).toBe(false);
  }
});

test("a cursor survives any bytes, and says that they are no records", () => {
  const check = (noise: Uint8Array): void => {
    const batch = buildBatch([{ timestamp: 1, value: new Uint8Array(100) }]);
    const damaged = batch.bytes.slice();
    damaged.set(noise, 61);
    const parsed = parseBatch(damaged);
    expect(parsed).toBeDefined();
    if (parsed === undefined) return;
    const cursor = new RecordCursor(parsed);
    let count = 0;
    while (cursor.next()) count++;
    expect(cursor.malformed || count === 1).toBe(true);
  };
  fc.assert(fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), check), {
    seed: 42,
    numRuns: 1000,
  });
});

test("sequences wrap from 2^31-1 to 0", () => {
  expect(incrementSequence(2 ** 31 - 1, 1)).toBe(0);
  expect(incrementSequence(2 ** 31 - 3, 5)).toBe(2);
  const batch = buildBatch([{ timestamp: 1 }, { timestamp: 1 }], { baseSequence: 2 ** 31 - 1 });
  expect(batch.lastSequence).toBe(0);
});

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function bitwiseCrc(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

test("a value that writes itself makes the same bytes as one that is written already", () => {
  const key = encodeUtf8("k");
  const sizes = fc.array(fc.integer({ min: PAYLOAD_MIN_BYTES, max: 300 }), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(sizes, fc.nat(), fc.maxSafeNat(), (lengths, client, value) => {
      const written = lengths.map((size) => ({
        timestamp: 5,
        key,
        value: encodePayload(client, value, size),
      }));
      const unwritten = lengths.map((size) => ({
        timestamp: 5,
        key,
        value: new Payload(client, value, size),
      }));

      expect(buildBatch(unwritten).bytes).toEqual(buildBatch(written).bytes);
    }),
    { seed: 42, numRuns: 200 },
  );
});
