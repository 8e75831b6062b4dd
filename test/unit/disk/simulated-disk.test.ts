import { expect, test } from "vitest";
import { DEFAULT_DISK } from "../../../src/disk/disk-options.ts";
import { SimulatedDisk } from "../../../src/disk/simulated-disk.ts";
import { DiskError } from "../../../src/ports/disk.ts";
import { UNFLUSHED } from "../../../src/ports/hands.ts";
import { Rng } from "../../../src/sim/rng.ts";
import { always, bytes, FSYNC, Machine, PLAIN_DISK, WRITEBACK } from "./machine.ts";

test.each(UNFLUSHED)("what was synced survives a power-off of mode %s", (mode) => {
  const machine = new Machine();
  machine.step((disk) => {
    const file = disk.open("orders-0/00000000000000000000.log");
    file.write(0, bytes(10_000));
    file.sync();
  });
  machine.advance(FSYNC);

  machine.powerCycle(mode);

  expect(machine.content("orders-0/00000000000000000000.log")).toEqual(bytes(10_000));
  expect(machine.losses()).toEqual([]);
});

test("what was appended after a sync is lost with the power, and the fact says how much", () => {
  const machine = new Machine();
  machine.step((disk) => {
    const file = disk.open("log");
    file.write(0, bytes(5_000));
    file.sync();
  });
  machine.advance(FSYNC);
  machine.step((disk) => disk.open("log").write(5_000, bytes(300)));

  machine.powerCycle("lost");

  expect(machine.content("log")).toEqual(bytes(5_000));
  expect(machine.losses()).toEqual([
    { kind: "unflushed-lost", node: "broker-1", path: "log", bytes: 300 },
  ]);
});

test("a crash of the process loses nothing", () => {
  const machine = new Machine();
  machine.step((disk) => {
    disk.open("log").write(0, bytes(9_000));
    disk.rename("log", "log.deleted");
  });

  machine.crash();

  expect(machine.step((disk) => disk.list(""))).toEqual(["log.deleted"]);
  expect(machine.content("log.deleted")).toEqual(bytes(9_000));
  expect(machine.losses()).toEqual([]);
});

test("a sync that had not completed at the power-off promises nothing", () => {
  const outcome = (after: number): number => {
    const machine = new Machine();
    machine.step((disk) => {
      disk.open("log").write(0, bytes(100));
      disk.open("log").sync();
    });
    machine.advance(after);
    machine.powerCycle("lost");
    return machine.content("log").length;
  };

  expect(outcome(FSYNC - 1)).toBe(0);
  expect(outcome(FSYNC)).toBe(100);
});

test("a sync makes durable what was written before it, not what was written while it ran", () => {
  const machine = new Machine();
  machine.step((disk) => {
    const file = disk.open("log");
    file.write(0, bytes(6_000));
    file.syncLater(7);
  });
  machine.advance(FSYNC / 2);
  machine.step((disk) => {
    disk.open("log").write(100, bytes(50, 200));
    disk.open("log").write(6_000, bytes(50));
  });
  machine.advance(FSYNC / 2);

  machine.powerCycle("lost");

  expect(machine.content("log")).toEqual(bytes(6_000));
});

test("a sync waits within its step; a later sync only reports when it ends", () => {
  const machine = new Machine();

  const departures = machine.step((disk) => {
    const file = disk.open("log");
    file.write(0, bytes(100));
    file.sync();
    const afterSync = machine.host.departure();
    file.syncLater(42);
    return [afterSync, machine.host.departure()];
  });
  machine.advance(2 * FSYNC);

  expect(departures).toEqual([FSYNC, FSYNC]);
  expect(machine.synced).toEqual([{ ticket: 42, ok: true, at: 2 * FSYNC }]);
});

test("a later sync of a dead incarnation is not reported to the next one", () => {
  const machine = new Machine();
  machine.step((disk) => disk.open("log").syncLater(1));

  machine.crash();
  machine.advance(FSYNC);

  expect(machine.synced).toEqual([]);
});

