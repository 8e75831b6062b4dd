import { expect, test } from "vitest";
import { byNumber, byText } from "../../../src/base/order.ts";
import type { DiskOptions } from "../../../src/disk/disk-options.ts";
import type { SimulatedDisk } from "../../../src/disk/simulated-disk.ts";
import type { UnflushedMode } from "../../../src/ports/hands.ts";
import { UNFLUSHED } from "../../../src/ports/hands.ts";
import { asText, bytes, expectBytes, FSYNC, Machine, PLAIN_DISK } from "./machine.ts";

const PAGE = 4_096;
const SECTOR = 512;
const OLD = 100;
const SEEDS = Array.from({ length: 60 }, (_, i) => `seed ${i}`);

/** What power-offs of a mode leave, one a seed: `durable` is done and synced, `unflushed` follows. */
function powerOffs(
  mode: UnflushedMode,
  durable: (disk: SimulatedDisk) => void,
  unflushed: (disk: SimulatedDisk) => void,
  options: DiskOptions = PLAIN_DISK,
): Machine[] {
  return SEEDS.map((seed) => {
    const machine = new Machine(options, seed);
    machine.step((disk) => {
      durable(disk);
      for (const { path } of disk.files()) disk.open(path).sync();
    });
    machine.advance(100 * FSYNC);
    machine.step(unflushed);
    machine.powerCycle(mode);
    return machine;
  });
}

/** How many sectors of a page are those of `fresh`, if all others are those of `old` (zeros after its end). */
function freshSectors(page: Uint8Array, fresh: Uint8Array, old: Uint8Array): number {
  const differs = (at: number): boolean => (fresh[at] ?? 0) !== (old[at] ?? 0);
  const isFresh = (at: number): boolean => differs(at) && (page[at] ?? 0) === (fresh[at] ?? 0);
  let sectors = 0;
  for (let at = 0; at < PAGE; at++) if (isFresh(at)) sectors = Math.floor(at / SECTOR) + 1;
  const expected = Uint8Array.from({ length: page.length }, (_, at) =>
    at < sectors * SECTOR ? (fresh[at] ?? 0) : (old[at] ?? 0),
  );
  expectBytes(page, expected);
  return sectors;
}

