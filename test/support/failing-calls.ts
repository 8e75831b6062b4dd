import { OpenFile } from "../../src/disk/open-file.ts";
import { SimulatedDisk } from "../../src/disk/simulated-disk.ts";
import { DiskError } from "../../src/ports/disk.ts";
import { Host } from "../../src/sim/host.ts";

/** How calls fail: the one, or it and all after it, as of a disk that has died. */
export type FailingMode = "once" | "for-good";

/**
 * Makes the n-th call of a kind fail, of all that reach a disk under one directory: also such as a page
 * cache answers. An fsync in the background can fail at once or when it has ended. For as long as it
 * is installed, all simulated disks are under it.
 */
export class FailingCalls {
  /** How many calls of each kind were made so far. */
  readonly counts = new Map<string, number>();
  /** `write kafka-logs/orders-0/x.log`: what failed, in order. */
  readonly failed: string[] = [];
  readonly #directory: string;
  readonly kind: string;
  readonly failAt: number;
  readonly mode: FailingMode;
  readonly #undo: (() => void)[] = [];
  readonly #failingTickets = new Set<number>();

  constructor(directory: string, kind: string, failAt: number, mode: FailingMode) {
    this.#directory = directory;
    this.kind = kind;
    this.failAt = failAt;
    this.mode = mode;
  }

  install(): void {
    const files = OpenFile.prototype;
    for (const name of FILE_CALLS) {
      this.#patch(files, name, (file) => this.#call(name, file.path));
    }
    const disks = SimulatedDisk.prototype;
    for (const name of DISK_CALLS) {
      this.#patch(disks, name, (_disk, path) => this.#call(name, String(path)));
    }
    this.#patch(files, "syncLater", (file, ticket) => {
      if (!this.#isStruck("syncLater", file.path)) return;
      if (this.failAt % 2 === 0) throw new DiskError("EIO", file.path);
      this.#failingTickets.add(Number(ticket));
    });
    const failing = this.#failingTickets;
    const { synced } = Host.prototype;
    Host.prototype.synced = function (this: Host, incarnation, ticket, ok): void {
      synced.call(this, incarnation, ticket, ok && !failing.delete(ticket));
    };
    this.#undo.push(() => {
      Host.prototype.synced = synced;
    });
  }

  /** The disk is well again. */
  remove(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  #call(kind: string, path: string): void {
    if (this.#isStruck(kind, path)) throw new DiskError("EIO", path);
  }

  #isStruck(kind: string, path: string): boolean {
    if (path !== this.#directory && !path.startsWith(`${this.#directory}/`)) return false;
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    const isDead = this.mode === "for-good" && this.failed.length > 0;
    const fails = isDead || (kind === this.kind && count === this.failAt);
    if (fails) this.failed.push(`${kind} ${path}`);
    return fails;
  }

  #patch<Target extends object, Name extends keyof Target>(
    prototype: Target,
    name: Name,
    before: (target: Target, argument: unknown) => void,
  ): void {
    const original = prototype[name];
    if (typeof original !== "function") throw new Error(`${String(name)} is no call`);
    const patched = function (this: Target, ...rest: unknown[]): unknown {
      before(this, rest[0]);
      return original.apply(this, rest);
    };
    Object.defineProperty(prototype, name, { value: patched, configurable: true, writable: true });
    this.#undo.push(() => {
      Object.defineProperty(prototype, name, {
        value: original,
        configurable: true,
        writable: true,
      });
    });
  }
}

const FILE_CALLS = [
  "write",
  "writeShared",
  "read",
  "readShared",
  "truncate",
  "sync",
] as const satisfies readonly (keyof OpenFile)[];

const DISK_CALLS = [
  "open",
  "list",
  "rename",
  "remove",
  "makeDirectory",
  "syncDirectory",
] as const satisfies readonly (keyof SimulatedDisk)[];
