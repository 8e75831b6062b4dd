import { readInt32 } from "../base/big-endian.ts";
import type { ErrorCode } from "../kafka/error-code.ts";
import { ERRORS } from "../kafka/error-code.ts";
import type { LeaderEpoch, Offset } from "../kafka/ids.ts";
import { BATCH_LENGTH, HEADER_SIZE, LOG_OVERHEAD, MAGIC } from "../kafka/log/batch-header.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { NO_TIMESTAMP, parseBatchHeader } from "../kafka/log/record-batch.ts";
import { RecordCursor } from "../kafka/log/record-cursor.ts";
import type { Disk, DiskFile } from "../ports/disk.ts";
import { BatchScan } from "./batch-scan.ts";
import type { LogConfig } from "./log-config.ts";
import { OffsetIndex } from "./offset-index.ts";
import { RecentBatches } from "./recent-batches.ts";
import type { FileState } from "./segment-files.ts";
import { renameSegmentFiles, segmentPath } from "./segment-files.ts";
import { TimeIndex } from "./time-index.ts";
import { TransactionIndex } from "./transaction-index.ts";

export interface ReadResult {
  /** CORRUPT_MESSAGE if the bytes at the offset cannot be told apart into batches. */
  readonly error: ErrorCode;
  readonly batches: readonly RecordBatch[];
  readonly sizeInBytes: number;
}

/** A record's place and time, and the epoch of its batch. */
export interface TimestampAndOffset {
  /** Milliseconds. */
  readonly timestamp: number;
  readonly offset: Offset;
  readonly leaderEpoch: LeaderEpoch;
}

/** How much of a file a search or a walk reads at a time. */
const WINDOW = 1_048_576;
/** As much is read beside what was asked for: an index leads so near to it, as a rule. */
const INDEX_GAP = 8192;
/** `LegacyRecord.RECORD_OVERHEAD_V0`: a batch length below it is damage. */
const LEAST_LENGTH = 14;

/**
 * A stretch of a log in one file, with its two indexes, and a third if transactions were aborted (Kafka's `LogSegment`).
 *
 * Beside the file it remembers its newest batches. While the file is pristine they are what a read
 * returns, so that all replicas and readers share the same objects. Older ones are read from the file by
 * way of the index, and so is everything once a fault has touched it.
 *
 * Simplified: reading what is remembered asks nothing of the disk and takes no time.
 */
export class Segment {
  readonly baseOffset: Offset;
  /** The largest timestamp so far, milliseconds; NO_TIMESTAMP (-1) if there is none. */
  maxTimestamp: number;
  /** Read only: the segment writes it. */
  readonly aborted: TransactionIndex;
  readonly #directory: string;
  readonly #disk: Disk;
  readonly #file: DiskFile;
  readonly #offsetIndex: OffsetIndex;
  readonly #timeIndex: TimeIndex;
  readonly #recent: RecentBatches = new RecentBatches();
  /** Drawn from `segment.jitter.ms`: it is rolled so much earlier. */
  readonly #rollJitterMs: number;
  #offsetOfMaxTimestamp: Offset;
  #size: number;
  #bytesSinceIndexEntry = 0;
  /** When the segment was created, opened or emptied, milliseconds: stands for timestamps that batches lack. */
  #createdMs: number;
  #state: FileState;
  /** Largest timestamp of the first batch; undefined if it is not known. */
  #firstTimestamp: number | undefined;
  /** Where the last read from the file ended: the next is likely to go on there. */
  #readOffset: Offset = NOT_READ;
  #readPosition = 0;

  /** Opens the files, creating them if absent. */
  constructor(
    disk: Disk,
    directory: string,
    baseOffset: Offset,
    nowMs: number,
    state: FileState = "",
    rollJitterMs = 0,
  ) {
    this.#disk = disk;
    this.#directory = directory;
    this.#state = state;
    this.#rollJitterMs = rollJitterMs;
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
    this.aborted = new TransactionIndex(
      disk,
      segmentPath(directory, baseOffset, "txnindex", state),
    );
    this.maxTimestamp = this.#timeIndex.lastTimestamp;
    this.#offsetOfMaxTimestamp = this.#timeIndex.lastOffset;
    this.#size = this.#file.size;
    this.#createdMs = nowMs;
    this.#firstTimestamp = undefined;
  }

  get sizeInBytes(): number {
    return this.#size;
  }

  get offsetIndexBytes(): number {
    return this.#offsetIndex.sizeInBytes;
  }

