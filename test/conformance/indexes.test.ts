import { describe, expect, test } from "vitest";
import { OffsetIndex } from "../../src/storage/offset-index.ts";
import { TimeIndex } from "../../src/storage/time-index.ts";
import { ScriptedDisk } from "../support/scripted-disk.ts";
import { RELEASES, RealKafka } from "./real-kafka.ts";

describe.each(RELEASES)("indexes that %s wrote", (release) => {
  const kafka = new RealKafka(release);
  const segments = kafka.partitions.flatMap(([name, told]) =>
    told.segments.map((segment) => {
      const path = `${name}/${String(segment.baseOffset).padStart(20, "0")}`;
      return [path, segment] as const;
    }),
  );

  test.each(segments)(
    "%s.index is read, and the same entries make the same bytes",
    (path, told) => {
      const bytes = kafka.bytes(`${path}.index`);
      const disk = new ScriptedDisk();
      disk.open("real").write(0, bytes);
      const index = new OffsetIndex(disk, "real", told.baseOffset);
      expect(index.entryCount).toBe(told.index.length);
      expect(index.lastPosition).toBe(told.index.at(-1)?.[1] ?? 0);

      const again = new OffsetIndex(disk, "again", told.baseOffset);
      for (const [offset, position] of told.index) again.append(offset, position);
      expect(disk.content("again")).toEqual(bytes);
    },
  );

  test.each(segments)(
    "%s.timeindex is read, and the same entries make the same bytes",
    (path, told) => {
      const bytes = kafka.bytes(`${path}.timeindex`);
      const disk = new ScriptedDisk();
      disk.open("real").write(0, bytes);
      const index = new TimeIndex(disk, "real", told.baseOffset);
      expect(index.lastTimestamp).toBe(told.timeIndex.at(-1)?.[0] ?? -1);
      expect(index.lastOffset).toBe(told.timeIndex.at(-1)?.[1] ?? told.baseOffset);

      const again = new TimeIndex(disk, "again", told.baseOffset);
      for (const [timestamp, offset] of told.timeIndex) again.maybeAppend(timestamp, offset);
      expect(disk.content("again")).toEqual(bytes);
    },
  );

  test("have entries enough for these tests to mean something", () => {
    const entries = segments.flatMap(([, { index, timeIndex }]) => [
      index.length,
      timeIndex.length,
    ]);
    expect(entries.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(100);
  });
});
