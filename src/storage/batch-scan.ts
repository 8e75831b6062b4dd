import { readInt32, readInt64 } from "../base/big-endian.ts";
import type { Offset } from "../kafka/ids.ts";
import * as header from "../kafka/log/batch-header.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { parseBatch } from "../kafka/log/record-batch.ts";
import type { ByteRange, DiskFile } from "../ports/disk.ts";

/** What every format begins with: offset, length, and the bytes up to the magic (`HEADER_SIZE_UP_TO_MAGIC`). */
const SMALLEST_HEADER = 17;
/** The least that a length can state (`LegacyRecord.RECORD_OVERHEAD_V0`). */
const SMALLEST_LENGTH = 14;

/**
 * Walks the batches of a log file from a position on, in windows of so many bytes, each of which is
 * one read (Kafka's `FileLogInputStream`). As there, a batch that would reach beyond the end of the
 * file ends the walk as if the file ended before it.
 */
export class BatchScan {
  /** Where the next batch begins. */
  position: number;
  /** Did the walk end at bytes that are no batch? */
  isCorrupt = false;
  readonly #file: DiskFile;
  readonly #size: number;
  readonly #window: number;
  #pieces: readonly ByteRange[] = [];
  #piece = 0;
  /** The rest of the piece that the walk is in. */
  #bytes: Uint8Array = NOTHING;
  #at = 0;
  #end = 0;

  /** `size`: where the file ends, as its segment knows it. */
  constructor(file: DiskFile, position: number, size: number, window: number) {
    this.position = position;
    this.#file = file;
    this.#size = size;
    this.#window = window;
  }

  /** Moves to the first batch that ends at `offset` or later; false if there is none. */
  skipTo(offset: Offset): boolean {
    for (let size = this.#sizeOfNext(); size > 0; size = this.#sizeOfNext()) {
      if (this.#lastOffset() >= offset) return true;
      this.#at += size;
      this.position += size;
    }
    return false;
  }

  /** The next batch, its CRC not checked. */
  next(): RecordBatch | undefined {
    const size = this.#sizeOfNext();
    if (size === 0) return undefined;
    const batch = parseBatch(this.#bytes, this.#at);
    if (batch === undefined) {
      this.isCorrupt = true;
      return undefined;
    }
    this.#at += size;
    this.position += size;
    return batch;
  }

  /** Of the batch that comes next, by its header alone: older formats state it in place of the base. */
  #lastOffset(): Offset {
    const offset = readInt64(this.#bytes, this.#at);
    const magic = this.#bytes[this.#at + header.MAGIC] as number;
    const isOld = magic < header.MAGIC_V2;
    return isOld ? offset : offset + readInt32(this.#bytes, this.#at + header.LAST_OFFSET_DELTA);
  }

  /** Makes the next batch lie in `#bytes` from `#at` on, and returns its size; 0 if there is none. */
  #sizeOfNext(): number {
    if (this.isCorrupt || this.position + SMALLEST_HEADER > this.#size) return 0;
    if (!this.#has(SMALLEST_HEADER)) return 0;
    const length = readInt32(this.#bytes, this.#at + header.BATCH_LENGTH);
    const size = header.LOG_OVERHEAD + length;
    if (length < SMALLEST_LENGTH) this.isCorrupt = true;
    else if (this.position + size <= this.#size && this.#has(size)) return size;
    return 0;
  }

  /** Are so many bytes at hand, in one piece? */
  #has(length: number): boolean {
    if (this.#at + length <= this.#end) return true;
    if (this.#at === this.#end && this.#nextPiece() && this.#at + length <= this.#end) return true;
    this.#pieces = this.#file.readShared(this.position, this.#reach(length));
    this.#piece = 0;
    this.#end = this.#at;
    if (this.#nextPiece() && this.#at + length <= this.#end) return true;
    // A fault has moved the borders of the pieces: here one runs through a batch.
    const joined = this.#file.read(this.position, this.#reach(length));
    this.#pieces = NO_PIECES;
    this.#bytes = joined;
    this.#at = 0;
    this.#end = joined.length;
    if (length <= joined.length) return true;
    // The file is shorter than its segment believes.
    this.isCorrupt = true;
    return false;
  }

  #nextPiece(): boolean {
    const piece = this.#pieces[this.#piece];
    if (piece === undefined) return false;
    this.#piece++;
    this.#bytes = piece.bytes;
    this.#at = piece.start;
    this.#end = piece.end;
    return true;
  }

  #reach(length: number): number {
    return Math.min(Math.max(this.#window, length), this.#size - this.position);
  }
}

const NOTHING = new Uint8Array(0);
const NO_PIECES: readonly ByteRange[] = [];
