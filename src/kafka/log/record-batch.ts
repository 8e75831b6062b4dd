import {
  readInt16,
  readInt32,
  readInt64,
  readUint32,
  writeInt16,
  writeInt32,
  writeInt64,
} from "../../base/big-endian.ts";
import { crc32c } from "../../base/crc32c.ts";
import { fail, invariant } from "../../base/invariant.ts";
import { encodeUtf8 } from "../../base/utf8.ts";
import { varintSize, writeVarint } from "../../base/varint.ts";
import type { LeaderEpoch, Offset } from "../ids.ts";
import { NO_EPOCH, NO_PRODUCER_ID } from "../ids.ts";
import * as header from "./batch-header.ts";
import { compress, decompress, NO_COMPRESSION } from "./compression/codec.ts";
import { CorruptBlock } from "./compression/corrupt-block.ts";
import {
  isLegacyValid,
  LEGACY_ATTRIBUTES,
  LEGACY_CRC,
  LEGACY_TIMESTAMP,
  legacyOverhead,
  readLegacyRecords,
} from "./legacy-message-set.ts";
import type { DecodedRecord, RecordHeader } from "./record-cursor.ts";
import { RecordCursor } from "./record-cursor.ts";
import { Slab } from "./slab.ts";

export const NO_SEQUENCE = -1;
export const NO_TIMESTAMP = -1;

/**
 * One record batch in Kafka's own bytes. Immutable, and shared by all that hold it: replicas,
 * requests, consumers, checkers (Kafka's `DefaultRecordBatch`).
 *
 * Real logs may hold message sets of magic 0 and 1, which Kafka has not written since 4.0 and still
 * reads. One of these is a message, or several compressed in another. It has no producer and no leader epoch
 * (`AbstractLegacyRecordBatch`).
 *
 * Its bytes are buffer[start, end). Hot paths use those three: `bytes` makes a view at each call.
 */
export class RecordBatch {
  readonly buffer: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** 2; or 0 or 1, of which only readers know. */
  readonly magic: number;
  readonly baseOffset: Offset;
  readonly lastOffset: Offset;
  readonly partitionLeaderEpoch: LeaderEpoch;
  readonly attributes: number;
  /** Milliseconds; the delete horizon if `hasDeleteHorizon`. */
  readonly baseTimestamp: number;
  /** Milliseconds. */
  readonly maxTimestamp: number;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly recordCount: number;
  #validity: 0 | 1 | 2;
  #records: readonly DecodedRecord[] | undefined;
  /** What was compressed. */
  #content: Uint8Array | CorruptBlock | undefined;

  /** Takes buffer[start, end), which must hold one whole batch and must never change. See `parseBatch`. */
  constructor(buffer: Uint8Array, start: number, end: number, knownValid: boolean) {
    this.buffer = buffer;
    this.start = start;
    this.end = end;
    const magic = buffer[start + header.MAGIC] as number;
    this.magic = magic;
    if (magic >= header.MAGIC_V2) {
      this.baseOffset = readInt64(buffer, start + header.BASE_OFFSET);
      this.lastOffset = this.baseOffset + readInt32(buffer, start + header.LAST_OFFSET_DELTA);
      this.partitionLeaderEpoch = readInt32(buffer, start + header.PARTITION_LEADER_EPOCH);
      this.attributes = readInt16(buffer, start + header.ATTRIBUTES);
      this.baseTimestamp = readInt64(buffer, start + header.BASE_TIMESTAMP);
      this.maxTimestamp = readInt64(buffer, start + header.MAX_TIMESTAMP);
      this.producerId = readInt64(buffer, start + header.PRODUCER_ID);
      this.producerEpoch = readInt16(buffer, start + header.PRODUCER_EPOCH);
      this.baseSequence = readInt32(buffer, start + header.BASE_SEQUENCE);
      this.recordCount = readInt32(buffer, start + header.RECORD_COUNT);
    } else {
      const records = readLegacyRecords(buffer, start, end);
      const isReadable = !(records instanceof CorruptBlock);
      this.lastOffset = readInt64(buffer, start + header.BASE_OFFSET);
      this.baseOffset = isReadable ? (records.records[0]?.offset ?? -1) : this.lastOffset;
      this.partitionLeaderEpoch = NO_EPOCH;
      this.attributes = (buffer[start + LEGACY_ATTRIBUTES] as number) & LEGACY_FLAGS;
      this.maxTimestamp = magic === 0 ? NO_TIMESTAMP : readInt64(buffer, start + LEGACY_TIMESTAMP);
      this.baseTimestamp = this.maxTimestamp;
      this.producerId = NO_PRODUCER_ID;
      this.producerEpoch = NO_EPOCH;
      this.baseSequence = NO_SEQUENCE;
      this.recordCount = isReadable ? records.records.length : 0;
    }
    this.#validity = knownValid ? VALID : UNKNOWN;
    this.#records = undefined;
    this.#content = undefined;
  }

