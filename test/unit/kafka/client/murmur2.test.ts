import { expect, test } from "vitest";
import { encodeUtf8 } from "../../../../src/base/utf8.ts";
import { murmur2, toPositive } from "../../../../src/kafka/client/murmur2.ts";

test("murmur2 gives the values of Kafka's own test", () => {
  const hash = (text: string): number => murmur2(encodeUtf8(text));

  expect(hash("21")).toBe(-973932308);
  expect(hash("foobar")).toBe(-790332482);
  expect(hash("a-little-bit-long-string")).toBe(-985981536);
  expect(hash("a-little-bit-longer-string")).toBe(-1486304829);
  expect(hash("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8")).toBe(-58897971);
  expect(hash("abc")).toBe(479470107);
});

test("a hash is made positive by its mask, so that the smallest integer becomes 0", () => {
  expect(toPositive(-(2 ** 31))).toBe(0);
  expect(toPositive(-1)).toBe(2 ** 31 - 1);
  expect(toPositive(7)).toBe(7);
});
