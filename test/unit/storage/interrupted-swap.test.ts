import { describe, expect, test } from "vitest";
import type { Segment } from "../../../src/storage/segment.ts";
import { LOG_DIRECTORY, LogFixture } from "../../support/log-fixture.ts";

/** Nine batches in segments 0, 3 and 6, all flushed. */
function filled(): LogFixture {
  const fixture = new LogFixture({ "segment.bytes": 300 });
  for (let i = 0; i < 9; i++) fixture.append();
  fixture.log.flush();
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 3, 6]);
  return fixture;
}

/** The first two segments, cleaned down to the batches at these offsets: not in the log yet. */
function cleaned(fixture: LogFixture, offsets: readonly number[]): Segment {
  const { log, config } = fixture;
  const segment = log.createCleanedSegment(0);
  for (const batch of fixture.contents()) {
    if (offsets.includes(batch.baseOffset)) segment.append(batch, config);
  }
  segment.close();
  segment.sync();
  return segment;
}

function firstSegments(fixture: LogFixture): Segment[] {
  return fixture.log.segments.slice(0, 2);
}

function basesIn(fixture: LogFixture): number[] {
  return fixture.contents().map(({ baseOffset }) => baseOffset);
}

function names(fixture: LogFixture): string[] {
  return fixture.disk.list(LOG_DIRECTORY).filter((name) => /\.(deleted|cleaned|swap)$/.test(name));
}

describe("a cleaned segment that takes the place of others", () => {
  test("is what is read there, now and after a restart", () => {
    const fixture = filled();

    fixture.log.replaceSegments(cleaned(fixture, [1, 4]), firstSegments(fixture));

    expect(fixture.log.segmentBaseOffsets).toEqual([0, 6]);
    expect(basesIn(fixture)).toEqual([1, 4, 6, 7, 8]);
    fixture.disk.powerOff();
    fixture.open({ recoveryPoint: 9 });
    expect(basesIn(fixture)).toEqual([1, 4, 6, 7, 8]);
    expect(names(fixture)).toEqual([]);
  });

  test("may be empty", () => {
    const fixture = filled();

    fixture.log.replaceSegments(cleaned(fixture, []), firstSegments(fixture));

    expect(basesIn(fixture)).toEqual([6, 7, 8]);
    fixture.open({ recoveryPoint: 9 });
    expect(fixture.log.segmentBaseOffsets).toEqual([0, 6]);
    expect([fixture.log.logStartOffset, fixture.log.logEndOffset]).toEqual([0, 9]);
  });

  test("keeps the producer snapshot at its base, and the others go", () => {
    const fixture = filled();
    fixture.log.replaceSegments(cleaned(fixture, [1, 4]), firstSegments(fixture));

    const snapshots = fixture.disk.list(LOG_DIRECTORY).filter((name) => name.includes("snapshot"));

    expect(snapshots).toEqual(["00000000000000000006.snapshot"]);
  });

  test("cannot take the place of the active one, or of what is not in the log", () => {
    const fixture = filled();
    const segment = cleaned(fixture, [1, 4]);

    expect(() => fixture.log.replaceSegments(segment, fixture.log.segments)).toThrow();
    expect(() => fixture.log.replaceSegments(segment, fixture.log.segments.slice(1, 2))).toThrow();
  });
});

describe("a start after a stop in the middle", () => {
  test("removes what was cleaned but not decided, also if some of it was to be swapped already", () => {
    const fixture = filled();
    cleaned(fixture, [1, 4]);
    const log = fixture.path(0, "log");
    fixture.disk.rename(`${log}.cleaned`, `${log}.swap`);
    expect(names(fixture)).toEqual([
      "00000000000000000000.index.cleaned",
      "00000000000000000000.log.swap",
      "00000000000000000000.timeindex.cleaned",
    ]);

    fixture.open({ recoveryPoint: 9 });

    expect(names(fixture)).toEqual([]);
    expect(basesIn(fixture)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("finishes a swap whose old segments are still there", () => {
    const fixture = filled();
    cleaned(fixture, [1, 4]).rename(".swap");

    fixture.open({ recoveryPoint: 9 });

    expect(names(fixture)).toEqual([]);
    expect(fixture.log.segmentBaseOffsets).toEqual([0, 6]);
    expect(basesIn(fixture)).toEqual([1, 4, 6, 7, 8]);
  });

  test("finishes a swap whose old segments were in part set aside, and its own files in part renamed", () => {
    const fixture = filled();
    const segment = cleaned(fixture, [1, 5]);
    const [first, second] = fixture.log.segments;
    segment.rename(".swap");
    first?.rename(".deleted");
    second?.rename(".deleted");
    const log = fixture.path(0, "log");
    fixture.disk.rename(`${log}.swap`, log);

    fixture.open({ recoveryPoint: 9 });

    expect(names(fixture)).toEqual([]);
    expect(basesIn(fixture)).toEqual([1, 5, 6, 7, 8]);
  });

  test("keeps to the order of renaming: what lies above a cleaned file is not decided", () => {
    const fixture = filled();
    const { log } = fixture;
    log.createCleanedSegment(3);
    log.createCleanedSegment(6).rename(".swap");

    fixture.open({ recoveryPoint: 9 });

    expect(names(fixture)).toEqual([]);
    expect(basesIn(fixture)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("removes what was set aside, snapshots too", () => {
    const fixture = filled();
    for (const kind of ["log.deleted", "index.deleted", "snapshot.deleted"]) {
      fixture.disk.open(fixture.path(99, kind));
    }

    fixture.open({ recoveryPoint: 9 });

    expect(names(fixture)).toEqual([]);
    expect(fixture.log.logEndOffset).toBe(9);
  });
});
