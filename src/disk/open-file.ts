import { fail } from "../base/invariant.ts";
import type { Instant } from "../base/time.ts";
import type { ByteRange, DiskErrorCode, DiskFile } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import type { Scheduler } from "../sim/scheduler.ts";
import type { CachedFile } from "./cached-file.ts";
import type { Charged, Device } from "./device.ts";
import type { DirectoryTree } from "./directory-tree.ts";
import type { DiskTrouble } from "./disk-trouble.ts";

/** The host whose disk it is. */
export interface DiskHost extends Charged {
  readonly name: string;
  readonly incarnation: number;
  synced(incarnation: number, ticket: number, ok: boolean): void;
}

/** What open files share with their disk. */
export interface FileServices {
  readonly host: DiskHost;
  readonly scheduler: Scheduler;
  readonly device: Device;
  readonly tree: DirectoryTree;
  readonly trouble: DiskTrouble;
  /**
   * The kind of the events that end a `syncLater`: the ticket is the subject, the payload is the
   * incarnation, or -1 less it if the sync failed.
   */
  readonly syncedKind: number;
}

/** A file as one incarnation opened it. Another incarnation must open it anew. */
export class OpenFile implements DiskFile {
  readonly #services: FileServices;
  readonly #host: DiskHost;
  readonly #scheduler: Scheduler;
  readonly #device: Device;
  readonly #trouble: DiskTrouble;
  readonly #file: CachedFile;
  readonly #incarnation: number;
  readonly #faultsBefore: number;

  constructor(services: FileServices, file: CachedFile) {
    this.#services = services;
    this.#host = services.host;
    this.#scheduler = services.scheduler;
    this.#device = services.device;
    this.#trouble = services.trouble;
    this.#file = file;
    this.#incarnation = services.host.incarnation;
    this.#faultsBefore = file.faults;
  }

  get path(): string {
    return this.#file.path;
  }

  get size(): number {
    return this.#file.size;
  }

  get pristine(): boolean {
    return this.#file.faults === this.#faultsBefore;
  }

  write(position: number, bytes: Uint8Array, start = 0, end: number = bytes.length): void {
    if (this.#incarnation !== this.#host.incarnation) this.#refuse();
    this.#device.chargeWrite();
    if (this.#trouble.isAny) this.#trouble.atWrite(this.#file, position, position + end - start);
    this.#file.write(this.#scheduler.now, position, bytes, start, end);
  }

  writeShared(position: number, bytes: Uint8Array, start = 0, end: number = bytes.length): void {
    if (this.#incarnation !== this.#host.incarnation) this.#refuse();
    this.#device.chargeWrite();
    if (this.#trouble.isAny) this.#trouble.atWrite(this.#file, position, position + end - start);
    this.#file.writeShared(this.#scheduler.now, position, bytes, start, end);
  }

  read(position: number, length: number): Uint8Array {
    if (this.#incarnation !== this.#host.incarnation) this.#refuse();
    this.#device.chargeRead();
    if (this.#trouble.isAny) this.#trouble.atRead(this.#file, position, length);
    return this.#file.read(position, length);
  }

  readShared(position: number, length: number): ByteRange[] {
    if (this.#incarnation !== this.#host.incarnation) this.#refuse();
    this.#device.chargeRead();
    if (this.#trouble.isAny) this.#trouble.atRead(this.#file, position, length);
    return this.#file.readShared(position, length);
  }

  truncate(size: number): void {
    if (this.#incarnation !== this.#host.incarnation) this.#refuse();
    this.#device.chargeWrite();
    if (this.#trouble.isAny) this.#trouble.atCut(this.#file, size);
    this.#file.truncate(this.#scheduler.now, this.#host.departure(), size);
  }

  sync(): void {
    const { end, error } = this.#beginSync();
    this.#device.waitUntil(end);
    if (error !== undefined) throw new DiskError(error, this.path);
  }

  syncLater(ticket: number): void {
    const { end, error } = this.#beginSync();
    const incarnation = error === undefined ? this.#incarnation : -1 - this.#incarnation;
    this.#scheduler.at(end, this.#services.syncedKind, ticket, incarnation);
  }

  #beginSync(): { readonly end: Instant; readonly error: DiskErrorCode | undefined } {
    if (this.#incarnation !== this.#host.incarnation) this.#refuse();
    const now = this.#scheduler.now;
    this.#file.settle(now);
    const began = this.#host.departure();
    const end = this.#device.flush(this.#file.dirtyBytes);
    const trouble = this.#trouble.isAny ? this.#trouble.atSync(this.#file) : undefined;
    if (trouble === "lies") return { end, error: undefined };
    if (trouble !== undefined) return { end, error: trouble };
    this.#file.beginSync(now, end);
    this.#services.tree.syncFile(now, began, this.#file, end);
    return { end, error: undefined };
  }

  #refuse(): never {
    fail(
      `incarnation ${this.#host.incarnation} of ${this.#host.name} uses ${this.path} ` +
        `as opened by incarnation ${this.#incarnation}`,
    );
  }
}
