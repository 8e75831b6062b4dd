import { isCompacted } from "../config/topic-configs.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import { NO_PRODUCER_ID } from "../ids.ts";
import type { RecordBatch } from "./record-batch.ts";
import { buildBatch, NO_TIMESTAMP } from "./record-batch.ts";
import { RecordCursor } from "./record-cursor.ts";

/** What a topic takes from producers; times are milliseconds. */
export interface RecordRule {
  /** One by which the log is compacted needs keys. */
  readonly "cleanup.policy": string;
  readonly "message.timestamp.type": string;
  readonly "message.timestamp.before.max.ms": number;
  readonly "message.timestamp.after.max.ms": number;
}

/**
 * What is wrong with a batch that a client, or a coordinator on the same broker, wants appended, NONE if
 * nothing is: offsets and count, flags, every record's bounds, key and timestamp (Kafka's
 * `LogValidator`). Size and CRC are judged before.
 */
export function validateBatch(
  batch: RecordBatch,
  rule: RecordRule,
  nowMs: number,
  isClient: boolean,
): ErrorCode {
  const { recordCount } = batch;
  if (recordCount <= 0 || batch.lastOffset - batch.baseOffset + 1 !== recordCount) {
    return ERRORS.INVALID_RECORD;
  }
  // Coordinators write markers, and records of transactions without sequences.
  if (isClient) {
    if (batch.isControl) return ERRORS.INVALID_RECORD;
    if (batch.producerId > NO_PRODUCER_ID && batch.baseSequence < 0) return ERRORS.INVALID_RECORD;
  }
  if (batch.isTransactional && !batch.hasProducerId) return ERRORS.INVALID_RECORD;

  const isCreateTime = rule["message.timestamp.type"] === "CreateTime";
  const oldest = nowMs - rule["message.timestamp.before.max.ms"];
  const newest = nowMs + rule["message.timestamp.after.max.ms"];
  const needsKeys = isCompacted(rule);
  let isTimely = true;
  let isKeyed = true;
  cursor.moveTo(batch);
  // Kafka throws what is no error of its protocol where a block cannot be decompressed.
  if (cursor.corruptBlock !== undefined) return ERRORS.UNKNOWN_SERVER_ERROR;
  while (cursor.next()) {
    const { timestamp } = cursor;
    if (needsKeys && cursor.keyStart < 0) {
      isKeyed = false;
      continue;
    }
    if (isCreateTime && timestamp !== NO_TIMESTAMP) {
      isTimely &&= timestamp >= oldest && timestamp <= newest;
    } else {
      isTimely &&= !batch.isLogAppendTime;
    }
  }
  if (cursor.malformed) return ERRORS.INVALID_RECORD;
  if (!isTimely) return ERRORS.INVALID_TIMESTAMP;
  return isKeyed ? ERRORS.NONE : ERRORS.INVALID_RECORD;
}

/** One for all: walking makes no objects. */
const cursor = new RecordCursor(buildBatch([{ timestamp: 0 }]));
