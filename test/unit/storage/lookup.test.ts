import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import type { ByteRange, DiskFile } from "../../../src/ports/disk.ts";
import { BatchScan } from "../../../src/storage/batch-scan.ts";
import { OffsetIndex } from "../../../src/storage/offset-index.ts";
import { REMEMBERED, RecentBatches } from "../../../src/storage/recent-batches.ts";
import { TimeIndex } from "../../../src/storage/time-index.ts";
import { LogFixture } from "../../support/log-fixture.ts";
import { ScriptedDisk } from "../../support/scripted-disk.ts";

const OPTIONS = { seed: 42, numRuns: 200 };
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** Ascending numbers, as steps. */
const STEPS = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 30 });

function ascending(steps: readonly number[], from: number): number[] {
  let at = from;
  return steps.map((step) => {
    at += step;
    return at;
  });
}

describe("a search in a sparse index", () => {
  test("by offset finds the last entry that is not above, as a walk does", () => {
    const check = (steps: number[], asked: number): void => {
      const index = new OffsetIndex(new ScriptedDisk(), "x.index", 100);
      const offsets = ascending(steps, 100);
      for (const [i, offset] of offsets.entries()) index.append(offset, i * 50 + 7);

      const at = offsets.findLastIndex((offset) => offset <= asked);

      expect(index.lookup(asked)).toBe(at < 0 ? 0 : at * 50 + 7);
    };
    fc.assert(fc.property(STEPS, fc.integer({ min: 90, max: 300 }), check), OPTIONS);
  });

  test("by time finds the offset of the last entry that is not later, as a walk does", () => {
    const check = (steps: number[], asked: number): void => {
      const index = new TimeIndex(new ScriptedDisk(), "x.timeindex", 100);
      const times = ascending(steps, 1000);
      for (const [i, time] of times.entries()) index.maybeAppend(time, 101 + i);

      const at = times.findLastIndex((time) => time <= asked);

      expect(index.lookup(asked)).toBe(at < 0 ? 100 : 101 + at);
    };
    fc.assert(fc.property(STEPS, fc.integer({ min: 990, max: 1200 }), check), OPTIONS);
  });
});

/** Segments with entries behind every second batch or so, their times in no order. */
const STORY = fc.record({
  times: fc.array(fc.array(fc.nat(60), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 25,
  }),
  start: fc.nat(20),
  asked: fc.nat(65),
  isReopened: fc.boolean(),
});

interface Timed {
  readonly fixture: LogFixture;
  readonly records: { readonly offset: number; readonly timestamp: number }[];
  /** Where the segments begin. */
  readonly bases: readonly number[];
}

function timed(times: readonly (readonly number[])[], start: number, isReopened: boolean): Timed {
  const fixture = new LogFixture({ "segment.bytes": 500, "index.interval.bytes": 100 });
  const records: { offset: number; timestamp: number }[] = [];
  for (const timestamps of times) {
    const sent = buildBatch(timestamps.map((time) => ({ timestamp: 1000 + time })));
    const { firstOffset } = fixture.log.appendAsLeader([sent], 0);
    for (const [i, time] of timestamps.entries()) {
      records.push({ offset: firstOffset + i, timestamp: 1000 + time });
    }
  }
  const logStartOffset = Math.min(start, fixture.log.logEndOffset);
  fixture.log.advanceLogStart(logStartOffset);
  if (isReopened) {
    fixture.log.close();
    fixture.open({ cleanShutdown: true, logStartOffset });
  }
  return { fixture, records, bases: fixture.log.segmentBaseOffsets };
}

