import { utf8Size } from "../../base/utf8.ts";
import type { RecordBatch } from "../log/record-batch.ts";

/**
 * How many bytes things take in the flexible versions of Kafka's protocol (KIP-482). Nodes hand each
 * other objects; the network charges for the bytes that their encoding would have.
 */

/** What every simulated client calls itself in its requests. */
export const CLIENT_ID = "kafka-sim";

/** Length prefix, and request header v2: key, version, correlation id, client id, no tags. */
export const REQUEST_OVERHEAD: number = 4 + 2 + 2 + 4 + (2 + CLIENT_ID.length) + 1;

/** Length prefix, and response header v1: correlation id, no tags. */
export const RESPONSE_OVERHEAD: number = 4 + 4 + 1;

export const INT8 = 1;
export const INT16 = 2;
export const INT32 = 4;
export const INT64 = 8;
export const UUID = 16;
/** A section of tagged fields with none in it. */
export const NO_TAGS = 1;
/** A compact array with nothing in it, or null. */
export const EMPTY = 1;

/** An unsigned varint. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

/** The length in front of a compact array. */
export function countSize(count: number): number {
  return varintSize(count + 1);
}

/** A compact, nullable string. */
export function textSize(text: string | undefined): number {
  if (text === undefined) return 1;
  const size = utf8Size(text);
  return varintSize(size + 1) + size;
}

/** One tagged field around `size` bytes; tags here are below 128. */
export function tagged(size: number): number {
  return 1 + varintSize(size) + size;
}

/** Compact records: all batches behind one length. */
export function recordsSize(batches: readonly RecordBatch[]): number {
  let size = 0;
  for (const batch of batches) size += batch.sizeInBytes;
  return varintSize(size + 1) + size;
}

/** A compact array whose items take `each(item)` bytes. */
export function arraySize<Item>(items: readonly Item[], each: (item: Item) => number): number {
  let size = countSize(items.length);
  for (const item of items) size += each(item);
  return size;
}

/** A compact array whose items all take `size` bytes. */
export function uniformSize(items: readonly unknown[], size: number): number {
  return countSize(items.length) + items.length * size;
}
