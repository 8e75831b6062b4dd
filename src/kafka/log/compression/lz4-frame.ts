import { readInt32Le, writeInt32Le } from "../../../base/little-endian.ts";
import { corrupt } from "./corrupt-block.ts";
import { compressLz4Block, decompressLz4Block } from "./lz4-block.ts";
import { Output } from "./output.ts";
import { xxHash32 } from "./xx-hash.ts";

/**
 * An LZ4 frame of independent blocks of up to 64 KiB, without checksums of blocks or content (Kafka's
 * `Lz4BlockOutputStream`). In message sets of magic 0 the header's checksum is the one that
 * Kafka's first clients computed, over the wrong bytes (KAFKA-3160).
 */
export function compressLz4(bytes: Uint8Array, magic: number): Uint8Array {
  const blocks = Math.ceil(bytes.length / BLOCK_SIZE);
  // No block is larger than what it holds: then it is stored.
  const frame = new Uint8Array(HEADER_SIZE + blocks * 4 + bytes.length + 4);
  writeInt32Le(frame, 0, FRAME_MAGIC);
  frame[4] = VERSION | INDEPENDENT_BLOCKS;
  frame[5] = SIZE_64_KIB << 4;
  frame[6] = headerChecksum(frame, magic === 0 ? 0 : 4, 6);
  let at = HEADER_SIZE;
  for (let start = 0; start < bytes.length; start += BLOCK_SIZE) {
    const end = Math.min(start + BLOCK_SIZE, bytes.length);
    const block = compressLz4Block(bytes, start, end);
    const isStored = block.length >= end - start;
    const stored = isStored ? bytes.subarray(start, end) : block;
    writeInt32Le(frame, at, isStored ? stored.length | STORED : stored.length);
    frame.set(stored, at + 4);
    at += 4 + stored.length;
  }
  // Four zeros end it; they stand there already.
  return frame.slice(0, at + 4);
}

/**
 * Throws a `CorruptBlock`. As strict as Kafka's `Lz4BlockInputStream`: blocks must be independent, a
 * checksum of the content is skipped, what follows the end mark is ignored, and with magic 0 any
 * header checksum will do.
 */
export function decompressLz4(
  bytes: Uint8Array,
  start: number,
  end: number,
  magic: number,
): Uint8Array {
  const frame = readHeader(bytes, start, end, magic);
  const output = new Output((end - start) * 4);
  let at = frame.headerEnd;
  for (;;) {
    if (at + 4 > end) corrupt("LZ4 ends without an end mark");
    const word = readInt32Le(bytes, at);
    at += 4;
    if (word === 0 || word === STORED) break;
    const size = word & ~STORED;
    if (size > frame.maxBlockSize) corrupt("a block of LZ4 is larger than the frame allows");
    if (at + size > end) corrupt("LZ4 ends within a block");
    if (word < 0) output.append(bytes, at, at + size);
    else decompressLz4Block(bytes, at, at + size, output, frame.maxBlockSize);
    const blockStart = at;
    at += size;
    if (!frame.hasBlockChecksums) continue;
    if (at + 4 > end || readInt32Le(bytes, at) !== xxHash32(bytes, blockStart, at)) {
      corrupt("a block of LZ4 fails its checksum");
    }
    at += 4;
  }
  if (frame.hasContentChecksum && at + 4 > end) corrupt("LZ4 ends within its checksum");
  return output.finish();
}

const FRAME_MAGIC = 0x184d2204;
const HEADER_SIZE = 7;
const BLOCK_SIZE = 65_536;
/** Set in a block's length if it is not compressed. */
const STORED = 0x8000_0000 | 0;
const VERSION = 0x40;
const VERSION_MASK = 0xc0;
const INDEPENDENT_BLOCKS = 0x20;
const BLOCK_CHECKSUMS = 0x10;
const CONTENT_SIZE = 0x08;
const CONTENT_CHECKSUM = 0x04;
const RESERVED = 0x03;
/** Codes 4 to 7 are 64 KiB, 256 KiB, 1 MiB and 4 MiB. */
const SIZE_64_KIB = 4;

interface FrameHeader {
  readonly headerEnd: number;
  readonly maxBlockSize: number;
  readonly hasBlockChecksums: boolean;
  readonly hasContentChecksum: boolean;
}

function readHeader(bytes: Uint8Array, start: number, end: number, magic: number): FrameHeader {
  if (end - start < HEADER_SIZE) corrupt("too short to be LZ4");
  if (readInt32Le(bytes, start) !== FRAME_MAGIC) corrupt("not LZ4: it begins otherwise");
  const flags = bytes[start + 4] as number;
  const descriptor = bytes[start + 5] as number;
  if ((flags & VERSION_MASK) !== VERSION || (flags & RESERVED) !== 0) {
    corrupt("LZ4 of an unknown version");
  }
  if ((flags & INDEPENDENT_BLOCKS) === 0) corrupt("LZ4 whose blocks depend on each other");
  const sizeCode = descriptor >>> 4;
  if ((descriptor & 15) !== 0 || sizeCode < SIZE_64_KIB || sizeCode > 7) {
    corrupt("LZ4 with an unknown block size");
  }
  const checksumAt = start + 6 + ((flags & CONTENT_SIZE) !== 0 ? 8 : 0);
  if (checksumAt >= end) corrupt("LZ4 ends within its header");
  // Clients of magic 0 may have it wrong or right.
  if (magic !== 0 && bytes[checksumAt] !== headerChecksum(bytes, start + 4, checksumAt)) {
    corrupt("the header of LZ4 fails its checksum");
  }
  return {
    headerEnd: checksumAt + 1,
    maxBlockSize: 1 << (2 * sizeCode + 8),
    hasBlockChecksums: (flags & BLOCK_CHECKSUMS) !== 0,
    hasContentChecksum: (flags & CONTENT_CHECKSUM) !== 0,
  };
}

function headerChecksum(bytes: Uint8Array, start: number, end: number): number {
  return (xxHash32(bytes, start, end) >>> 8) & 255;
}
