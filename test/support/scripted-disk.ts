import { byText } from "../../src/base/order.ts";
import type { ByteRange, Disk, DiskErrorCode, DiskFile } from "../../src/ports/disk.ts";
import { DiskError } from "../../src/ports/disk.ts";

/** What a name stands for. Content and size are durable only as of the last sync. */
interface Inode {
  bytes: Uint8Array;
  size: number;
  durable: Uint8Array;
  /** False once a test has damaged the file behind the log's back. */
  pristine: boolean;
}

/**
 * A disk in memory for tests of what is stored on it: `powerOff` leaves what was synced, names by
 * directory and contents by file. Syncs begun with `syncLater` end when the test says so; tests can
 * see the calls and change files behind the log's back.
 */
export class ScriptedDisk implements Disk {
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #syncs: { ticket: number; inode: Inode }[] = [];
  /** Set to make every call fail. */
  failure: DiskErrorCode | undefined;
  /** Calls that changed or synced something, with their paths: `sync topic-0/x.log`. */
  readonly calls: string[] = [];

  exists(path: string): boolean {
    return this.#names.has(path) || this.list(path).length > 0;
  }

  open(path: string): DiskFile {
    this.note("open", path);
    let inode = this.#names.get(path);
    if (inode === undefined) {
      inode = { bytes: new Uint8Array(64), size: 0, durable: new Uint8Array(0), pristine: true };
      this.#names.set(path, inode);
    }
    return new ScriptedFile(this, path, inode);
  }

  list(directory: string): string[] {
    const names = new Set<string>();
    for (const path of this.#names.keys()) {
      if (!path.startsWith(`${directory}/`)) continue;
      names.add(path.slice(directory.length + 1).split("/")[0] as string);
    }
    return [...names].sort(byText);
  }

  rename(from: string, to: string): void {
    this.note("rename", to);
    const moved = [...this.#names].filter(([path]) => path === from || path.startsWith(`${from}/`));
    if (moved.length === 0) throw new DiskError("ENOENT", from);
    for (const [path, inode] of moved) {
      this.#names.delete(path);
      this.#names.set(to + path.slice(from.length), inode);
    }
  }

  remove(path: string): void {
    this.note("remove", path);
    for (const name of [...this.#names.keys()]) {
      if (name === path || name.startsWith(`${path}/`)) this.#names.delete(name);
    }
  }

  makeDirectory(path: string): void {
    this.note("makeDirectory", path);
  }

  syncDirectory(directory: string): void {
    this.note("syncDirectory", directory);
    const isInside = (path: string): boolean =>
      path.slice(0, Math.max(0, path.lastIndexOf("/"))) === directory;
    for (const path of [...this.#durableNames.keys()]) {
      if (isInside(path)) this.#durableNames.delete(path);
    }
    for (const [path, inode] of this.#names) {
      if (isInside(path)) this.#durableNames.set(path, inode);
    }
  }

  note(call: string, path: string): void {
    if (this.failure !== undefined) throw new DiskError(this.failure, path);
    this.calls.push(`${call} ${path}`);
  }

  begin(ticket: number, inode: Inode): void {
    this.#syncs.push({ ticket, inode });
  }

  /** Ends the syncs begun so far, in order, and those that are begun when one of them has ended. */
  endSyncs(synced: (ticket: number, ok: boolean) => void, ok = true): void {
    while (this.endSync(synced, ok));
  }

  /** Ends the sync that was begun first; false if there is none. */
  endSync(synced: (ticket: number, ok: boolean) => void, ok = true): boolean {
    const sync = this.#syncs.shift();
    if (sync === undefined) return false;
    const { ticket, inode } = sync;
    if (ok) inode.durable = inode.bytes.slice(0, inode.size);
    synced(ticket, ok);
    return true;
  }

  /** Everything that was not synced is gone. Files opened before are not to be used again. */
  powerOff(): void {
    this.#syncs = [];
    this.#names = new Map();
    for (const [path, { durable }] of this.#durableNames) {
      const { length: size } = durable;
      this.#names.set(path, { bytes: durable.slice(), size, durable, pristine: true });
    }
    this.#durableNames = new Map(this.#names);
  }

  /** The process died: everything stays, as it is in the page cache. */
  crash(): void {
    this.#syncs = [];
  }

  /** A copy on which a test can do harm. */
  clone(): ScriptedDisk {
    const copy = new ScriptedDisk();
    for (const [path, { bytes, size, durable }] of this.#names) {
      copy.#names.set(path, { bytes: bytes.slice(), size, durable, pristine: true });
    }
    return copy;
  }

  content(path: string): Uint8Array {
    const inode = this.#names.get(path);
    if (inode === undefined) throw new DiskError("ENOENT", path);
    return inode.bytes.slice(0, inode.size);
  }

  text(path: string): string {
    return String.fromCharCode(...this.content(path));
  }

  /** Sets a file's content behind the log's back. */
  replace(path: string, bytes: Uint8Array): void {
    const inode = this.#names.get(path);
    if (inode === undefined) throw new DiskError("ENOENT", path);
    inode.bytes = bytes.slice();
    inode.size = bytes.length;
    inode.pristine = false;
  }
}

class ScriptedFile implements DiskFile {
  readonly path: string;
  readonly #disk: ScriptedDisk;
  readonly #inode: Inode;

  constructor(disk: ScriptedDisk, path: string, inode: Inode) {
    this.#disk = disk;
    this.path = path;
    this.#inode = inode;
  }

  get size(): number {
    return this.#inode.size;
  }

  get pristine(): boolean {
    return this.#inode.pristine;
  }

  write(position: number, bytes: Uint8Array, start = 0, end: number = bytes.length): void {
    this.#disk.note("write", this.path);
    const inode = this.#inode;
    const size = Math.max(inode.size, position + end - start);
    if (size > inode.bytes.length) {
      const larger = new Uint8Array(size * 2);
      larger.set(inode.bytes.subarray(0, inode.size));
      inode.bytes = larger;
    }
    inode.bytes.set(bytes.subarray(start, end), position);
    inode.size = size;
  }

  writeShared(position: number, bytes: Uint8Array, start?: number, end?: number): void {
    this.write(position, bytes, start, end);
  }

  readShared(position: number, length: number): ByteRange[] {
    const bytes = this.read(position, length);
    return [{ bytes, start: 0, end: bytes.length }];
  }

  read(position: number, length: number): Uint8Array {
    const { bytes, size } = this.#inode;
    return bytes.slice(position, Math.max(position, Math.min(size, position + length)));
  }

  truncate(size: number): void {
    this.#disk.note("truncate", this.path);
    const bytes = new Uint8Array(size);
    bytes.set(this.#inode.bytes.subarray(0, Math.min(size, this.#inode.size)));
    this.#inode.bytes = bytes;
    this.#inode.size = size;
  }

  sync(): void {
    this.#disk.note("sync", this.path);
    this.#inode.durable = this.read(0, this.size);
  }

  syncLater(ticket: number): void {
    this.#disk.note("syncLater", this.path);
    this.#disk.begin(ticket, this.#inode);
  }
}
