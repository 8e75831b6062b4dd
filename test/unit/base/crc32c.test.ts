import { expect, test } from "vitest";
import { crc32c } from "../../../src/base/crc32c.ts";
import { encodeUtf8 } from "../../../src/base/utf8.ts";

test("CRC-32C agrees with the published vectors (RFC 3720, B.4)", () => {
  const ascending = Uint8Array.from({ length: 32 }, (_, i) => i);

  expect(crc32c(encodeUtf8("123456789"))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
  expect(crc32c(ascending)).toBe(0x46dd794e);
  expect(crc32c(ascending.toReversed())).toBe(0x113fdb5c);
  expect(crc32c(new Uint8Array(0))).toBe(0);
});

test("CRC-32C by sixteen bytes a round agrees with one bit at a time, at every length and start", () => {
  const bytes = Uint8Array.from({ length: 100 }, (_, i) => (i * 131 + 7) & 255);

  for (let start = 0; start < 20; start++) {
    for (let end = start; end <= bytes.length; end++) {
      expect(crc32c(bytes, start, end)).toBe(bitwise(bytes.subarray(start, end)));
    }
  }
});

function bitwise(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
