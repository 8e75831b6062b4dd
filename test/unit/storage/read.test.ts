import fc from "fast-check";
import { expect, test } from "vitest";
import { InvariantViolation } from "../../../src/base/invariant.ts";
import { ERRORS } from "../../../src/kafka/error-code.ts";
import { LogFixture } from "../../support/log-fixture.ts";

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

test("a read returns whole batches, from the one that holds the offset", () => {
  const fixture = new LogFixture();
  const batches = [fixture.append(3), fixture.append(3), fixture.append(3)];

  const { batches: found, sizeInBytes } = fixture.log.read(4, NO_LIMIT, 9, true);

  expect(found).toEqual(batches.slice(1));
  expect(sizeInBytes).toBe(found.reduce((sum, batch) => sum + batch.sizeInBytes, 0));
});

test("a read stops below its upper bound, even within a batch", () => {
  const fixture = new LogFixture();
  const batches = [fixture.append(3), fixture.append(3), fixture.append(3)];

  expect(fixture.log.read(0, NO_LIMIT, 6, true).batches).toEqual(batches.slice(0, 2));
  expect(fixture.log.read(0, NO_LIMIT, 5, true).batches).toEqual(batches.slice(0, 1));
  expect(fixture.log.read(6, NO_LIMIT, 6, true).batches).toEqual([]);
});

test("a read keeps to its size, but gives one batch at least when asked to", () => {
  const fixture = new LogFixture();
  const batches = [fixture.append(1), fixture.append(1), fixture.append(1)];
  const [size] = batches.map(({ sizeInBytes }) => sizeInBytes) as [number];

  expect(fixture.log.read(0, 2 * size, 3, true).batches).toEqual(batches.slice(0, 2));
  expect(fixture.log.read(0, 2 * size - 1, 3, true).batches).toEqual(batches.slice(0, 1));
  expect(fixture.log.read(0, 1, 3, true).batches).toEqual(batches.slice(0, 1));
  expect(fixture.log.read(0, size - 1, 3, false).batches).toEqual([]);
});

test("a read does not go beyond the segment that it begins in", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  for (let i = 0; i < 5; i++) fixture.append();
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2, 4]);

  const reads = [0, 1, 2, 3, 4].map((from) =>
    fixture.log.read(from, NO_LIMIT, 5, true).batches.map(({ baseOffset }) => baseOffset),
  );

  expect(reads).toEqual([[0, 1], [1], [2, 3], [3], [4]]);
});

test("a read outside the log is a mistake of the caller", () => {
  const fixture = new LogFixture();
  fixture.append(4);
  fixture.log.advanceLogStart(2);

  expect(() => fixture.log.read(1, 100, 4, true)).toThrow(InvariantViolation);
  expect(() => fixture.log.read(5, 100, 9, true)).toThrow(InvariantViolation);
  expect(fixture.log.read(2, 100, 4, true).batches).toHaveLength(1);
});

test("while the file is as it was written, reads share the batches that were appended", () => {
  const fixture = new LogFixture();
  const batch = fixture.append();

  expect(fixture.log.read(0, NO_LIMIT, 1, true).batches[0]).toBe(batch);
});

test("once the file was touched, reads take the bytes that the disk has", () => {
  const fixture = new LogFixture();
  const batches = [fixture.append(), fixture.append(), fixture.append()];
  const path = fixture.path(0, "log");
  const bytes = fixture.disk.content(path);
  const inSecond = (batches[0]?.sizeInBytes ?? 0) + 70;
  bytes[inSecond] = (bytes[inSecond] as number) ^ 0xff;
  fixture.disk.replace(path, bytes);

  const { error, batches: found } = fixture.log.read(0, NO_LIMIT, 3, true);

  expect(error).toBe(ERRORS.NONE);
  expect(found.map((batch) => batch.isValid())).toEqual([true, false, true]);
});

test("bytes that cannot be told apart into batches are CORRUPT_MESSAGE from there to the next index entry", () => {
  // An entry behind every third batch, for the fourth.
  const fixture = new LogFixture({ "index.interval.bytes": 200 });
  const batches = [0, 1, 2, 3].map(() => fixture.append());
  const path = fixture.path(0, "log");
  const bytes = fixture.disk.content(path);
  const second = batches[0]?.sizeInBytes ?? 0;
  bytes.fill(0, second, second + 20);
  fixture.disk.replace(path, bytes);

  const reads = [0, 1, 2, 3].map((from) => fixture.log.read(from, NO_LIMIT, 4, true));

  expect(reads.map((read) => read.batches.map(({ baseOffset }) => baseOffset))).toEqual([
    [0],
    [],
    [],
    [3],
  ]);
  expect(reads.map(({ error }) => error.name)).toEqual([
    "NONE",
    "CORRUPT_MESSAGE",
    "CORRUPT_MESSAGE",
    "NONE",
  ]);
});

test("a batch that states to reach beyond the file ends the segment, and what follows is passed over", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  const batches = [0, 1, 2].map(() => fixture.append());
  expect(fixture.log.segmentBaseOffsets).toEqual([0, 2]);
  const path = fixture.path(0, "log");
  const bytes = fixture.disk.content(path);
  bytes[(batches[0]?.sizeInBytes ?? 0) + 9] = 0x40;
  fixture.disk.replace(path, bytes);

  const { error, batches: found } = fixture.log.read(1, NO_LIMIT, 3, true);

  expect(error).toBe(ERRORS.NONE);
  expect(found.map(({ baseOffset }) => baseOffset)).toEqual([2]);
});

test("the bytes between two offsets are those of the batches between them, across segments", () => {
  const fixture = new LogFixture({ "segment.bytes": 200 });
  const batches = [1, 2, 3, 4, 5].map(() => fixture.append());
  const sizeOf = (from: number, to: number): number =>
    batches.slice(from, to).reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0);

  for (let from = 0; from <= 5; from++) {
    for (let to = from; to <= 5; to++)
      expect(fixture.log.bytesBetween(from, to)).toBe(sizeOf(from, to));
  }
  expect(fixture.log.sizeInBytes).toBe(sizeOf(0, 5));
});

test("every read of a reopened log agrees with a walk over its batches", () => {
  const check = (counts: number[], from: number, maxBytes: number, upTo: number): void => {
    const fixture = new LogFixture({ "segment.bytes": 400, "index.interval.bytes": 100 });
    const all = counts.map((count) => fixture.append(count));
    fixture.log.close();
    const log = fixture.open({ cleanShutdown: true });
    const end = log.logEndOffset;
    const start = Math.min(from, end);
    const bound = Math.min(upTo, end);

    const found = log.read(start, maxBytes, bound, true);

    const bases = log.segmentBaseOffsets;
    const expected: typeof all = [];
    let size = 0;
    for (const batch of all) {
      const segment = bases.findLastIndex((base) => base <= batch.baseOffset);
      const home = bases.findLastIndex((base) => base <= start);
      if (batch.lastOffset < start || segment !== home) continue;
      if (batch.lastOffset >= bound) break;
      if (expected.length > 0 && size + batch.sizeInBytes > maxBytes) break;
      expected.push(batch);
      size += batch.sizeInBytes;
    }
    expect(found.batches.map(({ bytes }) => [...bytes])).toEqual(
      expected.map(({ bytes }) => [...bytes]),
    );
    expect(found.sizeInBytes).toBe(size);
  };
  const counts = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 15 });
  const offset = fc.nat(45);
  fc.assert(fc.property(counts, offset, fc.nat(500), offset, check), { seed: 42, numRuns: 300 });
});
