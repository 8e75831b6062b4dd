import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CODECS } from "../../src/kafka/log/compression/codec.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { DEFAULT_LOG_CONFIG } from "../../src/storage/log-config.ts";
import { PartitionLog } from "../../src/storage/partition-log.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import { HandClock } from "../support/log-fixture.ts";
import { ScriptedDisk } from "../support/scripted-disk.ts";
import type { ToldRecord } from "./real-kafka.ts";
import { batchesIn, toldContent } from "./real-kafka.ts";

const FIXTURE = "test/conformance/fixture/old-magic";

/** What Kafka's own classes read in one message set. */
interface ToldSet {
  readonly position: number;
  readonly size: number;
  readonly magic: number;
  readonly baseOffset: number;
  readonly lastOffset: number;
  readonly crc: number;
  readonly valid: boolean;
  readonly compression: string;
  readonly timestampType: string;
  readonly maxTimestamp: number;
  readonly records: readonly ToldRecord[];
}

const told: Readonly<Record<string, readonly ToldSet[]>> = JSON.parse(
  readFileSync(`${FIXTURE}/expected.json`, "utf8"),
);
const files = Object.entries(told);

describe.each(files)("%s", (name, sets) => {
  const bytes = new Uint8Array(readFileSync(`${FIXTURE}/${name}`));

  test("is read as Kafka reads it, every record", () => {
    expect(batchesIn(bytes).map(describeSet)).toEqual(sets);
  });

  test("is opened as a segment, recovered whole, and read back", () => {
    const log = open(bytes);
    expect([log.logStartOffset, log.logEndOffset]).toEqual([40, 56]);
    expect(log.epochs.entries).toEqual([]);
    expect(offsetsOf(log)).toEqual(sets.flatMap(({ records }) => records.map((one) => one.offset)));
  });

  test("is recovered up to the last set that is whole, wherever it is cut", () => {
    for (const { position, size, baseOffset, lastOffset } of sets) {
      for (const cut of [position + 1, position + 16, position + 17, position + size - 1]) {
        expect(open(bytes.subarray(0, cut)).logEndOffset).toBe(baseOffset);
      }
      expect(open(bytes.subarray(0, position + size)).logEndOffset).toBe(lastOffset + 1);
    }
  });

  test("is recovered up to the first set of which a bit has changed", () => {
    for (const { position, size, baseOffset } of sets) {
      for (const at of [position + 13, position + 17, position + 20, position + size - 1]) {
        const damaged = bytes.slice();
        damaged[at] = (damaged[at] as number) ^ 4;
        expect(open(damaged).logEndOffset).toBe(baseOffset);
      }
    }
  });
});

test("there is each codec that the old formats know, in each format and with each kind of time", () => {
  expect(files.map(([name]) => name)).toHaveLength(12);
  const kinds = new Set(
    files.flatMap(([, sets]) =>
      sets.map(
        ({ magic, compression, timestampType }) => `${magic} ${compression} ${timestampType}`,
      ),
    ),
  );
  expect(kinds.size).toBe(12);
});

function describeSet(batch: RecordBatch): ToldSet {
  return {
    position: batch.start,
    size: batch.sizeInBytes,
    magic: batch.magic,
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    crc: batch.crc,
    valid: batch.isValid(),
    compression: CODECS[batch.compression] ?? "",
    timestampType: timestampType(batch),
    maxTimestamp: batch.maxTimestamp,
    records: batch.records().map(({ offset, timestamp, key, value }) => ({
      offset,
      timestamp,
      key: toldContent(key),
      value: toldContent(value),
    })),
  };
}

function timestampType({ magic, isLogAppendTime }: RecordBatch): string {
  if (magic === 0) return "NoTimestampType";
  return isLogAppendTime ? "LogAppendTime" : "CreateTime";
}

/** A log of which nothing is left but this one segment, after an unclean stop. */
function open(segment: Uint8Array): PartitionLog {
  const disk = new ScriptedDisk();
  disk.open("old-0/00000000000000000040.log").write(0, segment);
  return PartitionLog.open({
    disk,
    clock: new HandClock(),
    tickets: new TicketBook(),
    directory: "old-0",
    topic: "old",
    partition: 0,
    config: DEFAULT_LOG_CONFIG,
    recoveryPoint: 0,
    logStartOffset: 0,
    cleanShutdown: false,
  });
}

function offsetsOf(log: PartitionLog): readonly number[] {
  const offsets: number[] = [];
  for (let at = log.logStartOffset; at < log.logEndOffset; ) {
    const { batches } = log.read(at, 1, log.logEndOffset, true);
    for (const batch of batches) {
      offsets.push(...batch.records().map(({ offset }) => offset));
      at = batch.nextOffset;
    }
  }
  return offsets;
}
