import { byText } from "../../src/base/order.ts";
import type { Disk, DiskFile } from "../../src/ports/disk.ts";
import { DiskError } from "../../src/ports/disk.ts";

class Content {
  bytes: Uint8Array = new Uint8Array(0);
  synced: Uint8Array = new Uint8Array(0);
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
    for (const content of this.#names.values()) content.bytes = content.synced.slice();
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
    const content = this.#names.get(from);
    if (content === undefined) throw new DiskError("ENOENT", from);
    this.#names.delete(from);
    this.#names.set(to, content);
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
    return this.#content.bytes.length;
  }

  write(position: number, bytes: Uint8Array, start = 0, end: number = bytes.length): void {
    this.#check();
    const part = bytes.subarray(start, end);
    if (position + part.length > this.size) this.#resize(position + part.length);
    this.#content.bytes.set(part, position);
  }

  read(position: number, length: number): Uint8Array {
    this.#check();
    return this.#content.bytes.slice(position, position + length);
  }

  truncate(size: number): void {
    this.#check();
    this.#resize(size);
  }

  sync(): void {
    this.#check();
    this.#content.synced = this.#content.bytes.slice();
  }

  syncLater(): void {
    this.sync();
  }

  #resize(size: number): void {
    const resized = new Uint8Array(size);
    resized.set(this.#content.bytes.subarray(0, size));
    this.#content.bytes = resized;
  }
}
