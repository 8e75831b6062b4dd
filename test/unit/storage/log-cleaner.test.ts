import { describe, expect, test } from "vitest";
import type { LogConfig } from "../../../src/storage/log-config.ts";
import type { PartitionLog } from "../../../src/storage/partition-log.ts";
import {
  CleanerFixture,
  Crash,
  contentsOf,
  keyedBatch,
  write,
} from "../../support/cleaner-fixture.ts";

/** Segments of two batches of two records, written by `write` a second after each other. */
const SMALL: Partial<LogConfig> = { "segment.ms": 1500 };

describe("a dirty log", () => {
  test("keeps the last record of each key at its offset, in as few segments as hold them", () => {
    const fixture = new CleanerFixture(SMALL);
    const log = fixture.log();
    fill(log, 10);
    expect(log.segmentBaseOffsets).toEqual([0, 4, 8, 12, 16]);

    fixture.clean();

    // The active segment is left as it is.
    expect(contentsOf(log)).toEqual(["14:a=7", "15:b=7", ...lastTwo(8), ...lastTwo(9)]);
    expect(log.segmentBaseOffsets).toEqual([0, 16]);
    expect(log.logStartOffset).toBe(0);
    expect(log.logEndOffset).toBe(20);
    expect(fixture.disk.text("data/cleaner-offset-checkpoint")).toBe("0\n1\norders 0 16\n");
    expect(
      fixture.disk.list("data/orders-0").filter((name) => /\.(cleaned|swap)$/.test(name)),
    ).toEqual([]);
  });

  test("tells what is left of each stretch", () => {
    const fixture = new CleanerFixture(SMALL);
    fill(fixture.log(), 10);

    fixture.clean();

    expect(fixture.cleaned.map(({ log, group: { from, to } }) => [log, from, to])).toEqual([
      ["orders-0", 0, 16],
    ]);
    const batches = fixture.cleaned.flatMap(({ group }) => group.batches);
    expect(batches.map(({ baseOffset, lastOffset }) => [baseOffset, lastOffset])).toEqual([
      [14, 15],
    ]);
  });

  test("is read from inside a hole at the first batch after it", () => {
    const fixture = new CleanerFixture(SMALL);
    const log = fixture.log();
    fill(log, 10);
    fixture.clean();

    for (const from of [0, 3, 7, 13, 14]) {
      expect(log.read(from, 1, log.logEndOffset, true).batches[0]?.baseOffset).toBe(14);
    }
    expect(log.read(0, 1, 14, true).batches).toEqual([]);
  });

  test("is cleaned again only when there is more dirt than min.cleanable.dirty.ratio", () => {
    const fixture = new CleanerFixture(SMALL);
    const log = fixture.log();
    fill(log, 10);
    fixture.clean();

    fixture.clean();
    expect(fixture.cleaned.length).toBe(1);

    fill(log, 10, 10);
    fixture.clean();
    expect(fixture.cleaned.length).toBe(2);
    expect(fixture.disk.text("data/cleaner-offset-checkpoint")).toBe("0\n1\norders 0 36\n");
  });

  test("is not touched from the high watermark on", () => {
    const fixture = new CleanerFixture(SMALL);
    const log = fixture.log();
    fill(log, 10);
    fixture.highWatermark = 11;

    fixture.clean();

    expect(contentsOf(log).slice(0, 3)).toEqual(["6:a=3", "7:b=3", "8:a=4"]);
    expect(fixture.disk.text("data/cleaner-offset-checkpoint")).toBe("0\n1\norders 0 8\n");
  });

  test("that is not compacted is left alone", () => {
    const fixture = new CleanerFixture({ ...SMALL, "cleanup.policy": "delete" });
    fill(fixture.log(), 10);

    fixture.clean();

    expect(fixture.cleaned).toEqual([]);
  });
});

test("the dirtiest log comes first, and all have their turn before the cleaner rests", () => {
  const fixture = new CleanerFixture(SMALL);
  fill(fixture.log("orders", 1), 30);
  fill(fixture.log("orders", 0), 30);
  fixture.clean();
  fixture.cleaned.length = 0;
  fill(fixture.log("orders", 0), 10, 30);
  fill(fixture.log("orders", 1), 20, 30);
  fill(fixture.log("payments", 0), 10);

  fixture.clean();

  expect(fixture.cleaned.map(({ log }) => log)).toEqual(["payments-0", "orders-1", "orders-0"]);
  expect(fixture.idle).toBe(2);
});