test("write-back makes pages durable without fsync at its age", () => {
  const outcome = (age: number): number => {
    const machine = new Machine();
    machine.step((disk) => disk.open("log").write(0, bytes(100)));
    machine.advance(age);
    machine.powerCycle("lost");
    return machine.step((disk) => (disk.exists("log") ? disk.open("log").size : -1));
  };

  expect(outcome(WRITEBACK - 1)).toBe(-1);
  expect(outcome(WRITEBACK)).toBe(100);
});

test("write-back counts the age of a file from its first change since the last one", () => {
  const machine = new Machine();
  for (let i = 0; i < 3; i++) {
    machine.step((disk) => disk.open("log").write(i * 100, bytes(100)));
    machine.advance(WRITEBACK * 0.75);
  }
  // Written at 0, 0.75 and 1.5 ages: written back at 1, so dirty again since 1.5; now is 2.25.

  machine.powerCycle("lost");

  expect(machine.content("log")).toEqual(Uint8Array.of(...bytes(100), ...bytes(100)));
});

test("a rename that was not made durable is undone: the old file is back under its name", () => {
  const machine = new Machine();
  const replace = (value: number): void =>
    machine.step((disk) => {
      const temporary = disk.open("checkpoint.tmp");
      temporary.write(0, bytes(20, value));
      temporary.sync();
      disk.rename("checkpoint.tmp", "checkpoint");
    });
  replace(1);
  machine.step((disk) => disk.syncDirectory(""));
  machine.advance(10 * FSYNC);
  replace(2);
  machine.advance(10 * FSYNC);

  machine.powerCycle("lost");

  expect(machine.content("checkpoint")).toEqual(bytes(20, 1));
  expect(machine.losses().map(({ path, bytes }) => [path, bytes])).toEqual([["checkpoint", 20]]);
});

test("syncing a file makes its own name durable, and what the journal holds before", () => {
  const machine = new Machine();
  machine.step((disk) => {
    disk.makeDirectory("earlier");
    disk.open("orders-0/log").sync();
    disk.makeDirectory("later");
  });
  machine.advance(FSYNC);

  machine.powerCycle("lost");

  expect(machine.step((disk) => disk.list(""))).toEqual(["earlier", "orders-0"]);
  expect(machine.step((disk) => disk.list("orders-0"))).toEqual(["log"]);
});

test("a directory is renamed and removed with all in it, and open files know where they are", () => {
  const machine = new Machine();
  const path = machine.step((disk) => {
    const file = disk.open("orders-0/log");
    file.write(0, bytes(10));
    disk.rename("orders-0", "orders-0.f00d-delete");
    return file.path;
  });
  expect(path).toBe("orders-0.f00d-delete/log");
  expect(machine.content(path)).toEqual(bytes(10));

  machine.step((disk) => disk.remove("orders-0.f00d-delete"));

  expect(machine.step((disk) => disk.exists(path))).toBe(false);
  machine.powerCycle("kept");
  expect(machine.step((disk) => disk.list(""))).toEqual([]);
});

test("absent paths: listing is empty, removing is ignored, renaming and syncing are ENOENT", () => {
  const machine = new Machine();

  machine.step((disk) => {
    expect(disk.exists("nowhere")).toBe(false);
    expect(disk.list("nowhere")).toEqual([]);
    disk.remove("nowhere/at/all");
    for (const call of [
      () => disk.rename("nowhere", "somewhere"),
      () => disk.syncDirectory("nowhere"),
    ]) {
      expect(call).toThrow(DiskError);
      expect(call).toThrow("ENOENT: nowhere");
    }
  });
});

test("names are listed in code-unit order", () => {
  const machine = new Machine();

  machine.step((disk) => {
    for (const name of ["b", "a-10", "a-9", "B", "\u00e4"]) disk.open(`topic/${name}`);
  });

  expect(machine.step((disk) => disk.list("topic"))).toEqual(["B", "a-10", "a-9", "b", "\u00e4"]);
});

