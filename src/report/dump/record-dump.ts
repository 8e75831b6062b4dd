import * as header from "../../kafka/log/batch-header.ts";
import { decompress, NO_COMPRESSION } from "../../kafka/log/compression/codec.ts";
import { CorruptBlock } from "../../kafka/log/compression/corrupt-block.ts";
import { incrementSequence, NO_SEQUENCE, RecordBatch } from "../../kafka/log/record-batch.ts";
import type { DecodedRecord } from "../../kafka/log/record-cursor.ts";
import { RecordCursor } from "../../kafka/log/record-cursor.ts";
import { controlContent } from "./control-content.ts";
import type { Damages } from "./damage.ts";
import type { DumpOptions } from "./dump-options.ts";
import type { RecordEntry } from "./entry.ts";
import { metadataContent } from "./metadata-content.ts";

/** The records of a batch whose CRC is right. `position` is the batch's in its file. */
export function* recordEntries(
  batch: RecordBatch,
  position: number,
  options: DumpOptions,
  damages: Damages,
): Generator<RecordEntry> {
  const recordsAt = position + header.HEADER_SIZE;
  const plain = uncompressed(batch);
  if (plain instanceof CorruptBlock) {
    damages.add(recordsAt, `records that cannot be decompressed: ${plain.message}`);
    return;
  }
  const cursor = new RecordCursor(plain);
  let count = 0;
  while (cursor.next()) {
    const record = decoded(cursor);
    if (record === undefined) {
      damages.add(recordsAt, `record ${count + 1} of the batch has a header that is no text`);
      return;
    }
    count++;
    const { offsetDelta } = cursor;
    yield recordEntry(batch, record, offsetDelta, options);
  }
  if (cursor.malformed) {
    damages.add(recordsAt, `${batch.recordCount} records, and after ${count} comes what is none`);
  }
}

function recordEntry(
  batch: RecordBatch,
  { offset, timestamp, key, value, headers }: DecodedRecord,
  offsetDelta: number,
  options: DumpOptions,
): RecordEntry {
  const { baseSequence } = batch;
  return {
    kind: "record",
    offset,
    timestampType: batch.isLogAppendTime ? "LogAppendTime" : "CreateTime",
    timestamp,
    keySize: key?.length ?? -1,
    valueSize: value?.length ?? -1,
    sequence:
      baseSequence === NO_SEQUENCE ? NO_SEQUENCE : incrementSequence(baseSequence, offsetDelta),
    headers: headers.map((one) => [one.key, one.value]),
    ...(batch.isControl ? { control: controlContent(key, value) } : {}),
    ...(options.printDataLog && !batch.isControl ? contents(key, value, options) : {}),
  };
}

function contents(
  key: Uint8Array | undefined,
  value: Uint8Array | undefined,
  { clusterMetadata }: DumpOptions,
): Pick<RecordEntry, "key" | "payload" | "decoded"> {
  return {
    ...(key === undefined ? {} : { key }),
    ...(value === undefined ? {} : { payload: value }),
    ...(value === undefined || !clusterMetadata ? {} : { decoded: metadataContent(value) }),
  };
}

/** The record under the cursor; undefined if the name of a header is not UTF-8, at which decoding throws. */
function decoded(cursor: RecordCursor): DecodedRecord | undefined {
  try {
    return cursor.decode();
  } catch {
    return undefined;
  }
}

/**
 * The batch as it would be without compression. Batches remember what they decompressed, many at a time: a
 * file that is made to fill the memory would.
 */
function uncompressed(batch: RecordBatch): RecordBatch | CorruptBlock {
  const { buffer, start, end, compression } = batch;
  if (compression === NO_COMPRESSION) return batch;
  const records = decompress(compression, buffer, start + header.HEADER_SIZE, end);
  if (records instanceof CorruptBlock) return records;
  const plain = new Uint8Array(header.HEADER_SIZE + records.length);
  plain.set(buffer.subarray(start, start + header.HEADER_SIZE));
  plain.set(records, header.HEADER_SIZE);
  const attributes = header.ATTRIBUTES + 1;
  plain[attributes] = (plain[attributes] as number) & ~header.COMPRESSION_MASK;
  return new RecordBatch(plain, 0, plain.length, true);
}