describe("old segments go", () => {
  test("of a log that is compacted and also deleted, as time and size have it", () => {
    const fixture = new CleanerFixture({
      ...SMALL,
      "cleanup.policy": "compact,delete",
      "retention.ms": 60_000,
    });
    const log = fixture.log();
    fill(log, 10);
    fixture.clean();
    expect(log.logStartOffset).toBe(0);

    fixture.clock.advanceMs(9_000 + 60_001);
    fixture.clean();

    expect(log.logStartOffset).toBe(20);
    expect(log.segmentBaseOffsets).toEqual([20]);
  });

  test("of one that is only compacted, if its start has moved past them", () => {
    const config = { "retention.ms": 0, "min.cleanable.dirty.ratio": 0.1 };
    const fixture = new CleanerFixture({ ...SMALL, ...config });
    const log = fixture.log();
    fill(log, 10);
    fixture.clock.advanceMs(1_000_000);

    log.advanceLogStart(10);
    fixture.clean();

    expect(contentsOf(log)).toEqual(["14:a=7", "15:b=7", ...lastTwo(8), ...lastTwo(9)]);
    expect(log.logStartOffset).toBe(10);
    log.advanceLogStart(17);
    fixture.clean();
    expect(log.segmentBaseOffsets).toEqual([16]);
  });
});

describe("after a restart", () => {
  test("the checkpoint is heeded, and one that lies beyond the log is reset", () => {
    const fixture = new CleanerFixture(SMALL);
    fill(fixture.log(), 10);
    fixture.clean();
    fixture.start();
    fixture.clean();
    expect(fixture.cleaned.length).toBe(1);

    const lying = "0\n1\norders 0 21\n";
    fixture.disk.replace(
      "data/cleaner-offset-checkpoint",
      Uint8Array.from(lying, (character) => character.charCodeAt(0)),
    );
    fixture.start();
    fixture.clean();
    expect(fixture.disk.text("data/cleaner-offset-checkpoint")).toBe("0\n1\norders 0 16\n");
    expect(fixture.cleaned.length).toBe(2);
  });

  test("a cleaned log is recovered whole: offsets, epochs, and what is known of producers", () => {
    const fixture = new CleanerFixture(SMALL);
    const log = fixture.log();
    const sent = { producerId: 7, producerEpoch: 0 };
    write(log, "a=0 b=0", { ...sent, baseSequence: 0 }, 1);
    write(log, "a=1 b=1", { ...sent, baseSequence: 2 }, 1);
    for (let i = 2; i < 10; i++) write(log, `a=${i} b=${i}`, {}, i < 5 ? 2 : 3);
    fixture.clean();
    const before = contentsOf(log);
    const { entries } = log.epochs;
    expect(before[0]).toBe("[2-3]");

    fixture.start();

    const again = fixture.log();
    expect(contentsOf(again)).toEqual(before);
    expect(again.logEndOffset).toBe(20);
    expect(again.epochs.entries).toEqual(entries);
    const repeated = keyedBatch("a=1 b=1", 1_000_000, { ...sent, baseSequence: 2 });
    expect(again.appendAsLeader([repeated], 3)).toMatchObject({ duplicate: true, firstOffset: 2 });
  });
});

describe("a process that dies while it cleans", () => {
  test.each([["crash"], ["powerOff"]] as const)(
    "leaves a log that is cleaned, or is not, by a %s before any of its disk calls",
    (how) => {
      const calls = callsOfCleaning();
      const outcomes = new Set<string>();
      for (let i = 0; i < calls; i++) {
        const fixture = new CleanerFixture(SMALL);
        fill(fixture.log(), 10);
        fixture.log().flush();
        const before = contentsOf(fixture.log());
        fixture.disk.callsLeft = i;
        expect(() => fixture.clean()).toThrow(Crash);
        fixture.disk.callsLeft = Number.POSITIVE_INFINITY;
        fixture.disk[how]();

        fixture.start();

        const after = contentsOf(fixture.log());
        const isCleaned = after.length < before.length;
        outcomes.add(isCleaned ? "cleaned" : "as it was");
        expect(after).toEqual(
          isCleaned ? ["14:a=7", "15:b=7", ...lastTwo(8), ...lastTwo(9)] : before,
        );
        expect(fixture.log().logEndOffset).toBe(20);
        fixture.clean();
        expect(contentsOf(fixture.log())[0]).toBe("14:a=7");
      }
      expect(outcomes).toEqual(new Set(["as it was", "cleaned"]));
    },
  );
});

