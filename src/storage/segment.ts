import type { ErrorCode } from "../kafka/error-code.ts";
import { ERRORS } from "../kafka/error-code.ts";
import type { Offset } from "../kafka/ids.ts";
import { HEADER_SIZE } from "../kafka/log/batch-header.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { NO_TIMESTAMP, parseBatch, parseBatchHeader } from "../kafka/log/record-batch.ts";
import type { Disk, DiskFile } from "../ports/disk.ts";
import type { LogConfig } from "./log-config.ts";
import { OffsetIndex } from "./offset-index.ts";
import { TimeIndex } from "./time-index.ts";

export interface ReadResult {
  /** CORRUPT_MESSAGE if the bytes at the offset cannot be told apart into batches. */
  readonly error: ErrorCode;
  readonly batches: readonly RecordBatch[];
  readonly sizeInBytes: number;
}

/** The path of a segment's file: twenty digits and what follows the dot. */
export function segmentPath(
  directory: string,
  baseOffset: Offset,
  suffix: SegmentSuffix,
  state: FileState = "",
): string {
  return `${directory}/${String(baseOffset).padStart(20, "0")}.${suffix}${state}`;
}

export type SegmentSuffix = "log" | "index" | "timeindex" | "txnindex" | "snapshot";

/**
 * What else a name ends with (Kafka's `LogFileUtils`): set aside to be removed later; written by the
 * cleaner and not in use yet; about to take the place of the segments that it was made from.
 */
export type FileState = "" | ".deleted" | ".cleaned" | ".swap";

/** In the order in which Kafka renames a segment's files. */
const SEGMENT_FILES = ["log", "index", "timeindex", "txnindex"] as const;

/**
 * A stretch of a log in one file, with its two indexes (Kafka's `LogSegment`).
 *
 * Beside the file it remembers its batches and where they lie. While the file is pristine they are
 * what a read returns, so that all replicas and readers share the same bytes; once a fault has
 * touched it, reads take the bytes from the disk.
 */
export class Segment {
  readonly baseOffset: Offset;
  /** The largest timestamp so far, milliseconds; NO_TIMESTAMP (-1) if there is none. */
  maxTimestamp: number;
  readonly #directory: string;
  readonly #disk: Disk;
  readonly #file: DiskFile;
  readonly #offsetIndex: OffsetIndex;
  readonly #timeIndex: TimeIndex;
  #offsetOfMaxTimestamp: Offset;
  #size: number;
  #bytesSinceIndexEntry = 0;
  /** When the segment was created or emptied, milliseconds: its age where batches have no timestamp. */
  #createdMs: number;
  #state: FileState;
  /** Remembered batches, ascending, and their positions; undefined until a file found on disk is read. */
  #batches: RecordBatch[] | undefined;
  #positions: number[] = [];
  /** From here on the file could not be told apart into batches when it was read. */
  #unreadableFrom: Offset = Number.POSITIVE_INFINITY;

