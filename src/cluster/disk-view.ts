import type { SimulatedDisk } from "../disk/simulated-disk.ts";

/** A file on a simulated disk as its node would find it now, through the page cache. */
export interface ViewedFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /**
   * What a power-off that loses all that can be lost would leave: the file as it is; fewer of its
   * bytes; as long as it is, or longer, but older in parts; not even its name.
   */
  readonly durable: "all" | "older" | "nothing" | { readonly bytes: number };
}

/** Looks at a node's disk without touching it: no latency passes, no fault strikes. */
export class DiskView {
  readonly #disk: SimulatedDisk;

  constructor(disk: SimulatedDisk) {
    this.#disk = disk;
  }

  /** In the order of their paths. */
  files(): readonly ViewedFile[] {
    const unnamed = new Set(this.#disk.unnamed());
    return this.#disk.files().map(({ path, size, durableSize, isDurable }) => {
      if (unnamed.has(path)) return { path, size, durable: "nothing" };
      if (isDurable) return { path, size, durable: "all" };
      return { path, size, durable: durableSize < size ? { bytes: durableSize } : "older" };
    });
  }

  /** Up to `length` bytes of a file from `position` on; none if there is no such file. */
  read(path: string, position: number, length: number): Uint8Array {
    return this.#disk.peek(path, position, length);
  }
}
