import fc from "fast-check";
import { test } from "vitest";
import { SparseBytes } from "../../../src/disk/sparse-bytes.ts";
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
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("clear" as const), position }) },
);

test("sparse bytes are those of one large array", () => {
  fc.assert(
    fc.property(
      fc.array(operation, { minLength: 1, maxLength: 12, size: "max" }),
      position,
      fc.nat(SPAN),
      (operations, from, length) => {
        const sparse = new SparseBytes();
        const array = new Uint8Array(2 * SPAN);
        for (const each of operations) {
          if (each.kind === "write") {
            const data = bytes(each.length + 2 * each.skip, each.first);
            sparse.write(each.position, data, each.skip, each.skip + each.length);
            array.set(data.subarray(each.skip, each.skip + each.length), each.position);
          } else {
            sparse.clearFrom(each.position);
            array.fill(0, each.position);
          }
          expectBytes(sparse.read(from, from + length), array.slice(from, from + length));
        }
        expectBytes(sparse.read(0, 2 * SPAN), array);
      },
    ),
    { seed: 42, numRuns: 200 },
  );
});
