import { readInt32, readInt64 } from "../../base/big-endian.ts";
import type { Offset } from "../../kafka/ids.ts";
import * as header from "../../kafka/log/batch-header.ts";
import type { ByteSource } from "./byte-source.ts";
import type { Damages } from "./damage.ts";

/** Where a batch lies in a file, and what its first bytes say. */
export interface BatchFrame {
  readonly position: number;
  /** Bytes of the whole batch. */
  readonly size: number;
  /** 0, 1, or what Kafka reads as 2. */
  readonly magic: number;
  readonly lastOffset: Offset;
  /** Milliseconds: the largest; -1 in magic 0. */
  readonly maxTimestamp: number;
}

/**
 * The batches of a log one after another, by their first bytes alone, as far as each leads to the next.
 * `limit` is how many bytes of the file count.
 */
export function* batchFrames(
  source: ByteSource,
  limit: number,
  damages: Damages,
): Generator<BatchFrame> {
  const size = Math.min(source.size, limit);
  let position = 0;
  while (position < size) {
    const frame = frameAt(source, position, size, damages);
    if (frame === undefined) return;
    yield frame;
    position += frame.size;
  }
}

/** The batch that begins at `position`; undefined, with the reason among the damages, if none does. */
export function frameAt(
  source: ByteSource,
  position: number,
  end: number,
  damages: Damages,
): BatchFrame | undefined {
  const head = source.read(position, Math.min(header.HEADER_SIZE, end - position));
  if (head.length < SHORTEST_HEAD) {
    damages.add(position, `${bytesWord(head.length)} of a batch, and the file ends`);
    return undefined;
  }
  const length = readInt32(head, header.BATCH_LENGTH);
  const magic = head[header.MAGIC] as number;
  const isOld = magic < header.MAGIC_V2;
  const shortest = isOld
    ? (SHORTEST_MESSAGE[magic] as number)
    : header.HEADER_SIZE - header.LOG_OVERHEAD;
  if (length < shortest) {
    damages.add(position + header.BATCH_LENGTH, `a batch length of ${length}`);
    return undefined;
  }
  const size = header.LOG_OVERHEAD + length;
  if (magic >= 128) {
    damages.add(position + header.MAGIC, `magic ${magic - 256}, and Kafka knows 0, 1 and 2`);
    return undefined;
  }
  const left = end - position;
  if (size > left) {
    damages.add(position, `a batch of ${bytesWord(size)}, and the file ends after ${left}`);
    return undefined;
  }
  if (size > LARGEST_BATCH) {
    damages.add(
      position + header.BATCH_LENGTH,
      `a batch of ${bytesWord(size)} is too large to be one`,
    );
    return undefined;
  }
  // The file may have shrunk since its size was taken.
  if (head.length < Math.min(size, header.HEADER_SIZE)) {
    damages.add(position, `a batch of ${bytesWord(size)}, and the file ends after ${head.length}`);
    return undefined;
  }
  const baseOffset = readInt64(head, header.BASE_OFFSET);
  return isOld
    ? {
        position,
        size,
        magic,
        lastOffset: baseOffset,
        maxTimestamp: magic === 0 ? -1 : readInt64(head, MESSAGE_TIMESTAMP),
      }
    : {
        position,
        size,
        magic,
        lastOffset: baseOffset + readInt32(head, header.LAST_OFFSET_DELTA),
        maxTimestamp: readInt64(head, header.MAX_TIMESTAMP),
      };
}

/** Up to the magic: what Kafka needs to go on. */
const SHORTEST_HEAD = header.MAGIC + 1;
/** By magic: CRC, magic, attributes, a timestamp in magic 1, lengths of key and value. */
const SHORTEST_MESSAGE = [14, 22];
const MESSAGE_TIMESTAMP = 18;
/** Kafka takes 1 MiB if it is not told otherwise. What claims more than this is not read into memory. */
const LARGEST_BATCH = 128 * 1024 * 1024;

function bytesWord(count: number): string {
  return count === 1 ? "1 byte" : `${count} bytes`;
}