describe("a run is given up", () => {
  test("if the log is cut below its active segment, and begins again where it was cut", () => {
    const fixture = new CleanerFixture(SMALL);
    const log = fixture.log();
    fill(log, 10);
    fixture.clean();
    fill(log, 10, 10);
    fixture.cleaner.run();

    log.truncateTo(14);
    fixture.endSyncs();

    expect(fixture.cleaned.length).toBe(1);
    expect(log.read(0, 1, 14, true).batches).toEqual([]);
    expect(log.logEndOffset).toBe(14);
    expect(fixture.disk.text("data/cleaner-offset-checkpoint")).toBe("0\n1\norders 0 0\n");
    expect(fixture.disk.list("data/orders-0").filter((name) => name.endsWith(".cleaned"))).toEqual(
      [],
    );
    fill(log, 10, 20);
    fixture.clean();
    expect(fixture.cleaned.length).toBe(2);
  });

  test("but not if only the active segment is cut", () => {
    const fixture = new CleanerFixture(SMALL);
    const log = fixture.log();
    fill(log, 10);
    fixture.cleaner.run();

    log.truncateTo(18);
    fixture.endSyncs();

    expect(fixture.cleaned.length).toBe(1);
    expect(contentsOf(log)).toEqual(["14:a=7", "15:b=7", ...lastTwo(8)]);
  });

  test("if the log is removed, whose checkpoint goes with it", () => {
    const fixture = new CleanerFixture(SMALL);
    fill(fixture.log("orders", 1), 10);
    fixture.clean();
    fill(fixture.log("orders", 0), 10);
    fixture.cleaner.run();

    fixture.logs.remove("orders-0");
    fixture.logs.remove("orders-1");
    fixture.endSyncs();

    expect(fixture.cleaned.map(({ log }) => log)).toEqual(["orders-1"]);
    expect(fixture.disk.text("data/cleaner-offset-checkpoint")).toBe("0\n0\n");
    expect(fixture.idle).toBe(2);
  });

  test("if the disk fails it, which its broker hears", () => {
    const fixture = new CleanerFixture(SMALL);
    fill(fixture.log(), 10);
    fixture.disk.failure = "ENOSPC";

    fixture.cleaner.run();

    expect(fixture.errors.map(({ code }) => code)).toEqual(["ENOSPC"]);
    expect(fixture.idle).toBe(1);
    fixture.disk.failure = undefined;
    fixture.clean();
    expect(fixture.cleaned.length).toBe(1);
  });

  test("if an fsync fails", () => {
    const fixture = new CleanerFixture(SMALL);
    fill(fixture.log(), 10);
    fixture.endSyncs();
    fixture.cleaner.run();

    fixture.endSyncs(false);

    expect(fixture.errors.map(({ code, path }) => [code, path])).toEqual([
      ["EIO", "data/orders-0"],
    ]);
    expect(fixture.cleaned).toEqual([]);
  });
});

test("a log that cannot be read is left alone from then on, and others are not kept from their turn", () => {
  const fixture = new CleanerFixture(SMALL);
  fill(fixture.log("orders", 0), 10);
  fill(fixture.log("orders", 1), 6);
  const path = "data/orders-0/00000000000000000004.log";
  const bytes = fixture.disk.content(path);
  // The length of the first batch of a segment.
  bytes[8] = 0xff;
  fixture.disk.replace(path, bytes);

  fixture.clean();
  fixture.clean();

  expect(fixture.cleaned.map(({ log }) => log)).toEqual(["orders-1"]);
  expect(fixture.errors).toEqual([]);
});

test("a follower takes what is left of a cleaned log, holes and all", () => {
  const leader = new CleanerFixture(SMALL);
  const follower = new CleanerFixture(SMALL);
  fill(leader.log(), 10);
  leader.clean();
  const copy = follower.log();

  let at = 0;
  while (at < leader.log().logEndOffset) {
    const { batches } = leader.log().read(at, 100, leader.log().logEndOffset, true);
    expect(copy.appendAsFollower(batches, 0).appended).toEqual(batches);
    at = copy.logEndOffset;
  }

  expect(contentsOf(copy)).toEqual(contentsOf(leader.log()));
  expect(copy.logEndOffset).toBe(20);
  follower.start();
  expect(contentsOf(follower.log())).toEqual(contentsOf(leader.log()));
});

/** How many disk calls a run over a log makes. */
function callsOfCleaning(): number {
  const fixture = new CleanerFixture(SMALL);
  fill(fixture.log(), 10);
  fixture.log().flush();
  const before = fixture.disk.calls.length;
  fixture.clean();
  return fixture.disk.calls.length - before;
}

/** Batches of two records, keys a and b, values from `first` on. */
function fill(log: PartitionLog, batches: number, first = 0): void {
  for (let i = first; i < first + batches; i++) write(log, `a=${i} b=${i}`);
}

function lastTwo(value: number): readonly string[] {
  return [`${2 * value}:a=${value}`, `${2 * value + 1}:b=${value}`];
}
