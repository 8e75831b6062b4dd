import type { Disk, DiskFile } from "../../src/ports/disk.ts";
import { DiskError } from "../../src/ports/disk.ts";

/** A disk on which every call in one area fails; files opened before it did go on. */
export class FailingDisk implements Disk {
  /** A directory or file; everything if empty. */
  area: string;
  readonly #disk: Disk;

  constructor(disk: Disk, area: string) {
    this.#disk = disk;
    this.area = area;
  }

  exists(path: string): boolean {
    return this.#disk.exists(path);
  }

  open(path: string): DiskFile {
    return this.#at(path).open(path);
  }

  list(directory: string): string[] {
    return this.#at(directory).list(directory);
  }

  rename(from: string, to: string): void {
    this.#at(from).rename(from, to);
  }

  remove(path: string): void {
    this.#at(path).remove(path);
  }

  makeDirectory(path: string): void {
    this.#at(path).makeDirectory(path);
  }

  syncDirectory(directory: string): void {
    this.#at(directory).syncDirectory(directory);
  }

  #at(path: string): Disk {
    const { area } = this;
    if (area === "" || path === area || path.startsWith(`${area}/`)) {
      throw new DiskError("EIO", path);
    }
    return this.#disk;
  }
}