describe("a search for a record by time", () => {
  test("agrees with a walk over the first segment that reaches so far", () => {
    let found = 0;
    fc.assert(
      fc.property(STORY, ({ times, start, asked, isReopened }) => {
        const { fixture, records, bases } = timed(times, start, isReopened);
        const { logStartOffset } = fixture.log;
        const inSegment = (offset: number): number => bases.findLastIndex((one) => one <= offset);

        const late = records.find(({ timestamp }) => timestamp >= 1000 + asked);
        const expected = records.find(
          ({ offset, timestamp }) =>
            timestamp >= 1000 + asked &&
            offset >= logStartOffset &&
            inSegment(offset) === inSegment(late?.offset ?? -1),
        );

        const actual = fixture.log.findByTimestamp(1000 + asked);
        if (expected !== undefined) found++;
        expect(actual).toEqual(expected && { ...expected, leaderEpoch: 0 });
      }),
      OPTIONS,
    );
    expect(found).toBeGreaterThan(50);
  });

  test("for the largest finds the first that has it", () => {
    fc.assert(
      fc.property(STORY, ({ times, isReopened }) => {
        const { fixture, records } = timed(times, 0, isReopened);
        const largest = Math.max(...records.map(({ timestamp }) => timestamp));

        expect(fixture.log.findMaxTimestamp()).toEqual({
          ...records.find(({ timestamp }) => timestamp === largest),
          leaderEpoch: 0,
        });
      }),
      OPTIONS,
    );
  });

  test("in an empty log finds nothing", () => {
    const { log } = new LogFixture();
    expect([log.findByTimestamp(0), log.findMaxTimestamp()]).toEqual([undefined, undefined]);
  });
});

function batchesOf(counts: readonly number[]): RecordBatch[] {
  let baseOffset = 0;
  return counts.map((count) => {
    const records = Array.from({ length: count }, () => ({ timestamp: 5 }));
    const batch = buildBatch(records, { baseOffset });
    baseOffset = batch.nextOffset;
    return batch;
  });
}

describe("the newest batches of a segment", () => {
  test("are remembered in bounded number, and found as by a walk", () => {
    const recent = new RecentBatches();
    const all = batchesOf(Array.from({ length: 3 * REMEMBERED }, (_, i) => 1 + (i % 3)));
    let position = 0;
    for (const batch of all) {
      recent.add(batch, position);
      position += batch.sizeInBytes;
      expect(recent.length).toBeLessThanOrEqual(2 * REMEMBERED);
    }

    expect(recent.length).toBeGreaterThanOrEqual(REMEMBERED);
    expect(recent.last()).toBe(all.at(-1));
    const kept = all.slice(-recent.length);
    expect(recent.covers(kept[0]?.baseOffset ?? -1)).toBe(true);
    expect(recent.covers((kept[0]?.baseOffset ?? -1) - 1)).toBe(false);
    for (
      let offset = kept[0]?.baseOffset ?? 0;
      offset < (all.at(-1)?.nextOffset ?? 0) + 2;
      offset++
    ) {
      const index = kept.findIndex(({ lastOffset }) => lastOffset >= offset);
      expect(recent.indexOf(offset)).toBe(index < 0 ? kept.length : index);
    }
  });

  test("and older ones are read alike, wherever a read begins", () => {
    const fixture = new LogFixture();
    const all = Array.from({ length: 5 * REMEMBERED }, () => fixture.append());
    const { log } = fixture;

    for (let from = 0; from < log.logEndOffset; from += 37) {
      const { batches } = log.read(from, 500, log.logEndOffset, true);
      expect(batches.map(({ baseOffset }) => baseOffset)).toEqual(
        all.slice(from, from + batches.length).map(({ baseOffset }) => baseOffset),
      );
      expect(batches).toHaveLength(Math.min(5, all.length - from));
      expect(batches.every((batch) => batch.isValid())).toBe(true);
    }
    expect(log.bytesBetween(3, 2000)).toBe(
      all.slice(3, 2000).reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0),
    );
  });

  test("are the only ones whose objects a log keeps", () => {
    const fixture = new LogFixture();
    const all = Array.from({ length: 3 * REMEMBERED }, () => fixture.append());
    const read = (offset: number): RecordBatch | undefined =>
      fixture.log.read(offset, 1, fixture.log.logEndOffset, true).batches[0];

    expect(read(all.length - 1)).toBe(all.at(-1));
    expect(read(0)).not.toBe(all[0]);
    expect(read(0)?.bytes).toEqual(all[0]?.bytes);
  });

  test("a cut leads back into what was forgotten", () => {
    const fixture = new LogFixture({ "index.interval.bytes": 300 });
    const all = Array.from({ length: 4 * REMEMBERED }, () => fixture.append());

    fixture.log.truncateTo(100);

    expect(fixture.log.sizeInBytes).toBe((all[0]?.sizeInBytes ?? 0) * 100);
    expect(fixture.append().baseOffset).toBe(100);
    expect(fixture.contents().map(({ baseOffset }) => baseOffset)).toEqual(
      Array.from({ length: 101 }, (_, i) => i),
    );
  });
});

