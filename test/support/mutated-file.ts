import { readInt32, writeInt32 } from "../../src/base/big-endian.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { crc32c } from "../../src/base/crc32c.ts";
import type { SmallRandom } from "./small-random.ts";

/** A way in which a file can be wrong. */
type Mutation = (bytes: Uint8Array, random: SmallRandom) => Uint8Array;

/** Lengths, counts and versions that code is likely to trip over. */
const ODD_NUMBERS = [0, 1, -1, 13, 14, 48, 49, 50, 0x7fff, 0xffff, 0x7fff_ffff, -0x8000_0000];

const MUTATIONS: readonly Mutation[] = [
  (bytes, random) => changed(bytes, random, (byte) => byte ^ (1 << random.below(8))),
  (bytes, random) => changed(bytes, random, () => random.below(256)),
  function cutShort(bytes, random) {
    return bytes.slice(0, random.below(bytes.length + 1));
  },
  function cutBeginning(bytes, random) {
    return bytes.slice(random.below(bytes.length + 1));
  },
  function zerosFollow(bytes, random) {
    return joined(bytes, new Uint8Array(random.below(200)));
  },
  function garbageFollows(bytes, random) {
    return joined(
      bytes,
      new Uint8Array(random.below(200)).map(() => random.below(256)),
    );
  },
  function oddNumber(bytes, random) {
    const copy = bytes.slice();
    const at = random.below(Math.max(1, bytes.length - 3));
    if (at + 4 <= copy.length)
      writeInt32(copy, at, ODD_NUMBERS[random.below(ODD_NUMBERS.length)] ?? 0);
    return copy;
  },
  function pieceGone(bytes, random) {
    const [start, end] = piece(bytes, random);
    return joined(bytes.subarray(0, start), bytes.subarray(end));
  },
  function pieceTwice(bytes, random) {
    const [start, end] = piece(bytes, random);
    return joined(bytes.subarray(0, end), bytes.subarray(start));
  },
  function pieceElsewhere(bytes, random) {
    const [start, end] = piece(bytes, random);
    const copy = bytes.slice();
    copy.set(bytes.subarray(start, end), random.below(bytes.length - (end - start) + 1));
    return copy;
  },
];

/** One to four things wrong. */
export function mutated(bytes: Uint8Array, random: SmallRandom): Uint8Array {
  let result = bytes;
  for (let left = 1 + random.below(4); left > 0; left--) {
    const mutation = MUTATIONS[random.below(MUTATIONS.length)] as Mutation;
    result = mutation(result, random);
  }
  return result;
}

/** With the right CRC wherever a file of this name has one, so that what is wrong lies deeper. */
export function withRightCrcs(name: string, content: Uint8Array): Uint8Array {
  const bytes = content.slice();
  if (name.endsWith(".snapshot") && bytes.length > 6) writeInt32(bytes, 2, crc32c(bytes, 6));
  if (!/\.(log|checkpoint)$/.test(name)) return bytes;
  for (let at = 0; at + 26 <= bytes.length; ) {
    const end = at + 12 + readInt32(bytes, at + 8);
    if (end < at + 26 || end > bytes.length) break;
    if ((bytes[at + 16] as number) < 2) writeInt32(bytes, at + 12, crc32(bytes, at + 16, end));
    else writeInt32(bytes, at + 17, crc32c(bytes, at + 21, end));
    at = end;
  }
  return bytes;
}

function changed(
  bytes: Uint8Array,
  random: SmallRandom,
  change: (byte: number) => number,
): Uint8Array {
  if (bytes.length === 0) return bytes;
  const copy = bytes.slice();
  const at = random.below(copy.length);
  copy[at] = change(copy[at] as number);
  return copy;
}

function piece(bytes: Uint8Array, random: SmallRandom): readonly [start: number, end: number] {
  const start = random.below(bytes.length + 1);
  return [start, start + random.below(Math.min(300, bytes.length - start) + 1)];
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}
