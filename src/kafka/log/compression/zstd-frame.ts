import {
  readInt32Le,
  readUint16Le,
  readUint32Le,
  writeInt32Le,
} from "../../../base/little-endian.ts";
import { corrupt } from "./corrupt-block.ts";
import { MAX_CONTENT, Output } from "./output.ts";
import { xxHash64Low } from "./xx-hash.ts";
import { MAX_BLOCK, ZstdBlocks } from "./zstd-block.ts";

/** A Zstandard frame (RFC 8878) that stores the bytes in raw blocks; like Kafka's, without content size and checksum. */
export function compressZstd(bytes: Uint8Array): Uint8Array {
  const blocks = Math.max(1, Math.ceil(bytes.length / MAX_BLOCK));
  const frame = new Uint8Array(6 + blocks * BLOCK_HEADER + bytes.length);
  writeInt32Le(frame, 0, FRAME_MAGIC);
  frame[5] = WINDOW_128_KIB;
  let at = 6;
  for (let i = 0; i < blocks; i++) {
    const block = bytes.subarray(i * MAX_BLOCK, (i + 1) * MAX_BLOCK);
    const header = (block.length << 3) | (RAW << 1) | (i === blocks - 1 ? 1 : 0);
    frame[at] = header;
    frame[at + 1] = header >>> 8;
    frame[at + 2] = header >>> 16;
    frame.set(block, at + BLOCK_HEADER);
    at += BLOCK_HEADER + block.length;
  }
  return frame;
}

/** What one or more frames hold, all kinds of blocks and checksums included. Throws a `CorruptBlock`. */
export function decompressZstd(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const output = new Output((end - start) * 4);
  let at = start;
  while (at < end) {
    if (at + 4 > end) corrupt("Zstandard ends within the beginning of a frame");
    const magic = readInt32Le(bytes, at);
    if (magic === FRAME_MAGIC) at = readFrame(bytes, at, end, output);
    else if ((magic & ~15) === SKIPPABLE_MAGIC) at = skipFrame(bytes, at, end);
    else corrupt("not Zstandard: it begins otherwise");
  }
  return output.finish();
}

const FRAME_MAGIC = 0xfd2f_b528 | 0;
const SKIPPABLE_MAGIC = 0x184d_2a50;
const BLOCK_HEADER = 3;
const RAW = 0;
const RLE = 1;
const COMPRESSED = 2;
/** 2^(10 + 7). */
const WINDOW_128_KIB = 7 << 3;
/** 2^27, the most that the library takes unless told otherwise, which Kafka does not. */
const MAX_WINDOW = 134_217_728;

const CUT = "Zstandard ends within a frame";

function skipFrame(bytes: Uint8Array, start: number, end: number): number {
  if (start + 8 > end) corrupt(CUT);
  const after = start + 8 + readUint32Le(bytes, start + 4);
  if (after > end) corrupt(CUT);
  return after;
}

/** Returns the position behind it. */
function readFrame(bytes: Uint8Array, start: number, end: number, output: Output): number {
  const frame = readHeader(bytes, start + 4, end);
  const maxBlock = Math.min(frame.window, MAX_BLOCK);
  const floor = output.length;
  const blocks = new ZstdBlocks(output, maxBlock);
  let at = frame.headerEnd;
  for (let isLast = false; !isLast; ) {
    if (at + BLOCK_HEADER > end) corrupt(CUT);
    const header = readUint16Le(bytes, at) | ((bytes[at + 2] as number) << 16);
    at += BLOCK_HEADER;
    isLast = (header & 1) !== 0;
    const kind = (header >>> 1) & 3;
    const size = header >>> 3;
    if (size > maxBlock) corrupt("a block of Zstandard is larger than the frame allows");
    const taken = kind === RLE ? 1 : size;
    if (at + taken > end) corrupt(CUT);
    if (kind === RAW) output.append(bytes, at, at + size);
    else if (kind === RLE) output.fill(bytes[at] as number, size);
    else if (kind === COMPRESSED) blocks.decode(bytes, at, at + size);
    else corrupt("a block of Zstandard of an unknown kind");
    at += taken;
  }
  const { contentSize } = frame;
  if (contentSize !== undefined && output.length - floor !== contentSize) {
    corrupt("Zstandard does not hold as much as it claims");
  }
  if (!frame.hasChecksum) return at;
  if (at + 4 > end) corrupt(CUT);
  if (readInt32Le(bytes, at) !== xxHash64Low(output.from(floor))) {
    corrupt("Zstandard fails its checksum");
  }
  return at + 4;
}

interface FrameHeader {
  readonly headerEnd: number;
  readonly window: number;
  readonly contentSize: number | undefined;
  readonly hasChecksum: boolean;
}

/** What stands behind the magic number. */
function readHeader(bytes: Uint8Array, start: number, end: number): FrameHeader {
  if (start >= end) corrupt(CUT);
  const descriptor = bytes[start] as number;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if ((descriptor & 0x08) !== 0) corrupt("Zstandard of an unknown version");
  const dictionaryWidth = [0, 1, 2, 4][descriptor & 3] as number;
  const sizeWidth = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] as number;
  let at = start + 1;
  const headerEnd = at + (isSingleSegment ? 0 : 1) + dictionaryWidth + sizeWidth;
  if (headerEnd > end) corrupt(CUT);
  const window = isSingleSegment ? 0 : windowOf(bytes[at++] as number);
  for (let i = 0; i < dictionaryWidth; i++) {
    if (bytes[at++] !== 0) corrupt("Zstandard with a dictionary, which Kafka has none of");
  }
  let contentSize: number | undefined;
  if (sizeWidth > 0) {
    contentSize = sizeWidth === 2 ? 256 : 0;
    for (let i = sizeWidth - 1, scale = 256 ** i; i >= 0; i--, scale /= 256) {
      contentSize += (bytes[at + i] as number) * scale;
    }
    if (contentSize > MAX_CONTENT) corrupt(`Zstandard claims to hold ${contentSize} bytes`);
  }
  if (window > MAX_WINDOW) corrupt("Zstandard with a window that Kafka does not take");
  return {
    headerEnd,
    window: isSingleSegment ? (contentSize ?? 0) : window,
    contentSize,
    hasChecksum: (descriptor & 0x04) !== 0,
  };
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >>> 3));
  return base + (base / 8) * (descriptor & 7);
}
