import fc from "fast-check";
import { expect, test } from "vitest";
import type { NodesExpression, PartitionsExpression } from "../../../src/scenario/expression.ts";
import { NO_NAMES } from "../../../src/scenario/known-names.ts";
import { parseTarget } from "../../../src/scenario/parse-expression.ts";
import { Reading } from "../../../src/scenario/reading.ts";
import { writeTarget } from "../../../src/scenario/write-target.ts";
import { nodeFromValue } from "../../../src/scenario/yaml-node.ts";

const PARTITIONS: fc.Arbitrary<PartitionsExpression> = fc.oneof(
  fc.constant<PartitionsExpression>({ kind: "partition", partition: "orders-0" }),
  fc.constant<PartitionsExpression>({ kind: "all-partitions" }),
  fc.constant<PartitionsExpression>({ kind: "pick", amount: 2, of: { kind: "all-partitions" } }),
  fc.constant<PartitionsExpression>({ kind: "pick", amount: 1, of: { kind: "all-partitions" } }),
);

const { target: TARGET } = fc.letrec<{ target: NodesExpression }>((tie) => ({
  target: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<NodesExpression>(
      { kind: "node", name: "broker-1" },
      { kind: "node", name: "p1" },
      { kind: "group", group: "brokers" },
      { kind: "group", group: "none" },
      { kind: "binding", name: "old" },
      { kind: "rack", rack: "a" },
    ),
    fc.record({
      kind: fc.constant("relation" as const),
      relation: fc.constantFrom("leader", "isr", "elr"),
      partitions: PARTITIONS,
    }),
    fc.record({ kind: fc.constant("alive" as const), of: tie("target") }),
    fc.record({
      kind: fc.constant("pick" as const),
      amount: fc.constantFrom(1, 2, "minority" as const, "majority" as const),
      of: tie("target"),
    }),
    fc.record({
      kind: fc.constant("combine" as const),
      operator: fc.constantFrom("+", "-", "&"),
      left: tie("target"),
      right: tie("target"),
    }),
  ),
}));

test("a target that is written out is read as the same target", () => {
  const names = { ...NO_NAMES, areNodesKnown: false, bindings: new Set(["old"]) };
  fc.assert(
    fc.property(TARGET, (target) => {
      const text = writeTarget(target);
      fc.pre(text.length < 500);
      const reading = new Reading("", names);
      const node = nodeFromValue(text);

      const read = node.kind === "scalar" ? parseTarget(node, reading) : undefined;

      expect(reading.complaints).toEqual([]);
      expect(read).toEqual(target);
    }),
    { seed: 42, numRuns: 500 },
  );
});
