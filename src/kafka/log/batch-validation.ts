import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import { NO_PRODUCER_ID } from "../ids.ts";
import type { RecordBatch } from "./record-batch.ts";
import { buildBatch, NO_TIMESTAMP } from "./record-batch.ts";
import { RecordCursor } from "./record-cursor.ts";

/** Which timestamps a topic takes from producers; milliseconds. */
export interface TimestampRule {
  readonly "message.timestamp.type": string;
  readonly "message.timestamp.before.max.ms": number;
  readonly "message.timestamp.after.max.ms": number;
}

/**
 * What is wrong with a batch that a client wants appended, NONE if nothing is: offsets and count,
 * flags, every record's bounds and timestamp (Kafka's `LogValidator`). Size and CRC are
 * judged before.
 */
export function validateClientBatch(
  batch: RecordBatch,
  rule: TimestampRule,
  nowMs: number,
): ErrorCode {
  const { recordCount } = batch;
  if (recordCount <= 0 || batch.lastOffset - batch.baseOffset + 1 !== recordCount) {
    return ERRORS.INVALID_RECORD;
  }
  if (batch.isControl) return ERRORS.INVALID_RECORD;
  if (batch.producerId > NO_PRODUCER_ID && batch.baseSequence < 0) return ERRORS.INVALID_RECORD;
  if (batch.isTransactional && !batch.hasProducerId) return ERRORS.INVALID_RECORD;

  const isCreateTime = rule["message.timestamp.type"] === "CreateTime";
  const oldest = nowMs - rule["message.timestamp.before.max.ms"];
  const newest = nowMs + rule["message.timestamp.after.max.ms"];
  let isTimely = true;
  cursor.moveTo(batch);
  while (cursor.next()) {
    const { timestamp } = cursor;
    if (isCreateTime && timestamp !== NO_TIMESTAMP) {
      isTimely &&= timestamp >= oldest && timestamp <= newest;
    } else {
      isTimely &&= !batch.isLogAppendTime;
    }
  }
  if (cursor.malformed) return ERRORS.INVALID_RECORD;
  return isTimely ? ERRORS.NONE : ERRORS.INVALID_TIMESTAMP;
}

/** One for all: walking makes no objects. */
const cursor = new RecordCursor(buildBatch([{ timestamp: 0 }]));
