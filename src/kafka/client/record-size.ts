import { varintSize } from "../../base/varint.ts";
import { HEADER_SIZE } from "../log/batch-header.ts";

/** The size of a key or value that a record does not have. */
export const ABSENT = -1;

/** Bytes of one record without headers in a batch (`DefaultRecord.sizeInBytes`). */
export function recordSize(
  keySize: number,
  valueSize: number,
  timestampDelta: number,
  offsetDelta: number,
): number {
  const body =
    1 +
    varintSize(timestampDelta) +
    varintSize(offsetDelta) +
    fieldSize(keySize) +
    fieldSize(valueSize) +
    NO_HEADERS;
  return varintSize(body) + body;
}

/**
 * The most that a batch of one such record can take: what a record too large is judged by, and what
 * a buffer must hold at least (`AbstractRecords.estimateSizeInBytesUpperBound`).
 */
export function singleRecordBatchBound(keySize: number, valueSize: number): number {
  return HEADER_SIZE + MAX_RECORD_OVERHEAD + fieldSize(keySize) + fieldSize(valueSize) + NO_HEADERS;
}

function fieldSize(size: number): number {
  return varintSize(size) + Math.max(size, 0);
}

/** The count of headers, zero. */
const NO_HEADERS = 1;
/** Five bytes of length, one of attributes, ten of timestamp delta, five of offset delta. */
const MAX_RECORD_OVERHEAD = 21;
