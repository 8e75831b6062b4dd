import { describe, expect, test } from "vitest";
import { encodeUtf8 } from "../../../../src/base/utf8.ts";
import { GZIP, LZ4, SNAPPY, ZSTD } from "../../../../src/kafka/log/compression/codec.ts";
import { assignOffsets } from "../../../../src/kafka/log/offset-assignment.ts";
import type { NewRecord, RecordBatch } from "../../../../src/kafka/log/record-batch.ts";
import { buildBatch, NO_TIMESTAMP, parseBatch } from "../../../../src/kafka/log/record-batch.ts";
import { sampleText } from "./compression/zstd-samples.ts";

const RECORDS: readonly NewRecord[] = [5, 3, 9].map((timestamp) => ({
  timestamp,
  key: encodeUtf8(`key ${timestamp}`),
  value: sampleText(400),
  headers: [{ key: "h", value: encodeUtf8("x") }],
}));
const STATE = { producerId: 7, producerEpoch: 2, baseSequence: 11, isTransactional: true };

function sent(compression: number): RecordBatch {
  return buildBatch(RECORDS, { ...STATE, compression });
}

function assigned(batch: RecordBatch, type: string, logAppendTime = NO_TIMESTAMP): RecordBatch {
  const rule = { "compression.type": type, "compression.gzip.level": -1 };
  const result = assignOffsets(batch, rule, 100, 4, logAppendTime);
  // As whoever reads the file sees it.
  const read = parseBatch(result.bytes.slice());
  if (read === undefined) throw new Error("no batch");
  return read;
}

describe("a topic that keeps what producers send", () => {
  test.each([0, GZIP, SNAPPY, LZ4, ZSTD])(
    "changes nothing but offset and epoch: codec %i",
    (codec) => {
      const batch = sent(codec);

      const appended = assigned(batch, "producer");

      expect([appended.baseOffset, appended.partitionLeaderEpoch]).toEqual([100, 4]);
      expect(appended.bytes.subarray(16)).toEqual(batch.bytes.subarray(16));
    },
  );

  test("numbers anew what an old client has compressed without numbers", () => {
    const unnumbered = buildBatch(
      RECORDS.map((record) => ({ ...record, offsetDelta: 0 })),
      { ...STATE, compression: LZ4, lastOffset: 2 },
    );

    const appended = assigned(unnumbered, "producer");

    expect(appended.records().map(({ offset }) => offset)).toEqual([100, 101, 102]);
    expect([appended.compression, appended.lastOffset]).toEqual([LZ4, 102]);
  });
});

describe.each([
  ["uncompressed", 0],
  ["gzip", GZIP],
  ["snappy", SNAPPY],
  ["lz4", LZ4],
  ["zstd", ZSTD],
] as const)("a topic with compression.type %s", (type, codec) => {
  test.each([0, GZIP, ZSTD])("has every batch so, whatever was sent: codec %i", (original) => {
    const batch = sent(original);

    const appended = assigned(batch, type);

    expect(appended.isValid()).toBe(true);
    expect(appended.compression).toBe(codec);
    expect(appended.records()).toEqual(
      batch.records().map((record) => ({ ...record, offset: record.offset + 100 })),
    );
    const { producerId, producerEpoch, baseSequence, isTransactional } = appended;
    expect({ producerId, producerEpoch, baseSequence, isTransactional }).toEqual(STATE);
    expect([appended.baseOffset, appended.lastOffset]).toEqual([100, 102]);
    expect([appended.partitionLeaderEpoch, appended.maxTimestamp]).toEqual([4, 9]);
  });

  test("stamps what it writes anew as well", () => {
    const appended = assigned(sent(SNAPPY), type, 5_000);

    expect(appended.isLogAppendTime).toBe(true);
    expect(appended.records().map(({ timestamp }) => timestamp)).toEqual([5_000, 5_000, 5_000]);
  });
});

test("the topic's level of gzip is heeded", () => {
  const [fast, best] = [1, 9].map((level) => {
    const rule = { "compression.type": "gzip", "compression.gzip.level": level };
    const batch = buildBatch([{ timestamp: 1, value: sampleText(20_000) }]);
    return assignOffsets(batch, rule, 0, 0, NO_TIMESTAMP).sizeInBytes;
  });
  expect(best).toBeLessThan(fast ?? 0);
});
