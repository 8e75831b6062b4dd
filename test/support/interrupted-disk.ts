import type { ByteRange, Disk, DiskErrorCode, DiskFile } from "../../src/ports/disk.ts";
import { DiskError } from "../../src/ports/disk.ts";

/** The process dies here: nothing that it would have done next happens. */
export class Interrupted extends Error {}

/** What ends a process in the middle of what it does. */
export type Interruption = "death" | DiskErrorCode;

/** A disk in front of another: lets a process die, or fails it, at one of its calls. */
export class InterruptedDisk implements Disk {
  readonly #disk: Disk;
  /** So many calls still succeed. */
  #callsLeft: number = Number.POSITIVE_INFINITY;
  #how: Interruption = "death";

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  interruptAfter(calls: number, how: Interruption): void {
    this.#callsLeft = calls;
    this.#how = how;
  }

  /** To be asked when the step is over: was it too short to be interrupted? */
  spare(): void {
    this.#callsLeft = Number.POSITIVE_INFINITY;
  }

  exists(path: string): boolean {
    return this.#disk.exists(path);
  }

  open(path: string): DiskFile {
    this.count(path);
    return new InterruptedFile(this, this.#disk.open(path));
  }

  list(directory: string): string[] {
    this.count(directory);
    return this.#disk.list(directory);
  }

  rename(from: string, to: string): void {
    this.count(from);
    this.#disk.rename(from, to);
  }

  remove(path: string): void {
    this.count(path);
    this.#disk.remove(path);
  }

  makeDirectory(path: string): void {
    this.count(path);
    this.#disk.makeDirectory(path);
  }

  syncDirectory(directory: string): void {
    this.count(directory);
    this.#disk.syncDirectory(directory);
  }

  count(path: string): void {
    if (this.#callsLeft-- > 0) return;
    // A dead process stays dead; an error of the disk passes.
    if (this.#how === "death") throw new Interrupted(path);
    this.#callsLeft = Number.POSITIVE_INFINITY;
    throw new DiskError(this.#how, path);
  }
}

class InterruptedFile implements DiskFile {
  readonly #disk: InterruptedDisk;
  readonly #file: DiskFile;

  constructor(disk: InterruptedDisk, file: DiskFile) {
    this.#disk = disk;
    this.#file = file;
  }

  get path(): string {
    return this.#file.path;
  }

  get size(): number {
    return this.#file.size;
  }

  get pristine(): boolean {
    return this.#file.pristine;
  }

  write(position: number, bytes: Uint8Array, start?: number, end?: number): void {
    this.#disk.count(this.path);
    this.#file.write(position, bytes, start, end);
  }

  writeShared(position: number, bytes: Uint8Array, start?: number, end?: number): void {
    this.#disk.count(this.path);
    this.#file.writeShared(position, bytes, start, end);
  }

  read(position: number, length: number): Uint8Array {
    this.#disk.count(this.path);
    return this.#file.read(position, length);
  }

  readShared(position: number, length: number): readonly ByteRange[] {
    this.#disk.count(this.path);
    return this.#file.readShared(position, length);
  }

  truncate(size: number): void {
    this.#disk.count(this.path);
    this.#file.truncate(size);
  }

  sync(): void {
    this.#disk.count(this.path);
    this.#file.sync();
  }

  syncLater(ticket: number): void {
    this.#disk.count(this.path);
    this.#file.syncLater(ticket);
  }
}
