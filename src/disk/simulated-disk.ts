import { invariant } from "../base/invariant.ts";
import type { Duration } from "../base/time.ts";
import type { Disk, DiskFile } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import type { Undo, UnflushedMode } from "../ports/hands.ts";
import type { DurationSource, Ratio } from "../ports/random.ts";
import type { HostWatcher, StopKind } from "../sim/host.ts";
import type { Rng } from "../sim/rng.ts";
import type { EventHandler, Scheduler } from "../sim/scheduler.ts";
import type { FactSink } from "../trace/fact.ts";
import { PAGE_SIZE } from "./cached-file.ts";
import { Device } from "./device.ts";
import { DirectoryTree } from "./directory-tree.ts";
import type { DiskOptions } from "./disk-options.ts";
import { DiskTrouble } from "./disk-trouble.ts";
import type { DiskHost, FileServices } from "./open-file.ts";
import { OpenFile } from "./open-file.ts";
import { losePageCache } from "./power-off.ts";
import { WriteBack } from "./write-back.ts";

export interface SimulatedDiskSetup {
  readonly host: DiskHost;
  readonly scheduler: Scheduler;
  /** The stream `disk/<node>`: latencies, and what a power-off leaves. */
  readonly random: Rng;
  readonly options: DiskOptions;
  readonly facts: FactSink;
}

/** One file as it stands, for tests and listings. */
export interface FileState {
  readonly path: string;
  readonly size: number;
  /** What a power-off of mode `lost` would leave of it, if it left the name. */
  readonly durableSize: number;
  /** Bytes, in whole pages, that no sync under way and no write-back has taken up. */
  readonly dirtyBytes: number;
  /** Would a power-off leave all of it, if it left the name? */
  readonly isDurable: boolean;
}

/**
 * The disk of one host, with a page cache before it. A crash of the process loses nothing; a
 * power-off loses what is not durable, in the way that `powerOffMode` says.
 */
export class SimulatedDisk implements Disk, HostWatcher, EventHandler {
  /** What the next power-off does to unflushed pages. */
  powerOffMode: UnflushedMode = "lost";
  /** Where faults make it fail. */
  readonly trouble: DiskTrouble;
  readonly #host: DiskHost;
  readonly #scheduler: Scheduler;
  /** Power-offs have dice of their own: what they draw must not move the latencies. */
  readonly #powerOffRandom: Rng;
  readonly #spikeRandom: Rng;
  readonly #options: DiskOptions;
  readonly #facts: FactSink;
  readonly #device: Device;
  readonly #tree: DirectoryTree;
  readonly #services: FileServices;

  constructor({ host, scheduler, random, options, facts }: SimulatedDiskSetup) {
    const { sector } = options;
    invariant(sector > 0 && PAGE_SIZE % sector === 0, () => `a sector of ${sector} bytes`);
    this.#host = host;
    this.#scheduler = scheduler;
    this.#powerOffRandom = random.fork("power-off");
    this.#spikeRandom = random.fork("spikes");
    this.#options = options;
    this.#facts = facts;
    this.#device = new Device(host, random, options);
    const writeBack = new WriteBack(options.writeback);
    this.#tree = new DirectoryTree(writeBack, options.journal);
    this.trouble = new DiskTrouble({
      node: host.name,
      scheduler,
      tree: this.#tree,
      writeBack,
      random: random.fork("trouble"),
      facts,
    });
    this.#services = {
      host,
      scheduler,
      device: this.#device,
      tree: this.#tree,
      trouble: this.trouble,
      syncedKind: scheduler.register(`disk of ${host.name}`, this),
    };
  }

  exists(path: string): boolean {
    return this.#tree.exists(path) && !(this.trouble.isAny && this.trouble.isGone(path));
  }

  open(path: string): DiskFile {
    this.#device.chargeRead();
    if (this.trouble.isAny) this.trouble.atOpen(path, !this.#tree.exists(path));
    return new OpenFile(
      this.#services,
      this.#tree.openFile(this.#scheduler.now, this.#host.departure(), path),
    );
  }

  list(directory: string): string[] {
    this.#device.chargeRead();
    if (this.trouble.isAny) this.trouble.atList(directory);
    return this.#tree.list(directory);
  }

  rename(from: string, to: string): void {
    this.#device.chargeWrite();
    if (this.trouble.isAny) this.trouble.atChange(from);
    this.#tree.rename(this.#scheduler.now, this.#host.departure(), from, to);
  }

  remove(path: string): void {
    this.#device.chargeWrite();
    if (this.trouble.isAny) this.trouble.atRemove(path);
    this.#tree.remove(this.#scheduler.now, this.#host.departure(), path);
  }

  makeDirectory(path: string): void {
    this.#device.chargeWrite();
    if (this.trouble.isAny) this.trouble.atOpen(path, !this.#tree.exists(path));
    this.#tree.makeDirectory(this.#scheduler.now, this.#host.departure(), path);
  }

  syncDirectory(directory: string): void {
    const began = this.#host.departure();
    const end = this.#device.flush(0);
    const trouble = this.trouble.isAny ? this.trouble.atDirectorySync(directory) : undefined;
    if (trouble === undefined) {
      this.#tree.syncDirectory(this.#scheduler.now, began, directory, end);
    }
    this.#device.waitUntil(end);
    if (trouble !== undefined && trouble !== "lies") throw new DiskError(trouble, directory);
  }

  /** Everything takes `factor` times as long until the returned function is called. */
  slow(factor: number): Undo {
    return this.#device.slow(factor);
  }

  /** Some operations take longer until the returned function is called. */
  spike(chance: Ratio, latency: DurationSource): Undo {
    return this.#device.spike(this.#spikeRandom, chance, latency);
  }

  /** Nothing is answered for so long; or no fsync. */
  stall(time: Duration, what: "all" | "fsync"): void {
    this.#device.stall(this.#scheduler.now + time, what);
  }

  /** Nothing to do: what the disk holds was settled when its host stopped. */
  hostStarted(): void {}

  hostStopped(_host: unknown, how: StopKind): void {
    if (how !== "power-off") return;
    const { now } = this.#scheduler;
    this.#device.reset();
    const losses = losePageCache(this.#tree, {
      mode: this.powerOffMode,
      options: this.#options,
      random: this.#powerOffRandom,
      now,
    });
    for (const { path, bytes } of losses) {
      this.#facts.note({ kind: "unflushed-lost", node: this.#host.name, path, bytes });
    }
  }

  /** A `syncLater` has ended. */
  handle(ticket: number, incarnation: unknown): void {
    invariant(typeof incarnation === "number", () => `a sync of incarnation ${incarnation}`);
    if (incarnation >= 0) this.#host.synced(incarnation, ticket, true);
    else this.#host.synced(-1 - incarnation, ticket, false);
  }

  /** All files, in the order of their paths, as they stand at this instant. */
  files(): FileState[] {
    return this.#tree.files().map((file) => {
      file.settle(this.#scheduler.now);
      const { path, size, durableSize, dirtyBytes, isDurable } = file;
      return { path, size, durableSize, dirtyBytes, isDurable };
    });
  }

  /** The files that a power-off of mode `lost` would leave without the name that they have. */
  unnamed(): string[] {
    return this.#tree.unnamed(this.#scheduler.now).map(({ path }) => path);
  }

  /** What a read would find if it took no time and met no trouble; nothing if there is no such file. */
  peek(path: string, position: number, length: number): Uint8Array {
    const file = this.#tree.files().find((one) => one.path === path);
    return file?.peek(position, length) ?? new Uint8Array(0);
  }
}
