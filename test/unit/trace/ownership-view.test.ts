import { expect, test } from "vitest";
import { ClusterView } from "../../../src/trace/cluster-view.ts";
import type { Fact } from "../../../src/trace/fact.ts";
import { meanOf } from "../../../src/trace/ownership-view.ts";
import { FactRecorder } from "../../../src/trace/recorder.ts";

/** What members of a group say, each at its instant, in order. */
function told(...story: readonly (readonly [at: number, fact: Fact])[]) {
  const clock = { now: 0, event: 1, mixFact: () => undefined };
  const facts = new FactRecorder(clock);
  const view = new ClusterView(facts);
  for (const [at, fact] of story) {
    clock.now = at;
    facts.note(fact);
  }
  return view.group("workers").ownership;
}

function change(
  kind: "partitions-assigned" | "partitions-revoked" | "partitions-lost",
  client: string,
  ...partitions: string[]
): Fact {
  return { kind, client, group: "workers", member: client, generation: 1, partitions };
}

function stopped(node: string): Fact {
  return { kind: "node-stopped", node, how: "crash", reason: "" };
}

test("a partition has no owner from when one gives it up until another takes it", () => {
  const ownership = told(
    [10, change("partitions-assigned", "c1", "orders-0", "orders-1")],
    [20, change("partitions-revoked", "c1", "orders-0")],
    [25, change("partitions-assigned", "c2", "orders-0")],
    [40, change("partitions-lost", "c2", "orders-0")],
  );

  expect(ownership.unowned(50)).toEqual([
    { partition: "orders-0", total: 15, longest: 10 },
    { partition: "orders-1", total: 0, longest: 0 },
  ]);
  expect(ownership.meanUnowned(50)).toBe(8);
});

test("whoever stops owns nothing any more, whether or not his coordinator knows", () => {
  const ownership = told(
    [10, change("partitions-assigned", "c1", "orders-0")],
    [20, stopped("c1")],
    [65, change("partitions-assigned", "c2", "orders-0")],
  );

  expect(ownership.unowned(70)).toEqual([{ partition: "orders-0", total: 45, longest: 45 }]);
});

test("of two who take a partition for their own, one is enough", () => {
  const ownership = told(
    [10, change("partitions-assigned", "zombie", "orders-0")],
    [20, change("partitions-assigned", "c2", "orders-0")],
    [30, change("partitions-lost", "zombie", "orders-0")],
  );

  expect(ownership.unowned(50)).toEqual([{ partition: "orders-0", total: 0, longest: 0 }]);
});

test("nobody has waited for what nobody ever owned", () => {
  expect(told().unowned(50)).toEqual([]);
  expect(meanOf([])).toBe(0);
});

test("a partition is shared while two take it for their own, and the longest such time counts", () => {
  const ownership = told(
    [10, change("partitions-assigned", "c1", "orders-0", "orders-1")],
    [20, change("partitions-assigned", "c2", "orders-0")],
    [25, change("partitions-lost", "c1", "orders-0")],
    [30, change("partitions-assigned", "c2", "orders-1")],
  );

  expect(ownership.longestShared(34)).toBe(5);
  expect(ownership.longestShared(37)).toBe(7);
});