/** A file whose bytes come in pieces with these borders, whatever lies there. */
function inPieces(bytes: Uint8Array, borders: readonly number[]): DiskFile {
  const part = (start: number, end: number): ByteRange => {
    const around = new Uint8Array(end - start + 8).fill(0xff);
    around.set(bytes.subarray(start, end), 4);
    return { bytes: around, start: 4, end: 4 + end - start };
  };
  return {
    path: "x.log",
    size: bytes.length,
    pristine: true,
    write: () => undefined,
    writeShared: () => undefined,
    read: (position, length) => bytes.slice(position, position + length),
    readShared: (position, length) => {
      const end = Math.min(position + length, bytes.length);
      const inside = borders.filter((border) => border > position && border < end);
      const cuts = [position, ...[...new Set(inside)].sort((left, right) => left - right), end];
      return cuts.slice(1).map((cut, i) => part(cuts[i] as number, cut));
    },
    truncate: () => undefined,
    sync: () => undefined,
    syncLater: () => undefined,
  };
}

test("a walk over a file meets every batch, however its bytes are cut into pieces and windows", () => {
  const counts = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 });
  const check = (all: number[], borders: number[], window: number, wanted: number): void => {
    const batches = batchesOf(all);
    const bytes = new Uint8Array(batches.reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0));
    let end = 0;
    for (const batch of batches) {
      bytes.set(batch.bytes, end);
      end += batch.sizeInBytes;
    }
    const file = inPieces(bytes, borders);

    const walk = new BatchScan(file, 0, bytes.length, window);
    for (const batch of batches) expect(walk.next()?.bytes).toEqual(batch.bytes);
    expect([walk.next(), walk.isCorrupt]).toEqual([undefined, false]);

    const jump = new BatchScan(file, 0, bytes.length, window);
    const expected = batches.find(({ lastOffset }) => lastOffset >= wanted);
    expect(jump.skipTo(wanted)).toBe(expected !== undefined);
    expect(jump.next()?.baseOffset).toBe(expected?.baseOffset);
  };
  fc.assert(
    fc.property(counts, fc.array(fc.nat(900), { maxLength: 6 }), fc.nat(400), fc.nat(40), check),
    OPTIONS,
  );
});

test("an offset index that is lost is made anew, as is a lost time index where it is needed", () => {
  const fixture = new LogFixture({ "segment.bytes": 400, "index.interval.bytes": 100 });
  for (let i = 0; i < 12; i++) {
    fixture.clock.advanceMs(10);
    fixture.append();
  }
  fixture.log.close();
  const index = fixture.disk.content(fixture.path(0, "index"));
  const timeIndex = fixture.disk.content(fixture.path(0, "timeindex"));
  fixture.disk.remove(fixture.path(0, "index"));
  fixture.disk.remove(fixture.path(0, "timeindex"));

  const log = fixture.open({ cleanShutdown: true });

  expect(fixture.disk.content(fixture.path(0, "index"))).toEqual(index);
  expect(fixture.disk.content(fixture.path(0, "timeindex"))).toEqual(timeIndex);
  expect(log.read(3, NO_LIMIT, 12, true).batches[0]?.baseOffset).toBe(3);
});
