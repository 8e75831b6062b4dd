import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { decompress as fzstdDecompress } from "fzstd";
import { decompress as lz4jsDecompress } from "lz4js";
import { compress as snappyjsCompress, uncompress as snappyjsUncompress } from "snappyjs";
import { describe, expect, test } from "vitest";
import { crc32c } from "../../../../../src/base/crc32c.ts";
import {
  CODECS,
  codecNumber,
  compress,
  decompress,
  GZIP,
  LZ4,
  SNAPPY,
  ZSTD,
} from "../../../../../src/kafka/log/compression/codec.ts";
import { compressSnappyBlock } from "../../../../../src/kafka/log/compression/snappy-block.ts";
import { fromBase64, sampleText, ZSTD_SAMPLES } from "./zstd-samples.ts";

const ALL = [GZIP, SNAPPY, LZ4, ZSTD];

/** Bytes with and without repetitions, some of several blocks. */
const contents = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.record({ byte: fc.nat(255), count: fc.nat(40_000) }),
      fc.record({ back: fc.nat(70_000), count: fc.nat(3_000) }),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => {
    const bytes = new Uint8Array(12 * 40_000);
    let length = 0;
    for (const piece of pieces) {
      if (piece instanceof Uint8Array) {
        bytes.set(piece, length);
        length += piece.length;
      } else if ("byte" in piece) {
        bytes.fill(piece.byte, length, length + piece.count);
        length += piece.count;
      } else if (length > 0) {
        const from = Math.max(0, length - 1 - piece.back);
        for (let i = 0; i < piece.count; i++) bytes[length + i] = bytes[from + i] as number;
        length += piece.count;
      }
    }
    return bytes.slice(0, length);
  });

/** The content, or the reason why there is none: never an exception. */
function whole(codec: number, bytes: Uint8Array, magic?: number): Uint8Array | string {
  const content = decompress(codec, bytes, 0, bytes.length, magic);
  return content instanceof Uint8Array ? content : content.message;
}

