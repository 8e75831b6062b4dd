import { crc32c } from "../../base/crc32c.ts";
import type { Offset } from "../../kafka/ids.ts";
import * as header from "../../kafka/log/batch-header.ts";
import { CODECS } from "../../kafka/log/compression/codec.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import { parseBatch } from "../../kafka/log/record-batch.ts";
import { batchFrames } from "./batch-frames.ts";
import type { Damages } from "./damage.ts";
import type { DumpOptions, DumpTarget } from "./dump-options.ts";
import type { BatchEntry, DumpEntry } from "./entry.ts";
import { baseOffsetOf } from "./file-kind.ts";
import { checkMessageSet, messageEntries, messageSetEntry } from "./message-set-dump.ts";
import { recordEntries } from "./record-dump.ts";

/**
 * A `.log`, or a snapshot of the metadata log, batch by batch. What fails its CRC is shown, and its
 * records are not; what leads nowhere is the end.
 */
export function* dumpLog(
  target: DumpTarget,
  options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  const { name, source } = target;
  const beginning = beginningOf(name);
  if (beginning !== undefined) yield { kind: "note", text: beginning };
  const isSnapshot = name.endsWith(".checkpoint");
  const order = new OffsetOrder(isSnapshot ? 0 : (baseOffsetOf(name) ?? 0), damages);
  const isDeep = options.deepIteration || options.printDataLog;
  for (const { position, size, magic } of batchFrames(source, options.maxBytes, damages)) {
    const bytes = source.read(position, size);
    if (bytes.length < size) {
      damages.add(position, `a batch of ${size} bytes, and the file ends after ${bytes.length}`);
      return;
    }
    const batch = parseBatch(bytes);
    if (batch === undefined) return;
    if (magic > header.MAGIC_V2) {
      damages.add(position + header.MAGIC, `magic ${magic}, and Kafka knows 0, 1 and 2`);
    }
    const isOld = magic < header.MAGIC_V2;
    yield isOld ? messageSetEntry(batch, position) : batchEntry(batch, position);
    const isSound = isOld
      ? checkMessageSet(batch, position, damages)
      : checkBatch(batch, position, damages);
    if (!isSound) continue;
    order.check(batch, position);
    if (!isDeep) continue;
    if (isOld) yield* messageEntries(batch, position, options, damages);
    else yield* recordEntries(batch, position, options, damages);
  }
}

/** Whether the CRC is right; tells if it is not. */
function checkBatch(batch: RecordBatch, position: number, damages: Damages): boolean {
  if (batch.isValid()) return true;
  const actual = crc32c(batch.buffer, batch.start + header.ATTRIBUTES, batch.end);
  damages.add(position + header.CRC, `a CRC-32C of ${batch.crc}, and the bytes give ${actual}`);
  return false;
}

/** What Kafka's tool says of a file before its first batch. */
function beginningOf(name: string): string | undefined {
  if (name === "bootstrap.checkpoint") return "KRaft bootstrap snapshot";
  const [, end, epoch] = /^(\d{20})-(\d{10})\.checkpoint/.exec(name) ?? [];
  if (end !== undefined && epoch !== undefined) {
    return `Snapshot end offset: ${Number(end)}, epoch: ${Number(epoch)}`;
  }
  const baseOffset = baseOffsetOf(name);
  return baseOffset === undefined ? undefined : `Log starting offset: ${baseOffset}`;
}

function batchEntry(batch: RecordBatch, position: number): BatchEntry {
  return {
    kind: "batch",
    baseOffset: batch.baseOffset,
    lastOffset: batch.lastOffset,
    count: batch.recordCount,
    baseSequence: batch.baseSequence,
    lastSequence: batch.lastSequence,
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    partitionLeaderEpoch: batch.partitionLeaderEpoch,
    isTransactional: batch.isTransactional,
    isControl: batch.isControl,
    deleteHorizonMs: batch.hasDeleteHorizon ? batch.baseTimestamp : undefined,
    position,
    timestampType: batch.isLogAppendTime ? "LogAppendTime" : "CreateTime",
    timestamp: batch.maxTimestamp,
    size: batch.sizeInBytes,
    magic: batch.magic,
    compresscodec: CODECS[batch.compression] ?? String(batch.compression),
    crc: batch.crc,
    isvalid: batch.isValid(),
  };
}

/** Offsets ascend from batch to batch, and none is below its file's. */
class OffsetOrder {
  #next: Offset;
  readonly #damages: Damages;

  constructor(first: Offset, damages: Damages) {
    this.#next = first;
    this.#damages = damages;
  }

  check(
    { baseOffset, lastOffset }: Pick<RecordBatch, "baseOffset" | "lastOffset">,
    position: number,
  ): void {
    if (baseOffset < this.#next) {
      this.#damages.add(position, `base offset ${baseOffset}, and ${this.#next} is the least`);
    }
    if (lastOffset < baseOffset) {
      this.#damages.add(
        position + header.LAST_OFFSET_DELTA,
        `a last offset of ${lastOffset} in a batch from ${baseOffset}`,
      );
    }
    this.#next = Math.max(this.#next, lastOffset + 1);
  }
}
