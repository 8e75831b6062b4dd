import fc from "fast-check";
import { expect, test } from "vitest";
import { byText } from "../../../src/base/order.ts";
import type { DiskFailure } from "../../../src/ports/disk-failure.ts";
import { WHOLE_DISK } from "../../../src/ports/disk-failure.ts";
import { UNFLUSHED } from "../../../src/ports/hands.ts";
import { bytes, expectBytes, Machine, PLAIN_DISK, WRITEBACK } from "./machine.ts";
import { NaiveDisk } from "./naive-disk.ts";

const path = fc.constantFrom("a/x", "a/y", "b/x");
const latency = fc.constantFrom(0, 500, 1_000, 5_000);

/** `position` is relative to the end of the file where `append` is true. */
const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      path,
      append: fc.boolean(),
      position: fc.nat(9_000),
      gap: fc.constantFrom(0, 0, 0, 5_000),
      length: fc.integer({ min: 1, max: 6_000 }),
      first: fc.nat(254),
      isShared: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("truncate" as const), path, size: fc.nat(14_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("sync" as const),
      path,
      latency,
      later: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename" as const), path, to: path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), path }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("sync-directory" as const),
      directory: fc.constantFrom("a", "b"),
      latency,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      by: fc.constantFrom(1, 499, 500, 2_000, WRITEBACK / 2, WRITEBACK - 500),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("fsync-error" as const), path, later: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lie" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("evict" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("power-off" as const) }) },
);

/** A device that lies keeps no promise. */
const honest = operation.filter(({ kind }) => kind !== "lie");

type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

/** A machine and its simple twin, to which the same things happen. */
class Twins {
  readonly machine: Machine;
  readonly naive = new NaiveDisk(WRITEBACK);
  latency = 0;
  /** Ends the lie that is told at present. */
  #honest: (() => void) | undefined;

  constructor() {
    this.machine = new Machine({ ...PLAIN_DISK, fsync: { draw: () => this.latency } });
    this.machine.step((disk) => {
      disk.makeDirectory("a");
      disk.makeDirectory("b");
      disk.syncDirectory("");
    });
    this.machine.advance(1);
  }

  apply(operation: Operation): void {
    const { machine, naive } = this;
    const { now } = machine.scheduler;
    switch (operation.kind) {
      case "write": {
        const size = naive.open(now, operation.path).content.length;
        const position = operation.append ? size + operation.gap : operation.position;
        const data = bytes(operation.length, operation.first);
        naive.write(now, operation.path, position, data);
        machine.step((disk) => {
          const file = disk.open(operation.path);
          if (operation.isShared) file.writeShared(position, data);
          else file.write(position, data);
        });
        return;
      }
      case "truncate":
        naive.truncate(now, operation.path, operation.size);
        machine.step((disk) => disk.open(operation.path).truncate(operation.size));
        return;
      case "sync":
        this.latency = operation.latency;
        naive.sync(now, operation.path, now + operation.latency);
        machine.step((disk) => {
          const file = disk.open(operation.path);
          if (operation.later) file.syncLater(0);
          else file.sync();
        });
        return;
      case "rename": {
        const exists = naive.rename(now, operation.path, operation.to);
        machine.step((disk) => {
          const rename = (): void => disk.rename(operation.path, operation.to);
          if (exists) rename();
          else expect(rename).toThrow("ENOENT");
        });
        return;
      }
      case "remove":
        naive.remove(now, operation.path);
        machine.step((disk) => disk.remove(operation.path));
        return;
      case "sync-directory":
        this.latency = operation.latency;
        naive.syncDirectory(now, operation.directory, now + operation.latency);
        machine.step((disk) => disk.syncDirectory(operation.directory));
        return;
      case "fsync-error":
        naive.failSync(now, operation.path);
        this.fail({ kind: "fsync-error", count: 1 });
        machine.step((disk) => {
          const file = disk.open(operation.path);
          if (operation.later) file.syncLater(0);
          else expect(() => file.sync()).toThrow("EIO");
        });
        return;
      case "lie":
        naive.lie(now, this.#honest === undefined);
        if (this.#honest === undefined) this.#honest = machine.disk.trouble.lie(WHOLE_DISK);
        else {
          this.#honest();
          this.#honest = undefined;
        }
        return;
      case "evict":
        naive.evict();
        this.fail({ kind: "read-error", count: 1, evict: true })();
        return;
      case "advance":
        machine.advance(operation.by);
        return;
      case "crash":
        machine.crash();
        return;
      case "power-off":
        naive.powerOff(now);
        machine.powerCycle("lost");
        return;
    }
  }

  fail(failure: Pick<DiskFailure, "kind" | "count"> & { readonly evict?: boolean }): () => void {
    const chance = { times: 1, outOf: 1 };
    const whole = { area: WHOLE_DISK, chance, evict: false, ...failure };
    return this.machine.disk.trouble.fail(whole);
  }

  expectSame(): void {
    const { machine, naive } = this;
    const names = machine.step((disk) =>
      ["a", "b"].flatMap((directory) => disk.list(directory).map((name) => `${directory}/${name}`)),
    );
    expect(names).toEqual([...naive.names.keys()].sort(byText));
    for (const [path, file] of naive.names) {
      const content = machine.content(path);
      expectBytes(content, file.content);
    }
  }
}

test("reads, and what a power-off leaves, are those of a disk that copies everything whole", () => {
  const drawn = new Map<string, number>();
  const runs = 200;

  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 40, size: "max" }), (operations) => {
      const twins = new Twins();
      for (const each of operations) {
        twins.apply(each);
        twins.expectSame();
      }
      twins.apply({ kind: "power-off" });
      twins.expectSame();
      for (const kind of new Set(operations.map(({ kind }) => kind))) {
        drawn.set(kind, (drawn.get(kind) ?? 0) + 1);
      }
    }),
    { seed: 42, numRuns: runs },
  );

  expect(drawn.size).toBe(12);
  for (const count of drawn.values()) expect(count).toBeGreaterThan(runs / 10);
});

test("what was synced survives a power-off in every mode, whatever happened to other files", () => {
  const content = bytes(9_000, 77);

  fc.assert(
    fc.property(
      fc.array(honest, { maxLength: 20, size: "max" }),
      fc.array(honest, { maxLength: 20, size: "max" }),
      fc.constantFrom(...UNFLUSHED),
      (before, after, mode) => {
        const twins = new Twins();
        const { machine, naive } = twins;
        for (const each of before) twins.apply(each);
        // The twin knows of the sync too: it makes names durable that were there before.
        const { now } = machine.scheduler;
        naive.write(now, "b/synced", 0, content);
        naive.sync(now, "b/synced", now + twins.latency);
        machine.step((disk) => {
          const file = disk.open("b/synced");
          file.write(0, bytes(12_000));
          file.truncate(8_000);
          file.write(0, content);
          file.sync();
        });
        machine.advance(5_000);
        for (const each of after) twins.apply(each);

        machine.powerCycle(mode);

        expectBytes(machine.content("b/synced"), content);
        expect(machine.losses().map(({ path }) => path)).not.toContain("b/synced");
      },
    ),
    { seed: 42, numRuns: 200 },
  );
});