test("torn pages tear at sectors: each is kept, lost, or new before a sector and old after it", () => {
  const size = 4 * PAGE;
  const [fresh, old] = [bytes(size), bytes(size, OLD)];

  const machines = powerOffs(
    "torn",
    (disk) => disk.open("file").write(0, old),
    (disk) => disk.open("file").write(0, fresh),
  );

  const cuts = machines.flatMap((machine) => {
    const content = machine.content("file");
    expect(content.length).toBe(size);
    const sectors = [0, 1, 2, 3].map((page) => {
      const part = (all: Uint8Array): Uint8Array => all.slice(page * PAGE, (page + 1) * PAGE);
      return freshSectors(part(content), part(fresh), part(old));
    });
    const lost = sectors.reduce((sum, each) => sum + (PAGE - each * SECTOR), 0);
    expect(machine.losses().map((loss) => loss.bytes)).toEqual(lost === 0 ? [] : [lost]);
    return sectors;
  });
  // Whole pages, none of them, and every place between two sectors.
  expect([...new Set(cuts)].sort(byNumber)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  // Pages of one file fare differently.
  expect(cuts.some((_, i) => i % 4 === 0 && new Set(cuts.slice(i, i + 4)).size > 2)).toBe(true);
});

test("a torn tail: durable bytes stay, lost pages read as zeros, and the last page is cut", () => {
  const written = bytes(30_000);
  const [durable, size] = [6_000, written.length];

  const machines = powerOffs(
    "torn",
    (disk) => disk.open("log").write(0, written, 0, durable),
    (disk) => disk.open("log").write(durable, written, durable),
  );

  const fates = machines.flatMap((machine) => {
    const content = machine.content("log");
    // It is the only file, so its tail is the one that must be torn: its size covers the last page.
    expect(content.length).toBe(size);
    expectBytes(content.slice(0, durable), written.slice(0, durable));
    const pages = [1, 2, 3, 4, 5, 6, 7].map((page) => {
      const part = (all: Uint8Array): Uint8Array => all.slice(page * PAGE, (page + 1) * PAGE);
      const before = page === 1 ? part(written).slice(0, durable - PAGE) : new Uint8Array(0);
      return freshSectors(part(content), part(written), before);
    });
    const last = pages.pop() ?? 0;
    expect(last).toBeGreaterThanOrEqual(1);
    expect(last).toBeLessThan((size % PAGE) / SECTOR);
    return pages;
  });
  expect(fates).toContain(0);
  expect(fates).toContain(8);
  expect(fates.filter((sectors) => sectors > 0 && sectors < 8).length).toBeGreaterThan(50);
});

test("of a torn tail within one sector nothing came through, though the size covers it", () => {
  const written = bytes(700);

  const machines = powerOffs(
    "torn",
    (disk) => disk.open("log").write(0, written, 0, 600),
    (disk) => disk.open("log").write(600, written, 600),
  );

  for (const machine of machines) {
    expectBytes(
      machine.content("log"),
      Uint8Array.of(...written.slice(0, 600), ...Array(100).fill(0)),
    );
    expect(machine.losses().map((loss) => loss.bytes)).toEqual([100]);
  }
});

test("where tails are unflushed, at least one is torn, and it is not always the same", () => {
  const names = ["a", "b", "c"];
  const written = bytes(3_000);

  const machines = powerOffs(
    "torn",
    (disk) => {
      for (const name of names) disk.open(name);
    },
    (disk) => {
      for (const name of names) disk.open(name).write(0, written);
    },
  );

  const torn = machines.map((machine) =>
    names
      .filter((name) => {
        const content = machine.content(name);
        if (content.length === 0) return false;
        const sectors = freshSectors(content, written, new Uint8Array(0));
        return sectors > 0 && sectors < 6;
      })
      .join(),
  );
  expect(torn).not.toContain("");
  expect(new Set(torn)).toEqual(new Set(["a", "b", "c", "a,b", "a,c", "b,c", "a,b,c"]));
});

test("a device with sectors of a page tears no page", () => {
  const written = bytes(5 * PAGE);

  const machines = powerOffs(
    "torn",
    (disk) => disk.open("log"),
    (disk) => disk.open("log").write(0, written),
    { ...PLAIN_DISK, sector: PAGE },
  );

  for (const machine of machines) {
    const content = machine.content("log");
    for (let at = 0; at < content.length; at += PAGE) {
      const page = content.slice(at, at + PAGE);
      const whole = [written.slice(at, at + PAGE), new Uint8Array(PAGE)];
      expect(whole.map(asText)).toContain(asText(page));
    }
  }
});

test("a random prefix of what was appended survives, and nothing after it", () => {
  const written = bytes(20_000);

  const machines = powerOffs(
    "random-prefix",
    (disk) => disk.open("log").write(0, written, 0, 5_000),
    (disk) => disk.open("log").write(5_000, written, 5_000),
  );

  const sizes = machines.map((machine) => {
    const content = machine.content("log");
    expect(content.length).toBeGreaterThanOrEqual(5_000);
    expectBytes(content, written.slice(0, content.length));
    const lost = written.length - content.length;
    expect(machine.losses().map((loss) => loss.bytes)).toEqual(lost === 0 ? [] : [lost]);
    return content.length;
  });
  expect(new Set(sizes).size).toBeGreaterThan(50);
  expect(Math.min(...sizes)).toBeLessThan(7_000);
  expect(Math.max(...sizes)).toBeGreaterThan(18_000);
});

test("in mode kept all survives, and is durable from then on", () => {
  const machines = powerOffs(
    "kept",
    (disk) => disk.open("log").write(0, bytes(100)),
    (disk) => {
      disk.open("log").write(50, bytes(5_000));
      disk.rename("log", "log.deleted");
    },
  );

  for (const machine of machines) {
    machine.powerCycle("lost");
    expectBytes(machine.content("log.deleted").slice(50), bytes(5_000));
    expect(machine.losses()).toEqual([]);
  }
});

test.each(["torn", "random-prefix"] as const)(
  "in mode %s a file was cut off as a whole or not at all, and what is new comes after the cut",
  (mode) => {
    const old = bytes(10_000, OLD);
    const fresh = bytes(2_000);

    const machines = powerOffs(
      mode,
      (disk) => disk.open("log").write(0, old),
      (disk) => {
        disk.open("log").truncate(5_000);
        disk.open("log").write(5_000, fresh);
        // Another tail, for this one not to be torn each time.
        disk.open("log-2").write(0, bytes(200_000));
      },
    );

    const outcomes = machines.map((machine) => {
      const content = machine.content("log");
      if (content.length > 7_000) {
        expectBytes(content, old);
        return "undone";
      }
      expectBytes(content.slice(0, 5_000), old.slice(0, 5_000));
      const tail = content.slice(5_000);
      expect(tail.every((byte, i) => byte === fresh[i] || byte === 0)).toBe(true);
      return "done";
    });
    // Of 2,000 appended bytes, none survives in one of 2,001 cases: then nothing of it happened.
    expect(new Set(outcomes)).toEqual(new Set(mode === "torn" ? ["done", "undone"] : ["done"]));
  },
);

test("the tail that is torn proves the cut before it", () => {
  const machines = powerOffs(
    "torn",
    (disk) => disk.open("log").write(0, bytes(10_000, OLD)),
    (disk) => {
      disk.open("log").truncate(5_000);
      disk.open("log").write(5_000, bytes(2_000));
    },
  );

  for (const machine of machines) {
    expect(machine.content("log").length).toBe(7_000);
    expectBytes(machine.content("log").slice(5_000, 5_100), bytes(100));
  }
});

test("a preallocated end that was cut off and written to falls back to zeros", () => {
  const [machine] = powerOffs(
    "lost",
    (disk) => disk.open("index").truncate(20_000),
    (disk) => {
      disk.open("index").truncate(3_000);
      disk.open("index").sync();
      disk.open("index").write(3_000, bytes(10_000));
    },
  );

  expect(machine?.content("index")).toEqual(new Uint8Array(20_000));
});

test("torn names: the operations that survive are the first ones of the journal", () => {
  const names = ["a", "b", "c", "d", "e", "f"];

  const machines = powerOffs(
    "torn",
    () => {},
    (disk) => {
      for (const name of names) disk.makeDirectory(name);
    },
  );

  const survivors = machines.map((machine) => machine.step((disk) => disk.list("")).join(""));
  expect([...new Set(survivors)].sort(byText)).toEqual([
    "",
    "a",
    "ab",
    "abc",
    "abcd",
    "abcde",
    "abcdef",
  ]);
});

test("the same seed leaves the same disk", () => {
  const leave = (): string[] =>
    powerOffs(
      "torn",
      (disk) => disk.open("log").write(0, bytes(9_000)),
      (disk) => disk.open("log").write(3_000, bytes(30_000)),
    ).map((machine) => asText(machine.content("log")));

  expect(leave()).toEqual(leave());
});

test("what a step does after a sync has not happened before that has ended, in every mode", () => {
  for (const mode of UNFLUSHED) {
    for (const seed of SEEDS) {
      const machine = new Machine(PLAIN_DISK, seed);
      machine.step((disk) => {
        disk.open("d/file").write(0, bytes(100, OLD));
        disk.open("d/file").sync();
        disk.syncDirectory("d");
      });
      machine.advance(100 * FSYNC);

      // As a checkpoint is replaced: written beside, synced, moved into place.
      machine.step((disk) => {
        const file = disk.open("d/file.tmp");
        file.write(0, bytes(3 * PAGE));
        file.sync();
        disk.rename("d/file.tmp", "d/file");
        disk.syncDirectory("d");
      });
      // Meanwhile another step of the same process creates a file, and has it on disk.
      machine.step((disk) => disk.open("d/other").syncLater(0));
      machine.advance(FSYNC - 1);
      machine.powerCycle(mode);

      expectBytes(machine.content("d/file"), bytes(100, OLD));
    }
  }
});

test("what was cut off a file stays off, in every mode, once a later sync of another file has ended", () => {
  for (const mode of UNFLUSHED) {
    for (const seed of SEEDS) {
      const machine = new Machine(PLAIN_DISK, seed);
      machine.step((disk) => {
        disk.open("log").write(0, bytes(3 * PAGE, OLD));
        disk.open("log").sync();
      });
      machine.advance(100 * FSYNC);

      machine.step((disk) => {
        disk.open("log").truncate(PAGE);
        disk.open("checkpoint").write(0, bytes(10));
        disk.open("checkpoint").sync();
      });
      machine.advance(2 * FSYNC);
      machine.powerCycle(mode);

      expectBytes(machine.content("log"), bytes(3 * PAGE, OLD).slice(0, PAGE));
    }
  }
});

const WRITTEN = bytes(30_000);
const DURABLE = 6_000;

/** What power-offs of a mode leave of a log of which 6,000 bytes are durable and 24,000 are not. */
function tails(mode: UnflushedMode, options: DiskOptions = PLAIN_DISK): Uint8Array[] {
  const machines = powerOffs(
    mode,
    (disk) => disk.open("log").write(0, WRITTEN, 0, DURABLE),
    (disk) => disk.open("log").write(DURABLE, WRITTEN, DURABLE),
    options,
  );
  return machines.map((machine) => machine.content("log"));
}

/** What has become of each page of the tail that was all unflushed. */
function fatesOf(content: Uint8Array): string[] {
  const fates: string[] = [];
  for (let at = 2 * PAGE; at < WRITTEN.length; at += PAGE) {
    const page = content.slice(at, at + PAGE);
    const whole = WRITTEN.slice(at, at + PAGE);
    const fresh = page.filter((byte, i) => byte === whole[i]).length;
    const zeros = page.filter((byte) => byte === 0).length;
    if (page.length === 0) fates.push("cut off");
    else if (fresh === page.length) fates.push("kept");
    else if (zeros === page.length) fates.push("zeros");
    // Of garbage, one byte in 256 is right by chance.
    else if (fresh < page.length / 8) fates.push("garbage");
    else fates.push("torn");
  }
  return fates;
}

test("with zeros, a file has its size and what was durable of it, and nothing else", () => {
  for (const content of tails("zeros")) {
    expectBytes(content.slice(0, DURABLE), WRITTEN.slice(0, DURABLE));
    expectBytes(content.slice(DURABLE), new Uint8Array(WRITTEN.length - DURABLE));
  }
});

test("with garbage, anything stands where the data should, but where it was durable", () => {
  const left = tails("garbage");

  for (const content of left) {
    expect(content.length).toBe(WRITTEN.length);
    expectBytes(content.slice(0, DURABLE), WRITTEN.slice(0, DURABLE));
    expect(new Set(fatesOf(content))).toEqual(new Set(["garbage"]));
  }
  expect(new Set(left.map(asText)).size).toBe(SEEDS.length);
});

test("garbage in place of what was written over never harms what was not", () => {
  const old = bytes(3 * PAGE, OLD);

  const machines = powerOffs(
    "garbage",
    (disk) => disk.open("file").write(0, old),
    (disk) => disk.open("file").write(5_000, bytes(100)),
  );

  for (const machine of machines) {
    const content = machine.content("file");
    expectBytes(content.slice(0, 5_000), old.slice(0, 5_000));
    expectBytes(content.slice(5_100), old.slice(5_100));
    expect(asText(content)).not.toBe(asText(old));
  }
});

test("with any, each page for itself meets each end", () => {
  const left = tails("any");

  const fates = left.flatMap(fatesOf);
  for (const fate of ["kept", "zeros", "garbage", "torn", "cut off"]) {
    expect(fates.filter((one) => one === fate).length, fate).toBeGreaterThan(SEEDS.length / 10);
  }
  for (const content of left) {
    expectBytes(content.slice(0, DURABLE), WRITTEN.slice(0, DURABLE));
  }
});

test("with an ordered journal a file never covers data that did not come through", () => {
  const options: DiskOptions = { ...PLAIN_DISK, journal: "ordered" };
  const lengths = new Map(
    UNFLUSHED.map((mode) => {
      const left = tails(mode, options);
      for (const content of left) expectBytes(content, WRITTEN.slice(0, content.length));
      return [mode, left.map(({ length }) => length)];
    }),
  );

  expect(new Set(lengths.get("zeros"))).toEqual(new Set([DURABLE]));
  expect(new Set(lengths.get("garbage"))).toEqual(new Set([DURABLE]));
  expect(new Set(lengths.get("any")).size).toBeGreaterThan(4);
  for (const length of lengths.get("torn") ?? []) expect(length).toBeLessThan(WRITTEN.length);
});

test("a file that is moved over another is there with its data, if the journal is ordered", () => {
  const outcomes = (journal: DiskOptions["journal"], mode: UnflushedMode): string[] => {
    const machines = powerOffs(
      mode,
      (disk) => disk.open("checkpoint").write(0, bytes(100, OLD)),
      (disk) => {
        disk.open("checkpoint.tmp").write(0, bytes(3 * PAGE));
        disk.rename("checkpoint.tmp", "checkpoint");
      },
      { ...PLAIN_DISK, journal },
    );
    return machines.map((machine) => {
      const content = machine.content("checkpoint");
      const whole = [bytes(100, OLD), bytes(3 * PAGE)].map(asText).indexOf(asText(content));
      return ["old", "new"][whole] ?? "neither";
    });
  };

  for (const mode of UNFLUSHED) {
    expect(outcomes("ordered", mode), mode).not.toContain("neither");
  }
  expect(new Set(outcomes("ordered", "torn"))).toEqual(new Set(["old", "new"]));
  expect(outcomes("ordered", "zeros")).toContain("new");
  expect(outcomes("writeback", "torn")).toContain("neither");
  expect(outcomes("writeback", "zeros")).toContain("neither");
});