test("a gap and a preallocated end read as zeros, and take no memory until written", () => {
  const machine = new Machine();

  machine.step((disk) => {
    const index = disk.open("index");
    index.truncate(1_000_000_000_000);
    index.write(5, bytes(3));

    expect(index.size).toBe(1_000_000_000_000);
    expect(index.read(4, 5)).toEqual(Uint8Array.of(0, ...bytes(3), 0));
    expect(index.read(999_999_999_999, 10)).toEqual(Uint8Array.of(0));
    index.truncate(6);
    index.truncate(9);
    expect(index.read(0, 100)).toEqual(Uint8Array.of(0, 0, 0, 0, 0, bytes(1)[0] ?? 0, 0, 0, 0));
  });
});

test("writing a part of an array writes just that part", () => {
  const machine = new Machine();

  machine.step((disk) => {
    disk.open("short").write(0, bytes(100), 10, 20);
    disk.open("long").write(0, bytes(1_000), 100, 900);
  });

  expect(machine.content("short")).toEqual(bytes(100).slice(10, 20));
  expect(machine.content("long")).toEqual(bytes(1_000).slice(100, 900));
});

test("a file is pristine until a fault has touched it since it was opened", () => {
  const machine = new Machine();
  const [synced, unsynced] = machine.step((disk) => {
    const files = [disk.open("synced"), disk.open("unsynced")] as const;
    files[0].sync();
    files[1].sync();
    return files;
  });
  machine.advance(10 * FSYNC);
  machine.step(() => unsynced.write(0, bytes(10)));
  expect([synced.pristine, unsynced.pristine]).toEqual([true, true]);

  machine.powerCycle("lost");

  expect([synced.pristine, unsynced.pristine]).toEqual([true, false]);
  expect(machine.step((disk) => disk.open("unsynced").pristine)).toBe(true);
});

test("what one incarnation opened is of no use to the next", () => {
  const machine = new Machine();
  const file = machine.step((disk) => disk.open("log"));

  machine.crash();

  expect(() => file.write(0, bytes(1))).toThrow("incarnation 1 of broker-1 uses log");
  expect(() => file.read(0, 1)).toThrow("as opened by incarnation 0");
  expect(() => file.sync()).toThrow("as opened by incarnation 0");
});

test("a flush costs its latency and the transfer of its pages, and flushes wait for each other", () => {
  const machine = new Machine({ ...PLAIN_DISK, bandwidth: 4_096_000 });

  machine.step((disk) => {
    disk.open("a").write(0, bytes(4_097));
    disk.open("b").write(0, bytes(1));
    disk.open("a").syncLater(1);
    disk.open("b").syncLater(2);
    disk.open("a").syncLater(3);
  });
  machine.advance(10 * FSYNC);

  // Two pages take 2 ms, one takes 1 ms, none takes nothing; then 1 ms of latency each.
  expect(machine.synced.map(({ ticket, at }) => [ticket, at])).toEqual([
    [1, 3_000],
    [2, 4_000],
    [3, 4_000],
  ]);
});

test("parts of a microsecond that transfers take are not lost", () => {
  const machine = new Machine({ ...PLAIN_DISK, bandwidth: 3_000_000, fsync: always(0) });

  const took = machine.step((disk) => {
    const file = disk.open("log");
    for (let i = 0; i < 300; i++) {
      file.write(0, bytes(1));
      file.sync();
    }
    return machine.host.departure();
  });

  // 300 pages of 1,365.33 us.
  expect(took).toBe(409_600);
});

test("a slow disk multiplies latencies until it is lifted, also where two slownesses overlap", () => {
  const machine = new Machine({ ...PLAIN_DISK, write: always(5), read: always(3) });
  const write = (): number =>
    machine.step((disk) => {
      const file = disk.open("log");
      const before = machine.host.departure();
      file.write(0, bytes(1));
      return machine.host.departure() - before;
    });
  const times = [write()];

  const liftTen = machine.disk.slow(10);
  times.push(write());
  const liftTwo = machine.disk.slow(2);
  times.push(write());
  liftTen();
  liftTen();
  times.push(write());
  liftTwo();
  times.push(write());

  expect(times).toEqual([5, 50, 100, 10, 5]);
});

