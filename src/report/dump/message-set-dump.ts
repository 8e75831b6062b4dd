import { readInt32, readUint32 } from "../../base/big-endian.ts";
import { crc32 } from "../../base/crc32.ts";
import * as header from "../../kafka/log/batch-header.ts";
import { CODECS } from "../../kafka/log/compression/codec.ts";
import { CorruptBlock } from "../../kafka/log/compression/corrupt-block.ts";
import { LEGACY_CRC, readLegacyRecords } from "../../kafka/log/legacy-message-set.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import type { Damages } from "./damage.ts";
import type { DumpOptions } from "./dump-options.ts";
import type { MessageSetEntry, RecordEntry } from "./entry.ts";

/** A message of magic 0 or 1 that lies at `position`, compressed or not. */
export function messageSetEntry(set: RecordBatch, position: number): MessageSetEntry {
  return {
    kind: "message-set",
    offset: set.lastOffset,
    position,
    timestampType: timestampType(set),
    timestamp: set.maxTimestamp,
    size: set.sizeInBytes,
    magic: set.magic,
    compresscodec: CODECS[set.compression] ?? String(set.compression),
    crc: set.crc,
    isvalid: set.isValid(),
  };
}

/** Whether the CRC of the whole is right; tells if it is not. */
export function checkMessageSet(set: RecordBatch, position: number, damages: Damages): boolean {
  if (set.isValid()) return true;
  const actual = crc32(set.buffer, set.start + header.MAGIC, set.end);
  damages.add(position + LEGACY_CRC, `a CRC-32 of ${set.crc}, and the bytes give ${actual}`);
  return false;
}

/** The message, or those that were compressed into it. */
export function* messageEntries(
  set: RecordBatch,
  position: number,
  { printDataLog }: DumpOptions,
  damages: Damages,
): Generator<RecordEntry> {
  const read = readLegacyRecords(set.buffer, set.start, set.end);
  if (read instanceof CorruptBlock) {
    damages.add(position + header.LOG_OVERHEAD, `a message that cannot be read: ${read.message}`);
    return;
  }
  const { bytes, records } = read;
  // Those in a wrapper lie one after another in what was compressed; else there is only itself.
  let at = bytes === set.buffer ? set.start : 0;
  for (const { offset, timestamp, keyStart, keyEnd, valueStart, valueEnd } of records) {
    const key = keyStart < 0 ? undefined : bytes.subarray(keyStart, keyEnd);
    const payload = valueStart < 0 ? undefined : bytes.subarray(valueStart, valueEnd);
    yield {
      kind: "record",
      offset,
      timestampType: timestampType(set),
      timestamp,
      keySize: key?.length ?? -1,
      valueSize: payload?.length ?? -1,
      // Reading has compared it.
      isValid: true,
      crc: readUint32(bytes, at + LEGACY_CRC),
      ...(printDataLog && key !== undefined ? { key } : {}),
      ...(printDataLog && payload !== undefined ? { payload } : {}),
    };
    at += header.LOG_OVERHEAD + readInt32(bytes, at + header.BATCH_LENGTH);
  }
}

function timestampType({ magic, isLogAppendTime }: RecordBatch): string {
  if (magic === 0) return "NoTimestampType";
  return isLogAppendTime ? "LogAppendTime" : "CreateTime";
}
