import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CODECS } from "../../src/kafka/log/compression/codec.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { DEFAULT_LOG_CONFIG } from "../../src/storage/log-config.ts";
import { PartitionLog } from "../../src/storage/partition-log.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import { HandClock } from "../support/log-fixture.ts";
import { ScriptedDisk } from "../support/scripted-disk.ts";
import type { ToldLoad, ToldRecord } from "./real-kafka.ts";
import { batchesIn, fileSums, toldContent } from "./real-kafka.ts";

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
/** What Kafka's loader makes of the first `cut` bytes of a file. */
const loads: Readonly<Record<string, readonly (ToldLoad & { readonly cut: number })[]>> =
  JSON.parse(readFileSync(`${FIXTURE}/loads.json`, "utf8"));

describe.each(files)("%s", (name, sets) => {
  const bytes = new Uint8Array(readFileSync(`${FIXTURE}/${name}`));

  test("is read as Kafka reads it, every record", () => {
    expect(batchesIn(bytes).map(describeSet)).toEqual(sets);
  });

  test("as a segment is recovered as Kafka recovers it, whole and cut short", () => {
    for (const { cut, ...load } of loads[name] ?? []) {
      const disk = diskWith(bytes.subarray(0, cut));
      const tickets = new TicketBook();
      const log = open(disk, tickets);
      const { logStartOffset, logEndOffset, recoveryPoint, segmentBaseOffsets, epochs } = log;
      disk.endSyncs((ticket, ok) => {
        tickets.synced(ticket, ok);
      });
      log.close();
      expect({
        logStartOffset,
        logEndOffset,
        recoveryPointAfter: recoveryPoint,
        segmentBaseOffsets,
        epochs: epochs.entries,
        // Kafka leaves an empty file where no epoch has begun, we leave none.
        files: { ...fileSums(disk, "old-0"), "leader-epoch-checkpoint": [0, 0] },
      }).toEqual(load);
    }
  });

  test("is read back from the segment, every record once", () => {
    const log = open(diskWith(bytes));
    expect([log.logStartOffset, log.logEndOffset]).toEqual([40, 56]);
    expect(offsetsOf(log)).toEqual(sets.flatMap(({ records }) => records.map((one) => one.offset)));
  });

  test("is recovered up to the last set that is whole, wherever it is cut", () => {
    for (const { position, size, baseOffset, lastOffset } of sets) {
      for (const cut of [position + 1, position + 16, position + 17, position + size - 1]) {
        expect(open(diskWith(bytes.subarray(0, cut))).logEndOffset).toBe(baseOffset);
      }
      const whole = diskWith(bytes.subarray(0, position + size));
      expect(open(whole).logEndOffset).toBe(lastOffset + 1);
    }
  });

  test("is recovered up to the first set of which a bit has changed", () => {
    for (const { position, size, baseOffset } of sets) {
      for (const at of [position + 13, position + 17, position + 20, position + size - 1]) {
        const damaged = bytes.slice();
        damaged[at] = (damaged[at] as number) ^ 4;
        expect(open(diskWith(damaged)).logEndOffset).toBe(baseOffset);
      }
    }
  });
});

test("there is each codec that the old formats know, in each format and with each kind of time", () => {
  expect(files.map(([name]) => name)).toEqual(Object.keys(loads));
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

/** A log of which nothing is left but this one segment. */
function diskWith(segment: Uint8Array): ScriptedDisk {
  const disk = new ScriptedDisk();
  disk.open("old-0/00000000000000000040.log").write(0, segment);
  return disk;
}

/** After an unclean stop. */
function open(disk: ScriptedDisk, tickets: TicketBook = new TicketBook()): PartitionLog {
  return PartitionLog.open({
    disk,
    clock: new HandClock(),
    tickets,
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
