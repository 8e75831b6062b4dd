import { readInt32Le, readUint16Le } from "../../../base/little-endian.ts";
import { corrupt } from "./corrupt-block.ts";
import type { MatchLimits } from "./match-finder.ts";
import { findMatches } from "./match-finder.ts";
import type { Output } from "./output.ts";

/** The raw Snappy block that holds bytes[start, end), at most 64 KiB. */
export function compressSnappyBlock(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const size = end - start;
  const block = new Uint8Array(32 + size + Math.floor(size / 6));
  let at = 0;
  let anchor = start;

  function writeLiterals(until: number): void {
    const count = until - anchor;
    if (count === 0) return;
    if (count <= 60) {
      block[at++] = (count - 1) << 2;
    } else if (count <= 256) {
      block[at++] = 60 << 2;
      block[at++] = count - 1;
    } else {
      block[at++] = 61 << 2;
      block[at++] = count - 1;
      block[at++] = (count - 1) >>> 8;
    }
    block.set(bytes.subarray(anchor, until), at);
    at += count;
  }
  function writeCopy(distance: number, length: number): void {
    if (length >= 4 && length < 12 && distance < 2048) {
      block[at++] = COPY_1 | ((length - 4) << 2) | ((distance >>> 8) << 5);
      block[at++] = distance;
    } else {
      block[at++] = COPY_2 | ((length - 1) << 2);
      block[at++] = distance;
      block[at++] = distance >>> 8;
    }
  }

  let rest = size;
  for (; rest >= 128; rest >>>= 7) block[at++] = rest | 128;
  block[at++] = rest;
  findMatches(bytes, start, end, LIMITS, (matchAt, distance, length) => {
    writeLiterals(matchAt);
    let left = length;
    for (; left > MAX_COPY; left -= MAX_COPY) writeCopy(distance, MAX_COPY);
    writeCopy(distance, left);
    anchor = matchAt + length;
  });
  writeLiterals(end);
  return block.subarray(0, at);
}

/** Appends what the block bytes[start, end) holds. Throws a `CorruptBlock`. */
export function decompressSnappyBlock(
  bytes: Uint8Array,
  start: number,
  end: number,
  output: Output,
): void {
  const floor = output.length;
  let size = 0;
  let at = start;
  for (let scale = 1; ; scale *= 128) {
    if (at >= end || scale > MAX_SCALE) corrupt("a block of Snappy without a length");
    const byte = bytes[at++] as number;
    size += (byte & 127) * scale;
    if (byte < 128) break;
  }
  const ceiling = floor + size;
  while (at < end) {
    const tag = bytes[at++] as number;
    const kind = tag & 3;
    if (kind === LITERAL) {
      let count = tag >>> 2;
      if (count >= 60) {
        const width = count - 59;
        if (at + width > end) corrupt(CUT);
        count = readLength(bytes, at, width);
        at += width;
      }
      count++;
      if (at + count > end) corrupt(CUT);
      if (output.length + count > ceiling) corrupt(TOO_MUCH);
      output.append(bytes, at, at + count);
      at += count;
      continue;
    }
    const width = kind === COPY_1 ? 1 : kind === COPY_2 ? 2 : 4;
    if (at + width > end) corrupt(CUT);
    const count = kind === COPY_1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    let distance = bytes[at] as number;
    if (kind === COPY_1) distance |= (tag >>> 5) << 8;
    else distance = kind === COPY_2 ? readUint16Le(bytes, at) : readInt32Le(bytes, at);
    at += width;
    if (output.length + count > ceiling) corrupt(TOO_MUCH);
    output.copyBack(distance, count, floor);
  }
  if (output.length !== ceiling) corrupt("a block of Snappy holds less than it claims");
}

/** The kinds of an element, in the lowest two bits of its tag. */
const LITERAL = 0;
const COPY_1 = 1;
const COPY_2 = 2;
const MAX_COPY = 64;
/** A length is at most 2^32 - 1: five bytes. */
const MAX_SCALE = 128 ** 4;

const LIMITS: MatchLimits = { lastStart: 15, lastEnd: 0 };

const CUT = "a block of Snappy is cut short";
const TOO_MUCH = "a block of Snappy holds more than it claims";

/** One to four bytes, unsigned. */
function readLength(bytes: Uint8Array, at: number, width: number): number {
  let length = 0;
  for (let i = width - 1; i >= 0; i--) length = length * 256 + (bytes[at + i] as number);
  return length;
}
