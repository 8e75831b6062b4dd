import { readInt32, readInt64 } from "../../base/big-endian.ts";
import { decodeUtf8 } from "../../base/utf8.ts";
import type { Offset } from "../ids.ts";
import * as header from "./batch-header.ts";
import { CorruptBlock } from "./compression/corrupt-block.ts";
import type { LegacyRecord } from "./legacy-message-set.ts";
import { readLegacyRecords } from "./legacy-message-set.ts";

/** Text and bytes that travel beside a record's value. */
export interface RecordHeader {
  readonly key: string;
  readonly value: Uint8Array | undefined;
}

/** A record as a consumer sees it. Key and value are views of the batch's bytes. */
export interface DecodedRecord {
  readonly offset: Offset;
  /** Milliseconds. */
  readonly timestamp: number;
  readonly key: Uint8Array | undefined;
  readonly value: Uint8Array | undefined;
  readonly headers: readonly RecordHeader[];
}

/** What a cursor needs of a batch (the class itself would make the two files import each other). */
interface BatchBytes {
  readonly buffer: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The records' bytes, decompressed. */
  content(): Uint8Array | CorruptBlock;
}

/**
 * Walks the records of a batch without making objects: after `next()`, the fields tell where in
 * `buffer` key and value lie. Survives any bytes: it ends, and says if they were malformed.
 */
export class RecordCursor {
  /** The batch's own, or what was compressed in it. */
  buffer: Uint8Array = NO_BYTES;
  offset: Offset = -1;
  offsetDelta = -1;
  /** Milliseconds. */
  timestamp = -1;
  /** Position in `buffer`; -1 if there is no key. */
  keyStart = -1;
  keyEnd = -1;
  /** Position in `buffer`; -1 if there is no value. */
  valueStart = -1;
  valueEnd = -1;
  /** Did the walk end before the last record that the header counts, or with bytes left over? */
  malformed = false;
  /** Why there are no records at all, where they cannot be decompressed. */
  corruptBlock: CorruptBlock | undefined = undefined;

  #end = 0;
  #baseOffset: Offset = 0;
  #baseTimestamp = 0;
  #logAppendTime = -1;
  #left = 0;
  #at = 0;
  #headersStart = 0;
  /** The records of a message set of magic 0 or 1. */
  #legacy: readonly LegacyRecord[] | undefined = undefined;

  constructor(batch: BatchBytes) {
    this.moveTo(batch);
  }

  /** Begins anew, before the first record of `batch`. */
  moveTo(batch: BatchBytes): void {
    const { buffer, start } = batch;
    this.malformed = false;
    this.corruptBlock = undefined;
    this.#legacy = undefined;
    if ((buffer[start + header.MAGIC] as number) < header.MAGIC_V2) {
      this.#moveToLegacy(batch);
      return;
    }
    this.buffer = buffer;
    this.#at = start + header.HEADER_SIZE;
    this.#end = batch.end;
    this.#baseOffset = readInt64(buffer, start + header.BASE_OFFSET);
    this.#baseTimestamp = readInt64(buffer, start + header.BASE_TIMESTAMP);
    const attributes = buffer[start + header.ATTRIBUTES + 1] as number;
    this.#logAppendTime =
      (attributes & header.LOG_APPEND_TIME_FLAG) !== 0
        ? readInt64(buffer, start + header.MAX_TIMESTAMP)
        : -1;
    this.#left = readInt32(buffer, start + header.RECORD_COUNT);
    if ((attributes & header.COMPRESSION_MASK) === 0) return;
    if (this.#left === 0) {
      this.#at = this.#end;
      return;
    }
    const content = batch.content();
    if (content instanceof CorruptBlock) {
      this.corruptBlock = content;
      this.#giveUp();
      return;
    }
    this.buffer = content;
    this.#at = 0;
    this.#end = content.length;
  }

