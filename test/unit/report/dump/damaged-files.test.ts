import { describe, expect, test } from "vitest";
import { writeInt32, writeInt64 } from "../../../../src/base/big-endian.ts";
import { crc32c } from "../../../../src/base/crc32c.ts";
import { encodeUtf8 } from "../../../../src/base/utf8.ts";
import { encodeSnapshot } from "../../../../src/kafka/log/producer-snapshot.ts";
import { ProducerState } from "../../../../src/kafka/log/producer-state.ts";
import { buildBatch } from "../../../../src/kafka/log/record-batch.ts";
import { encodeTransactionIndex } from "../../../../src/kafka/log/transaction-index-format.ts";
import { sourceOf } from "../../../../src/report/dump/byte-source.ts";
import type { DumpOptions } from "../../../../src/report/dump/dump-options.ts";
import { PLAIN_DUMP } from "../../../../src/report/dump/dump-options.ts";
import { dumpLines } from "../../../../src/report/dump/dump-text.ts";

const LOG = "00000000000000000000.log";
const INDEX = "00000000000000000000.index";
const TIME_INDEX = "00000000000000000000.timeindex";

const DEEP: DumpOptions = { ...PLAIN_DUMP, deepIteration: true };

/** What is printed of a file: the last line, and how many of each kind before. */
function dumped(
  name: string,
  bytes: Uint8Array,
  options: DumpOptions = PLAIN_DUMP,
  log?: Uint8Array,
): {
  readonly last: string;
  readonly batches: number;
  readonly records: number;
  readonly lines: readonly string[];
} {
  const target = {
    path: name,
    name,
    source: sourceOf(bytes),
    beside: (other: string) => (other === LOG && log !== undefined ? sourceOf(log) : undefined),
  };
  const lines = [...dumpLines(target, options)];
  return {
    last: lines.at(-1) ?? "",
    batches: lines.filter((line) => line.startsWith("baseOffset:")).length,
    records: lines.filter((line) => line.startsWith("| ")).length,
    lines,
  };
}

/** Three batches of two records, 87 bytes each. */
function log(): Uint8Array {
  const batches = [0, 2, 4].map((baseOffset) => {
    const records = [0, 1].map((i) => ({
      timestamp: 1000 + baseOffset + i,
      value: encodeUtf8("value"),
    }));
    return buildBatch(records, {
      partitionLeaderEpoch: 0,
      producerId: 9,
      producerEpoch: 0,
      baseSequence: baseOffset,
      baseOffset,
    });
  });
  return joined(...batches.map(({ bytes }) => bytes));
}

const BATCH = log().length / 3;

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function changed(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = bytes.slice();
  copy[at] = value;
  return copy;
}

function withInt32(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = bytes.slice();
  writeInt32(copy, at, value);
  return copy;
}

/** The first batch, changed, with the CRC that fits. */
function mended(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  writeInt32(copy, 17, crc32c(copy, 21, BATCH));
  return copy;
}

