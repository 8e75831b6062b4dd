import {
  readInt16,
  readInt32,
  readInt64,
  readUint32,
  writeInt16,
  writeInt32,
  writeInt64,
} from "../../base/big-endian.ts";
import { crc32c } from "../../base/crc32c.ts";
import type { Offset } from "../ids.ts";
import type { ProducedBatch, ProducerEntry, ProducerState } from "./producer-state.ts";
import { incrementSequence, NO_SEQUENCE } from "./record-batch.ts";

/** One producer as a `.snapshot` file keeps it: only its last batch. */
export interface SnapshotEntry {
  readonly producerId: number;
  readonly epoch: number;
  /** Milliseconds. */
  readonly lastTimestamp: number;
  readonly lastBatch: ProducedBatch | undefined;
  /** NO_EPOCH (-1) if none of its transactions has ended. */
  readonly coordinatorEpoch: number;
  /** Undefined if no transaction is open. */
  readonly currentTxnFirstOffset: Offset | undefined;
}

/**
 * The bytes of a `.snapshot` file: Kafka's `ProducerSnapshot`, version 1. The producers stand in the
 * order in which a Java `HashMap` lists them, so that a real broker's file is written again as it was.
 *
 * Simplified: a `HashMap` that once held more producers keeps its size, and so its order.
 */
export function encodeSnapshot(state: ProducerState): Uint8Array {
  const bytes = new Uint8Array(ENTRIES_AT + 4 + state.size * ENTRY_SIZE);
  writeInt16(bytes, 0, VERSION);
  writeInt32(bytes, ENTRIES_AT, state.size);
  let at = ENTRIES_AT + 4;
  for (const entry of inHashOrder(state)) {
    const { producerId, epoch, lastTimestamp, lastBatch } = entry;
    writeInt64(bytes, at, producerId);
    writeInt16(bytes, at + 8, epoch);
    writeInt32(bytes, at + 10, lastBatch?.lastSequence ?? NO_SEQUENCE);
    writeInt64(bytes, at + 14, lastBatch?.lastOffset ?? NO_OFFSET);
    writeInt32(
      bytes,
      at + 22,
      lastBatch === undefined ? 0 : lastBatch.lastOffset - lastBatch.baseOffset,
    );
    writeInt64(bytes, at + 26, lastTimestamp);
    writeInt32(bytes, at + 34, entry.coordinatorEpoch);
    writeInt64(bytes, at + 38, entry.currentTxnFirstOffset ?? NO_OFFSET);
    at += ENTRY_SIZE;
  }
  writeInt32(bytes, CRC_AT, crc32c(bytes, ENTRIES_AT));
  return bytes;
}

/** Undefined if the bytes are no snapshot, or damaged. */
export function decodeSnapshot(bytes: Uint8Array): readonly SnapshotEntry[] | undefined {
  if (bytes.length < ENTRIES_AT + 4 || readInt16(bytes, 0) !== VERSION) return undefined;
  if (readUint32(bytes, CRC_AT) !== crc32c(bytes, ENTRIES_AT)) return undefined;
  const count = readInt32(bytes, ENTRIES_AT);
  if (bytes.length !== ENTRIES_AT + 4 + count * ENTRY_SIZE) return undefined;
  const entries: SnapshotEntry[] = [];
  for (let at = ENTRIES_AT + 4; at < bytes.length; at += ENTRY_SIZE) {
    const lastTimestamp = readInt64(bytes, at + 26);
    const lastOffset = readInt64(bytes, at + 14);
    const txnFirstOffset = readInt64(bytes, at + 38);
    entries.push({
      producerId: readInt64(bytes, at),
      epoch: readInt16(bytes, at + 8),
      lastTimestamp,
      lastBatch:
        lastOffset === NO_OFFSET
          ? undefined
          : batchOf(
              readInt32(bytes, at + 10),
              lastOffset,
              readInt32(bytes, at + 22),
              lastTimestamp,
            ),
      coordinatorEpoch: readInt32(bytes, at + 34),
      currentTxnFirstOffset: txnFirstOffset === NO_OFFSET ? undefined : txnFirstOffset,
    });
  }
  return entries;
}

/** Puts a producer of a snapshot into the table. */
export function loadProducer(state: ProducerState, entry: SnapshotEntry): void {
  const { producerId, epoch, lastTimestamp, lastBatch } = entry;
  const loaded = state.load(producerId, epoch, lastTimestamp, lastBatch);
  loaded.coordinatorEpoch = entry.coordinatorEpoch;
  const { currentTxnFirstOffset } = entry;
  if (currentTxnFirstOffset !== undefined) state.openTransaction(loaded, currentTxnFirstOffset);
}

/** By bucket, and in one bucket by age. */
function inHashOrder(state: ProducerState): readonly ProducerEntry[] {
  let buckets = 16;
  while (state.size > buckets * 0.75) buckets *= 2;
  return [...state.entries()].sort(
    (left, right) => bucketOf(left.producerId, buckets) - bucketOf(right.producerId, buckets),
  );
}

/** `Long.hashCode`, its upper half mixed into the lower as `HashMap` does it. */
function bucketOf(producerId: number, buckets: number): number {
  const hash = (producerId | 0) ^ Math.floor(producerId / 0x1_0000_0000);
  return (hash ^ (hash >>> 16)) & (buckets - 1);
}

function batchOf(
  lastSequence: number,
  lastOffset: Offset,
  offsetDelta: number,
  maxTimestamp: number,
): ProducedBatch {
  const baseOffset = lastOffset - offsetDelta;
  // Backwards round the wrap from 0 to 2^31-1.
  const baseSequence =
    offsetDelta > lastSequence
      ? incrementSequence(lastSequence, 0x8000_0000 - offsetDelta)
      : lastSequence - offsetDelta;
  return { baseSequence, lastSequence, baseOffset, lastOffset, maxTimestamp };
}

const VERSION = 1;
const CRC_AT = 2;
const ENTRIES_AT = 6;
const ENTRY_SIZE = 46;
const NO_OFFSET = -1;
