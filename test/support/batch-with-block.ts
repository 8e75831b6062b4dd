import { crc32c } from "../../src/base/crc32c.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch, parseBatch } from "../../src/kafka/log/record-batch.ts";

/** A batch whose records are these compressed bytes, whatever they are, with a CRC that agrees. */
export function batchWithBlock(codec: number, block: Uint8Array, recordCount = 1): RecordBatch {
  const header = buildBatch([{ timestamp: 1 }]).bytes.subarray(0, 61);
  const bytes = new Uint8Array(61 + block.length);
  bytes.set(header);
  bytes.set(block, 61);
  const view = new DataView(bytes.buffer);
  view.setInt32(8, bytes.length - 12);
  view.setInt16(21, codec);
  view.setInt32(23, recordCount - 1);
  view.setInt32(57, recordCount);
  view.setUint32(17, crc32c(bytes, 21));
  const batch = parseBatch(bytes);
  if (batch === undefined) throw new Error("no batch");
  return batch;
}
