import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvariantViolation } from "../../../src/base/invariant.ts";
import { decodeUtf8, encodeUtf8, utf8Size } from "../../../src/base/utf8.ts";

const texts = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }));

test("a text's bytes are those of every other encoder, and lead back to it", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const bytes = encodeUtf8(text);

      expect(bytes).toEqual(new TextEncoder().encode(text));
      expect(decodeUtf8(bytes)).toBe(text);
    }),
    { seed: 42, numRuns: 500 },
  );
});

test("a size is told without encoding, lone surrogates included", () => {
  const anything = fc.string({ unit: fc.nat({ max: 0xffff }).map((n) => String.fromCharCode(n)) });
  fc.assert(
    fc.property(fc.oneof(texts, anything), (text) => {
      expect(utf8Size(text)).toBe(new TextEncoder().encode(text).length);
    }),
    { seed: 42, numRuns: 1000 },
  );
});

test("a lone surrogate becomes the replacement character", () => {
  expect([...encodeUtf8("\ud83d!")]).toEqual([0xef, 0xbf, 0xbd, 0x21]);
});

test("a part of the bytes is decoded on its own", () => {
  const bytes = encodeUtf8("Zürich");

  expect(decodeUtf8(bytes, 1, 3)).toBe("ü");
});

describe("bytes that are no text are refused", () => {
  test.each([
    ["a continuation that continues nothing", [0x80]],
    ["a character cut short", [0xc3]],
    ["a character that the end cuts", [0x61, 0xe2, 0x82]],
  ])("%s", (_, bytes) => {
    expect(() => decodeUtf8(Uint8Array.from(bytes))).toThrow(InvariantViolation);
  });
});
