import { fail } from "../../../base/invariant.ts";
import { MAGIC_V2 } from "../batch-header.ts";
import { CorruptBlock } from "./corrupt-block.ts";
import { compressGzip, decompressGzip } from "./gzip.ts";
import { compressLz4, decompressLz4 } from "./lz4-frame.ts";
import { compressSnappy, decompressSnappy } from "./snappy-stream.ts";
import { compressZstd, decompressZstd } from "./zstd-frame.ts";

/** Kafka's codecs by their number in the attributes of a batch (`CompressionType`). */
export const CODECS = ["none", "gzip", "snappy", "lz4", "zstd"] as const;

export const NO_COMPRESSION = 0;
export const GZIP = 1;
export const SNAPPY = 2;
export const LZ4 = 3;
export const ZSTD = 4;

/** The number of a codec; -1 if the name is none of them. */
export function codecNumber(name: string): number {
  return (CODECS as readonly string[]).indexOf(name);
}

/**
 * The bytes as a client of Kafka would send them: a gzip member, a stream of snappy-java, an LZ4 frame,
 * a Zstandard frame. The same bytes in, the same bytes out, whatever engine this runs in.
 *
 * `level` is gzip's, 1 to 9, -1 for its default. Simplified: the levels of LZ4 and Zstandard change
 * nothing. LZ4 is always compressed fast, and Zstandard stored: its frames hold raw blocks.
 */
export function compress(
  codec: number,
  bytes: Uint8Array,
  level: number = -1,
  magic: number = MAGIC_V2,
): Uint8Array {
  switch (codec) {
    case GZIP:
      return compressGzip(bytes, level);
    case SNAPPY:
      return compressSnappy(bytes);
    case LZ4:
      return compressLz4(bytes, magic);
    case ZSTD:
      return compressZstd(bytes);
    default:
      return fail(`no codec compresses with number ${codec}`);
  }
}

/**
 * What was compressed into bytes[start, end) of a batch with this magic, or why it cannot be had. Ends
 * soon and takes no more memory than `MAX_CONTENT` and half of it for a moment, whatever the bytes are.
 */
export function decompress(
  codec: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  magic: number = MAGIC_V2,
): Uint8Array | CorruptBlock {
  try {
    switch (codec) {
      case GZIP:
        return decompressGzip(bytes, start, end);
      case SNAPPY:
        return decompressSnappy(bytes, start, end);
      case LZ4:
        return decompressLz4(bytes, start, end, magic);
      case ZSTD:
        return decompressZstd(bytes, start, end);
      default:
        return new CorruptBlock(`there is no codec ${codec}`);
    }
  } catch (error) {
    if (error instanceof CorruptBlock) return error;
    throw error;
  }
}
