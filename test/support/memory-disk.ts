import { byText } from "../../src/base/order.ts";
import type { ByteRange, Disk, DiskFile } from "../../src/ports/disk.ts";
import { DiskError } from "../../src/ports/disk.ts";

/** Bytes that grow. */
class Bytes {
  size = 0;
  #buffer = new Uint8Array(256);

  /** Beyond the end reads as zeros. */
  resize(size: number): void {
    if (size > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(size, this.#buffer.length * 2));
      larger.set(this.#buffer.subarray(0, this.size));
      this.#buffer = larger;
    }
    if (size < this.size) this.#buffer.fill(0, size, this.size);
    this.size = size;
  }

  write(position: number, bytes: Uint8Array): void {
    if (position + bytes.length > this.size) this.resize(position + bytes.length);
    this.#buffer.set(bytes, position);
  }

  read(start: number, end: number): Uint8Array {
    return this.#buffer.subarray(start, Math.min(end, this.size));
  }
}

class Content {
  readonly bytes = new Bytes();
  readonly #synced = new Bytes();
  /** Below it both are the same. */
  #clean = 0;

  touch(position: number): void {
    this.#clean = Math.min(this.#clean, position);
  }

  sync(): void {
    copyFrom(this.bytes, this.#synced, this.#clean);
    this.#clean = this.bytes.size;
  }

  powerOff(): void {
    copyFrom(this.#synced, this.bytes, this.#clean);
    this.#clean = this.bytes.size;
  }
}

function copyFrom(source: Bytes, target: Bytes, start: number): void {
  target.resize(source.size);
  if (start < source.size) target.write(start, source.read(start, source.size));
}

/**
 * The strictest disk that the port allows, without time: a loss of power leaves of each file what
 * was synced, under the name that its directory was synced with. For tests of what nodes promise.
 */
export class MemoryDisk implements Disk {
  #names = new Map<string, Content>();
  #durable = new Map<string, Content>();
  /** Set by a test: every further call fails with it. */
  failure: DiskError | undefined;

  powerOff(): void {
    this.#names = new Map(this.#durable);
    for (const content of this.#names.values()) content.powerOff();
  }

  exists(path: string): boolean {
    this.#check();
    return this.#names.has(path) || this.list(path).length > 0;
  }

  open(path: string): DiskFile {
    this.#check();
    let content = this.#names.get(path);
    if (content === undefined) {
      content = new Content();
      this.#names.set(path, content);
    }
    return new MemoryFile(path, content, () => this.#check());
  }

  list(directory: string): string[] {
    const names = new Set<string>();
    for (const path of this.#names.keys()) {
      if (!path.startsWith(`${directory}/`)) continue;
      names.add(path.slice(directory.length + 1).split("/")[0] ?? "");
    }
    return [...names].sort(byText);
  }

  rename(from: string, to: string): void {
    this.#check();
    const moved = [...this.#names].filter(([path]) => path === from || path.startsWith(`${from}/`));
    if (moved.length === 0) throw new DiskError("ENOENT", from);
    for (const [path, content] of moved) {
      this.#names.delete(path);
      this.#names.set(to + path.slice(from.length), content);
    }
  }

  remove(path: string): void {
    this.#check();
    for (const name of [...this.#names.keys()]) {
      if (name === path || name.startsWith(`${path}/`)) this.#names.delete(name);
    }
  }

  makeDirectory(): void {
    this.#check();
  }

  syncDirectory(directory: string): void {
    this.#check();
    const isInside = (path: string): boolean =>
      path.startsWith(`${directory}/`) && !path.slice(directory.length + 1).includes("/");
    for (const path of [...this.#durable.keys()]) if (isInside(path)) this.#durable.delete(path);
    for (const [path, content] of this.#names) if (isInside(path)) this.#durable.set(path, content);
  }

  #check(): void {
    if (this.failure !== undefined) throw this.failure;
  }
}

class MemoryFile implements DiskFile {
  readonly path: string;
  readonly pristine = false;
  readonly #content: Content;
  readonly #check: () => void;

  constructor(path: string, content: Content, check: () => void) {
    this.path = path;
    this.#content = content;
    this.#check = check;
  }

  get size(): number {
    return this.#content.bytes.size;
  }

  write(position: number, bytes: Uint8Array, start = 0, end: number = bytes.length): void {
    this.#check();
    this.#content.touch(Math.min(position, this.size));
    this.#content.bytes.write(position, bytes.subarray(start, end));
  }

  writeShared(position: number, bytes: Uint8Array, start?: number, end?: number): void {
    this.write(position, bytes, start, end);
  }

  readShared(position: number, length: number): ByteRange[] {
    const bytes = this.read(position, length);
    return [{ bytes, start: 0, end: bytes.length }];
  }

  read(position: number, length: number): Uint8Array {
    this.#check();
    return this.#content.bytes.read(position, position + length).slice();
  }

  truncate(size: number): void {
    this.#check();
    this.#content.touch(Math.min(size, this.size));
    this.#content.bytes.resize(size);
  }

  sync(): void {
    this.#check();
    this.#content.sync();
  }

  syncLater(): void {
    this.sync();
  }
}
