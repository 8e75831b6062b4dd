import fc from "fast-check";
import { expect, test } from "vitest";
import { LOG_DIRECTORY, LogFixture } from "../../support/log-fixture.ts";

/** Three batches to a segment. */
const THREE_EACH = { "segment.bytes": 300 };

function fill(fixture: LogFixture, count: number, apartMs = 0): number {
  let size = 0;
  for (let i = 0; i < count; i++) {
    size = fixture.append().sizeInBytes;
    fixture.clock.advanceMs(apartMs);
  }
  return size;
}

function basesIn(fixture: LogFixture): number[] {
  return fixture.contents().map(({ baseOffset }) => baseOffset);
}

test("segments whose newest record is older than retention.ms are deleted, and the log begins behind them", () => {
  const fixture = new LogFixture({ ...THREE_EACH, "retention.ms": 1000 });
  fill(fixture, 9, 100);
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 3, 6]);
  // The newest record of the second segment is now exactly that old.
  fixture.clock.advanceMs(600);

  const moves = fixture.log.deleteOldSegments(9);

  expect(moves).toEqual([{ from: 0, to: 3, reason: "retention-time" }]);
  expect(fixture.log.segmentBaseOffsets).toEqual([3, 6]);
  expect(fixture.log.logStartOffset).toBe(3);
});

test("nothing at or above the high watermark is deleted, however old", () => {
  const fixture = new LogFixture({ ...THREE_EACH, "retention.ms": 1000 });
  fill(fixture, 9);
  fixture.clock.advanceMs(100_000);

  fixture.log.deleteOldSegments(5);

  expect(fixture.log.segmentBaseOffsets).toEqual([3, 6]);
});

test("if all records are too old the log goes on in a new, empty segment", () => {
  const fixture = new LogFixture({ ...THREE_EACH, "retention.ms": 1000 });
  fill(fixture, 5);
  fixture.clock.advanceMs(100_000);

  const moves = fixture.log.deleteOldSegments(5);

  expect(moves).toEqual([{ from: 0, to: 5, reason: "retention-time" }]);
  expect(fixture.log.segmentBaseOffsets).toEqual([5]);
  expect([fixture.log.logStartOffset, fixture.log.logEndOffset]).toEqual([5, 5]);
  expect(fixture.append().baseOffset).toBe(5);
  expect(fixture.log.deleteOldSegments(6)).toEqual([]);
});

test("an empty active segment stays, however long it has been empty", () => {
  const fixture = new LogFixture({ "retention.ms": 1000 });
  fixture.clock.advanceMs(100_000);

  expect(fixture.log.deleteOldSegments(0)).toEqual([]);
  expect(fixture.log.segmentBaseOffsets).toEqual([0]);
});

test("the oldest segments go as long as the log is of retention.bytes without them", () => {
  const fixture = new LogFixture({ ...THREE_EACH, "retention.bytes": 700 });
  const size = fill(fixture, 12);
  expect(size * 9).toBeGreaterThan(700);
  expect(size * 6).toBeLessThan(700);

  const moves = fixture.log.deleteOldSegments(12);

  expect(moves).toEqual([{ from: 0, to: 3, reason: "retention-size" }]);
  expect(fixture.log.sizeInBytes).toBe(9 * size);
});

test("segments below the log's start go even where none are deleted otherwise", () => {
  const fixture = new LogFixture(THREE_EACH);
  fill(fixture, 9);
  fixture.log.updateConfig({ ...fixture.config, "cleanup.policy": "compact", "retention.ms": 1 });
  fixture.clock.advanceMs(100_000);
  fixture.log.advanceLogStart(7);

  const moves = fixture.log.deleteOldSegments(9);

  expect(moves).toEqual([]);
  expect(fixture.log.segmentBaseOffsets).toEqual([6]);
  expect(fixture.log.logStartOffset).toBe(7);
});

test("retention.ms and retention.bytes of -1 delete nothing", () => {
  const fixture = new LogFixture({ ...THREE_EACH, "retention.ms": -1, "retention.bytes": -1 });
  fill(fixture, 9);
  fixture.clock.advanceMs(10 ** 12);

  expect(fixture.log.deleteOldSegments(9)).toEqual([]);
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 3, 6]);
});

