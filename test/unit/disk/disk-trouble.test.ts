import { describe, expect, test } from "vitest";
import type { SimulatedDisk } from "../../../src/disk/simulated-disk.ts";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import type { DiskArea, DiskFailure } from "../../../src/ports/disk-failure.ts";
import { WHOLE_DISK } from "../../../src/ports/disk-failure.ts";
import { always, bytes, expectBytes, FSYNC, Machine, PLAIN_DISK, WRITEBACK } from "./machine.ts";

const LOG = "data/orders-0/00000000000000000000.log";
const INDEX = "data/orders-0/00000000000000000000.index";
const OTHER = "data/orders-1/00000000000000000000.log";
const PAGE = 4_096;
const ALWAYS = { times: 1, outOf: 1 };

function failure(kind: DiskFailure["kind"], more: Partial<DiskFailure> = {}): DiskFailure {
  return {
    kind,
    area: WHOLE_DISK,
    chance: ALWAYS,
    count: Number.POSITIVE_INFINITY,
    evict: true,
    ...more,
  };
}

function area(more: Partial<DiskArea>): DiskArea {
  return { ...WHOLE_DISK, ...more };
}

/** A machine on which the given files are durable. */
function machineWith(files: Readonly<Record<string, Uint8Array>>, seed = "seed"): Machine {
  const machine = new Machine(PLAIN_DISK, seed);
  machine.step((disk) => {
    for (const [path, content] of Object.entries(files)) {
      const file = disk.open(path);
      file.write(0, content);
      file.sync();
    }
  });
  machine.advance(100 * FSYNC);
  return machine;
}

function write(machine: Machine, path: string, position: number, data: Uint8Array): void {
  machine.step((disk) => disk.open(path).write(position, data));
}

