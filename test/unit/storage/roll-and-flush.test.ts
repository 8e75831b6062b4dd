import { expect, test } from "vitest";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import { DiskError } from "../../../src/ports/disk.ts";
import { LOG_DIRECTORY, LogFixture } from "../../support/log-fixture.ts";
import { SmallRandom } from "../../support/small-random.ts";

test("a segment is rolled before it would grow beyond segment.bytes", () => {
  const fixture = new LogFixture({ "segment.bytes": 300 });
  const { sizeInBytes } = fixture.append();
  expect(sizeInBytes * 3).toBeLessThan(300);
  expect(sizeInBytes * 4).toBeGreaterThan(300);

  for (let i = 0; i < 6; i++) fixture.append();

  expect(fixture.log.segmentBaseOffsets).toEqual([0, 3, 6]);
  expect(fixture.disk.list(LOG_DIRECTORY)).toEqual([
    "00000000000000000000.index",
    "00000000000000000000.log",
    "00000000000000000000.timeindex",
    "00000000000000000003.index",
    "00000000000000000003.log",
    "00000000000000000003.snapshot",
    "00000000000000000003.timeindex",
    "00000000000000000006.index",
    "00000000000000000006.log",
    "00000000000000000006.snapshot",
    "00000000000000000006.timeindex",
    "leader-epoch-checkpoint",
  ]);
});

test("a segment is rolled when a batch is segment.ms later than its first, by their timestamps", () => {
  const fixture = new LogFixture({ "segment.ms": 1000 });
  fixture.append();
  fixture.clock.advanceMs(1000);
  fixture.append();
  expect(fixture.log.segmentBaseOffsets).toEqual([0]);

  fixture.clock.advanceMs(1);
  fixture.append();

  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2]);
});

test("a segment without timestamps is rolled by the clock", () => {
  const fixture = new LogFixture({ "segment.ms": 1000 });
  const untimed = buildBatch([{ timestamp: -1 }]);
  fixture.log.appendAsLeader([untimed], 0);
  fixture.clock.advanceMs(1001);

  fixture.log.appendAsLeader([untimed], 0);

  expect(fixture.log.segmentBaseOffsets).toEqual([0, 1]);
});

test("a segment is rolled when an index is full", () => {
  // Room for three offset entries, and for two of the time index, one of which is kept for the roll.
  const fixture = new LogFixture({ "index.interval.bytes": 0, "segment.index.bytes": 24 });

  for (let i = 0; i < 4; i++) {
    fixture.clock.advanceMs(1);
    fixture.append();
  }

  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2]);
});

test("a segment is rolled when an offset is too far from its base for the indexes", () => {
  const fixture = new LogFixture();
  fixture.append();
  const far = buildBatch([{ timestamp: 1 }], { baseOffset: 2 ** 31, partitionLeaderEpoch: 0 });
  const near = buildBatch([{ timestamp: 1 }], { baseOffset: 2 ** 31 - 1, partitionLeaderEpoch: 0 });

  fixture.log.appendAsFollower([near], 0);
  expect(fixture.log.segmentBaseOffsets).toEqual([0]);
  fixture.log.appendAsFollower([far], 0);

  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2 ** 31]);
});

test("indexes hold relative offset and position, and largest timestamp and relative offset", () => {
  const fixture = new LogFixture({ "index.interval.bytes": 150, "segment.bytes": 400 });
  const sizes: number[] = [];
  for (let i = 0; i < 5; i++) {
    fixture.clock.advanceMs(1);
    sizes.push(fixture.append().sizeInBytes);
  }
  const [size] = sizes as [number];
  expect(sizes).toEqual([size, size, size, size, size]);
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 4]);

  const view = (suffix: string): DataView =>
    new DataView(fixture.disk.content(fixture.path(0, suffix)).buffer);

  // More than 150 bytes lie before the third batch; the fourth gets its time entry at the roll.
  const index = view("index");
  expect(index.byteLength).toBe(8);
  expect([index.getInt32(0), index.getInt32(4)]).toEqual([2, 2 * size]);
  const timeIndex = view("timeindex");
  expect(timeIndex.byteLength).toBe(24);
  expect([Number(timeIndex.getBigInt64(0)), timeIndex.getInt32(8)]).toEqual([1_000_003, 2]);
  expect([Number(timeIndex.getBigInt64(12)), timeIndex.getInt32(20)]).toEqual([1_000_004, 3]);
});

