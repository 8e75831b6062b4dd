import { readInt16, readInt64, writeInt64 } from "../../base/big-endian.ts";
import type { Offset } from "../ids.ts";

/** Bytes of one entry of a `.txnindex` file. */
export const ABORTED_TRANSACTION_SIZE = 34;
/** The only version there is. */
export const ABORTED_TRANSACTION_VERSION = 0;

/** An aborted transaction, as the index of the segment with its marker keeps it (Kafka's `AbortedTxn`). */
export interface AbortedTransaction {
  readonly producerId: number;
  /** Of its first record in this partition, which may lie in an earlier segment. */
  readonly firstOffset: Offset;
  /** Of its marker. */
  readonly lastOffset: Offset;
  /** As it was when the marker was written: how far a reader must have searched. */
  readonly lastStableOffset: Offset;
}

/** The bytes of a `.txnindex` file. Entries stand in the order of their markers. */
export function encodeTransactionIndex(entries: readonly AbortedTransaction[]): Uint8Array {
  const bytes = new Uint8Array(entries.length * ABORTED_TRANSACTION_SIZE);
  let at = 0;
  for (const { producerId, firstOffset, lastOffset, lastStableOffset } of entries) {
    writeInt64(bytes, at + 2, producerId);
    writeInt64(bytes, at + 10, firstOffset);
    writeInt64(bytes, at + 18, lastOffset);
    writeInt64(bytes, at + 26, lastStableOffset);
    at += ABORTED_TRANSACTION_SIZE;
  }
  return bytes;
}

/** The entry whose bytes begin at `at`; undefined if they are too few or of a later version. */
export function decodeAbortedTransaction(
  bytes: Uint8Array,
  at: number,
): AbortedTransaction | undefined {
  if (at + ABORTED_TRANSACTION_SIZE > bytes.length) return undefined;
  if (readInt16(bytes, at) > ABORTED_TRANSACTION_VERSION) return undefined;
  return {
    producerId: readInt64(bytes, at + 2),
    firstOffset: readInt64(bytes, at + 10),
    lastOffset: readInt64(bytes, at + 18),
    lastStableOffset: readInt64(bytes, at + 26),
  };
}
