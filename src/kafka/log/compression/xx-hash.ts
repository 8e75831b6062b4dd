import { readInt32Le, readUint32Le } from "../../../base/little-endian.ts";

/** XXH32 of bytes[start, end) with seed 0, as LZ4 frames carry it; a signed int32. */
export function xxHash32(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  let hash = PRIME_5;
  if (end - start >= 16) {
    let a = (PRIME_1 + PRIME_2) | 0;
    let b = PRIME_2;
    let c = 0;
    let d = -PRIME_1 | 0;
    for (; at + 16 <= end; at += 16) {
      a = round(a, readInt32Le(bytes, at));
      b = round(b, readInt32Le(bytes, at + 4));
      c = round(c, readInt32Le(bytes, at + 8));
      d = round(d, readInt32Le(bytes, at + 12));
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0;
  }
  hash = (hash + (end - start)) | 0;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(readInt32Le(bytes, at), PRIME_3)) | 0, 17), PRIME_4);
  }
  for (; at < end; at++) {
    hash = Math.imul(rotate((hash + Math.imul(bytes[at] as number, PRIME_5)) | 0, 11), PRIME_1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3);
  return hash ^ (hash >>> 16);
}

/**
 * The lower half, a signed int32, of XXH64 of the bytes with seed 0: the checksum of a Zstandard frame.
 * Few writers add one, and Kafka's clients do not, so BigInt is fast enough.
 */
export function xxHash64Low(bytes: Uint8Array): number {
  const end = bytes.length;
  let at = 0;
  let hash = PRIME64_5;
  if (end >= 32) {
    let a = wrap(PRIME64_1 + PRIME64_2);
    let b = PRIME64_2;
    let c = 0n;
    let d = wrap(-PRIME64_1);
    for (; at + 32 <= end; at += 32) {
      a = round64(a, readUint64Le(bytes, at));
      b = round64(b, readUint64Le(bytes, at + 8));
      c = round64(c, readUint64Le(bytes, at + 16));
      d = round64(d, readUint64Le(bytes, at + 24));
    }
    hash = wrap(rotate64(a, 1n) + rotate64(b, 7n) + rotate64(c, 12n) + rotate64(d, 18n));
    for (const lane of [a, b, c, d]) {
      hash = wrap((hash ^ round64(0n, lane)) * PRIME64_1 + PRIME64_4);
    }
  }
  hash = wrap(hash + BigInt(end));
  for (; at + 8 <= end; at += 8) {
    const mixed = hash ^ round64(0n, readUint64Le(bytes, at));
    hash = wrap(rotate64(mixed, 27n) * PRIME64_1 + PRIME64_4);
  }
  if (at + 4 <= end) {
    const mixed = hash ^ wrap(BigInt(readUint32Le(bytes, at)) * PRIME64_1);
    hash = wrap(rotate64(mixed, 23n) * PRIME64_2 + PRIME64_3);
    at += 4;
  }
  for (; at < end; at++) {
    const mixed = hash ^ wrap(BigInt(bytes[at] as number) * PRIME64_5);
    hash = wrap(rotate64(mixed, 11n) * PRIME64_1);
  }
  hash = wrap((hash ^ (hash >> 33n)) * PRIME64_2);
  hash = wrap((hash ^ (hash >> 29n)) * PRIME64_3);
  return Number((hash ^ (hash >> 32n)) & 0xffff_ffffn) | 0;
}

const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77 | 0;
const PRIME_3 = 0xc2b2ae3d;
const PRIME_4 = 0x27d4eb2f;
const PRIME_5 = 0x165667b1;

function round(lane: number, word: number): number {
  return Math.imul(rotate((lane + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

const PRIME64_1 = 0x9e3779b185ebca87n;
const PRIME64_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME64_3 = 0x165667b19e3779f9n;
const PRIME64_4 = 0x85ebca77c2b2ae63n;
const PRIME64_5 = 0x27d4eb2f165667c5n;

function round64(lane: bigint, word: bigint): bigint {
  return wrap(rotate64(wrap(lane + word * PRIME64_2), 31n) * PRIME64_1);
}

function rotate64(value: bigint, bits: bigint): bigint {
  return wrap((value << bits) | (value >> (64n - bits)));
}

function readUint64Le(bytes: Uint8Array, at: number): bigint {
  return (BigInt(readUint32Le(bytes, at + 4)) << 32n) | BigInt(readUint32Le(bytes, at));
}

function wrap(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}
