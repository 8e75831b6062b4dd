import { readInt32, writeInt32 } from "../../../base/big-endian.ts";
import { corrupt } from "./corrupt-block.ts";
import { Output } from "./output.ts";
import { compressSnappyBlock, decompressSnappyBlock } from "./snappy-block.ts";

/** A stream as snappy-java writes it, which Kafka's clients use: a header, then blocks of 32 KiB with their sizes. */
export function compressSnappy(bytes: Uint8Array): Uint8Array {
  const blocks: Uint8Array[] = [];
  let size = HEADER.length;
  for (let start = 0; start < bytes.length; start += BLOCK_SIZE) {
    const block = compressSnappyBlock(bytes, start, Math.min(start + BLOCK_SIZE, bytes.length));
    blocks.push(block);
    size += 4 + block.length;
  }
  const stream = new Uint8Array(size);
  stream.set(HEADER);
  let at = HEADER.length;
  for (const block of blocks) {
    writeInt32(stream, at, block.length);
    stream.set(block, at + 4);
    at += 4 + block.length;
  }
  return stream;
}

/**
 * Throws a `CorruptBlock`. Takes what snappy-java's `SnappyInputStream` takes: also one raw block
 * without the header, as other clients have sent it, and several streams one behind the other.
 */
export function decompressSnappy(bytes: Uint8Array, start: number, end: number): Uint8Array {
  if (start === end) corrupt("Snappy of no bytes");
  const output = new Output((end - start) * 4);
  if (!beginsStream(bytes, start, end)) {
    decompressSnappyBlock(bytes, start, end, output);
    return output.finish();
  }
  let at = start + HEADER.length;
  // Fewer than four bytes at the end are no block.
  while (at + 4 <= end) {
    const size = readInt32(bytes, at);
    if (size === HEADER_START) {
      if (!beginsStream(bytes, at, end))
        corrupt("a stream of Snappy begins within another, and is cut short");
      at += HEADER.length;
      continue;
    }
    at += 4;
    if (size < 0 || at + size > end) corrupt("Snappy ends within a block");
    decompressSnappyBlock(bytes, at, at + size, output);
    at += size;
  }
  return output.finish();
}

/** Also the size of snappy-java's own buffer. */
const BLOCK_SIZE = 32 * 1024;

/** 0x82 "SNAPPY" 0, version 1, readable since version 1. */
const HEADER: readonly number[] = [
  0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1,
];
const MAGIC_SIZE = 8;
const HEADER_START = 0x82534e41 | 0;

function beginsStream(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < HEADER.length) return false;
  for (let i = 0; i < MAGIC_SIZE; i++) if (bytes[start + i] !== HEADER[i]) return false;
  if (readInt32(bytes, start + MAGIC_SIZE) < 1) corrupt("Snappy of an unknown version");
  return true;
}
