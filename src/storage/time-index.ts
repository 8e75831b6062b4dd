import { readInt32, readInt64, writeInt32, writeInt64 } from "../base/big-endian.ts";
import type { Offset } from "../kafka/ids.ts";
import { NO_TIMESTAMP } from "../kafka/log/record-batch.ts";
import type { Disk, DiskFile } from "../ports/disk.ts";

const ENTRY_SIZE = 12;

/**
 * A segment's `.timeindex`: the largest timestamp so far (int64, milliseconds) and the offset of its
 * batch (relative, int32). Both ascend (Kafka's `TimeIndex`).
 *
 * Simplified: the file is as long as its entries, as with `OffsetIndex`.
 */
export class TimeIndex {
  readonly #file: DiskFile;
  readonly #baseOffset: Offset;
  readonly #timestamps: number[] = [];
  readonly #offsets: Offset[] = [];
  #isDirty = false;

  constructor(disk: Disk, path: string, baseOffset: Offset) {
    this.#file = disk.open(path);
    this.#baseOffset = baseOffset;
    const bytes = this.#file.read(0, this.#file.size);
    for (let at = 0; at + ENTRY_SIZE <= bytes.length; at += ENTRY_SIZE) {
      this.#timestamps.push(readInt64(bytes, at));
      this.#offsets.push(baseOffset + readInt32(bytes, at + 8));
    }
  }

  /** Milliseconds; NO_TIMESTAMP (-1) if there is no entry. */
  get lastTimestamp(): number {
    return this.#timestamps.at(-1) ?? NO_TIMESTAMP;
  }

  get sizeInBytes(): number {
    return this.#timestamps.length * ENTRY_SIZE;
  }

  /** The segment's base offset if there is no entry. */
  get lastOffset(): Offset {
    return this.#offsets.at(-1) ?? this.#baseOffset;
  }

  /** An offset: no batch before the one that holds it is as late as `timestamp`. */
  lookup(timestamp: number): Offset {
    const timestamps = this.#timestamps;
    let low = 0;
    let high = timestamps.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((timestamps[middle] as number) <= timestamp) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? this.#baseOffset : (this.#offsets[low - 1] as number);
  }

  /** One entry is kept free for the one at roll. */
  isFull(maxBytes: number): boolean {
    return this.#timestamps.length >= Math.floor(maxBytes / ENTRY_SIZE) - 1;
  }

  /** Adds an entry if the timestamp is larger than all before. */
  maybeAppend(timestamp: number, offset: Offset): void {
    if (timestamp <= this.lastTimestamp) return;
    const bytes = new Uint8Array(ENTRY_SIZE);
    writeInt64(bytes, 0, timestamp);
    writeInt32(bytes, 8, offset - this.#baseOffset);
    this.#file.write(this.#timestamps.length * ENTRY_SIZE, bytes);
    this.#isDirty = true;
    this.#timestamps.push(timestamp);
    this.#offsets.push(offset);
  }

  /** Drops the entries of `offset` and above. */
  truncateTo(offset: Offset): void {
    let keep = this.#offsets.length;
    while (keep > 0 && (this.#offsets[keep - 1] as number) >= offset) keep--;
    if (keep === this.#offsets.length) return;
    this.#timestamps.length = keep;
    this.#offsets.length = keep;
    this.#file.truncate(keep * ENTRY_SIZE);
    this.#isDirty = true;
  }

  /** Drops all that is in the file, which may be no entries at all. */
  clear(): void {
    this.#timestamps.length = 0;
    this.#offsets.length = 0;
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
