/** Where the fields of a record batch of magic 2 lie, and its attribute bits (Kafka's `DefaultRecordBatch`). */

export const BASE_OFFSET = 0;
export const BATCH_LENGTH = 8;
export const PARTITION_LEADER_EPOCH = 12;
export const MAGIC = 16;
export const CRC = 17;
export const ATTRIBUTES = 21;
export const LAST_OFFSET_DELTA = 23;
export const BASE_TIMESTAMP = 27;
export const MAX_TIMESTAMP = 35;
export const PRODUCER_ID = 43;
export const PRODUCER_EPOCH = 51;
export const BASE_SEQUENCE = 53;
export const RECORD_COUNT = 57;

/** Bytes before the first record. */
export const HEADER_SIZE = 61;
/** Base offset and batch length: what the batch length does not count. */
export const LOG_OVERHEAD = 12;
export const MAGIC_V2 = 2;

export const COMPRESSION_MASK = 0x07;
/** Set: LogAppendTime, and every record has the batch's max timestamp. */
export const LOG_APPEND_TIME_FLAG = 0x08;
export const TRANSACTIONAL_FLAG = 0x10;
export const CONTROL_FLAG = 0x20;
/** Set: the base timestamp field holds the delete horizon (KIP-534). */
export const DELETE_HORIZON_FLAG = 0x40;
