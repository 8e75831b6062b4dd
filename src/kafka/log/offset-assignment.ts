import type { LeaderEpoch, Offset } from "../ids.ts";
import { codecNumber, NO_COMPRESSION } from "./compression/codec.ts";
import type { RecordBatch } from "./record-batch.ts";
import { buildBatch, NO_TIMESTAMP } from "./record-batch.ts";
import { RecordCursor } from "./record-cursor.ts";

/** How a topic keeps its batches compressed. */
export interface CompressionRule {
  /** `producer` keeps what was sent. */
  readonly "compression.type": string;
  readonly "compression.gzip.level": number;
}

/**
 * A client's batch, found sound, as the leader appends it: with offsets and epoch, and with
 * `logAppendTime` (ms, NO_TIMESTAMP for none). Only where the topic wants another codec than the batch
 * has, or compressed records do not count from 0, is it written anew (Kafka's `LogValidator`).
 */
export function assignOffsets(
  batch: RecordBatch,
  rule: CompressionRule,
  firstOffset: Offset,
  leaderEpoch: LeaderEpoch,
  logAppendTime: number,
): RecordBatch {
  const wanted = codecFor(batch, rule);
  if (wanted === batch.compression && (wanted === NO_COMPRESSION || countsFromZero(batch))) {
    return batch.withOffsets(firstOffset, leaderEpoch, logAppendTime);
  }
  const rewritten = buildBatch(
    batch.records().map(({ timestamp, key, value, headers }) => {
      return { timestamp, key, value, headers };
    }),
    {
      producerId: batch.producerId,
      producerEpoch: batch.producerEpoch,
      baseSequence: batch.baseSequence,
      isTransactional: batch.isTransactional,
      compression: wanted,
      // What a producer asked of its codec is not known any more.
      compressionLevel:
        rule["compression.type"] === "producer" ? -1 : rule["compression.gzip.level"],
      ...(logAppendTime === NO_TIMESTAMP ? {} : { logAppendTime }),
    },
  );
  return rewritten.withOffsets(firstOffset, leaderEpoch);
}

/** `BrokerCompressionType.targetCompression`; markers stay as they are. */
function codecFor(batch: RecordBatch, rule: CompressionRule): number {
  const wanted = rule["compression.type"];
  if (wanted === "producer" || batch.isControl) return batch.compression;
  return wanted === "uncompressed" ? NO_COMPRESSION : codecNumber(wanted);
}

/** Old clients do not number the records that they compress. */
function countsFromZero(batch: RecordBatch): boolean {
  const cursor = new RecordCursor(batch);
  for (let expected = 0; cursor.next(); expected++) {
    if (cursor.offsetDelta !== expected) return false;
  }
  return true;
}
