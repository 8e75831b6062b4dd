import { readInt32, readInt64, readUint32 } from "../../base/big-endian.ts";
import { crc32 } from "../../base/crc32.ts";
import type { Offset } from "../ids.ts";
import * as header from "./batch-header.ts";
import { decompress, ZSTD } from "./compression/codec.ts";
import { CorruptBlock, corrupt } from "./compression/corrupt-block.ts";

/** Where the fields of a message of magic 0 or 1 lie that differ from those of a batch (Kafka's `LegacyRecord`). */
export const LEGACY_CRC = 12;
export const LEGACY_ATTRIBUTES = 17;
/** Of magic 1; in magic 0 the key's size stands here. */
export const LEGACY_TIMESTAMP = 18;

/** The least that the length of a message can be; `magic` is 0 or 1. */
export function legacyOverhead(magic: number): number {
  return magic === 0 ? 14 : 22;
}

/** A record of an old message set. Positions are in the set's `bytes`; -1 if there is no key, or no value. */
export interface LegacyRecord {
  readonly offset: Offset;
  /** Milliseconds. */
  readonly timestamp: number;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export interface LegacyRecords {
  readonly bytes: Uint8Array;
  /** At least one. */
  readonly records: readonly LegacyRecord[];
}

/**
 * The records of the message bytes[start, end): itself or, if it is compressed, those that its value holds.
 * Or why they cannot be had. The message's own CRC is not looked at; those of inner ones are.
 *
 * Inner offsets are absolute in magic 0. In magic 1 they count from the first, and the wrapper has the
 * offset of the last; its time is that of all if it is LogAppendTime (Kafka's `AbstractLegacyRecordBatch`).
 */
export function readLegacyRecords(
  bytes: Uint8Array,
  start: number,
  end: number,
): LegacyRecords | CorruptBlock {
  try {
    const wrapper = readMessage(bytes, start, end);
    const codec = (bytes[start + LEGACY_ATTRIBUTES] as number) & header.COMPRESSION_MASK;
    return codec === 0 ? { bytes, records: [wrapper] } : unwrap(bytes, start, codec, wrapper);
  } catch (error) {
    if (error instanceof CorruptBlock) return error;
    throw error;
  }
}

/** Does the CRC-32 of the message bytes[start, end) agree? */
export function isLegacyValid(bytes: Uint8Array, start: number, end: number): boolean {
  return readUint32(bytes, start + LEGACY_CRC) === crc32(bytes, start + header.MAGIC, end);
}

function readMessage(bytes: Uint8Array, start: number, end: number): LegacyRecord {
  const magic = bytes[start + header.MAGIC] as number;
  const keySizeAt = start + (magic === 0 ? LEGACY_TIMESTAMP : LEGACY_TIMESTAMP + 8);
  if (keySizeAt + 8 > end) corrupt("a message is cut short");
  const keySize = readInt32(bytes, keySizeAt);
  const keyEnd = keySizeAt + 4 + Math.max(keySize, 0);
  if (keyEnd + 4 > end) corrupt("a message ends within its key");
  const valueSize = readInt32(bytes, keyEnd);
  const valueEnd = keyEnd + 4 + Math.max(valueSize, 0);
  if (valueEnd > end) corrupt("a message ends within its value");
  return {
    offset: readInt64(bytes, start + header.BASE_OFFSET),
    timestamp: magic === 0 ? -1 : readInt64(bytes, start + LEGACY_TIMESTAMP),
    keyStart: keySize < 0 ? -1 : keySizeAt + 4,
    keyEnd: keySize < 0 ? -1 : keyEnd,
    valueStart: valueSize < 0 ? -1 : keyEnd + 4,
    valueEnd: valueSize < 0 ? -1 : valueEnd,
  };
}

function unwrap(
  bytes: Uint8Array,
  start: number,
  codec: number,
  wrapper: LegacyRecord,
): LegacyRecords {
  const magic = bytes[start + header.MAGIC] as number;
  if (wrapper.valueStart < 0) corrupt("a compressed message without a value");
  if (codec === ZSTD) corrupt("Zstandard in a message of an old format, which has none");
  const content = decompress(codec, bytes, wrapper.valueStart, wrapper.valueEnd, magic);
  if (content instanceof CorruptBlock) throw content;
  const inner = readInner(content);
  const last = inner[inner.length - 1];
  if (last === undefined) return corrupt("a compressed message with none within");
  let shift = 0;
  // Producers of librdkafka leave the wrapper's offset 0.
  if (magic !== 0 && wrapper.offset !== 0) {
    shift = wrapper.offset - last.offset;
    if (shift < 0) corrupt("a compressed message with an offset below those within");
  }
  const attributes = bytes[start + LEGACY_ATTRIBUTES] as number;
  const isStamped = magic !== 0 && (attributes & header.LOG_APPEND_TIME_FLAG) !== 0;
  const records = inner.map((record) => ({
    ...record,
    offset: record.offset + shift,
    timestamp: isStamped ? wrapper.timestamp : record.timestamp,
  }));
  return { bytes: content, records };
}

/** What is cut short at the end counts as not there. */
function readInner(content: Uint8Array): LegacyRecord[] {
  const records: LegacyRecord[] = [];
  let at = 0;
  while (at + header.LOG_OVERHEAD <= content.length) {
    const length = readInt32(content, at + header.BATCH_LENGTH);
    if (length < legacyOverhead(0)) corrupt("a message within another is too short");
    const end = at + header.LOG_OVERHEAD + length;
    if (end > content.length) break;
    const magic = content[at + header.MAGIC] as number;
    if (magic >= header.MAGIC_V2) corrupt(`a message of magic ${magic} within an old one`);
    const attributes = content[at + LEGACY_ATTRIBUTES] as number;
    if ((attributes & header.COMPRESSION_MASK) !== 0) {
      corrupt("a compressed message within another");
    }
    if (!isLegacyValid(content, at, end)) corrupt("a message within another fails its CRC");
    records.push(readMessage(content, at, end));
    at = end;
  }
  return records;
}