/** As `toEqual`, which takes seconds for a megabyte. */
function expectSame(actual: Uint8Array | string, expected: Uint8Array): void {
  expect(typeof actual === "string" ? actual : Buffer.compare(actual, expected)).toBe(0);
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

describe("every codec", () => {
  test.each(ALL)("number %i gives back what it compressed", (codec) => {
    const prop = fc.property(contents, fc.constantFrom(-1, 1, 9), (content, level) => {
      expectSame(whole(codec, compress(codec, content, level)), content);
    });
    fc.assert(prop, { seed: 42, numRuns: 200 });
  });

  test.each(ALL)("number %i is read wherever it stands in an array", (codec) => {
    const compressed = compress(codec, sampleText(3_000));
    const shifted = concat(new Uint8Array(37).fill(9), compressed, new Uint8Array(11).fill(9));

    const content = decompress(codec, shifted, 37, 37 + compressed.length);

    expect(content).toEqual(sampleText(3_000));
  });

  test("the same bytes are compressed to the same bytes on every engine", () => {
    const content = concat(sampleText(70_000), new Uint8Array(70_000));
    const sums = ALL.map((codec) => {
      const compressed = compress(codec, content);
      return [CODECS[codec], compressed.length, crc32c(compressed)];
    });
    expect(sums).toMatchInlineSnapshot(`
      [
        [
          "gzip",
          18942,
          2779284789,
        ],
        [
          "snappy",
          34740,
          4118012535,
        ],
        [
          "lz4",
          33649,
          2194137306,
        ],
        [
          "zstd",
          140012,
          2304647607,
        ],
      ]
    `);
  });

  test("has Kafka's name and number, and a number that is none is a reason, not an exception", () => {
    expect(CODECS.map(codecNumber)).toEqual([0, 1, 2, 3, 4]);
    expect(codecNumber("brotli")).toBe(-1);
    expect(whole(5, sampleText(20))).toBe("there is no codec 5");
    expect(() => compress(5, sampleText(20))).toThrow("no codec");
  });
});

describe("other programs", () => {
  test("read our gzip, and we read theirs at every level", () => {
    const prop = fc.property(contents, fc.integer({ min: 0, max: 9 }), (content, level) => {
      expectSame(gunzipSync(compress(GZIP, content)), content);
      expectSame(whole(GZIP, new Uint8Array(gzipSync(content, { level }))), content);
    });
    fc.assert(prop, { seed: 42, numRuns: 60 });
  });

  test("read our blocks of Snappy, and we read theirs", () => {
    const prop = fc.property(contents, (content) => {
      const ours = compressSnappyBlock(content, 0, Math.min(content.length, 65_536));
      expectSame(snappyjsUncompress(ours.slice()), content.subarray(0, 65_536));
      expectSame(whole(SNAPPY, snappyjsCompress(content)), content);
    });
    fc.assert(prop, { seed: 42, numRuns: 100 });
  });

  test("read our LZ4", () => {
    const prop = fc.property(contents, (content) => {
      expectSame(lz4jsDecompress(compress(LZ4, content)), content);
    });
    fc.assert(prop, { seed: 42, numRuns: 60 });
  });

  test("read our Zstandard", () => {
    const prop = fc.property(contents, (content) => {
      if (content.length === 0) return;
      expectSame(fzstdDecompress(compress(ZSTD, content)), content);
    });
    fc.assert(prop, { seed: 42, numRuns: 60 });
  });

  test.each(ZSTD_SAMPLES)("wrote Zstandard that we read: $name", ({ content, frame }) => {
    expect(whole(ZSTD, fromBase64(frame))).toEqual(content);
  });
});

describe("gzip", () => {
  test("is read behind a header with all its optional fields", () => {
    const plain = compress(GZIP, sampleText(100));
    const fields = [0x1f, 0x8b, 8, 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 2, 0, 7, 7, 65, 0, 66, 67, 0];

    const dressed = concat(Uint8Array.from(fields), plain.subarray(10));

    expect(whole(GZIP, dressed)).toEqual(sampleText(100));
  });

  test("of which one bit has changed is noticed", () => {
    const compressed = compress(GZIP, sampleText(300));
    // The header's time, flags for people and operating system mean nothing to a reader.
    for (let bit = 10 * 8; bit < compressed.length * 8; bit++) {
      const damaged = compressed.slice();
      damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
      const content = whole(GZIP, damaged);
      // Some bits of the padding before the trailer are nobody's.
      if (typeof content !== "string") expect(content).toEqual(sampleText(300));
    }
    const cut = whole(GZIP, compressed.subarray(0, compressed.length - 1));
    expect(cut).toMatch(/^gzip/);
  });
});

describe("Snappy", () => {
  test("is framed as snappy-java does it: a header, and blocks of 32 KiB with their sizes", () => {
    const stream = compress(SNAPPY, new Uint8Array(40_000));

    expect([...stream.subarray(0, 16)]).toEqual([
      0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1,
    ]);
    const first = new DataView(stream.buffer).getInt32(16);
    expectSame(snappyjsUncompress(stream.slice(20, 20 + first)), new Uint8Array(32_768));
  });

  test("is also read as one bare block, and as streams one behind the other", () => {
    const bare = compressSnappyBlock(sampleText(2_000), 0, 2_000);
    const stream = compress(SNAPPY, sampleText(2_000));

    expect(whole(SNAPPY, bare)).toEqual(sampleText(2_000));
    expect(whole(SNAPPY, concat(stream, stream))).toEqual(
      concat(sampleText(2_000), sampleText(2_000)),
    );
  });
});

describe("LZ4", () => {
  test("has a checksum of the header alone, but in magic 0 also of what stands before it (KAFKA-3160)", () => {
    const right = compress(LZ4, sampleText(50));
    const broken = compress(LZ4, sampleText(50), -1, 0);

    // Independent blocks of 64 KiB.
    expect([...right.subarray(0, 7)]).toEqual([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);
    expect([...broken.subarray(0, 7)]).toEqual([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x1a]);
    expect(broken.subarray(7)).toEqual(right.subarray(7));
  });

  test("of magic 0 is read with either checksum, of later ones only with the right one", () => {
    const right = compress(LZ4, sampleText(50));
    const broken = compress(LZ4, sampleText(50), -1, 0);

    expect(whole(LZ4, right, 0)).toEqual(sampleText(50));
    expect(whole(LZ4, broken, 0)).toEqual(sampleText(50));
    expect(whole(LZ4, right, 1)).toEqual(sampleText(50));
    expect(whole(LZ4, broken, 1)).toBe("the header of LZ4 fails its checksum");
  });

  test("with a checksum for each block is held to it", () => {
    // What the command `lz4 -BI -BX` makes of it.
    const frame = fromBase64("BCJNGHRAvRQAAAC8Y29tcHJlc3NlZCALAFBlc3NlZNoCRQgAAAAAXfULSA==");
    const content = Uint8Array.from(Buffer.from("compressed compressed compressed"));
    expect(whole(LZ4, frame)).toEqual(content);
    const damaged = frame.slice();
    damaged[14] = 0x7a;
    expect(whole(LZ4, damaged)).toBe("a block of LZ4 fails its checksum");
  });
});

describe("Zstandard", () => {
  test("is read frame after frame, skippable ones left out", () => {
    const skippable = Uint8Array.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const [first, second] = ZSTD_SAMPLES.map(({ frame }) => fromBase64(frame)) as [
      Uint8Array,
      Uint8Array,
    ];

    const content = whole(ZSTD, concat(first, skippable, second, skippable));

    expect(content).toEqual(concat(sampleText(40), sampleText(600)));
  });

  test("that carries a checksum is held to it", () => {
    const damaged = fromBase64(ZSTD_SAMPLES[0]?.frame ?? "");
    damaged[20] = 0x21;
    expect(whole(ZSTD, damaged)).toBe("Zstandard fails its checksum");
  });
});