  get timeIndexBytes(): number {
    return this.#timeIndex.sizeInBytes;
  }

  /**
   * What retention by time goes by, milliseconds. Simplified: where no batch has a timestamp, when the
   * segment was created or opened; Kafka asks the file system when the file was last changed.
   */
  get largestTimestamp(): number {
    return this.maxTimestamp >= 0 ? this.maxTimestamp : this.#createdMs;
  }

  /** The largest timestamp of the first batch, milliseconds; NO_TIMESTAMP (-1) if there is none. */
  firstTimestamp(): number {
    if (this.#size === 0) return NO_TIMESTAMP;
    if (this.#firstTimestamp === undefined) {
      const first = this.#recent.covers(this.baseOffset)
        ? this.#recent.at(0)
        : this.#scan(0).next();
      this.#firstTimestamp = first?.maxTimestamp ?? NO_TIMESTAMP;
    }
    return this.#firstTimestamp;
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
    if (this.#size > 0) {
      const age = this.#ageAt(maxTimestamp, nowMs);
      if (age > config["segment.ms"] - this.#rollJitterMs) return true;
    }
    const indexBytes = config["segment.index.bytes"];
    return (
      this.#offsetIndex.isFull(indexBytes) ||
      this.#timeIndex.isFull(indexBytes) ||
      !this.#isNear(lastOffset)
    );
  }

  /** If it throws, the batch is not in the file. */
  append(batch: RecordBatch, config: LogConfig): void {
    const position = this.#size;
    // An index that fails once the batch is in would leave a record of which nobody knows.
    this.#index(batch, position, config);
    this.#file.writeShared(position, batch.buffer, batch.start, batch.end);
    this.#remember(batch, position);
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
    const recent = this.#recent;
    if (!recent.covers(from) || !this.#file.pristine) {
      return this.#readFromFile(from, maxBytes, upTo, minOneMessage);
    }
    const first = recent.indexOf(from);
    if (first === recent.length) return undefined;
    let end = first;
    let size = 0;
    for (; end < recent.length; end++) {
      const batch = recent.at(end);
      if (batch.lastOffset >= upTo) break;
      const extended = size + batch.sizeInBytes;
      if (extended > maxBytes && !(minOneMessage && end === first)) break;
      size = extended;
    }
    if (end === first) return NOTHING;
    // Followers that keep up read one batch at a time: no call into the engine for that.
    const isOne = end === first + 1;
    return {
      error: ERRORS.NONE,
      batches: isOne ? [recent.at(first)] : recent.slice(first, end),
      sizeInBytes: size,
    };
  }

  /**
   * Where the batch that holds `offset` lies, or the first after it; the size if there is none, and
   * where the file cannot be told apart into batches before that.
   */
  positionOf(offset: Offset): number {
    const recent = this.#recent;
    if (this.#size === 0) return 0;
    if (recent.covers(offset) && this.#file.pristine) {
      const index = recent.indexOf(offset);
      return index === recent.length ? this.#size : recent.positionAt(index);
    }
    const scan = this.#scanTo(offset, INDEX_GAP);
    const isThere = scan.skipTo(offset);
    if (isThere) this.#noteRead(offset, scan.position);
    return isThere || scan.isCorrupt ? scan.position : this.#size;
  }

  /** Where a search for `offset` begins, as the offset index tells: the batch that holds it or one before. */
  positionNear(offset: Offset): number {
    return this.#offsetIndex.lookup(offset);
  }

  /**
   * An offset beyond the batches that a read of `size` bytes from the batch that holds `from` may give, by
   * the offset index; undefined if that does not reach so far (`LogSegment.fetchUpperBoundOffset`).
   */
  offsetBeyond(from: Offset, size: number): Offset | undefined {
    return this.#offsetIndex.offsetFrom(this.positionOf(from) + size);
  }

  /**
   * The first record from `from` on that is as late as `timestamp`, by way of both indexes; undefined if
   * there is none (`findOffsetByTimestamp`).
   */
  findByTimestamp(timestamp: number, from: Offset): TimestampAndOffset | undefined {
    if (this.#size === 0) return undefined;
    const near = Math.max(this.#timeIndex.lookup(timestamp), from);
    const scan = this.#scan(this.#offsetIndex.lookup(near));
    for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
      if (batch.maxTimestamp < timestamp) continue;
      const found = findRecord(batch, timestamp, from);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The first record with the largest timestamp of all (`ListOffsetsRequest.MAX_TIMESTAMP`). */
  findMaxTimestamp(): TimestampAndOffset | undefined {
    if (this.maxTimestamp < 0) return undefined;
    const scan = this.#scan(this.#offsetIndex.lookup(this.#offsetOfMaxTimestamp));
    for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
      if (batch.maxTimestamp !== this.maxTimestamp) continue;
      return findRecord(batch, this.maxTimestamp, this.baseOffset);
    }
    return undefined;
  }

  /**
   * The offset after the last batch, found by a scan from the last index entry; undefined if that
   * meets what cannot be a batch. One that would reach beyond the file counts as its end
   * (`LogSegment.readNextOffset`).
   *
   * Simplified: Kafka takes 14 bytes for enough to be a batch, whatever its magic.
   */
  findNextOffset(): Offset | undefined {
    const known = this.#recent.last();
    if (known !== undefined) return known.nextOffset;
    let next = this.baseOffset;
    let position = this.#offsetIndex.lastPosition;
    while (position < this.#size) {
      const bytes = this.#file.read(position, HEADER_SIZE);
      if (bytes.length <= MAGIC) break;
      const length = readInt32(bytes, BATCH_LENGTH);
      if (length < LEAST_LENGTH) return undefined;
      if (position + LOG_OVERHEAD + length > this.#size) break;
      const header = parseBatchHeader(bytes);
      if (header === undefined) return undefined;
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
    const fileSize = this.#file.size;
    this.#reset();
    const scan = new BatchScan(this.#file, 0, fileSize, fileSize);
    let next = this.baseOffset;
    let batch = scan.next();
    while (batch !== undefined && this.#continues(next, batch) && batch.isValid()) {
      this.#index(batch, this.#size, config);
      this.#remember(batch, this.#size);
      visit(batch);
      next = batch.nextOffset;
      batch = scan.next();
    }
    const cut = fileSize - this.#size;
    if (cut > 0) this.#file.truncate(this.#size);
    this.close();
    return cut;
  }

  /** Drops the batches that hold `offset` or lie above. */
  truncateTo(offset: Offset, nowMs: number): void {
    const position = this.positionOf(offset);
    this.#offsetIndex.truncateTo(offset);
    this.#timeIndex.truncateTo(offset);
    this.aborted.truncateTo(offset);
    if (position < this.#size) {
      this.#file.truncate(position);
      this.#size = position;
      this.#recent.cutAt(position);
      this.#readOffset = NOT_READ;
    }
    if (this.#size === 0) {
      this.#createdMs = nowMs;
      this.#firstTimestamp = undefined;
    }
    this.#bytesSinceIndexEntry = 0;
    this.#restoreMaxTimestamp();
  }

  /** At roll and close: the largest timestamp gets its index entry. */
  close(): void {
    if (this.#size > 0) this.#timeIndex.maybeAppend(this.maxTimestamp, this.#offsetOfMaxTimestamp);
  }

  /** Its batches are old now: who still wants them finds them in the file. */
  forget(): void {
    this.#recent.clear();
  }

  sync(): void {
    this.#file.sync();
    this.#offsetIndex.sync();
    this.#timeIndex.sync();
    this.aborted.sync();
  }

  /** Begins the sync of all its files; `issueTicket` is called for each. */
  syncLater(issueTicket: () => number): void {
    this.#file.syncLater(issueTicket());
    this.#offsetIndex.syncLater(issueTicket());
    this.#timeIndex.syncLater(issueTicket());
    this.aborted.syncLater(issueTicket);
  }

  /**
   * Gives the files another ending; they can still be read and written (`changeFileSuffixes`).
   * Returns their new paths.
   */
  rename(state: FileState): readonly string[] {
    const { baseOffset } = this;
    const paths = renameSegmentFiles(this.#disk, this.#directory, baseOffset, this.#state, state);
    this.#state = state;
    this.aborted.renamed(segmentPath(this.#directory, baseOffset, "txnindex", state));
    return paths;
  }

  /** Gives a batch its index entry if one is due. */
  #index(batch: RecordBatch, position: number, config: LogConfig): void {
    const { maxTimestamp, lastOffset, sizeInBytes } = batch;
    if (position === 0) this.#firstTimestamp = maxTimestamp;
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
  }

  /** Keeps a batch that is in the file in mind. */
  #remember(batch: RecordBatch, position: number): void {
    this.#size = position + batch.sizeInBytes;
    this.#recent.add(batch, position);
  }

  #reset(): void {
    this.#offsetIndex.clear();
    this.#timeIndex.clear();
    this.aborted.clear();
    this.maxTimestamp = NO_TIMESTAMP;
    this.#offsetOfMaxTimestamp = this.baseOffset;
    this.#bytesSinceIndexEntry = 0;
    this.#size = 0;
    this.#firstTimestamp = undefined;
    this.#readOffset = NOT_READ;
    this.#recent.clear();
  }

  #readFromFile(
    from: Offset,
    maxBytes: number,
    upTo: Offset,
    minOneMessage: boolean,
  ): ReadResult | undefined {
    if (this.#size === 0) return undefined;
    const scan = this.#scanTo(from, Math.min(maxBytes, WINDOW) + INDEX_GAP);
    if (!scan.skipTo(from)) return scan.isCorrupt ? UNREADABLE : undefined;
    const batches: RecordBatch[] = [];
    const limit = scan.position + maxBytes;
    let size = 0;
    let end = scan.position;
    for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
      if (batch.lastOffset >= upTo) break;
      if (scan.position > limit && !(minOneMessage && batches.length === 0)) break;
      batches.push(batch);
      size += batch.sizeInBytes;
      end = scan.position;
    }
    const last = batches[batches.length - 1];
    if (last === undefined) return scan.isCorrupt ? UNREADABLE : NOTHING;
    this.#noteRead(last.nextOffset, end);
    return { error: ERRORS.NONE, batches, sizeInBytes: size };
  }

  /** A walk from where the batch that holds `offset` may begin, as near as is known. */
  #scanTo(offset: Offset, window: number): BatchScan {
    const indexed = this.#offsetIndex.lookup(offset);
    const isReadOn = this.#readOffset <= offset && this.#readPosition > indexed;
    const from = isReadOn && this.#file.pristine ? this.#readPosition : indexed;
    return new BatchScan(this.#file, from, this.#size, window);
  }

  #scan(position: number): BatchScan {
    return new BatchScan(this.#file, position, this.#size, WINDOW);
  }

  #noteRead(offset: Offset, position: number): void {
    this.#readOffset = offset;
    this.#readPosition = position;
  }

  /** After a cut: the index tells up to its last entry, what follows is walked (`readLargestTimestamp`). */
  #restoreMaxTimestamp(): void {
    this.maxTimestamp = this.#timeIndex.lastTimestamp;
    this.#offsetOfMaxTimestamp = this.#timeIndex.lastOffset;
    const recent = this.#recent;
    if (recent.covers(this.#offsetOfMaxTimestamp)) {
      for (let i = recent.indexOf(this.#offsetOfMaxTimestamp); i < recent.length; i++) {
        this.#raiseMaxTimestamp(recent.at(i));
      }
    } else if (this.#size > 0) {
      const scan = this.#scan(this.#offsetIndex.lookup(this.#offsetOfMaxTimestamp));
      for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
        this.#raiseMaxTimestamp(batch);
      }
    }
  }

  #raiseMaxTimestamp({ maxTimestamp, lastOffset }: RecordBatch): void {
    if (maxTimestamp <= this.maxTimestamp) return;
    this.maxTimestamp = maxTimestamp;
    this.#offsetOfMaxTimestamp = lastOffset;
  }

  /** Milliseconds from the first batch to `timestamp`; without timestamps, since the creation. */
  #ageAt(timestamp: number, nowMs: number): number {
    const firstTimestamp = this.firstTimestamp();
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

/** The first record from `from` on that is as late as `timestamp`. */
function findRecord(
  batch: RecordBatch,
  timestamp: number,
  from: Offset,
): TimestampAndOffset | undefined {
  const cursor = new RecordCursor(batch);
  while (cursor.next()) {
    if (cursor.timestamp < timestamp || cursor.offset < from) continue;
    const { partitionLeaderEpoch: leaderEpoch } = batch;
    return { timestamp: cursor.timestamp, offset: cursor.offset, leaderEpoch };
  }
  return undefined;
}

/** Greater than any offset that is asked for: nothing was read, or what was read is there no more. */
const NOT_READ: Offset = Number.POSITIVE_INFINITY;

/** A read that found no batch. */
export const NOTHING: ReadResult = { error: ERRORS.NONE, batches: [], sizeInBytes: 0 };
const UNREADABLE: ReadResult = { error: ERRORS.CORRUPT_MESSAGE, batches: [], sizeInBytes: 0 };
