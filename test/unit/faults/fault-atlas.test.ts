import fc from "fast-check";
import { expect, test } from "vitest";
import type { CopyHarm } from "../../../src/faults/fault-atlas.ts";
import { FaultAtlas } from "../../../src/faults/fault-atlas.ts";

const REPLICAS = [1, 2, 3];

function harm(broker: number, from?: number, to?: number, more: Partial<CopyHarm> = {}): CopyHarm {
  const offsets = from === undefined || to === undefined ? undefined : { from, to };
  return { partition: "orders-0", replicas: REPLICAS, broker, offsets, quorum: 0, ...more };
}

test("a second replica may not be harmed where the first was, if two copies are promised", () => {
  const atlas = new FaultAtlas(2);

  expect(atlas.admit([harm(1, 0, 100)])).toBeUndefined();
  expect(atlas.admit([harm(2, 99, 200)])).toBe(
    "orders-0 would have 1 good copy, and 2 are promised",
  );
  expect(atlas.admit([harm(2, 100, 200)])).toBeUndefined();
  expect(atlas.admit([harm(1, 50, 80)])).toBeUndefined();
  expect(atlas.admit([harm(3)])).toBeDefined();
  expect(atlas.admit([harm(3, 0, 10, { partition: "orders-1" })])).toBeUndefined();
});

test("a fault that would harm too much is refused as a whole", () => {
  const atlas = new FaultAtlas(1);

  expect(atlas.admit(REPLICAS.map((broker) => harm(broker)))).toBe(
    "orders-0 would have 0 good copies, and 1 are promised",
  );
  expect(atlas.admit([harm(1), harm(2)])).toBeUndefined();
});

test("where more copies are promised than there are replicas, none may be harmed", () => {
  const atlas = new FaultAtlas(3);

  expect(atlas.admit([harm(1, 0, 1, { replicas: [1, 2] })])).toBeDefined();
});

test("what needs a quorum keeps one, though less is promised", () => {
  const atlas = new FaultAtlas(1);

  expect(atlas.admit([harm(1, 0, 9, { quorum: 2 })])).toBeUndefined();
  expect(atlas.admit([harm(2, 5, 6, { quorum: 2 })])).toBeDefined();
});

test("the replicas that may be harmed are those of which a harm is admitted", () => {
  const offset = fc.nat(20);
  const harmed = fc.record({
    broker: fc.constantFrom(...REPLICAS),
    from: offset,
    length: fc.integer({ min: 1, max: 10 }),
  });

  fc.assert(
    fc.property(fc.array(harmed), fc.constantFrom(1, 2, 3), (harms, goodCopies) => {
      const atlas = new FaultAtlas(goodCopies);
      /** By offset, the replicas that are harmed there. */
      const scars = Array.from({ length: 40 }, () => new Set<number>());
      for (const { broker, from, length } of harms) {
        const asked = harm(broker, from, from + length);
        const mayBe = atlas.harmable(asked).includes(broker);
        const isFine = scars.every((harmedThere, at) => {
          const isHit = at >= from && at < from + length;
          return !isHit || new Set([...harmedThere, broker]).size <= REPLICAS.length - goodCopies;
        });

        expect(mayBe).toBe(isFine);
        expect(atlas.admit([asked]) === undefined).toBe(isFine);
        if (!isFine) continue;
        for (let at = from; at < from + length; at++) scars[at]?.add(broker);
      }
    }),
    { seed: 42, numRuns: 200 },
  );
});