describe("of a log that is damaged, what is sound is shown, then the byte and the reason:", () => {
  test("a sound one has nothing of the kind", () => {
    const { batches, records, last } = dumped(LOG, log(), DEEP);

    expect([batches, records]).toEqual([3, 6]);
    expect(last).toMatch(/^\| offset: 5 /);
  });

  test("cut short within a batch", () => {
    const { batches, last } = dumped(LOG, log().slice(0, 2 * BATCH + 70));

    expect(batches).toBe(2);
    expect(last).toBe(
      `damaged: ${LOG}, byte ${2 * BATCH}: a batch of ${BATCH} bytes, and the file ends after 70`,
    );
  });

  test("cut short within the first bytes of a batch", () => {
    const { batches, last } = dumped(LOG, log().slice(0, BATCH + 5));

    expect(batches).toBe(1);
    expect(last).toBe(`damaged: ${LOG}, byte ${BATCH}: 5 bytes of a batch, and the file ends`);
  });

  test("a length past the end", () => {
    const { batches, last } = dumped(LOG, withInt32(log(), BATCH + 8, 0x7fff_ffff));

    expect(batches).toBe(1);
    expect(last).toBe(
      `damaged: ${LOG}, byte ${BATCH}: a batch of 2147483659 bytes, and the file ends after ${2 * BATCH}`,
    );
  });

  test.each([0, 48, -1])("a length of %d, which no batch has", (length) => {
    const { batches, last } = dumped(LOG, withInt32(log(), BATCH + 8, length));

    expect(batches).toBe(1);
    expect(last).toBe(`damaged: ${LOG}, byte ${BATCH + 8}: a batch length of ${length}`);
  });

  test("a magic that Kafka reads as 2, with what follows", () => {
    const { batches, lines, last } = dumped(LOG, changed(log(), BATCH + 16, 6));

    expect(batches).toBe(3);
    expect(lines[3]).toContain(" magic: 6 ");
    expect(last).toBe(`damaged: ${LOG}, byte ${BATCH + 16}: magic 6, and Kafka knows 0, 1 and 2`);
  });

  test("a magic below 0, where it ends", () => {
    const { batches, last } = dumped(LOG, changed(log(), BATCH + 16, 255));

    expect(batches).toBe(1);
    expect(last).toBe(`damaged: ${LOG}, byte ${BATCH + 16}: magic -1, and Kafka knows 0, 1 and 2`);
  });

  test("a wrong CRC: its records are not shown, those behind are", () => {
    const { batches, records, lines, last } = dumped(LOG, changed(log(), BATCH + 80, 0x55), DEEP);

    expect([batches, records]).toEqual([3, 4]);
    expect(lines.filter((line) => line.endsWith("isvalid: false"))).toHaveLength(1);
    expect(last).toMatch(
      new RegExp(
        `^damaged: ${LOG}, byte ${BATCH + 17}: a CRC-32C of [0-9]+, and the bytes give [0-9]+$`,
      ),
    );
  });

  test("more than one place: the first, and how many more", () => {
    const { last } = dumped(LOG, changed(changed(log(), 80, 0x55), 2 * BATCH + 80, 0x55));

    expect(last).toMatch(/, byte 17: a CRC-32C of .*; and 1 more$/);
  });

  test("records that do not fit their batch, though the CRC is right", () => {
    const { records, last } = dumped(LOG, mended(withInt32(log(), 57, 3)), DEEP);

    expect(records).toBe(6);
    expect(last).toBe(`damaged: ${LOG}, byte 61: 3 records, and after 2 comes what is none`);
  });

  test("a codec that does not exist, though the CRC is right", () => {
    const { lines, last } = dumped(LOG, mended(changed(log(), 22, 7)), DEEP);

    expect(lines[2]).toContain(" compresscodec: 7 ");
    expect(last).toMatch(/, byte 61: records that cannot be decompressed: /);
  });

  test("offsets that do not ascend", () => {
    const bytes = log().slice();
    writeInt64(bytes, BATCH, 1);

    expect(dumped(LOG, bytes).last).toBe(
      `damaged: ${LOG}, byte ${BATCH}: base offset 1, and 2 is the least`,
    );
  });

  test("offsets below that in the file's name", () => {
    expect(dumped("00000000000000000001.log", log()).last).toContain(
      ", byte 0: base offset 0, and 1 is the least",
    );
  });

  test("what is no log at all", () => {
    const picture = Uint8Array.of(
      0x89,
      0x50,
      0x4e,
      0x47,
      13,
      10,
      26,
      10,
      0,
      0,
      0,
      13,
      73,
      72,
      68,
      82,
      0,
      0,
    );

    expect(dumped(LOG, picture).last).toBe(`damaged: ${LOG}, byte 8: a batch length of 13`);
    expect(dumped(LOG, encodeUtf8("Dear diary, today I was taken for a log.")).last).toMatch(
      /, byte 0: a batch of [0-9]+ bytes, and the file ends after 40$/,
    );
  });

  test("an empty one is sound", () => {
    expect(dumped(LOG, new Uint8Array(0)).last).toBe("Log starting offset: 0");
  });
});

