import fc from "fast-check";
import { expect, test } from "vitest";
import {
  readInt16,
  readInt32,
  readInt64,
  readUint32,
  writeInt16,
  writeInt32,
  writeInt64,
} from "../../../src/base/big-endian.ts";
import { varintSize, writeVarint } from "../../../src/base/varint.ts";

test("big-endian integers are those of a DataView, for every safe integer", () => {
  const check = (value: number): void => {
    const bytes = new Uint8Array(20);
    const view = new DataView(bytes.buffer);
    writeInt64(bytes, 1, value);
    writeInt32(bytes, 9, value | 0);
    writeInt16(bytes, 13, value & 0xffff);

    expect(view.getBigInt64(1)).toBe(BigInt(value));
    expect(readInt64(bytes, 1)).toBe(value);
    expect(readInt32(bytes, 9)).toBe(view.getInt32(9));
    expect(readUint32(bytes, 9)).toBe(view.getUint32(9));
    expect(readInt16(bytes, 13)).toBe(view.getInt16(13));
  };
  for (const value of [
    0,
    1,
    -1,
    2 ** 31 - 1,
    2 ** 31,
    -(2 ** 31),
    -(2 ** 31) - 1,
    2 ** 32,
    -(2 ** 32),
  ]) {
    check(value);
  }
  fc.assert(fc.property(fc.maxSafeInteger(), check), { seed: 42, numRuns: 1000 });
});

test("varints are zigzag in groups of seven bits, lowest first", () => {
  const written = (value: number): number[] => {
    const bytes = new Uint8Array(10);
    const end = writeVarint(bytes, 0, value);
    expect(end).toBe(varintSize(value));
    return [...bytes.subarray(0, end)];
  };

  expect(written(0)).toEqual([0]);
  expect(written(-1)).toEqual([1]);
  expect(written(63)).toEqual([126]);
  expect(written(64)).toEqual([128, 1]);
  expect(written(-64)).toEqual([127]);
  expect(written(-65)).toEqual([129, 1]);
  expect(written(2 ** 31)).toEqual([128, 128, 128, 128, 16]);
  expect(written(-1 - 2 ** 31)).toEqual([129, 128, 128, 128, 16]);
});

test("a varint of any safe integer is that of plain big-integer arithmetic", () => {
  const check = (value: number): void => {
    const bytes = new Uint8Array(10);
    const end = writeVarint(bytes, 0, value);
    let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
    const expected: number[] = [];
    for (; rest >= 128n; rest >>= 7n) expected.push(Number(rest & 127n) | 128);
    expected.push(Number(rest));

    expect([...bytes.subarray(0, end)]).toEqual(expected);
  };
  fc.assert(fc.property(fc.maxSafeInteger(), check), { seed: 42, numRuns: 1000 });
});