/** What happens to one call: the code of its error, or nothing. */
function errorOf(machine: Machine, call: (disk: SimulatedDisk) => void): string | undefined {
  return machine.step((disk) => {
    try {
      call(disk);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    return undefined;
  });
}

function bites(machine: Machine): { readonly how: string; readonly path: string }[] {
  return machine.facts.flatMap((fact) => {
    return fact.kind === "disk-disturbed" ? [{ how: fact.how, path: fact.path }] : [];
  });
}

function read(path: string): (disk: SimulatedDisk) => void {
  return (disk) => disk.open(path).read(0, 100_000);
}

describe("a disk that cannot be read", () => {
  test("fails reads that the page cache cannot answer, and no others, until it is healed", () => {
    const machine = machineWith({ [LOG]: bytes(10_000), [INDEX]: bytes(16) });
    write(machine, LOG, 10_000, bytes(10_000));

    const heal = machine.disk.trouble.fail(failure("read-error", { area: area({ file: "log" }) }));

    expect(errorOf(machine, read(LOG))).toBe(`EIO: ${LOG}`);
    expect(errorOf(machine, (disk) => disk.open(LOG).read(3 * PAGE, 100))).toBeUndefined();
    expect(errorOf(machine, read(INDEX))).toBeUndefined();
    expect(bites(machine)).toEqual([{ how: "read-error", path: LOG }]);
    heal();
    expectBytes(machine.content(LOG), new Uint8Array([...bytes(10_000), ...bytes(10_000)]));
  });

  test("is not noticed while all is in the page cache, but after the next power-off", () => {
    const machine = machineWith({ [LOG]: bytes(10_000) });
    machine.disk.trouble.fail(failure("read-error", { evict: false }));

    expect(errorOf(machine, read(LOG))).toBeUndefined();
    machine.crash();
    expect(errorOf(machine, read(LOG))).toBeUndefined();
    machine.powerCycle("lost");
    expect(errorOf(machine, read(LOG))).toBe(`EIO: ${LOG}`);
  });

  test("fails as often as it is told to, and with the chance that it is told", () => {
    const machine = machineWith({ [LOG]: bytes(100 * PAGE) });
    machine.disk.trouble.fail(failure("read-error", { count: 2 }));
    expect(errorOf(machine, read(LOG))).toBeDefined();
    expect(errorOf(machine, read(LOG))).toBeDefined();
    expect(errorOf(machine, read(LOG))).toBeUndefined();
    expect(machine.disk.trouble.isAny).toBe(false);

    machine.disk.trouble.fail(failure("read-error", { chance: { times: 1, outOf: 2 } }));
    const errors = Array.from({ length: 100 }, (_, page) =>
      errorOf(machine, (disk) => disk.open(LOG).read(page * PAGE, 10)),
    ).filter(Boolean);

    expect(errors.length).toBeGreaterThan(30);
    expect(errors.length).toBeLessThan(70);
  });

  test("makes those ask the disk who remember what they wrote", () => {
    const machine = machineWith({ [LOG]: bytes(100) });
    const files = machine.step((disk) => [disk.open(LOG), disk.open(OTHER)]);

    machine.disk.trouble.fail(failure("read-error", { area: area({ log: "orders-0" }) }));

    expect(files.map(({ pristine }) => pristine)).toEqual([false, true]);
  });
});

describe("a disk that cannot be written", () => {
  const CHANGES: [string, (disk: SimulatedDisk) => void][] = [
    ["a write", (disk) => disk.open(LOG).write(0, bytes(10))],
    ["a shared write", (disk) => disk.open(LOG).writeShared(100, bytes(10))],
    ["a cut", (disk) => disk.open(LOG).truncate(10)],
    ["a rename", (disk) => disk.rename(LOG, `${LOG}.deleted`)],
    ["a removal", (disk) => disk.remove(LOG)],
    ["a new file", (disk) => disk.open(`${LOG}.cleaned`)],
    ["a new directory", (disk) => disk.makeDirectory("data/orders-2")],
  ];

  test.each(CHANGES)("fails %s, which then has not happened", (_, change) => {
    const machine = machineWith({ [LOG]: bytes(100) });
    const heal = machine.disk.trouble.fail(failure("write-error"));

    expect(errorOf(machine, change)).toMatch(/^EIO: data/);

    expect(machine.disk.files().map(({ path }) => path)).toEqual([LOG]);
    expectBytes(machine.content(LOG), bytes(100));
    expect(bites(machine)[0]?.how).toBe("write-error");
    heal();
    expect(errorOf(machine, change)).toBeUndefined();
  });

  test.each(CHANGES)("refuses %s with EROFS once it is mounted read-only", (_, change) => {
    const machine = machineWith({ [LOG]: bytes(100) });
    const heal = machine.disk.trouble.lock(WHOLE_DISK);

    expect(errorOf(machine, change)).toMatch(/^EROFS: data/);

    expect(bites(machine)[0]?.how).toBe("read-only");
    heal();
    expect(errorOf(machine, change)).toBeUndefined();
  });

  test("read-only, it reads on, and has nothing to sync but what is dirty already", () => {
    const machine = machineWith({ [LOG]: bytes(100), [OTHER]: bytes(100) });
    const [log, other] = machine.step((disk) => [disk.open(LOG), disk.open(OTHER)]);
    machine.step(() => log?.write(100, bytes(10)));
    machine.disk.trouble.lock(WHOLE_DISK);

    expect(errorOf(machine, () => log?.read(0, 10))).toBeUndefined();
    expect(errorOf(machine, () => other?.sync())).toBeUndefined();
    expect(errorOf(machine, () => log?.sync())).toBe(`EROFS: ${LOG}`);
  });

  test("fails only in its own log directory", () => {
    const machine = machineWith({ "one/orders-0/x": bytes(1), "two/orders-0/x": bytes(1) });

    machine.disk.trouble.fail(failure("write-error", { area: area({ directory: "two" }) }));

    const append = (path: string) => (disk: SimulatedDisk) => disk.open(path).write(1, bytes(1));
    expect(errorOf(machine, append("one/orders-0/x"))).toBeUndefined();
    expect(errorOf(machine, append("two/orders-0/x"))).toBe("EIO: two/orders-0/x");
  });
});

describe("a full disk", () => {
  test("takes what needs no room, and no more than is left; what is removed is free again", () => {
    const machine = machineWith({ [LOG]: bytes(1_000), [OTHER]: bytes(500) });
    const heal = machine.disk.trouble.fill(WHOLE_DISK, 300);
    const append = (length: number) => (disk: SimulatedDisk) => {
      const file = disk.open(LOG);
      file.write(file.size, bytes(length));
    };

    expect(errorOf(machine, append(300))).toBeUndefined();
    expect(errorOf(machine, append(1))).toBe(`ENOSPC: ${LOG}`);
    expect(errorOf(machine, (disk) => disk.open("data/new"))).toBe("ENOSPC: data/new");
    expect(errorOf(machine, (disk) => disk.open(LOG).write(0, bytes(1_300)))).toBeUndefined();
    machine.step((disk) => disk.open(LOG).truncate(1_250));
    expect(errorOf(machine, append(51))).toBeDefined();
    expect(errorOf(machine, append(50))).toBeUndefined();
    machine.step((disk) => disk.remove("data/orders-1"));
    expect(errorOf(machine, append(500))).toBeUndefined();
    expect(errorOf(machine, append(1))).toBeDefined();
    heal();
    expect(errorOf(machine, append(100_000))).toBeUndefined();
  });
});

describe("a disk that is slow at times", () => {
  test("answers nothing while it stalls, and all of it at the end", () => {
    const machine = new Machine();
    const file = machine.step((disk) => disk.open(LOG));
    machine.disk.stall(5_000, "all");
    machine.advance(1_000);

    const departures = machine.step(() => {
      file.write(0, bytes(1));
      const written = machine.host.departure();
      file.sync();
      return [written, machine.host.departure()];
    });

    expect(departures).toEqual([5_000, 5_000 + FSYNC]);
    machine.advance(10_000);
    const { now } = machine.scheduler;
    const later = machine.step(() => {
      file.read(0, 1);
      return machine.host.departure();
    });
    expect(later).toBe(now);
  });

  test("holds only fsyncs if only they stall", () => {
    const machine = new Machine();
    const file = machine.step((disk) => disk.open(LOG));
    machine.disk.stall(5_000, "fsync");

    const departures = machine.step(() => {
      file.write(0, bytes(1));
      const written = machine.host.departure();
      file.sync();
      return [written, machine.host.departure()];
    });

    expect(departures).toEqual([0, 5_000 + FSYNC]);
  });

  test("takes longer now and then, drawing from dice of its own", () => {
    const latencies = (isSpiking: boolean): number[] => {
      const write = { draw: (random: { below(bound: number): number }) => random.below(100) };
      const machine = new Machine({ ...PLAIN_DISK, write });
      const file = machine.step((disk) => disk.open(LOG));
      if (isSpiking) machine.disk.spike({ times: 1, outOf: 4 }, always(10_000));
      return machine.step(() =>
        Array.from({ length: 100 }, (_, i) => {
          const before = machine.host.departure();
          file.write(i, bytes(1));
          return machine.host.departure() - before;
        }),
      );
    };

    const steady = latencies(false);
    const spiking = latencies(true);

    expect(spiking.map((latency) => latency % 10_000)).toEqual(steady);
    expect(spiking.filter((latency) => latency >= 10_000).length).toBeGreaterThan(10);
    expect(spiking.filter((latency) => latency < 10_000).length).toBeGreaterThan(50);
  });
});

describe("an fsync that fails", () => {
  function failed(): Machine {
    const machine = machineWith({ [LOG]: bytes(1_000) });
    write(machine, LOG, 1_000, bytes(9_000, 9));
    machine.disk.trouble.fail(failure("fsync-error", { count: 1 }));
    expect(errorOf(machine, (disk) => disk.open(LOG).sync())).toBe(`EIO: ${LOG}`);
    return machine;
  }
  const written = new Uint8Array([...bytes(1_000), ...bytes(9_000, 9)]);

  test("drops what it was to write, so that the next one promises what is not there", () => {
    const machine = failed();

    expectBytes(machine.content(LOG), written);
    machine.step((disk) => disk.open(LOG).sync());
    machine.advance(FSYNC);
    machine.powerCycle("kept");

    const left = machine.content(LOG);
    expect(left.length).toBe(10_000);
    expectBytes(left.slice(0, 1_000), bytes(1_000));
    expectBytes(left.slice(1_000), new Uint8Array(9_000));
    expect(bites(machine)).toEqual([
      { how: "fsync-error", path: LOG },
      { how: "fsync-error", path: LOG },
    ]);
    expect(machine.losses()).toEqual([]);
  });

  test("loses nothing of a page that is written to again, and then flushed", () => {
    const machine = failed();
    write(machine, LOG, 10_000, bytes(100));
    machine.step((disk) => disk.open(LOG).sync());
    machine.advance(FSYNC);

    machine.powerCycle("kept");

    const left = machine.content(LOG);
    expectBytes(left.slice(2 * PAGE), new Uint8Array([...written, ...bytes(100)]).slice(2 * PAGE));
    expectBytes(left.slice(PAGE, 2 * PAGE), new Uint8Array(PAGE));
  });

  test("loses such a page after all if it is not flushed again", () => {
    const machine = failed();
    write(machine, LOG, 10_000, bytes(100));

    machine.powerCycle("lost");

    const left = machine.content(LOG);
    expect(left.length).toBe(10_000);
    expectBytes(left.slice(1_000), new Uint8Array(9_000));
  });

  test("tells a sync in the background that it failed", () => {
    const machine = machineWith({ [LOG]: bytes(1_000) });
    write(machine, LOG, 1_000, bytes(10));
    machine.disk.trouble.fail(failure("fsync-error", { count: 1 }));

    machine.step((disk) => {
      disk.open(LOG).syncLater(1);
      disk.open(LOG).syncLater(2);
    });
    machine.advance(10 * FSYNC);

    expect(machine.synced.map(({ ticket, ok }) => ({ ticket, ok }))).toEqual([
      { ticket: 1, ok: false },
      { ticket: 2, ok: true },
    ]);
  });

  test("of a directory leaves its names not durable", () => {
    const machine = machineWith({ [LOG]: bytes(1) });
    machine.disk.trouble.fail(failure("fsync-error", { count: 1 }));
    machine.step((disk) => disk.rename(LOG, OTHER.replace("orders-1", "orders-0")));
    machine.step((disk) => disk.rename(LOG, `${LOG}.deleted`));

    expect(errorOf(machine, (disk) => disk.syncDirectory("data/orders-0"))).toBeDefined();
    machine.advance(FSYNC);
    machine.powerCycle("lost");

    expect(machine.step((disk) => disk.exists(LOG))).toBe(true);
  });
});

describe("an fsync that lies", () => {
  test("promises what the next power-off takes, also if it comes long after", () => {
    const machine = machineWith({ [LOG]: bytes(1_000) });
    machine.disk.trouble.lie(WHOLE_DISK);
    machine.step((disk) => {
      disk.open(LOG).write(1_000, bytes(500));
      disk.open(LOG).sync();
      disk.open(OTHER).write(0, bytes(10));
      disk.open(OTHER).syncLater(3);
      disk.syncDirectory("data/orders-1");
    });
    machine.advance(3 * WRITEBACK);
    expect(machine.synced).toMatchObject([{ ticket: 3, ok: true }]);

    machine.powerCycle("lost");

    expectBytes(machine.content(LOG), bytes(1_000));
    expect(machine.step((disk) => disk.exists(OTHER))).toBe(false);
    expect(bites(machine)).toEqual([
      { how: "fsync-lie", path: LOG },
      { how: "fsync-lie", path: OTHER },
    ]);
    expect(machine.losses()).toMatchObject([
      { path: LOG, bytes: 500 },
      { path: OTHER, bytes: 10 },
    ]);
  });

  test("does no harm once it has told the truth again: the next fsync, or the age, makes it so", () => {
    const left = (after: (machine: Machine) => void): number => {
      const machine = machineWith({ [LOG]: bytes(1_000) });
      const heal = machine.disk.trouble.lie(WHOLE_DISK);
      machine.step((disk) => {
        disk.open(LOG).write(1_000, bytes(500));
        disk.open(LOG).sync();
      });
      machine.advance(2 * WRITEBACK);
      heal();
      after(machine);
      machine.powerCycle("lost");
      return machine.content(LOG).length;
    };

    expect(left(() => {})).toBe(1_000);
    expect(left((machine) => machine.advance(WRITEBACK - 1))).toBe(1_000);
    expect(left((machine) => machine.advance(WRITEBACK))).toBe(1_500);
    const syncs = (machine: Machine): void => {
      machine.step((disk) => disk.open(LOG).sync());
      machine.advance(FSYNC);
    };
    expect(left(syncs)).toBe(1_500);
  });

  test("takes nothing back that was durable before, or is being flushed", () => {
    const machine = machineWith({ [LOG]: bytes(1_000) });
    write(machine, OTHER, 0, bytes(10));
    machine.advance(WRITEBACK);
    machine.step((disk) => {
      disk.open(LOG).write(1_000, bytes(500));
      disk.open(LOG).syncLater(1);
    });

    machine.disk.trouble.lie(WHOLE_DISK);
    machine.advance(FSYNC);
    machine.powerCycle("lost");

    expect(machine.content(LOG).length).toBe(1_500);
    expect(machine.content(OTHER).length).toBe(10);
  });

  test("is what one log directory does, while another is honest", () => {
    const machine = machineWith({ "one/x": bytes(1), "two/x": bytes(1) });
    machine.disk.trouble.lie(area({ directory: "two" }));
    machine.step((disk) => {
      for (const path of ["one/x", "two/x"]) {
        disk.open(path).write(1, bytes(1));
        disk.open(path).sync();
      }
    });
    machine.advance(10 * FSYNC);

    machine.powerCycle("lost");

    expect([machine.content("one/x").length, machine.content("two/x").length]).toEqual([2, 1]);
  });
});

describe("bit rot", () => {
  const content = bytes(100_000);

  function differences(machine: Machine, path = LOG): number[] {
    const seen = machine.content(path);
    return [...seen.keys()].filter((at) => seen[at] !== content[at]);
  }

  test("is seen by reads that miss the page cache, and lifted as if it had never been", () => {
    const machine = machineWith({ [LOG]: content });
    const file = machine.step((disk) => disk.open(LOG));

    const heal = machine.disk.trouble.rot({
      area: WHOLE_DISK,
      bits: 3,
      offsets: undefined,
      evict: false,
    });

    expect(file.pristine).toBe(false);
    expect(differences(machine)).toEqual([]);
    machine.crash();
    expect(differences(machine)).toEqual([]);
    expect(bites(machine)).toEqual([]);
    machine.powerCycle("lost");
    expect(differences(machine).length).toBeGreaterThan(0);
    expect(differences(machine).length).toBeLessThanOrEqual(3);
    expect(bites(machine).length).toBeGreaterThan(0);
    expect(bites(machine)).toContainEqual({ how: "bit-rot", path: LOG });
    heal();
    expect(differences(machine)).toEqual([]);
  });

  test("is seen at once where the page cache has forgotten the file", () => {
    const machine = machineWith({ [LOG]: content });

    machine.disk.trouble.rot({ area: WHOLE_DISK, bits: 1, offsets: undefined, evict: true });

    expect(differences(machine)).toHaveLength(1);
    expect(bites(machine)).toEqual([{ how: "bit-rot", path: LOG }]);
  });

  test("is gone where the page is written anew from the page cache", () => {
    const machine = machineWith({ [LOG]: content.slice(0, 1_000) });
    machine.disk.trouble.rot({ area: WHOLE_DISK, bits: 1, offsets: undefined, evict: false });
    write(machine, LOG, 1_000, content.slice(1_000, 2_000));
    machine.step((disk) => disk.open(LOG).sync());
    machine.advance(FSYNC);

    machine.powerCycle("lost");

    expectBytes(machine.content(LOG), content.slice(0, 2_000));
  });

  test("is there again if that write is lost, and stays if the page was read and changed", () => {
    const machine = machineWith({ [LOG]: content.slice(0, 1_000) });
    const heal = machine.disk.trouble.rot({
      area: WHOLE_DISK,
      bits: 1,
      offsets: undefined,
      evict: false,
    });
    write(machine, LOG, 1_000, bytes(500));

    machine.powerCycle("lost");

    expect(differences(machine)).toHaveLength(1);
    // The page is in the cache, rotten, and is flushed as it is.
    write(machine, LOG, 1_000, content.slice(1_000, 2_000));
    machine.step((disk) => disk.open(LOG).sync());
    machine.advance(FSYNC);
    heal();
    machine.powerCycle("lost");
    expect(machine.content(LOG).length).toBe(2_000);
    expect(differences(machine)).toHaveLength(1);
  });

  test("hits only what is at rest, in the files that it is told", () => {
    const machine = machineWith({ [LOG]: content, [INDEX]: content, [OTHER]: content });
    write(machine, INDEX, 50_000, content.slice(50_000));

    machine.disk.trouble.rot({
      area: area({ log: "orders-0", file: "index" }),
      bits: 50,
      offsets: undefined,
      evict: true,
    });
    machine.powerCycle("kept");

    expect(differences(machine)).toEqual([]);
    expect(differences(machine, OTHER)).toEqual([]);
    expect(differences(machine, INDEX).length).toBeGreaterThan(20);
    for (const at of differences(machine, INDEX)) expect(at).toBeLessThan(50_000);
    const unflushed = new Machine();
    write(unflushed, LOG, 0, content);
    unflushed.disk.trouble.rot({ area: WHOLE_DISK, bits: 5, offsets: undefined, evict: true });
    unflushed.powerCycle("kept");
    expect(differences(unflushed)).toEqual([]);
  });

  test("can be confined to the batches of some offsets", () => {
    const batches = Array.from({ length: 100 }, (_, i) =>
      buildBatch([{ timestamp: 0, value: bytes(200, i) }], { baseOffset: i }),
    );
    const log = new Uint8Array(batches.flatMap((batch) => [...batch.bytes]));
    const machine = machineWith({ [LOG]: log });

    machine.disk.trouble.rot({
      area: WHOLE_DISK,
      bits: 20,
      offsets: { from: 40, to: 42 },
      evict: true,
    });

    const size = batches[0]?.sizeInBytes ?? 0;
    const seen = machine.content(LOG);
    const rotten = [...seen.keys()].filter((at) => seen[at] !== log[at]);
    expect(rotten.length).toBeGreaterThan(5);
    expect(new Set(rotten.map((at) => Math.floor(at / size)))).toEqual(new Set([40, 41]));
  });
});

describe("pages that go astray", () => {
  const page = (path: string, number: number, machine: Machine): Uint8Array =>
    machine.content(path).slice(number * PAGE, (number + 1) * PAGE);

  test("a misdirected write leaves its place as it was, and is found in another of its area", () => {
    const [a, b] = [bytes(8 * PAGE, 1), bytes(8 * PAGE, 100)];
    const machine = machineWith({ [LOG]: a, [OTHER]: b });
    machine.disk.trouble.fail(
      failure("misdirected-write", { count: 1, area: area({ log: "orders-0" }) }),
    );
    const fresh = new Uint8Array(PAGE).fill(7);

    write(machine, LOG, 8 * PAGE, fresh);
    machine.step((disk) => disk.open(LOG).sync());
    machine.advance(FSYNC);
    expectBytes(page(LOG, 8, machine), fresh);
    machine.powerCycle("lost");

    expectBytes(page(LOG, 8, machine), new Uint8Array(PAGE));
    const elsewhere = [LOG, OTHER].flatMap((path) =>
      [0, 1, 2, 3, 4, 5, 6, 7].filter((number) => {
        return Buffer.compare(page(path, number, machine), fresh) === 0;
      }),
    );
    expect(elsewhere).toHaveLength(1);
    expectBytes(machine.content(OTHER), b);
    expect(bites(machine)[0]).toEqual({ how: "misdirected-write", path: LOG });
    expect(bites(machine).length).toBeGreaterThan(2);
  });

  test("a write-back is misdirected too, if it comes while the fault lasts", () => {
    const left = (heals: boolean): Uint8Array => {
      const machine = machineWith({ [LOG]: bytes(PAGE) });
      const heal = machine.disk.trouble.fail(failure("misdirected-write", { count: 1 }));
      write(machine, LOG, PAGE, bytes(PAGE));
      machine.advance(WRITEBACK - 1);
      if (heals) heal();
      machine.advance(1);
      heal();
      machine.powerCycle("lost");
      return page(LOG, 1, machine);
    };

    expectBytes(left(true), bytes(PAGE));
    expectBytes(left(false), new Uint8Array(PAGE));
  });

  test("a misdirected read returns another page, which the page cache then has until the power is off", () => {
    const [a, b] = [bytes(PAGE, 1), bytes(PAGE, 100)];
    const machine = machineWith({ [LOG]: a, [OTHER]: b });
    machine.disk.trouble.fail(failure("misdirected-read", { count: 1 }));

    expectBytes(machine.content(LOG), b);
    expectBytes(machine.content(LOG), b);
    expect(bites(machine)).toEqual([{ how: "misdirected-read", path: LOG }]);
    machine.crash();
    expectBytes(machine.content(LOG), b);
    machine.powerCycle("lost");
    expectBytes(machine.content(LOG), a);
  });
});

describe("a lost disk", () => {
  test("answers EIO to all, also to those who had its files open, and comes back empty", () => {
    const machine = machineWith({ [LOG]: bytes(100) });
    const file = machine.step((disk) => disk.open(LOG));

    const replace = machine.disk.trouble.lose(WHOLE_DISK);
    expect(bites(machine)).toEqual([{ how: "disk-lost", path: "/" }]);

    const calls: ((disk: SimulatedDisk) => void)[] = [
      () => file.read(0, 1),
      () => file.write(0, bytes(1)),
      () => file.sync(),
      (disk) => disk.open(LOG),
      (disk) => disk.list("data"),
      (disk) => disk.syncDirectory("data"),
      (disk) => disk.remove(LOG),
    ];
    for (const call of calls) expect(errorOf(machine, call)).toMatch(/^EIO: /);
    expect(machine.step((disk) => disk.exists(LOG))).toBe(false);
    replace();
    expect(errorOf(machine, () => file.read(0, 1))).toBe(`EIO: ${LOG}`);
    expect(machine.step((disk) => disk.list("data"))).toEqual([]);
    expect(machine.content(LOG).length).toBe(0);
    expect(new Set(bites(machine).map(({ how }) => how))).toEqual(new Set(["disk-lost"]));
  });

  test("may be that of one log directory; no power-off brings back what was on it", () => {
    const machine = machineWith({ "one/x": bytes(1), "two/x": bytes(2) });
    machine.step((disk) => disk.open("two/y").write(0, bytes(3)));

    const replace = machine.disk.trouble.lose(area({ directory: "two" }));

    expect(errorOf(machine, (disk) => disk.open("two/x"))).toBe("EIO: two/x");
    expect(machine.content("one/x").length).toBe(1);
    replace();
    machine.powerCycle("lost");
    expect(machine.disk.files().map(({ path }) => path)).toEqual(["one/x"]);
  });
});

test("the same seed fails in the same way, another in another", () => {
  const story = (seed: string): string => {
    const machine = machineWith({ [LOG]: bytes(50_000), [OTHER]: bytes(50_000) }, seed);
    machine.disk.trouble.rot({ area: WHOLE_DISK, bits: 4, offsets: undefined, evict: true });
    machine.disk.trouble.fail(
      failure("misdirected-read", { chance: { times: 1, outOf: 3 }, evict: false }),
    );
    machine.disk.trouble.fail(failure("misdirected-write", { count: 2 }));
    for (let i = 0; i < 10; i++) machine.step((disk) => disk.open(LOG).read(i * PAGE, PAGE));
    write(machine, OTHER, 50_000, bytes(20_000));
    machine.step((disk) => disk.open(OTHER).sync());
    machine.powerCycle("any");
    return [LOG, OTHER].map((path) => machine.content(path).join()).join("/");
  };

  expect(story("one")).toBe(story("one"));
  expect(story("one")).not.toBe(story("two"));
});

test("faults draw nothing from the latencies, and none are drawn for without a fault", () => {
  const latencies = (isFaulty: boolean): number[] => {
    const fsync = { draw: (random: { below(bound: number): number }) => random.below(1_000) };
    const machine = new Machine({ ...PLAIN_DISK, fsync });
    write(machine, LOG, 0, bytes(50_000));
    machine.advance(WRITEBACK);
    if (isFaulty) {
      machine.disk.trouble.rot({ area: WHOLE_DISK, bits: 10, offsets: undefined, evict: true });
      machine.disk.trouble.fail(failure("misdirected-read", { chance: { times: 1, outOf: 2 } }));
      for (let i = 0; i < 10; i++) machine.step((disk) => disk.open(LOG).read(i * PAGE, 10));
    }
    machine.powerCycle(isFaulty ? "any" : "lost");
    return Array.from({ length: 20 }, () =>
      machine.step((disk) => {
        const before = machine.host.departure();
        disk.open(LOG).sync();
        return machine.host.departure() - before;
      }),
    );
  };

  expect(latencies(true)).toEqual(latencies(false));
});
