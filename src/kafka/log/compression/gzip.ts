import { deflateSync, inflateSync } from "fflate/browser";
import { crc32 } from "../../../base/crc32.ts";
import { readUint16Le, readUint32Le, writeInt32Le } from "../../../base/little-endian.ts";
import { corrupt } from "./corrupt-block.ts";
import { MAX_CONTENT } from "./output.ts";

/** One gzip member (RFC 1952). `level` is 1 to 9, -1 for the default. */
export function compressGzip(bytes: Uint8Array, level: number): Uint8Array {
  // With `mem` fixed no logarithm is taken, which engines may round as they like.
  const deflated = deflateSync(bytes, {
    level: isLevel(level) ? level : DEFAULT_LEVEL,
    mem: HASH_MEMORY,
  });
  const member = new Uint8Array(HEADER_SIZE + deflated.length + TRAILER_SIZE);
  member.set(HEADER);
  member.set(deflated, HEADER_SIZE);
  writeInt32Le(member, HEADER_SIZE + deflated.length, crc32(bytes));
  writeInt32Le(member, HEADER_SIZE + deflated.length + 4, bytes.length);
  return member;
}

/**
 * Throws a `CorruptBlock`. fflate inflates; header, checksum and size are held here, since it trusts the
 * size and looks at no checksum.
 *
 * Simplified: one member; Java would also read those that follow it, and no client of Kafka writes any.
 */
export function decompressGzip(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const bodyStart = readHeader(bytes, start, end);
  const bodyEnd = end - TRAILER_SIZE;
  if (bodyEnd <= bodyStart) corrupt("gzip ends before its content does");
  const size = readUint32Le(bytes, end - 4);
  if (size > MAX_CONTENT || size > (bodyEnd - bodyStart) * MOST_A_BYTE_HOLDS) {
    corrupt(`gzip claims to hold ${size} bytes`);
  }
  // One more than claimed, so that more than claimed shows.
  const content = inflate(bytes.subarray(bodyStart, bodyEnd), new Uint8Array(size + 1));
  if (content.length !== size) corrupt("gzip does not hold as much as it claims");
  if (crc32(content) !== readUint32Le(bytes, end - 8)) corrupt("gzip fails its checksum");
  return content;
}

type Level = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

function isLevel(level: number): level is Level {
  return level >= 1 && level <= 9;
}

/** zlib's, which -1 stands for in Java. */
const DEFAULT_LEVEL: Level = 6;
/** fflate hashes into 2^(12 + 4) entries. */
const HASH_MEMORY = 4;
/** A match of 258 bytes takes at least two bits. */
const MOST_A_BYTE_HOLDS = 1032;

const MAGIC = 0x8b1f;
const DEFLATE = 8;
const HEADER_SIZE = 10;
const TRAILER_SIZE = 8;
/** No flags, no time, no name of an operating system: as Java writes it since 16. */
const HEADER: readonly number[] = [0x1f, 0x8b, DEFLATE, 0, 0, 0, 0, 0, 0, 0xff];

const HAS_HEADER_CHECKSUM = 2;
const HAS_EXTRA = 4;
const HAS_NAME = 8;
const HAS_COMMENT = 16;

/** The position of the deflated content. */
function readHeader(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < HEADER_SIZE + TRAILER_SIZE) corrupt("too short to be gzip");
  if (readUint16Le(bytes, start) !== MAGIC) corrupt("not gzip: it begins otherwise");
  if (bytes[start + 2] !== DEFLATE) corrupt("gzip with an unknown method");
  const flags = bytes[start + 3] as number;
  let at = start + HEADER_SIZE;
  if ((flags & HAS_EXTRA) !== 0) at += 2 + (at + 2 <= end ? readUint16Le(bytes, at) : 0);
  if ((flags & HAS_NAME) !== 0) at = afterZero(bytes, at, end);
  if ((flags & HAS_COMMENT) !== 0) at = afterZero(bytes, at, end);
  if ((flags & HAS_HEADER_CHECKSUM) === 0) return at;
  if (at + 2 > end || (crc32(bytes, start, at) & 0xffff) !== readUint16Le(bytes, at)) {
    corrupt("the header of gzip fails its checksum");
  }
  return at + 2;
}

function afterZero(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== 0) at++;
  return at + 1;
}

/** What fflate throws is about the bytes, whatever it is. */
function inflate(deflated: Uint8Array, out: Uint8Array): Uint8Array {
  try {
    return inflateSync(deflated, { out });
  } catch {
    return corrupt("gzip holds what cannot be inflated");
  }
}
