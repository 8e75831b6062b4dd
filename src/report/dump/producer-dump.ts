import { readInt16, readInt32, readUint32 } from "../../base/big-endian.ts";
import { crc32c } from "../../base/crc32c.ts";
import type { SnapshotEntry } from "../../kafka/log/producer-snapshot.ts";
import { decodeSnapshot } from "../../kafka/log/producer-snapshot.ts";
import {
  ABORTED_TRANSACTION_SIZE,
  ABORTED_TRANSACTION_VERSION,
  decodeAbortedTransaction,
} from "../../kafka/log/transaction-index-format.ts";
import { counted } from "../layout.ts";
import type { Damages } from "./damage.ts";
import type { DumpOptions, DumpTarget } from "./dump-options.ts";
import type { DumpEntry, ProducerBatch } from "./entry.ts";
import { baseOffsetOf } from "./file-kind.ts";

/** A `.snapshot`: the producers of a log. If its CRC is wrong none of them is shown. */
export function* dumpProducerSnapshot(
  { source }: DumpTarget,
  _options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  if (source.size > LARGEST_SNAPSHOT) {
    damages.add(0, `${source.size} bytes are too many for a snapshot`);
    return;
  }
  const bytes = source.read(0, source.size);
  const entries = decodeSnapshot(bytes);
  if (entries === undefined) {
    const [byte, reason] = whatIsWrong(bytes);
    damages.add(byte, reason);
    return;
  }
  for (const entry of entries) {
    yield {
      kind: "producer",
      producerId: entry.producerId,
      producerEpoch: entry.epoch,
      coordinatorEpoch: entry.coordinatorEpoch,
      currentTxnFirstOffset: entry.currentTxnFirstOffset,
      lastTimestamp: entry.lastTimestamp,
      lastBatch: lastBatchOf(entry),
    };
  }
}

/** A `.txnindex`: the aborted transactions of a segment. */
export function* dumpTransactionIndex(
  { name, source }: DumpTarget,
  _options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  const base = baseOffsetOf(name) ?? 0;
  let lastOffset = -1;
  for (let byte = 0; byte < source.size; byte += ABORTED_TRANSACTION_SIZE) {
    const bytes = source.read(byte, ABORTED_TRANSACTION_SIZE);
    if (bytes.length < ABORTED_TRANSACTION_SIZE) {
      const size = ABORTED_TRANSACTION_SIZE;
      damages.add(byte, `${bytes.length} of the ${size} bytes of an entry, and the file ends`);
      return;
    }
    const entry = decodeAbortedTransaction(bytes, 0);
    if (entry === undefined) {
      damages.add(
        byte,
        `version ${readInt16(bytes, 0)}, and Kafka knows ${ABORTED_TRANSACTION_VERSION}`,
      );
      return;
    }
    if (entry.lastOffset < base) {
      damages.add(
        byte + LAST_OFFSET,
        `last offset ${entry.lastOffset}, and the segment begins at ${base}`,
      );
    } else if (entry.lastOffset <= lastOffset) {
      damages.add(byte + LAST_OFFSET, `last offset ${entry.lastOffset} after ${lastOffset}`);
    }
    lastOffset = entry.lastOffset;
    yield { kind: "txnindex", version: ABORTED_TRANSACTION_VERSION, ...entry };
  }
}

/** Where the last offset lies in an entry. */
const LAST_OFFSET = 18;
/** Several million producers. */
const LARGEST_SNAPSHOT = 256 * 1024 * 1024;
/** Of a snapshot: version, CRC, number of producers; then each of them. */
const SNAPSHOT_HEADER = 10;
const SNAPSHOT_CRC = 2;
const SNAPSHOT_COUNT = 6;
const SNAPSHOT_ENTRY = 46;

function lastBatchOf({ lastBatch }: SnapshotEntry): ProducerBatch | undefined {
  if (lastBatch === undefined) return undefined;
  const { baseSequence, lastSequence, baseOffset, lastOffset, maxTimestamp } = lastBatch;
  return {
    firstSequence: baseSequence,
    lastSequence,
    lastOffset,
    offsetDelta: lastOffset - baseOffset,
    timestamp: maxTimestamp,
  };
}

/** Why such bytes are no snapshot. */
function whatIsWrong(bytes: Uint8Array): readonly [byte: number, reason: string] {
  if (bytes.length < SNAPSHOT_HEADER) {
    return [
      bytes.length,
      `the file ends, and the header of a snapshot has ${SNAPSHOT_HEADER} bytes`,
    ];
  }
  const version = readInt16(bytes, 0);
  if (version !== 1) return [0, `version ${version}, and Kafka knows 1`];
  const count = readInt32(bytes, SNAPSHOT_COUNT);
  const size = SNAPSHOT_HEADER + count * SNAPSHOT_ENTRY;
  if (size > bytes.length) {
    return [
      bytes.length,
      `the file ends, and with ${counted(count, "producer")} it has ${size} bytes`,
    ];
  }
  const actual = crc32c(bytes, SNAPSHOT_COUNT);
  const crc = readUint32(bytes, SNAPSHOT_CRC);
  if (crc !== actual) return [SNAPSHOT_CRC, `a CRC-32C of ${crc}, and the bytes give ${actual}`];
  return [SNAPSHOT_COUNT, `${counted(count, "producer")}, and the file has ${bytes.length} bytes`];
}
