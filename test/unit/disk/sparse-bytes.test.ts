import fc from "fast-check";
import { expect, test } from "vitest";
import { SparseBytes } from "../../../src/disk/sparse-bytes.ts";
import type { ByteRange } from "../../../src/ports/disk.ts";
import { bytes, expectBytes } from "./machine.ts";

const SPAN = 300_000;
const CHUNK = 65_536;

/** Anywhere, and often where chunks meet. */
const position = fc.oneof(
  fc.nat(SPAN),
  fc.nat(600),
  fc
    .tuple(fc.nat(4), fc.integer({ min: -20, max: 20 }))
    .map(([chunk, by]) => Math.max(0, chunk * CHUNK + by)),
);

const operation = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      position,
      length: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 150_000 })),
      skip: fc.nat(3),
      first: fc.nat(254),
      isShared: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      gap: fc.constantFrom(0, 0, 0, 1, 900),
      lengths: fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 5 }),
      first: fc.nat(254),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("clear" as const), position }) },
);

/** A log's growth: batches from one array, one after the other. */
function append(
  sparse: SparseBytes,
  array: Uint8Array,
  at: number,
  lengths: number[],
  first: number,
) {
  const data = bytes(
    lengths.reduce((sum, length) => sum + length),
    first,
  );
  let start = 0;
  for (const length of lengths) {
    sparse.share(at + start, data, start, start + length);
    start += length;
  }
  array.set(data, at);
  return at + start;
}

function joined(pieces: readonly ByteRange[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { start, end }) => sum + end - start, 0));
  let at = 0;
  for (const { bytes, start, end } of pieces) {
    whole.set(bytes.subarray(start, end), at);
    at += end - start;
  }
  return whole;
}

test("sparse bytes are those of one large array", () => {
  fc.assert(
    fc.property(
      fc.array(operation, { minLength: 1, maxLength: 12, size: "max" }),
      position,
      fc.nat(SPAN),
      (operations, from, length) => {
        const sparse = new SparseBytes();
        const array = new Uint8Array(3 * SPAN);
        let end = 0;
        for (const each of operations) {
          if (each.kind === "write") {
            const data = bytes(each.length + 2 * each.skip, each.first);
            const stop = each.skip + each.length;
            if (each.isShared) sparse.share(each.position, data, each.skip, stop);
            else sparse.write(each.position, data, each.skip, stop);
            array.set(data.subarray(each.skip, stop), each.position);
            end = Math.max(end, each.position + each.length);
          } else if (each.kind === "append") {
            end = append(sparse, array, end + each.gap, each.lengths, each.first);
          } else {
            sparse.clearFrom(each.position);
            array.fill(0, each.position);
            end = Math.min(end, each.position);
          }
          const expected = array.slice(from, from + length);
          expectBytes(sparse.read(from, from + length), expected);
          expectBytes(joined(sparse.pieces(from, from + length)), expected);
        }
        expectBytes(sparse.read(0, 3 * SPAN), array);
      },
    ),
    { seed: 42, numRuns: 200 },
  );
});

test("what was shared is read as the very same array, and neighbours from one array as one piece", () => {
  const sparse = new SparseBytes();
  const slab = bytes(1_000);
  sparse.share(0, slab, 100, 300);
  sparse.share(200, slab, 300, 450);
  sparse.share(350, slab, 600, 700);

  const pieces = sparse.pieces(50, 400);

  expect(pieces).toEqual([
    { bytes: slab, start: 150, end: 450 },
    { bytes: slab, start: 600, end: 650 },
  ]);
  expect(pieces.every((piece) => piece.bytes === slab)).toBe(true);
});

test("writing over what was shared leaves the shared array as it was", () => {
  const sparse = new SparseBytes();
  const slab = bytes(1_000);
  sparse.share(0, slab, 0, 400);
  sparse.share(400, slab, 500, 900);

  sparse.write(390, bytes(20, 200), 0, 20);

  expectBytes(slab, bytes(1_000));
  const expected = new Uint8Array([...slab.slice(0, 400), ...slab.slice(500, 900)]);
  expected.set(bytes(20, 200), 390);
  expectBytes(sparse.read(0, 800), expected);
});

test("what was appended at once is read in one piece, also after the log was cut and appended to again", () => {
  const sparse = new SparseBytes();
  const slab = bytes(1_000);
  sparse.share(0, slab, 0, 300);
  sparse.clearFrom(200);

  sparse.share(200, slab, 300, 500);

  expect(sparse.pieces(200, 400)).toEqual([{ bytes: slab, start: 300, end: 500 }]);
  expectBytes(
    sparse.read(0, 500),
    new Uint8Array([...bytes(200), ...slab.slice(300, 500), ...new Uint8Array(100)]),
  );
});