describe("of an index that is damaged, entries are shown, then the byte and the reason:", () => {
  const entries = (
    ...values: readonly (readonly [offset: number, position: number])[]
  ): Uint8Array => {
    const bytes = new Uint8Array(values.length * 8);
    for (const [i, [offset, position]] of values.entries()) {
      writeInt32(bytes, i * 8, offset);
      writeInt32(bytes, i * 8 + 4, position);
    }
    return bytes;
  };
  const timeEntries = (
    ...values: readonly (readonly [timestamp: number, offset: number])[]
  ): Uint8Array => {
    const bytes = new Uint8Array(values.length * 12);
    for (const [i, [timestamp, offset]] of values.entries()) {
      writeInt64(bytes, i * 12, timestamp);
      writeInt32(bytes, i * 12 + 8, offset);
    }
    return bytes;
  };
  const sound = entries([3, BATCH], [5, 2 * BATCH]);

  test("a sound one has nothing of the kind, whether entries or zeros follow", () => {
    const zeros = joined(sound, new Uint8Array(80));

    expect(dumped(INDEX, zeros, PLAIN_DUMP, log()).lines).toEqual([
      `Dumping ${INDEX}`,
      `offset: 3 position: ${BATCH}`,
      `offset: 5 position: ${2 * BATCH}`,
    ]);
    expect(dumped(INDEX, new Uint8Array(80)).last).toBe(`${INDEX} is empty.`);
  });

  test.each([
    ["half an entry", sound.slice(0, 13), 8, "5 of the 8 bytes of an entry, and the file ends"],
    ["offsets that do not ascend", entries([5, 10], [5, 20]), 8, "offset 5 after 5"],
    ["positions that do not ascend", entries([3, 20], [5, 10]), 12, "position 10 after 20"],
    [
      "an entry behind zeros",
      entries([3, 20], [0, 0], [5, 30]),
      16,
      "an entry behind zeros, where entries end",
    ],
  ])("%s", (_what, bytes, byte, reason) => {
    expect(dumped(INDEX, bytes).last).toBe(`damaged: ${INDEX}, byte ${byte}: ${reason}`);
  });

  test.each([
    [
      "a position where no batch begins",
      entries([3, BATCH + 1]),
      `position ${BATCH + 1}, and in the log no batch begins there`,
    ],
    [
      "a position past the end",
      entries([3, 9999]),
      "position 9999, and in the log no batch begins there",
    ],
    [
      "an offset that is not the batch's",
      entries([2, BATCH]),
      `offset 2, and the batch at position ${BATCH} ends with 3`,
    ],
  ])("%s", (_what, bytes, reason) => {
    expect(dumped(INDEX, bytes, PLAIN_DUMP, log()).last).toBe(
      `damaged: ${INDEX}, byte 0: ${reason}`,
    );
  });

  test.each([
    [
      "an offset that is no batch's last",
      timeEntries([1003, 2]),
      0,
      "offset 2, and in the log no batch ends with it",
    ],
    [
      "a timestamp that is not the batch's",
      timeEntries([1003, 3], [1007, 5]),
      12,
      "timestamp 1007, and the batch that ends with 5 has 1005",
    ],
    [
      "timestamps that do not ascend",
      timeEntries([1003, 3], [1003, 5]),
      12,
      "timestamp 1003 after 1003; and 1 more",
    ],
    [
      "half an entry",
      timeEntries([1003, 3]).slice(0, 11),
      0,
      "11 of the 12 bytes of an entry, and the file ends",
    ],
  ])("by time: %s", (_what, bytes, byte, reason) => {
    expect(dumped(TIME_INDEX, bytes, PLAIN_DUMP, log()).last).toBe(
      `damaged: ${TIME_INDEX}, byte ${byte}: ${reason}`,
    );
  });

  test("the sanity check shows no entries, and passes or does not", () => {
    const check = { ...PLAIN_DUMP, indexSanityCheck: true };

    expect(dumped(INDEX, sound, check).lines).toEqual([
      `Dumping ${INDEX}`,
      `${INDEX} passed sanity check.`,
    ]);
    expect(dumped(INDEX, sound.slice(0, 9), check).lines).toHaveLength(2);
    expect(dumped(INDEX, sound.slice(0, 9), check).last).toMatch(/^damaged: /);
  });
});