test("a segment's age is that of its largest timestamp, wherever in it that is", () => {
  const fixture = new LogFixture({ ...THREE_EACH, "retention.ms": 10_000 });
  fixture.append();
  fixture.clock.advanceMs(5000);
  fixture.append();
  fixture.clock.advanceMs(-5000);
  fill(fixture, 2);
  fixture.clock.advanceMs(14_000);

  expect(fixture.log.deleteOldSegments(4)).toEqual([]);
  fixture.clock.advanceMs(1001);
  expect(fixture.log.deleteOldSegments(4)).toHaveLength(1);
});

test("files of deleted segments are set aside, and removed when their time has come", () => {
  const kept: { paths: readonly string[]; delayMs: number }[] = [];
  const deletions = {
    schedule: (paths: readonly string[], delayMs: number): void => {
      kept.push({ paths, delayMs });
    },
  };
  const fixture = new LogFixture(
    { ...THREE_EACH, "retention.ms": 1000, "file.delete.delay.ms": 7000 },
    undefined,
    { deletions },
  );
  fill(fixture, 5);
  fixture.clock.advanceMs(2000);
  fill(fixture, 1);

  fixture.log.deleteOldSegments(6);

  expect(fixture.log.segmentBaseOffsets).toEqual([3]);
  expect(kept).toEqual([
    {
      paths: ["log", "index", "timeindex"].map((kind) => fixture.path(0, `${kind}.deleted`)),
      delayMs: 7000,
    },
  ]);
  const files = fixture.disk.list(LOG_DIRECTORY);
  expect(files.filter((name) => name.startsWith("00000000000000000000"))).toEqual([
    "00000000000000000000.index.deleted",
    "00000000000000000000.log.deleted",
    "00000000000000000000.timeindex.deleted",
  ]);
});

test("the producer snapshots of deleted segments go with them", () => {
  const fixture = new LogFixture({ ...THREE_EACH, "retention.ms": 1000 });
  fill(fixture, 9);
  fixture.clock.advanceMs(100_000);
  fixture.log.deleteOldSegments(8);

  const snapshots = fixture.disk.list(LOG_DIRECTORY).filter((name) => name.includes("snapshot"));

  expect(snapshots).toEqual(["00000000000000000006.snapshot"]);
});

test("whatever is deleted, the log keeps a suffix of itself from its start on, and finds it again", () => {
  const step = fc.record({
    appends: fc.nat(6),
    apartMs: fc.nat(400),
    highWatermarkBack: fc.nat(4),
    startAhead: fc.nat(3),
  });
  const check = (steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) => {
    const fixture = new LogFixture({
      ...THREE_EACH,
      "retention.ms": 1500,
      "retention.bytes": 900,
    });
    const all: number[] = [];
    let highWatermark = 0;
    for (const { appends, apartMs, highWatermarkBack, startAhead } of steps) {
      for (let i = 0; i < appends; i++) all.push(fixture.append().baseOffset);
      fixture.clock.advanceMs(apartMs);
      const { log } = fixture;
      highWatermark = Math.max(highWatermark, log.logEndOffset - highWatermarkBack);
      log.advanceLogStart(Math.min(log.logStartOffset + startAhead, highWatermark));
      const before = log.logStartOffset;
      const moves = log.deleteOldSegments(highWatermark);

      expect(log.logStartOffset).toBe(moves.at(-1)?.to ?? before);
      expect(log.logStartOffset).toBeLessThanOrEqual(highWatermark);
      expect(log.logEndOffset).toBe(all.length);
      const [first] = log.segmentBaseOffsets;
      expect(first).toBeLessThanOrEqual(log.logStartOffset);
      expect(basesIn(fixture)).toEqual(all.slice(log.logStartOffset));
    }
    const { logStartOffset, logEndOffset } = fixture.log;
    fixture.disk.crash();
    const reopened = fixture.open({ logStartOffset });
    expect([reopened.logStartOffset, reopened.logEndOffset]).toEqual([
      logStartOffset,
      logEndOffset,
    ]);
    expect(basesIn(fixture)).toEqual(all.slice(logStartOffset));
  };
  fc.assert(fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), check), {
    seed: 42,
    numRuns: 200,
  });
});
