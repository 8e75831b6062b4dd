import { readInt32, writeInt32 } from "../base/big-endian.ts";
import type { Offset } from "../kafka/ids.ts";
import type { Disk, DiskFile } from "../ports/disk.ts";

const ENTRY_SIZE = 8;

/**
 * A segment's `.index`: for some batches, the last offset (relative, int32) and the position in the
 * log file (int32). Sparse: a search ends with a scan (Kafka's `OffsetIndex`).
 *
 * Simplified: the file is as long as its entries; Kafka preallocates `segment.index.bytes` for the
 * active segment and trims it at roll and close.
 */
export class OffsetIndex {
  readonly #file: DiskFile;
  readonly #baseOffset: Offset;
  readonly #offsets: Offset[] = [];
  readonly #positions: number[] = [];
  #isDirty = false;

  constructor(disk: Disk, path: string, baseOffset: Offset) {
    this.#file = disk.open(path);
    this.#baseOffset = baseOffset;
    const bytes = this.#file.read(0, this.#file.size);
    for (let at = 0; at + ENTRY_SIZE <= bytes.length; at += ENTRY_SIZE) {
      this.#offsets.push(baseOffset + readInt32(bytes, at));
      this.#positions.push(readInt32(bytes, at + 4));
    }
  }

  get entryCount(): number {
    return this.#offsets.length;
  }

  get sizeInBytes(): number {
    return this.#offsets.length * ENTRY_SIZE;
  }

  /** The position from which a scan finds the batch that holds `offset`, or the first after it. */
  lookup(offset: Offset): number {
    const offsets = this.#offsets;
    let low = 0;
    let high = offsets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((offsets[middle] as number) <= offset) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : (this.#positions[low - 1] as number);
  }

  /** The offset of the first entry at `position` or behind it; undefined if there is none. */
  offsetFrom(position: number): Offset | undefined {
    const positions = this.#positions;
    let low = 0;
    let high = positions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((positions[middle] as number) < position) low = middle + 1;
      else high = middle;
    }
    return this.#offsets[low];
  }

  /** The position from which a scan finds the end of the segment. */
  get lastPosition(): number {
    return this.#positions.at(-1) ?? 0;
  }

  isFull(maxBytes: number): boolean {
    return this.#offsets.length >= Math.floor(maxBytes / ENTRY_SIZE);
  }

  append(lastOffset: Offset, position: number): void {
    const bytes = new Uint8Array(ENTRY_SIZE);
    writeInt32(bytes, 0, lastOffset - this.#baseOffset);
    writeInt32(bytes, 4, position);
    this.#file.write(this.#offsets.length * ENTRY_SIZE, bytes);
    this.#isDirty = true;
    this.#offsets.push(lastOffset);
    this.#positions.push(position);
  }

  /** Drops the entries of `offset` and above. */
  truncateTo(offset: Offset): void {
    let keep = this.#offsets.length;
    while (keep > 0 && (this.#offsets[keep - 1] as number) >= offset) keep--;
    if (keep === this.#offsets.length) return;
    this.#offsets.length = keep;
    this.#positions.length = keep;
    this.#file.truncate(keep * ENTRY_SIZE);
    this.#isDirty = true;
  }

  /** Drops all that is in the file, which may be no entries at all. */
  clear(): void {
    this.#offsets.length = 0;
    this.#positions.length = 0;
    if (this.#file.size === 0) return;
    this.#file.truncate(0);
    this.#isDirty = true;
  }

  sync(): void {
    if (this.#isDirty) this.#file.sync();
    this.#isDirty = false;
  }

  syncLater(ticket: number): void {
    this.#file.syncLater(ticket);
  }
}
