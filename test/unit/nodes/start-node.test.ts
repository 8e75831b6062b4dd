import { expect, test } from "vitest";
import { startNode } from "../../../src/nodes/start-node.ts";
import { DiskError } from "../../../src/ports/disk.ts";
import { RefusedStart } from "../../../src/storage/refused-start.ts";
import { FakeWorld } from "../../support/fake-world.ts";

test.each([
  [new DiskError("EIO", "data/quorum-state"), "EIO: data/quorum-state"],
  [new RefusedStart("two of a kind"), "two of a kind"],
])("a node that cannot be made for %s has a process that ends as it starts", (problem, reason) => {
  const world = new FakeWorld();

  const node = startNode(world, () => {
    throw problem;
  });
  const before = world.exited;
  node.onStart();

  expect([before, world.exited]).toEqual([undefined, reason]);
});

test("a bug is not taken for a disk that fails", () => {
  const make = (): never => {
    throw new Error("a bug");
  };

  expect(() => startNode(new FakeWorld(), make)).toThrow("a bug");
});