test("draws on one disk move no other", () => {
  const uneven = { draw: (random: { below(bound: number): number }) => random.below(1_000) };
  const options = { ...PLAIN_DISK, fsync: uneven };
  const syncs = (disks: number, extra: number): readonly number[] => {
    const machine = new Machine(options);
    const { host, scheduler } = machine;
    const others = Array.from({ length: disks }, (_, i) => {
      const random = new Rng(`seed/disk/broker-${i + 2}`);
      const facts = { note: () => {} };
      return new SimulatedDisk({ host, scheduler, random, options, facts });
    });
    return Array.from({ length: 20 }, () =>
      machine.step((disk) => {
        for (const other of others) for (let i = 0; i < extra; i++) other.open("x").syncLater(-1);
        const before = host.departure();
        disk.open("log").sync();
        return host.departure() - before;
      }),
    );
  };

  const alone = syncs(0, 0);

  expect(new Set(alone).size).toBeGreaterThan(10);
  expect(syncs(1, 3)).toEqual(alone);
  expect(syncs(2, 1)).toEqual(alone);
});

test("by default, what the page cache answers costs no draw, and an fsync does", () => {
  const latencies = (calls: number): readonly number[] => {
    const machine = new Machine(DEFAULT_DISK);
    return Array.from({ length: 10 }, () =>
      machine.step((disk) => {
        const file = disk.open("log");
        for (let i = 0; i < calls; i++) {
          file.write(i, bytes(1));
          file.read(0, 1);
          file.truncate(0);
          disk.list("");
          disk.rename("log", "log");
        }
        const before = machine.host.departure();
        file.sync();
        return machine.host.departure() - before;
      }),
    );
  };

  expect(new Set(latencies(0)).size).toBe(10);
  expect(latencies(7)).toEqual(latencies(0));
});

test("a power-off moves no latency, however much it draws", () => {
  const latencyAfter = (pages: number): number => {
    const machine = new Machine(DEFAULT_DISK);
    machine.step((disk) => disk.open("log").write(0, bytes(pages * 4_096)));
    machine.powerCycle("torn");
    return machine.step((disk) => {
      const before = machine.host.departure();
      disk.syncDirectory("");
      return machine.host.departure() - before;
    });
  };

  expect(latencyAfter(1)).toBe(latencyAfter(100));
});

test("the listing shows size, durable size and dirty bytes of each file, in order", () => {
  const machine = new Machine();
  machine.step((disk) => {
    disk.open("b/log").write(0, bytes(5_000));
    disk.open("b/log").sync();
    disk.open("a").write(0, bytes(10));
  });
  machine.advance(FSYNC);
  machine.step((disk) => disk.open("b/log").write(5_000, bytes(4_000)));

  expect(machine.disk.files()).toEqual([
    { path: "a", size: 10, durableSize: 0, dirtyBytes: 4_096, isDurable: false },
    { path: "b/log", size: 9_000, durableSize: 5_000, dirtyBytes: 8_192, isDurable: false },
  ]);
  // Syncing a file makes durable how it got its name, and what happened before.
  expect(machine.disk.unnamed()).toEqual(["a"]);
});

test("a look at a file finds what was written, takes no time, and makes no file", () => {
  const machine = new Machine();
  machine.step((disk) => disk.open("a").write(0, Uint8Array.of(1, 2, 3)));
  const before = machine.host.departure();

  expect(machine.disk.peek("a", 1, 10)).toEqual(Uint8Array.of(2, 3));
  expect(machine.disk.peek("b", 0, 10)).toEqual(new Uint8Array(0));

  expect(machine.host.departure()).toBe(before);
  expect(machine.disk.files()).toHaveLength(1);
});
