import fc from "fast-check";
import { expect, test } from "vitest";
import {
  compress,
  decompress,
  GZIP,
  LZ4,
  SNAPPY,
  ZSTD,
} from "../../../../../src/kafka/log/compression/codec.ts";
import { fromBase64, sampleText, ZSTD_SAMPLES } from "./zstd-samples.ts";

const SOUND: readonly (readonly [codec: number, bytes: Uint8Array])[] = [
  ...[GZIP, SNAPPY, LZ4, ZSTD].map((codec) => [codec, compress(codec, sampleText(900))] as const),
  ...ZSTD_SAMPLES.map(({ frame }) => [ZSTD, fromBase64(frame)] as const),
];

/** Nothing but a content or a reason comes out, and the content is no larger than the format can make it. */
function judge(codec: number, bytes: Uint8Array): Uint8Array | string {
  const content = decompress(codec, bytes, 0, bytes.length);
  return content instanceof Uint8Array ? content : content.message;
}

function outcome(codec: number, bytes: readonly number[]): Uint8Array | string {
  return judge(codec, Uint8Array.from(bytes));
}

test("sound blocks that were damaged at random give a content or a reason", () => {
  let refused = 0;
  const damage = fc.record({
    which: fc.nat(SOUND.length - 1),
    flips: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
    cut: fc.option(fc.nat(), { freq: 4 }),
  });
  const prop = fc.property(damage, ({ which, flips, cut }) => {
    const [codec, bytes] = SOUND[which] as [number, Uint8Array];
    const damaged = bytes.slice(0, cut === null ? bytes.length : cut % bytes.length);
    for (const [at, byte] of flips) if (damaged.length > 0) damaged[at % damaged.length] = byte;
    if (typeof judge(codec, damaged) === "string") refused++;
  });
  fc.assert(prop, { seed: 42, numRuns: 20_000 });
  expect(refused).toBeGreaterThan(5_000);
});

test("bytes that never were a block give a reason, or by chance a content", () => {
  const HEADERS: Readonly<Record<number, readonly number[]>> = {
    [GZIP]: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0],
    [SNAPPY]: [],
    [LZ4]: [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82],
    [ZSTD]: [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58],
  };
  const prop = fc.property(
    fc.constantFrom(GZIP, SNAPPY, LZ4, ZSTD),
    fc.uint8Array({ maxLength: 300 }),
    fc.boolean(),
    (codec, bytes, withHeader) => {
      outcome(codec, [...(withHeader ? (HEADERS[codec] ?? []) : []), ...bytes]);
    },
  );
  fc.assert(prop, { seed: 42, numRuns: 20_000 });
});

test.each([GZIP, SNAPPY, LZ4])("number %i cut short anywhere is refused", (codec) => {
  const bytes = compress(codec, sampleText(900));
  for (let length = 0; length < bytes.length; length++) {
    const content = judge(codec, bytes.subarray(0, length));
    // A stream of Snappy may end before any block: nothing in it tells how many there are.
    if (codec === SNAPPY && length >= 16 && length < 20) expect(content).toHaveLength(0);
    else expect(content).toBeTypeOf("string");
  }
});

test("a literal of Snappy with a length that a signed reader takes for a step back is no endless loop", () => {
  const content = outcome(SNAPPY, [10, 0xfc, 0xfa, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(content).toBe("a block of Snappy is cut short");
});

test("weights of Zstandard that take no bits are no endless loop", () => {
  // One symbol has all 32 states: each leads to the next without reading anything.
  const weights = [0xf0, 0x03, 0, 0, 1];
  const literalsSize = 1 + weights.length + 4;
  const sizes = 2 | (10 << 4) | (literalsSize << 14);
  const header = [sizes & 255, (sizes >> 8) & 255, (sizes >> 16) & 255];
  const block = [...header, weights.length, ...weights, 1, 1, 1, 1, 0];
  const frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1 | (2 << 1) | (block.length << 3), 0, 0];

  expect(outcome(ZSTD, [...frame, ...block])).toBe("a code of Zstandard makes no sense");
});

test("a few bytes that claim gigabytes get none", () => {
  const gzip = [...compress(GZIP, sampleText(20))];
  gzip.splice(-4, 4, 0xff, 0xff, 0xff, 0xff);
  expect(outcome(GZIP, gzip)).toBe("gzip claims to hold 4294967295 bytes");

  const snappy = outcome(SNAPPY, [0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x61]);
  expect(snappy).toBe("a block of Snappy holds less than it claims");

  const zstd = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0];
  expect(outcome(ZSTD, zstd)).toBe("Zstandard claims to hold 4294967295 bytes");

  const wide = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 1, 0, 0];
  expect(outcome(ZSTD, wide)).toBe("Zstandard with a window that Kafka does not take");
});

test("a bomb goes off in no more than 128 MiB", () => {
  // Each block of four bytes is 128 KiB of zeros.
  const block = [
    (1 << 1) | ((131_072 << 3) & 255),
    ((131_072 << 3) >> 8) & 255,
    (131_072 << 3) >> 16,
    0,
  ];
  const bomb = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
  for (let i = 0; i < 2_000; i++) bomb.push(...block);

  expect(outcome(ZSTD, bomb)).toBe("it holds more than 134217728 bytes");
});

test("a match reaches neither before its block, nor before its frame", () => {
  // One literal, then a repetition from two bytes back.
  const lz4 = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82, 4, 0, 0, 0, 0x10, 0x61, 2, 0, 0, 0, 0, 0];
  expect(outcome(LZ4, lz4)).toBe("it repeats bytes from before its start");

  const snappy = [5, 0x00, 0x61, 0x01, 0x02];
  expect(outcome(SNAPPY, snappy)).toBe("it repeats bytes from before its start");
});
