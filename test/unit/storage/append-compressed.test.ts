import { describe, expect, test } from "vitest";
import { ERRORS } from "../../../src/kafka/error-code.ts";
import { compress, GZIP, LZ4, ZSTD } from "../../../src/kafka/log/compression/codec.ts";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { buildBatch, parseBatch } from "../../../src/kafka/log/record-batch.ts";
import { batchWithBlock } from "../../support/batch-with-block.ts";
import { legacyMessage } from "../../support/legacy-messages.ts";
import { LogFixture } from "../../support/log-fixture.ts";

/** The error with which a leader refuses a batch. */
function refusal(fixture: LogFixture, batch: RecordBatch | undefined): string {
  const { error, appended } = fixture.log.appendAsLeader(batch === undefined ? [] : [batch], 0);
  expect(appended).toEqual([]);
  return error.name;
}

describe("a leader", () => {
  test("appends a compressed batch as it is, and after a restart it is read back", () => {
    const fixture = new LogFixture();
    const batch = fixture.batch(3, { compression: GZIP });

    fixture.log.appendAsLeader([batch], 5);
    fixture.open();

    const [read] = fixture.contents();
    expect(fixture.log.logEndOffset).toBe(3);
    expect(read?.compression).toBe(GZIP);
    expect(read?.crc).toBe(batch.crc);
    expect(read?.records().map(({ offset, value }) => [offset, value])).toEqual(
      batch.records().map(({ offset, value }) => [offset, value]),
    );
  });

  test("compresses anew what comes in another codec than the topic's", () => {
    const fixture = new LogFixture({ "compression.type": "lz4" });

    const appended = fixture.append(3, 5, { compression: ZSTD });

    expect([appended.compression, appended.partitionLeaderEpoch]).toEqual([LZ4, 5]);
    expect(fixture.contents()[0]?.bytes).toEqual(appended.bytes);
  });

  test("measures again what it compressed anew", () => {
    const nowMs = 1_000_000;
    const value = new Uint8Array(1_000);
    const rule = { "max.message.bytes": 500, "compression.type": "uncompressed" };
    const small = buildBatch([{ timestamp: nowMs, value }], { compression: GZIP });

    expect(small.sizeInBytes).toBeLessThan(500);
    expect(refusal(new LogFixture(rule), small)).toBe("MESSAGE_TOO_LARGE");
    expect(new LogFixture({ "max.message.bytes": 500 }).log.appendAsLeader([small], 0).error).toBe(
      ERRORS.NONE,
    );
  });

  test("judges the records within", () => {
    const late = buildBatch([{ timestamp: 1_000_000 + 3_600_001 }], { compression: GZIP });
    const keyless = buildBatch([{ timestamp: 1_000_000 }], { compression: LZ4 });
    const tooFew = batchWithBlock(GZIP, compress(GZIP, new Uint8Array([2, 0])), 5);
    const leftOver = batchWithBlock(LZ4, compress(LZ4, new Uint8Array([12, 0, 0, 0, 1, 1, 0, 99])));

    expect(refusal(new LogFixture(), late)).toBe("INVALID_TIMESTAMP");
    expect(refusal(new LogFixture({ "cleanup.policy": "compact" }), keyless)).toBe(
      "INVALID_RECORD",
    );
    expect(refusal(new LogFixture(), tooFew)).toBe("INVALID_RECORD");
    expect(refusal(new LogFixture(), leftOver)).toBe("INVALID_RECORD");
  });

  test("answers as Kafka does where a block cannot be decompressed: with an error of no meaning", () => {
    const noGzip = batchWithBlock(GZIP, new Uint8Array(40).fill(7));
    const noCodec = batchWithBlock(6, new Uint8Array(10));

    expect(refusal(new LogFixture(), noGzip)).toBe("UNKNOWN_SERVER_ERROR");
    expect(refusal(new LogFixture(), noCodec)).toBe("UNKNOWN_SERVER_ERROR");
  });

  test("looks at the CRC before it decompresses anything", () => {
    const bytes = batchWithBlock(GZIP, new Uint8Array(40).fill(7)).bytes.slice();
    bytes[70] = 8;
    expect(refusal(new LogFixture(), parseBatch(bytes))).toBe("CORRUPT_MESSAGE");
  });

  test.each([0, 1])("takes no message of magic %i", (magic) => {
    const message = parseBatch(legacyMessage({ magic, offset: 0, timestamp: 1_000_000 }));
    expect(refusal(new LogFixture(), message)).toBe("INVALID_RECORD");
  });
});

test("a follower appends what its leader has, without a look into it", () => {
  const fixture = new LogFixture();
  const unreadable = batchWithBlock(GZIP, new Uint8Array(40).fill(7)).withOffsets(0, 3);

  const { error, appended } = fixture.log.appendAsFollower([unreadable], 3);

  expect([error, appended]).toEqual([ERRORS.NONE, [unreadable]]);
});