  /** Opens the files, creating them if absent. */
  constructor(
    disk: Disk,
    directory: string,
    baseOffset: Offset,
    nowMs: number,
    state: FileState = "",
  ) {
    this.#disk = disk;
    this.#directory = directory;
    this.#state = state;
    this.baseOffset = baseOffset;
    this.#file = disk.open(segmentPath(directory, baseOffset, "log", state));
    this.#offsetIndex = new OffsetIndex(
      disk,
      segmentPath(directory, baseOffset, "index", state),
      baseOffset,
    );
    this.#timeIndex = new TimeIndex(
      disk,
      segmentPath(directory, baseOffset, "timeindex", state),
      baseOffset,
    );
    this.maxTimestamp = this.#timeIndex.lastTimestamp;
    this.#offsetOfMaxTimestamp = this.#timeIndex.lastOffset;
    this.#size = this.#file.size;
    this.#createdMs = nowMs;
    this.#batches = this.#size === 0 ? [] : undefined;
  }

  get sizeInBytes(): number {
    return this.#size;
  }

  /** Must the log go on in a new segment for a set of batches of this size, last offset and time? */
  shouldRoll(
    config: LogConfig,
    setSize: number,
    lastOffset: Offset,
    maxTimestamp: number,
    nowMs: number,
  ): boolean {
    if (this.#size > config["segment.bytes"] - setSize) return true;
    if (this.#size > 0 && this.#ageAt(maxTimestamp, nowMs) > config["segment.ms"]) return true;
    const indexBytes = config["segment.index.bytes"];
    return (
      this.#offsetIndex.isFull(indexBytes) ||
      this.#timeIndex.isFull(indexBytes) ||
      !this.#isNear(lastOffset)
    );
  }

  append(batch: RecordBatch, config: LogConfig): void {
    const batches = this.#load();
    const position = this.#size;
    this.#file.write(position, batch.buffer, batch.start, batch.end);
    this.#remember(batches, batch, position, config);
  }

  /**
   * Whole batches from the one that holds `from`, or the first after it, that end below `upTo`, of at
   * most `maxBytes` or at least one; undefined if the segment ends before `from`.
   *
   * Simplified: Kafka's slices of the file may end within a batch, which readers then ignore.
   */
  read(
    from: Offset,
    maxBytes: number,
    upTo: Offset,
    minOneMessage: boolean,
  ): ReadResult | undefined {
    const batches = this.#load();
    if (from >= this.#unreadableFrom) return UNREADABLE;
    const first = indexOf(batches, from);
    if (first === batches.length) return undefined;
    let end = first;
    let size = 0;
    for (; end < batches.length; end++) {
      const batch = batches[end] as RecordBatch;
      if (batch.lastOffset >= upTo || batch.lastOffset >= this.#unreadableFrom) break;
      const extended = size + batch.sizeInBytes;
      if (extended > maxBytes && !(minOneMessage && end === first)) break;
      size = extended;
    }
    if (end === first) return NOTHING;
    if (!this.#file.pristine) return this.#readFromFile(first, end);
    // Followers that keep up read one batch at a time: no call into the engine for that.
    const isOne = end === first + 1;
    return {
      error: ERRORS.NONE,
      batches: isOne ? [batches[first] as RecordBatch] : batches.slice(first, end),
      sizeInBytes: size,
    };
  }

  /** Where the batch that holds `offset` lies, or the first after it; the size if there is none. */
  positionOf(offset: Offset): number {
    const batches = this.#load();
    return this.#positions[indexOf(batches, offset)] ?? this.#size;
  }

  /**
   * The offset after the last batch, found by a scan from the last index entry; undefined if that
   * meets what is no batch.
   */
  findNextOffset(): Offset | undefined {
    const known = this.#batches?.at(-1);
    if (known !== undefined) return known.nextOffset;
    let next = this.baseOffset;
    let position = this.#offsetIndex.lastPosition;
    while (position < this.#size) {
      const header = parseBatchHeader(this.#file.read(position, HEADER_SIZE));
      if (header === undefined || position + header.sizeInBytes > this.#size) return undefined;
      next = header.nextOffset;
      position += header.sizeInBytes;
    }
    return next;
  }

  /**
   * Scans the whole file, rebuilds the indexes, and cuts the file at the first batch that is cut
   * short, fails its CRC or does not ascend. Calls `visit` for each sound batch; returns the bytes
   * cut off.
   *
   * Simplified: Kafka notices an offset that does not ascend only where it would get an index entry, and
   * fails to start at one that lies below the segment's base.
   */
  recover(config: LogConfig, visit: (batch: RecordBatch) => void): number {
    const bytes = this.#file.read(0, this.#file.size);
    const batches = this.#reset();
    let next = this.baseOffset;
    let batch = parseBatch(bytes, 0);
    while (batch !== undefined && this.#continues(next, batch) && batch.isValid()) {
      this.#remember(batches, batch, batch.start, config);
      visit(batch);
      next = batch.nextOffset;
      batch = parseBatch(bytes, batch.end);
    }
    const cut = bytes.length - this.#size;
    if (cut > 0) this.#file.truncate(this.#size);
    this.close();
    return cut;
  }

  /** Drops the batches that hold `offset` or lie above. */
  truncateTo(offset: Offset, nowMs: number): void {
    const batches = this.#load();
    const keep = indexOf(batches, offset);
    this.#offsetIndex.truncateTo(offset);
    this.#timeIndex.truncateTo(offset);
    if (keep < batches.length || offset >= this.#unreadableFrom) {
      const size = this.#endOf(keep - 1);
      this.#file.truncate(size);
      this.#size = size;
      batches.length = keep;
      this.#positions.length = keep;
    }
    if (offset <= this.#unreadableFrom) this.#unreadableFrom = Number.POSITIVE_INFINITY;
    if (this.#size === 0) this.#createdMs = nowMs;
    this.#bytesSinceIndexEntry = 0;
    this.#findMaxTimestamp(batches);
  }

  /** At roll and close: the largest timestamp gets its index entry. */
  close(): void {
    if (this.#size > 0) this.#timeIndex.maybeAppend(this.maxTimestamp, this.#offsetOfMaxTimestamp);
  }

  sync(): void {
    this.#file.sync();
    this.#offsetIndex.sync();
    this.#timeIndex.sync();
  }

  /** Begins the sync of all three files; `issueTicket` is called for each. */
  syncLater(issueTicket: () => number): void {
    this.#file.syncLater(issueTicket());
    this.#offsetIndex.syncLater(issueTicket());
    this.#timeIndex.syncLater(issueTicket());
  }

  /**
   * Gives the files another ending; they can still be read and written (`changeFileSuffixes`).
   * Returns their new paths.
   */
  rename(state: FileState): readonly string[] {
    const paths: string[] = [];
    for (const file of SEGMENT_FILES) {
      const from = segmentPath(this.#directory, this.baseOffset, file, this.#state);
      // Few segments have an index of aborted transactions.
      if (file === "txnindex" && !this.#disk.exists(from)) continue;
      const to = segmentPath(this.#directory, this.baseOffset, file, state);
      this.#disk.rename(from, to);
      paths.push(to);
    }
    this.#state = state;
    return paths;
  }

  /** Removes the files. */
  remove(): void {
    removeSegmentFiles(this.#disk, this.#directory, this.baseOffset, this.#state);
  }

  /** Keeps a batch that is in the file in mind, and gives it an index entry if one is due. */
  #remember(batches: RecordBatch[], batch: RecordBatch, position: number, config: LogConfig): void {
    const { maxTimestamp, lastOffset, sizeInBytes } = batch;
    if (maxTimestamp > this.maxTimestamp) {
      this.maxTimestamp = maxTimestamp;
      this.#offsetOfMaxTimestamp = lastOffset;
    }
    if (this.#bytesSinceIndexEntry > config["index.interval.bytes"]) {
      this.#offsetIndex.append(lastOffset, position);
      this.#timeIndex.maybeAppend(this.maxTimestamp, this.#offsetOfMaxTimestamp);
      this.#bytesSinceIndexEntry = 0;
    }
    this.#bytesSinceIndexEntry += sizeInBytes;
    this.#size = position + sizeInBytes;
    batches.push(batch);
    this.#positions.push(position);
  }

  #reset(): RecordBatch[] {
    this.#offsetIndex.truncateTo(this.baseOffset);
    this.#timeIndex.truncateTo(this.baseOffset);
    this.maxTimestamp = NO_TIMESTAMP;
    this.#offsetOfMaxTimestamp = this.baseOffset;
    this.#bytesSinceIndexEntry = 0;
    this.#size = 0;
    this.#positions = [];
    this.#unreadableFrom = Number.POSITIVE_INFINITY;
    this.#batches = [];
    return this.#batches;
  }

  /** The remembered batches, read from the file if they are not yet. */
  #load(): RecordBatch[] {
    if (this.#batches !== undefined) return this.#batches;
    const bytes = this.#file.read(0, this.#size);
    const batches: RecordBatch[] = [];
    let end = 0;
    let next = this.baseOffset;
    let batch = parseBatch(bytes, 0);
    while (batch !== undefined && this.#continues(next, batch)) {
      batches.push(batch);
      this.#positions.push(batch.start);
      end = batch.end;
      next = batch.nextOffset;
      batch = parseBatch(bytes, end);
    }
    if (end < this.#size) this.#unreadableFrom = next;
    this.#batches = batches;
    return batches;
  }

  /** The remembered batches [first, end), as the disk has their bytes now. */
  #readFromFile(first: number, end: number): ReadResult {
    const start = this.#positions[first] as number;
    const bytes = this.#file.read(start, this.#endOf(end - 1) - start);
    const batches: RecordBatch[] = [];
    let size = 0;
    for (let i = first; i < end; i++) {
      const batch = parseBatch(bytes, (this.#positions[i] as number) - start);
      if (batch === undefined) break;
      batches.push(batch);
      size += batch.sizeInBytes;
    }
    return batches.length === 0 ? UNREADABLE : { error: ERRORS.NONE, batches, sizeInBytes: size };
  }

  /** The position after the remembered batch at `index`; 0 for -1. */
  #endOf(index: number): number {
    const batch = this.#batches?.[index];
    return batch === undefined ? 0 : (this.#positions[index] as number) + batch.sizeInBytes;
  }

  #findMaxTimestamp(batches: readonly RecordBatch[]): void {
    this.maxTimestamp = this.#timeIndex.lastTimestamp;
    this.#offsetOfMaxTimestamp = this.#timeIndex.lastOffset;
    // Those up to the index entry are covered by it.
    for (let i = indexOf(batches, this.#offsetOfMaxTimestamp); i < batches.length; i++) {
      const { maxTimestamp, lastOffset } = batches[i] as RecordBatch;
      if (maxTimestamp > this.maxTimestamp) {
        this.maxTimestamp = maxTimestamp;
        this.#offsetOfMaxTimestamp = lastOffset;
      }
    }
  }

  /** Milliseconds from the first batch to `timestamp`; without timestamps, since the creation. */
  #ageAt(timestamp: number, nowMs: number): number {
    const firstTimestamp = this.#load()[0]?.maxTimestamp ?? NO_TIMESTAMP;
    return firstTimestamp >= 0 ? timestamp - firstTimestamp : nowMs - this.#createdMs;
  }

  /** Can the batch stand behind one that ends before `next`? Damaged headers say anything. */
  #continues(next: Offset, batch: RecordBatch): boolean {
    return (
      batch.baseOffset >= next &&
      batch.lastOffset >= batch.baseOffset &&
      this.#isNear(batch.lastOffset)
    );
  }

  /** Can the indexes express the offset? They hold int32, relative to the base. */
  #isNear(offset: Offset): boolean {
    const relative = offset - this.baseOffset;
    return relative >= 0 && relative <= 0x7fff_ffff;
  }
}

/** Of files that are absent nothing is said. */
export function removeSegmentFiles(
  disk: Disk,
  directory: string,
  baseOffset: Offset,
  state: FileState = "",
): void {
  for (const file of SEGMENT_FILES) {
    const path = segmentPath(directory, baseOffset, file, state);
    if (file === "txnindex" && !disk.exists(path)) continue;
    disk.remove(path);
  }
}

/** The index of the first batch that ends at `offset` or later; the length if there is none. */
function indexOf(batches: readonly RecordBatch[], offset: Offset): number {
  const { length } = batches;
  let low = 0;
  let high = length;
  // Backwards in growing steps first: most searches are for the newest batches.
  for (let step = 1; step <= length; step *= 2) {
    const probe = length - step;
    if ((batches[probe] as RecordBatch).lastOffset < offset) {
      low = probe + 1;
      break;
    }
    high = probe;
  }
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((batches[middle] as RecordBatch).lastOffset < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A read that found no batch. */
export const NOTHING: ReadResult = { error: ERRORS.NONE, batches: [], sizeInBytes: 0 };
const UNREADABLE: ReadResult = { error: ERRORS.CORRUPT_MESSAGE, batches: [], sizeInBytes: 0 };