  /** Exactly this batch: 12 bytes + batch length, the 61-byte header included. A new view each time. */
  get bytes(): Uint8Array {
    return this.buffer.subarray(this.start, this.end);
  }

  get sizeInBytes(): number {
    return this.end - this.start;
  }

  get nextOffset(): Offset {
    return this.lastOffset + 1;
  }

  /** CRC-32C as the header states it; CRC-32 in magic 0 and 1. */
  get crc(): number {
    return readUint32(this.buffer, this.start + (this.#isLegacy ? LEGACY_CRC : header.CRC));
  }

  /** Sequence of the last record, wrapping from 2^31-1 to 0; NO_SEQUENCE without a base sequence. */
  get lastSequence(): number {
    if (this.baseSequence === NO_SEQUENCE) return NO_SEQUENCE;
    return incrementSequence(this.baseSequence, this.lastOffset - this.baseOffset);
  }

  get hasProducerId(): boolean {
    return this.producerId > NO_PRODUCER_ID;
  }

  get isControl(): boolean {
    return (this.attributes & header.CONTROL_FLAG) !== 0;
  }

  get isTransactional(): boolean {
    return (this.attributes & header.TRANSACTIONAL_FLAG) !== 0;
  }

  /** Are the records' timestamps the leader's, at append? */
  get isLogAppendTime(): boolean {
    return (this.attributes & header.LOG_APPEND_TIME_FLAG) !== 0;
  }

  get hasDeleteHorizon(): boolean {
    return (this.attributes & header.DELETE_HORIZON_FLAG) !== 0;
  }

  /** Kafka's number of the codec; 0 is none. */
  get compression(): number {
    return this.attributes & header.COMPRESSION_MASK;
  }

  /** Does the CRC agree? Computed once: the bytes never change. It covers what is compressed as it stands. */
  isValid(): boolean {
    if (this.#validity === UNKNOWN) {
      if (this.#isLegacy) {
        this.#validity = isLegacyValid(this.buffer, this.start, this.end) ? VALID : INVALID;
        return this.#validity === VALID;
      }
      const actual = crc32c(this.buffer, this.start + header.ATTRIBUTES, this.end);
      this.#validity = actual === this.crc ? VALID : INVALID;
    }
    return this.#validity === VALID;
  }

  /**
   * The bytes of the records, decompressed if they are compressed, or why that cannot be; remembered for
   * the batches decompressed last. Of magic 2 only.
   */
  content(): Uint8Array | CorruptBlock {
    const { buffer, start, end, compression } = this;
    const recordsStart = start + header.HEADER_SIZE;
    if (compression === NO_COMPRESSION) return buffer.subarray(recordsStart, end);
    if (this.#content === undefined) {
      this.#content = decompress(compression, buffer, recordsStart, end);
      this.#keepDecoded();
    }
    return this.#content;
  }

  /** Can its records be told apart? The CRC does not tell: it covers what the writer made. */
  isReadable(): boolean {
    const cursor = new RecordCursor(this);
    while (cursor.next());
    return !cursor.malformed;
  }

  /**
   * The records, decoded; remembered for the batches decoded last. Throws if they are malformed:
   * ask `RecordCursor` where that can be. Hot paths walk with a `RecordCursor`, which makes no objects.
   */
  records(): readonly DecodedRecord[] {
    if (this.#records === undefined) {
      const cursor = new RecordCursor(this);
      const records: DecodedRecord[] = [];
      while (cursor.next()) records.push(cursor.decode());
      invariant(!cursor.malformed, () => `malformed records in the batch at ${this.baseOffset}`);
      this.#records = records;
      this.#keepDecoded();
    }
    return this.#records;
  }

  /**
   * A copy with base offset and leader epoch patched, both outside the CRC; with `logAppendTime`
   * (ms) also with that as timestamp of all records, and a new CRC.
   */
  withOffsets(
    baseOffset: Offset,
    leaderEpoch: LeaderEpoch,
    logAppendTime: number = NO_TIMESTAMP,
  ): RecordBatch {
    if (this.#isLegacy) fail(`a message set of magic ${this.magic} is not written any more`);
    const size = this.end - this.start;
    const start = stored.reserve(size);
    const bytes = stored.buffer;
    bytes.set(this.buffer.subarray(this.start, this.end), start);
    writeInt64(bytes, start + header.BASE_OFFSET, baseOffset);
    writeInt32(bytes, start + header.PARTITION_LEADER_EPOCH, leaderEpoch);
    if (logAppendTime === NO_TIMESTAMP) {
      const copy = new RecordBatch(bytes, start, start + size, false);
      copy.#validity = this.#validity;
      copy.#takeContent(this);
      return copy;
    }
    writeInt16(bytes, start + header.ATTRIBUTES, this.attributes | header.LOG_APPEND_TIME_FLAG);
    writeInt64(bytes, start + header.MAX_TIMESTAMP, logAppendTime);
    writeInt32(bytes, start + header.CRC, crc32c(bytes, start + header.ATTRIBUTES, start + size));
    const copy = new RecordBatch(bytes, start, start + size, true);
    copy.#takeContent(this);
    return copy;
  }

  /** A batch of which it is known what was compressed. Takes buffer[start, end), as the constructor does. */
  static compressed(
    buffer: Uint8Array,
    start: number,
    end: number,
    content: Uint8Array,
  ): RecordBatch {
    const batch = new RecordBatch(buffer, start, end, true);
    batch.#content = content;
    batch.#keepDecoded();
    return batch;
  }

  get #isLegacy(): boolean {
    return this.magic < header.MAGIC_V2;
  }

  #takeContent(other: RecordBatch): void {
    if (other.#content === undefined) return;
    this.#content = other.#content;
    this.#keepDecoded();
  }

  /** Lets the batch that was decoded longest ago forget what it decoded. */
  #keepDecoded(): void {
    const oldest = decodedLast[decodedNext];
    if (oldest !== undefined) {
      oldest.#records = undefined;
      oldest.#content = undefined;
    }
    decodedLast[decodedNext] = this;
    decodedNext = (decodedNext + 1) % DECODED_KEPT;
  }
}

/** A value that is written where it will stand: it needs no memory of its own before. */
export interface UnwrittenValue {
  /** Bytes. */
  readonly length: number;
  /** Fills bytes[at, at + length), which hold zeros. */
  writeTo(bytes: Uint8Array, at: number): void;
}

/** A record to be written. Timestamps are milliseconds. */
export interface NewRecord {
  readonly timestamp: number;
  readonly key?: Uint8Array | undefined;
  readonly value?: Uint8Array | UnwrittenValue | undefined;
  readonly headers?: readonly RecordHeader[];
  /** Its offset less the base offset; if absent its place in the batch: cleaning leaves holes. */
  readonly offsetDelta?: number;
}

export interface BatchOptions {
  readonly baseOffset?: Offset;
  /** That of the last record if absent; a cleaned batch keeps the one that it had. */
  readonly lastOffset?: Offset;
  /** NO_EPOCH (-1) if absent, as producers send it. */
  readonly partitionLeaderEpoch?: LeaderEpoch;
  readonly producerId?: number;
  readonly producerEpoch?: number;
  readonly baseSequence?: number;
  readonly isTransactional?: boolean;
  readonly isControl?: boolean;
  /** Milliseconds; makes the timestamp type LogAppendTime. */
  readonly logAppendTime?: number;
  /** Milliseconds (KIP-534). */
  readonly deleteHorizon?: number;
  /** The number of a codec (`CODECS`); 0, none, if absent. */
  readonly compression?: number;
  /** Of gzip: 1 to 9, -1 for its default. Other codecs have none here: see `compress`. */
  readonly compressionLevel?: number;
}

/** Writes one batch of at least one record (Kafka's `MemoryRecordsBuilder`). */
export function buildBatch(records: readonly NewRecord[], options: BatchOptions = {}): RecordBatch {
  const first = records[0];
  invariant(first !== undefined, () => "a batch needs a record");
  const base = options.deleteHorizon ?? first.timestamp;
  let size = header.HEADER_SIZE;
  let maxTimestamp = first.timestamp;
  for (let i = 0; i < records.length; i++) {
    const record = records[i] as NewRecord;
    if (record.timestamp > maxTimestamp) maxTimestamp = record.timestamp;
    const body = bodySize(record, record.timestamp - base, record.offsetDelta ?? i);
    size += varintSize(body) + body;
  }

  const start = built.reserve(size);
  const bytes = built.buffer;
  let at = start + header.HEADER_SIZE;
  for (let i = 0; i < records.length; i++) {
    const record = records[i] as NewRecord;
    at = writeRecord(bytes, at, record, record.timestamp - base, record.offsetDelta ?? i);
  }
  if (at !== start + size) fail(`wrote ${at - start} bytes of a batch of ${size}`);
  if ((options.compression ?? NO_COMPRESSION) !== NO_COMPRESSION) {
    const content = bytes.subarray(start + header.HEADER_SIZE, at);
    return compressed(content, records.length, base, maxTimestamp, options);
  }
  writeHeader(bytes, start, size, records.length, base, maxTimestamp, options);
  return new RecordBatch(bytes, start, start + size, true);
}

function compressed(
  content: Uint8Array,
  recordCount: number,
  baseTimestamp: number,
  maxTimestamp: number,
  options: BatchOptions,
): RecordBatch {
  const block = compress(options.compression ?? NO_COMPRESSION, content, options.compressionLevel);
  const size = header.HEADER_SIZE + block.length;
  const start = built.reserve(size);
  const bytes = built.buffer;
  bytes.set(block, start + header.HEADER_SIZE);
  writeHeader(bytes, start, size, recordCount, baseTimestamp, maxTimestamp, options);
  return RecordBatch.compressed(bytes, start, start + size, content);
}

/**
 * A batch without records, which keeps offsets and sequences known when cleaning has taken what was
 * in it (Kafka's `DefaultRecordBatch.writeEmptyHeader`). `maxTimestamp` is that of the batch as it was.
 */
export function buildEmptyBatch(
  options: BatchOptions & { readonly lastOffset: Offset; readonly maxTimestamp: number },
): RecordBatch {
  const start = built.reserve(header.HEADER_SIZE);
  const bytes = built.buffer;
  const { maxTimestamp } = options;
  writeHeader(bytes, start, header.HEADER_SIZE, 0, NO_TIMESTAMP, maxTimestamp, options);
  return new RecordBatch(bytes, start, start + header.HEADER_SIZE, true);
}

/**
 * The batch whose bytes begin at `start`; it shares them. Undefined if they are too few or do not
 * begin a batch. The CRC is not checked.
 */
export function parseBatch(bytes: Uint8Array, start = 0): RecordBatch | undefined {
  const size = sizeAt(bytes, start);
  if (size === 0 || start + size > bytes.length) return undefined;
  return new RecordBatch(bytes, start, start + size, false);
}

/** How far a batch reaches, from the first 61 bytes of it. */
export interface BatchExtent {
  readonly nextOffset: Offset;
  readonly sizeInBytes: number;
}

/** Undefined if the bytes do not begin a batch; what lies behind its header need not be there. */
export function parseBatchHeader(bytes: Uint8Array): BatchExtent | undefined {
  const sizeInBytes = sizeAt(bytes, 0);
  if (sizeInBytes === 0) return undefined;
  const offset = readInt64(bytes, header.BASE_OFFSET);
  if ((bytes[header.MAGIC] as number) < header.MAGIC_V2) {
    return { nextOffset: offset + 1, sizeInBytes };
  }
  if (bytes.length < header.HEADER_SIZE) return undefined;
  return { nextOffset: offset + readInt32(bytes, header.LAST_OFFSET_DELTA) + 1, sizeInBytes };
}

/**
 * The size of the batch that begins at `start`, 0 if none does. Kafka takes a magic above 2, a signed
 * byte, for 2: the CRC does not cover it.
 */
function sizeAt(bytes: Uint8Array, start: number): number {
  if (bytes.length - start <= header.MAGIC) return 0;
  const magic = bytes[start + header.MAGIC] as number;
  if (magic >= 128) return 0;
  const length = readInt32(bytes, start + header.BATCH_LENGTH);
  const least =
    magic >= header.MAGIC_V2 ? header.HEADER_SIZE - header.LOG_OVERHEAD : legacyOverhead(magic);
  return length < least ? 0 : header.LOG_OVERHEAD + length;
}

/** The whole batches that `bytes` begins with; stops at the first that is cut short or malformed. */
export function parseBatches(bytes: Uint8Array): RecordBatch[] {
  const batches: RecordBatch[] = [];
  let batch = parseBatch(bytes, 0);
  while (batch !== undefined) {
    batches.push(batch);
    batch = parseBatch(bytes, batch.end);
  }
  return batches;
}

/** `sequence + increment`, wrapping from 2^31-1 to 0 (Kafka's `DefaultRecordBatch.incrementSequence`). */
export function incrementSequence(sequence: number, increment: number): number {
  const sum = sequence + increment;
  return sum > MAX_INT32 ? sum - MAX_INT32 - 1 : sum;
}

const MAX_INT32 = 0x7fff_ffff;
/** Codec and type of timestamp: magic 0 and 1 know no more. */
const LEGACY_FLAGS = header.COMPRESSION_MASK | header.LOG_APPEND_TIME_FLAG;

const UNKNOWN = 0;
const VALID = 1;
const INVALID = 2;

/** What producers build dies soon, what leaders store stays: apart, neither keeps the other alive. */
const built = new Slab();
const stored = new Slab();

/** What is decoded weighs several times the bytes, so only the batches decoded last keep it. */
const DECODED_KEPT = 64;
const decodedLast: (RecordBatch | undefined)[] = new Array(DECODED_KEPT).fill(undefined);
let decodedNext = 0;

function writeHeader(
  bytes: Uint8Array,
  start: number,
  size: number,
  recordCount: number,
  baseTimestamp: number,
  maxTimestamp: number,
  options: BatchOptions,
): void {
  let attributes = options.compression ?? NO_COMPRESSION;
  if (options.logAppendTime !== undefined) attributes |= header.LOG_APPEND_TIME_FLAG;
  if (options.isTransactional === true) attributes |= header.TRANSACTIONAL_FLAG;
  if (options.isControl === true) attributes |= header.CONTROL_FLAG;
  if (options.deleteHorizon !== undefined) attributes |= header.DELETE_HORIZON_FLAG;

  const baseOffset = options.baseOffset ?? 0;
  const lastOffsetDelta =
    options.lastOffset === undefined ? recordCount - 1 : options.lastOffset - baseOffset;
  writeInt64(bytes, start + header.BASE_OFFSET, baseOffset);
  writeInt32(bytes, start + header.BATCH_LENGTH, size - header.LOG_OVERHEAD);
  writeInt32(
    bytes,
    start + header.PARTITION_LEADER_EPOCH,
    options.partitionLeaderEpoch ?? NO_EPOCH,
  );
  bytes[start + header.MAGIC] = header.MAGIC_V2;
  writeInt16(bytes, start + header.ATTRIBUTES, attributes);
  writeInt32(bytes, start + header.LAST_OFFSET_DELTA, lastOffsetDelta);
  writeInt64(bytes, start + header.BASE_TIMESTAMP, baseTimestamp);
  writeInt64(bytes, start + header.MAX_TIMESTAMP, options.logAppendTime ?? maxTimestamp);
  writeInt64(bytes, start + header.PRODUCER_ID, options.producerId ?? NO_PRODUCER_ID);
  writeInt16(bytes, start + header.PRODUCER_EPOCH, options.producerEpoch ?? NO_EPOCH);
  writeInt32(bytes, start + header.BASE_SEQUENCE, options.baseSequence ?? NO_SEQUENCE);
  writeInt32(bytes, start + header.RECORD_COUNT, recordCount);
  writeInt32(bytes, start + header.CRC, crc32c(bytes, start + header.ATTRIBUTES, start + size));
}

function bodySize(record: NewRecord, timestampDelta: number, offsetDelta: number): number {
  const { key, value, headers } = record;
  let size = 1 + varintSize(timestampDelta) + varintSize(offsetDelta);
  size += key === undefined ? 1 : varintSize(key.length) + key.length;
  size += value === undefined ? 1 : varintSize(value.length) + value.length;
  if (headers === undefined || headers.length === 0) return size + 1;
  size += varintSize(headers.length);
  for (const { key: name, value: content } of headers) {
    const nameLength = encodeUtf8(name).length;
    size += varintSize(nameLength) + nameLength;
    size += content === undefined ? 1 : varintSize(content.length) + content.length;
  }
  return size;
}

function writeRecord(
  bytes: Uint8Array,
  start: number,
  record: NewRecord,
  timestampDelta: number,
  offsetDelta: number,
): number {
  const { headers } = record;
  let at = writeVarint(bytes, start, bodySize(record, timestampDelta, offsetDelta));
  bytes[at++] = 0;
  at = writeVarint(bytes, at, timestampDelta);
  at = writeVarint(bytes, at, offsetDelta);
  at = writeNullable(bytes, at, record.key);
  at = writeValue(bytes, at, record.value);
  if (headers === undefined || headers.length === 0) {
    bytes[at] = 0;
    return at + 1;
  }
  at = writeVarint(bytes, at, headers.length);
  for (const { key: name, value: content } of headers) {
    at = writeNullable(bytes, at, encodeUtf8(name));
    at = writeNullable(bytes, at, content);
  }
  return at;
}

function writeValue(bytes: Uint8Array, start: number, value: NewRecord["value"]): number {
  if (value === undefined || value instanceof Uint8Array) return writeNullable(bytes, start, value);
  const at = writeVarint(bytes, start, value.length);
  value.writeTo(bytes, at);
  return at + value.length;
}

/** Length and content; length -1 if absent. */
function writeNullable(bytes: Uint8Array, start: number, content: Uint8Array | undefined): number {
  if (content === undefined) return writeVarint(bytes, start, -1);
  const { length } = content;
  const at = writeVarint(bytes, start, length);
  // Keys are short: a loop is cheaper than the call.
  if (length <= 16) for (let i = 0; i < length; i++) bytes[at + i] = content[i] as number;
  else bytes.set(content, at);
  return at + length;
}