  /** Moves to the next record; false after the last, and at the first that is malformed. */
  next(): boolean {
    if (this.#legacy !== undefined) return this.#nextLegacy(this.#legacy);
    if (this.#left <= 0) {
      if (this.#at !== this.#end) this.malformed = true;
      return false;
    }
    this.#left--;
    const length = this.#varint();
    const end = this.#at + length;
    if (length < 0 || end > this.#end) return this.#giveUp();
    this.#at++;
    const timestampDelta = this.#varint();
    this.timestamp =
      this.#logAppendTime >= 0 ? this.#logAppendTime : this.#baseTimestamp + timestampDelta;
    this.offsetDelta = this.#varint();
    this.offset = this.#baseOffset + this.offsetDelta;

    const keyLength = this.#varint();
    this.keyStart = keyLength < 0 ? -1 : this.#at;
    if (keyLength > 0) this.#at += keyLength;
    this.keyEnd = this.keyStart < 0 ? -1 : this.#at;

    const valueLength = this.#varint();
    this.valueStart = valueLength < 0 ? -1 : this.#at;
    if (valueLength > 0) this.#at += valueLength;
    this.valueEnd = this.valueStart < 0 ? -1 : this.#at;

    this.#headersStart = this.#at;
    if (!this.#skipHeaders(end)) return this.#giveUp();
    return true;
  }

  /** The record under the cursor as an object. */
  decode(): DecodedRecord {
    const bytes = this.buffer;
    return {
      offset: this.offset,
      timestamp: this.timestamp,
      key: this.keyStart < 0 ? undefined : bytes.subarray(this.keyStart, this.keyEnd),
      value: this.valueStart < 0 ? undefined : bytes.subarray(this.valueStart, this.valueEnd),
      headers: this.#decodeHeaders(),
    };
  }

  #moveToLegacy({ buffer, start, end }: BatchBytes): void {
    const found = readLegacyRecords(buffer, start, end);
    this.#left = 0;
    this.#at = 0;
    this.#end = 0;
    if (found instanceof CorruptBlock) {
      this.corruptBlock = found;
      this.malformed = true;
      return;
    }
    this.buffer = found.bytes;
    this.#legacy = found.records;
    this.#baseOffset = found.records[0]?.offset ?? 0;
  }

  /** Here `#at` counts records. */
  #nextLegacy(records: readonly LegacyRecord[]): boolean {
    const record = records[this.#at];
    if (record === undefined) return false;
    this.#at++;
    this.offset = record.offset;
    this.offsetDelta = record.offset - this.#baseOffset;
    this.timestamp = record.timestamp;
    this.keyStart = record.keyStart;
    this.keyEnd = record.keyEnd;
    this.valueStart = record.valueStart;
    this.valueEnd = record.valueEnd;
    return true;
  }

  #giveUp(): false {
    this.malformed = true;
    this.#left = 0;
    this.#at = this.#end;
    return false;
  }

  /** True if the headers end exactly where the record does. */
  #skipHeaders(end: number): boolean {
    if (this.#at >= end) return false;
    const count = this.#varint();
    if (count < 0) return false;
    for (let i = 0; i < count; i++) {
      const nameLength = this.#varint();
      if (nameLength < 0) return false;
      this.#at += nameLength;
      const length = this.#varint();
      if (length > 0) this.#at += length;
      if (this.#at > end) return false;
    }
    return this.#at === end;
  }

  #decodeHeaders(): readonly RecordHeader[] {
    if (this.#legacy !== undefined) return NO_HEADERS;
    const after = this.#at;
    this.#at = this.#headersStart;
    const count = this.#varint();
    if (count === 0) {
      this.#at = after;
      return NO_HEADERS;
    }
    const headers: RecordHeader[] = [];
    for (let i = 0; i < count; i++) {
      const nameLength = this.#varint();
      const nameStart = this.#at;
      this.#at += nameLength;
      const key = decodeUtf8(this.buffer, nameStart, this.#at);
      const length = this.#varint();
      const valueStart = this.#at;
      if (length > 0) this.#at += length;
      const value = length < 0 ? undefined : this.buffer.subarray(valueStart, this.#at);
      headers.push({ key, value });
    }
    this.#at = after;
    return headers;
  }

  /** Reads a zigzag varint of up to ten bytes; past the end of the batch it reads zeros. */
  #varint(): number {
    const bytes = this.buffer;
    const first = this.#at < this.#end ? (bytes[this.#at++] as number) : this.#pastEnd();
    if (first < 128) return (first >>> 1) ^ -(first & 1);
    let magnitude = (first & 127) >>> 1;
    let scale = 64;
    for (let i = 1; i < 10; i++) {
      const byte = this.#at < this.#end ? (bytes[this.#at++] as number) : this.#pastEnd();
      magnitude += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) break;
    }
    return (first & 1) === 0 ? magnitude : -1 - magnitude;
  }

  #pastEnd(): number {
    this.#at = this.#end + 1;
    return 0;
  }
}

const NO_BYTES = new Uint8Array(0);
const NO_HEADERS: readonly RecordHeader[] = [];