test("nothing is flushed by default, and the recovery point moves only when a rolled segment is durable", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  for (let i = 0; i < 3; i++) fixture.append();
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2]);
  expect(fixture.log.recoveryPoint).toBe(0);

  fixture.endSyncs();

  expect(fixture.log.recoveryPoint).toBe(2);
});

test("a power loss shortly after a roll takes the whole segment, an ended flush keeps it", () => {
  const lost = new LogFixture({ "segment.bytes": 200 });
  const kept = new LogFixture({ "segment.bytes": 200 });
  for (let i = 0; i < 3; i++) {
    lost.append();
    kept.append();
  }

  kept.endSyncs();
  lost.disk.powerOff();
  kept.disk.powerOff();

  expect(lost.open().logEndOffset).toBe(0);
  expect(kept.open({ recoveryPoint: 2 }).logEndOffset).toBe(2);
});

test("segments are made durable one after the other, whatever rolls meanwhile: none gets behind a gap", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  for (let i = 0; i < 5; i++) fixture.append();
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2, 4]);
  const begun = (): string[] =>
    fixture.disk.calls.filter((call) => /^syncLater .*\.log$/.test(call));
  const steps: [begun: number, recoveryPoint: number][] = [];

  const synced = (ticket: number, ok: boolean): void => fixture.tickets.synced(ticket, ok);
  do steps.push([begun().length, fixture.log.recoveryPoint]);
  while (fixture.disk.endSync(synced));

  expect(begun()).toEqual([0, 2].map((base) => `syncLater ${fixture.path(base, "log")}`));
  // The snapshot of each roll, then the three files of each segment.
  expect(steps).toEqual([[0, 0], ...repeat([1, 0], 4), ...repeat([2, 2], 3), [2, 4]]);
});

test("a failed background sync is a failure of the disk", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  for (let i = 0; i < 3; i++) fixture.append();

  expect(() => {
    fixture.endSyncs(false);
  }).toThrow(DiskError);
  expect(fixture.log.recoveryPoint).toBe(0);
});

test("a truncation below a flush under way keeps the recovery point down", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  for (let i = 0; i < 3; i++) fixture.append();

  fixture.log.truncateTo(1);
  fixture.append();
  fixture.endSyncs();

  expect(fixture.log.recoveryPoint).toBe(1);
});

test("with flush.messages=1 a record is durable once its log was looked after", () => {
  const leader = new LogFixture({ "flush.messages": 1 });
  const follower = new LogFixture({ "flush.messages": 1 });

  const batch = leader.append(2);
  follower.log.appendAsFollower([batch], 0);

  for (const fixture of [leader, follower]) {
    fixture.log.flushIfMany();
    expect(fixture.log.recoveryPoint).toBe(2);
    fixture.disk.powerOff();
    expect(fixture.open().logEndOffset).toBe(2);
  }
});

test("flush.messages counts records since the last flush", () => {
  const fixture = new LogFixture({ "flush.messages": 3 });
  const points: number[] = [];

  for (let i = 0; i < 7; i++) {
    fixture.append();
    fixture.log.flushIfMany();
    points.push(fixture.log.recoveryPoint);
  }

  expect(points).toEqual([0, 0, 3, 3, 3, 6, 6]);
});