describe("of the other files that are damaged:", () => {
  const state = new ProducerState();
  state.add(buildBatch([{ timestamp: 7 }], { producerId: 9, producerEpoch: 1, baseSequence: 0 }));
  const snapshot = encodeSnapshot(state);
  const transactions = encodeTransactionIndex([
    { producerId: 1, firstOffset: 0, lastOffset: 4, lastStableOffset: 5 },
    { producerId: 2, firstOffset: 5, lastOffset: 8, lastStableOffset: 9 },
  ]);

  test.each([
    [
      "5.snapshot",
      snapshot.slice(0, 8),
      8,
      /^the file ends, and the header of a snapshot has 10 bytes$/,
    ],
    [
      "5.snapshot",
      snapshot.slice(0, 50),
      50,
      /^the file ends, and with 1 producer it has 56 bytes$/,
    ],
    ["5.snapshot", changed(snapshot, 30, 1), 2, /^a CRC-32C of [0-9]+, and the bytes give [0-9]+$/],
    ["5.snapshot", changed(snapshot, 1, 9), 0, /^version 9, and Kafka knows 1$/],
    [
      "0.txnindex",
      transactions.slice(0, 40),
      34,
      /^6 of the 34 bytes of an entry, and the file ends$/,
    ],
    ["0.txnindex", changed(transactions, 35, 1), 34, /^version 1, and Kafka knows 0$/],
    ["0.txnindex", changed(transactions, 59, 4), 52, /^last offset 4 after 4$/],
    ["9.txnindex", transactions, 18, /^last offset 4, and the segment begins at 9; and 1 more$/],
  ])("%s, case %#", (name, bytes, byte, reason) => {
    const [, path, at, why = ""] =
      /^damaged: (.*), byte ([0-9]+): (.*)$/.exec(dumped(name, bytes).last) ?? [];

    expect([path, Number(at)]).toEqual([name, byte]);
    expect(why).toMatch(reason);
  });

  const meta = "node.id=1\ndirectory.id=x\nversion=1\ncluster.id=c\n";
  test.each([
    ["leader-epoch-checkpoint", "1\n0\n", 0, "no version 0, which is the only one"],
    ["leader-epoch-checkpoint", "0\n", 2, "no number of entries"],
    ["leader-epoch-checkpoint", "0\n2\n0 0\n1 x\n", 8, "a line that is no entry"],
    ["leader-epoch-checkpoint", "0\n2\n0 0\n", 2, "2 entries, and 1 follow"],
    ["replication-offset-checkpoint", "0\n1\norders 0 12", 15, "the file ends within a line"],
    ["cleaner-offset-checkpoint", "0\n1\norders 12\n", 4, "a line that is no entry"],
    ["partition.metadata", "version: 1\n", 0, "no `version: 0`"],
    ["partition.metadata", "version: 0\ntopic_id: short", 11, "no `topic_id` of 22 characters"],
    ["partition.metadata", "version: 0\n", 11, "no `topic_id` of 22 characters"],
    ["meta.properties", `${meta}gibberish\n`, 48, "a line that is no property"],
    ["meta.properties", "version=1\nnode.id=1\n", 20, "no cluster.id"],
    [".kafka_cleanshutdown", '{"version":0,"brokerEpo', 0, "no object of JSON"],
    ["quorum-state", "[]", 0, "no object of JSON"],
  ])("%s that says %j", (name, text, byte, reason) => {
    expect(dumped(name, encodeUtf8(text)).last).toBe(`damaged: ${name}, byte ${byte}: ${reason}`);
  });

  test("those that are sound are shown field by field", () => {
    const shown = (name: string, text: string): readonly string[] =>
      dumped(name, encodeUtf8(text)).lines.slice(1);

    expect(shown("leader-epoch-checkpoint", "0\n1\n3 70\n")).toEqual(["epoch: 3 startOffset: 70"]);
    expect(shown("recovery-point-offset-checkpoint", "0\n1\norders 2 70\n")).toEqual([
      "topic: orders partition: 2 offset: 70",
    ]);
    expect(shown("meta.properties", `#comment\n${meta}`)).toContain("node.id: 1");
    expect(shown(".kafka_cleanshutdown", '{"version":0,"brokerEpoch":7}')).toEqual([
      "version: 0 brokerEpoch: 7",
    ]);
  });
});

test("a file that shrinks while it is read is one that is cut short", () => {
  const bytes = log();
  let size = bytes.length;
  const source = {
    size,
    read: (position: number, length: number) => {
      size = 2 * BATCH + 30;
      return bytes.subarray(position, Math.min(position + length, size));
    },
  };
  const lines = [
    ...dumpLines({ path: LOG, name: LOG, source, beside: () => undefined }, PLAIN_DUMP),
  ];

  expect(lines.at(-1)).toBe(
    `damaged: ${LOG}, byte ${2 * BATCH}: a batch of ${BATCH} bytes, and the file ends after 30`,
  );
});

test("a length that claims gigabytes of a file that has them is not believed", () => {
  const bytes = withInt32(log(), 8, 0x7000_0000);
  const asked: number[] = [];
  const source = {
    size: 8 * 1024 ** 3,
    read: (position: number, length: number) => {
      asked.push(length);
      return bytes.subarray(position, position + length);
    },
  };
  const lines = [
    ...dumpLines({ path: LOG, name: LOG, source, beside: () => undefined }, PLAIN_DUMP),
  ];

  expect(lines.at(-1)).toBe(
    `damaged: ${LOG}, byte 8: a batch of 1879048204 bytes is too large to be one`,
  );
  expect(Math.max(...asked)).toBeLessThan(100);
});
