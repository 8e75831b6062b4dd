import { expect } from "vitest";
import type { DiskOptions } from "../../../src/disk/disk-options.ts";
import { SimulatedDisk } from "../../../src/disk/simulated-disk.ts";
import type { UnflushedMode } from "../../../src/ports/hands.ts";
import type { Network } from "../../../src/ports/network.ts";
import type { Node, World } from "../../../src/ports/node.ts";
import type { DurationSource } from "../../../src/ports/random.ts";
import type { HostWatcher } from "../../../src/sim/host.ts";
import { Host } from "../../../src/sim/host.ts";
import { Rng } from "../../../src/sim/rng.ts";
import { Scheduler } from "../../../src/sim/scheduler.ts";
import type { Fact, FactOf } from "../../../src/trace/fact.ts";

export const FSYNC = 1_000;
export const WRITEBACK = 30_000_000;

/** Always the same, without a draw. */
export function always(duration: number): DurationSource {
  return { draw: () => duration };
}

/** Nothing but fsync takes time, so that a test can say when things end. */
export const PLAIN_DISK: DiskOptions = {
  write: always(0),
  read: always(0),
  fsync: always(FSYNC),
  bandwidth: 1e12,
  writeback: WRITEBACK,
  sector: 512,
  journal: "writeback",
};

/** A host whose node does, step by step, what a test tells it to do with its disk. */
export class Machine {
  readonly scheduler: Scheduler = new Scheduler();
  readonly host: Host;
  readonly disk: SimulatedDisk;
  readonly facts: Fact[] = [];
  readonly synced: { readonly ticket: number; readonly ok: boolean; readonly at: number }[] = [];
  #world: World | undefined;
  readonly #alarm: number;

  constructor(options: DiskOptions = PLAIN_DISK, seed = "seed", name = "broker-1") {
    const facts = { note: (fact: Fact) => this.facts.push(fact) };
    const watchers: HostWatcher[] = [];
    const scheduler = this.scheduler;
    this.host = new Host({
      address: 0,
      name,
      scheduler,
      random: new Rng(`${seed}/node`),
      facts,
      program: (world) => this.#program(world),
      network: () => NO_NETWORK,
      disk: () => this.disk,
      watchers,
    });
    const { host } = this;
    const random = new Rng(`${seed}/disk/${name}`);
    this.disk = new SimulatedDisk({ host, scheduler, random, options, facts });
    watchers.push(this.disk);
    this.#alarm = scheduler.register("alarm", { handle: () => {} });
    this.host.start();
  }

  /** One step of the node, now. */
  step<Result>(body: (disk: SimulatedDisk) => Result): Result {
    let result: { readonly value: Result } | undefined;
    this.#world?.timers.start(0, 0, () => {
      result = { value: body(this.disk) };
    });
    while (result === undefined && this.scheduler.step());
    if (result === undefined) throw new Error("the node is down");
    return result.value;
  }

  advance(duration: number): void {
    const { scheduler } = this;
    const until = scheduler.now + duration;
    scheduler.at(until, this.#alarm, 0, undefined);
    while (scheduler.now < until) scheduler.step();
  }

  /** Off and on again. */
  powerCycle(mode: UnflushedMode): void {
    this.disk.powerOffMode = mode;
    this.host.powerOff("test");
    this.host.start();
  }

  crash(): void {
    this.host.crash("test");
    this.host.start();
  }

  losses(): FactOf<"unflushed-lost">[] {
    return this.facts.filter((fact) => fact.kind === "unflushed-lost");
  }

  /** All bytes of a file. */
  content(path: string): Uint8Array {
    return this.step((disk) => {
      const file = disk.open(path);
      return file.read(0, file.size);
    });
  }

  #program(world: World): Node {
    this.#world = world;
    const { synced, scheduler } = this;
    return {
      onStart() {},
      onTimer(_kind, body) {
        if (typeof body === "function") body();
      },
      onConnected() {},
      onFrame() {},
      onClosed() {},
      onSynced(ticket, ok) {
        synced.push({ ticket, ok, at: scheduler.now });
      },
      onShutdown() {},
    };
  }
}

const NO_NETWORK: Network = { connect: () => 0, send: () => {}, close: () => {}, listen: () => {} };

/** `length` bytes that are neither zero nor equal to their neighbours. */
export function bytes(length: number, first = 1): Uint8Array {
  const made = new Uint8Array(length);
  for (let i = 0; i < length; i++) made[i] = ((first + i) % 255) + 1;
  return made;
}

/** As `toEqual`, in a thousandth of the time. */
export function expectBytes(actual: Uint8Array, expected: Uint8Array): void {
  if (asText(actual) !== asText(expected)) expect(actual).toEqual(expected);
}

/** One character a byte: texts are compared fast. */
export function asText(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.length).toString("latin1");
}