test("flush.ms flushes what is old when it is looked after", () => {
  const fixture = new LogFixture({ "flush.ms": 500 });
  fixture.append();
  fixture.clock.advanceMs(499);
  fixture.log.flushIfDue();
  expect(fixture.log.recoveryPoint).toBe(0);

  fixture.clock.advanceMs(1);
  fixture.log.flushIfDue();

  expect(fixture.log.recoveryPoint).toBe(1);
});

test("a new epoch is durable before the append that brings it returns", () => {
  const fixture = new LogFixture();

  fixture.append(1, 7);

  const renamed = fixture.disk.calls.indexOf(`rename ${LOG_DIRECTORY}/leader-epoch-checkpoint`);
  const written = fixture.disk.calls.indexOf(`write ${fixture.path(0, "log")}`);
  expect(fixture.disk.calls[renamed - 1]).toBe(`sync ${LOG_DIRECTORY}/leader-epoch-checkpoint.tmp`);
  expect(fixture.disk.calls[renamed + 1]).toBe(`syncDirectory ${LOG_DIRECTORY}`);
  expect(written).toBeGreaterThan(renamed);
  expect(fixture.disk.text(`${LOG_DIRECTORY}/leader-epoch-checkpoint`)).toBe("0\n1\n7 0\n");
});

test("what a truncation leaves of the epochs reaches the file when its sync has ended", () => {
  const fixture = new LogFixture();
  fixture.append(1, 1);
  fixture.append(1, 2);
  const text = (): string => fixture.disk.text(`${LOG_DIRECTORY}/leader-epoch-checkpoint`);

  fixture.log.truncateTo(1);
  expect(text()).toBe("0\n2\n1 0\n2 1\n");
  fixture.endSyncs();

  expect(text()).toBe("0\n1\n1 0\n");
});

test("an epoch that is assigned meanwhile is not undone by an older background write", () => {
  const fixture = new LogFixture();
  fixture.append(1, 1);
  fixture.append(1, 2);
  fixture.log.truncateTo(1);

  fixture.append(1, 3);
  fixture.endSyncs();

  expect(fixture.disk.text(`${LOG_DIRECTORY}/leader-epoch-checkpoint`)).toBe("0\n2\n1 0\n3 1\n");
});

test("what the disk cannot do reaches the caller", () => {
  const fixture = new LogFixture();
  fixture.append();
  fixture.disk.failure = "ENOSPC";

  expect(() => fixture.append()).toThrow(DiskError);
  expect(fixture.log.logEndOffset).toBe(1);
});

test("a segment is rolled earlier by a jitter that is drawn for each, if segment.jitter.ms asks for it", () => {
  const rolledAfter = (seed: number): number[] => {
    const random = new SmallRandom(seed);
    const config = { "segment.ms": 1000, "segment.jitter.ms": 300 };
    const fixture = new LogFixture(config, undefined, { random });
    for (let i = 0; i < 4000; i++) {
      fixture.append();
      fixture.clock.advanceMs(1);
    }
    const bases = fixture.log.segmentBaseOffsets;
    return bases.slice(1).map((base, i) => base - (bases[i] ?? 0));
  };

  const lengths = rolledAfter(1);

  expect(lengths.length).toBeGreaterThan(3);
  expect(new Set(lengths).size).toBeGreaterThan(1);
  for (const length of lengths) {
    expect(length).toBeGreaterThan(700);
    expect(length).toBeLessThanOrEqual(1001);
  }
  expect(rolledAfter(1)).toEqual(lengths);
  expect(rolledAfter(2)).not.toEqual(lengths);
});

test("without segment.jitter.ms nothing is drawn", () => {
  const random = {
    below: () => {
      throw new Error("drawn");
    },
    between: () => 0,
    chance: () => false,
  };
  const fixture = new LogFixture({ "segment.bytes": 300 }, undefined, { random });
  for (let i = 0; i < 9; i++) fixture.append();

  expect(fixture.log.segmentBaseOffsets).toEqual([0, 3, 6]);
});

function repeat<Item>(item: Item, times: number): Item[] {
  return new Array<Item>(times).fill(item);
}
