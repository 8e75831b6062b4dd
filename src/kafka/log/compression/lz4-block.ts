import { readUint16Le } from "../../../base/little-endian.ts";
import { corrupt } from "./corrupt-block.ts";
import type { MatchLimits } from "./match-finder.ts";
import { findMatches, MIN_MATCH } from "./match-finder.ts";
import type { Output } from "./output.ts";

/** The LZ4 block that holds bytes[start, end), at most 64 KiB. */
export function compressLz4Block(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const block = new Uint8Array(boundOf(end - start));
  let at = 0;
  let anchor = start;

  function writeLength(rest: number): void {
    let left = rest;
    for (; left >= 255; left -= 255) block[at++] = 255;
    block[at++] = left;
  }
  function writeLiterals(until: number, matchNibble: number): void {
    const count = until - anchor;
    block[at++] = (Math.min(count, 15) << 4) | matchNibble;
    if (count >= 15) writeLength(count - 15);
    block.set(bytes.subarray(anchor, until), at);
    at += count;
  }

  findMatches(bytes, start, end, LIMITS, (matchAt, distance, length) => {
    const extra = length - MIN_MATCH;
    writeLiterals(matchAt, Math.min(extra, 15));
    block[at++] = distance;
    block[at++] = distance >>> 8;
    if (extra >= 15) writeLength(extra - 15);
    anchor = matchAt + length;
  });
  writeLiterals(end, 0);
  return block.subarray(0, at);
}

/** Appends what the block bytes[start, end) holds, at most `maxSize` bytes. Throws a `CorruptBlock`. */
export function decompressLz4Block(
  bytes: Uint8Array,
  start: number,
  end: number,
  output: Output,
  maxSize: number,
): void {
  const floor = output.length;
  const ceiling = floor + maxSize;
  let at = start;
  while (at < end) {
    const token = bytes[at++] as number;
    let literals = token >>> 4;
    if (literals === 15) {
      let byte = 255;
      for (; byte === 255 && at < end; literals += byte) byte = bytes[at++] as number;
    }
    if (at + literals > end) corrupt("a block of LZ4 ends within its literals");
    if (output.length + literals > ceiling) corrupt(TOO_MUCH);
    output.append(bytes, at, at + literals);
    at += literals;
    // Only the last sequence has no match.
    if (at === end) return;

    if (at + 2 > end) corrupt("a block of LZ4 ends within a match");
    const distance = readUint16Le(bytes, at);
    at += 2;
    let extra = token & 15;
    if (extra === 15) {
      let byte = 255;
      for (; byte === 255 && at < end; extra += byte) byte = bytes[at++] as number;
    }
    if (output.length + extra + MIN_MATCH > ceiling) corrupt(TOO_MUCH);
    output.copyBack(distance, extra + MIN_MATCH, floor);
  }
  corrupt("a block of LZ4 ends with a match");
}

/** The format asks that the last match begins 12 bytes before the end, and the last 5 are literals. */
const LIMITS: MatchLimits = { lastStart: 12, lastEnd: 5 };

const TOO_MUCH = "a block of LZ4 holds more than the frame allows";

function boundOf(size: number): number {
  return size + Math.floor(size / 255) + 16;
}
