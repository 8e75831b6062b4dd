import { describe, expect, test } from "vitest";
import { byText } from "../../../src/base/order.ts";
import { parsePredicate, parseTarget } from "../../../src/scenario/parse-expression.ts";
import { factsBehind, holds } from "../../../src/scenario/predicate.ts";
import { Reading } from "../../../src/scenario/reading.ts";
import { resolveNodes } from "../../../src/scenario/target.ts";
import type { YamlScalar } from "../../../src/scenario/yaml-node.ts";
import { Rng } from "../../../src/sim/rng.ts";
import type { Story } from "../../support/story.ts";
import { appended, moved, sent, story } from "../../support/story.ts";

const MARK = "  - { at: 1s, mark: here, name: here }";

/** Broker 1 leads orders-0, broker 2 orders-1; of orders-1 only 2 and 3 are in sync. */
function situation(): Story {
  const told = story(MARK);
  told.register({ partition: "orders-1", leader: 2, isr: [2, 3], elr: [1], leaderEpoch: 4 });
  told.facts.note({ kind: "controller-elected", controller: 3002, quorumEpoch: 1 });
  told.facts.note({ kind: "node-paused", node: "broker-3" });
  for (const fact of [...sent("p1", 7), ...sent("p1", 2, "unknown")]) told.facts.note(fact);
  told.facts.note(appended(1, 41));
  told.facts.note(appended(2, 39));
  told.facts.note(moved(40));
  tellOfGroup(told);
  return told;
}

/** Broker 3 coordinates: 3 to 5 are done, 4 twice, 6 and 7 committed and not done, 9 done and not committed. */
function tellOfGroup({ facts }: Story): void {
  const group = "workers";
  const partition = "orders-0";
  const [member, generation] = ["c1-1", 1];
  const [broker, reason] = [3, "test"];
  const process = (firstOffset: number, lastOffset: number) =>
    facts.note({
      kind: "records-processed",
      client: "c1",
      group,
      partition,
      firstOffset,
      lastOffset,
    });
  for (const [from, to] of [
    ["CompletingRebalance", "Stable"],
    ["Stable", "PreparingRebalance"],
    ["CompletingRebalance", "Stable"],
  ] as const) {
    facts.note({ kind: "group-state-changed", broker, group, from, to, generation, reason });
  }
  const partitions = [partition];
  facts.note({ kind: "partitions-assigned", client: "c1", group, member, generation, partitions });
  facts.note({
    kind: "position-reset",
    client: "c1",
    partition,
    from: -1,
    to: 3,
    reason: "initial",
  });
  process(3, 5);
  process(4, 4);
  process(9, 9);
  const offsets = [{ partition, offset: 8 }];
  facts.note({
    kind: "offsets-committed",
    broker,
    group,
    member,
    generation,
    offsets,
    producerId: -1,
  });
}

function scalar(text: string): YamlScalar {
  const place = { line: 1, column: 1, length: 1 };
  return { kind: "scalar", value: text, text, quoted: false, place, textColumn: 1 };
}

function reading(bindings: readonly string[] = []): Reading {
  return new Reading("test", {
    nodes: new Map([
      ...[1, 2, 3].map((id) => [`broker-${id}`, "broker"] as const),
      ...[1, 2, 3].map((id) => [`controller-${id}`, "controller"] as const),
      ["p1", "client"],
      ["c1", "client"],
    ]),
    areNodesKnown: true,
    uncallable: new Map([["p1", "`p1` is a producer"]]),
    groups: new Set(["workers"]),
    racks: new Set(["a", "b"]),
    areRacksKnown: true,
    topics: new Map([["orders", ["orders-0", "orders-1"]]]),
    areTopicsKnown: true,
    logDirectories: new Set(["kafka-logs"]),
    bindings: new Set(bindings),
    steps: new Set(),
  });
}

function nodes(text: string, told: Story, seed = "1"): string {
  const own = reading(["old"]);
  const target = parseTarget(scalar(text), own);
  if (target === undefined) throw new Error(own.complaints[0]?.message);
  return resolveNodes(target, told.director.world, new Rng(seed))
    .map(({ name }) => name)
    .join(" ");
}

function isTrue(text: string, told: Story): boolean {
  const own = reading(["old"]);
  const predicate = parsePredicate(scalar(text), own);
  if (predicate === undefined) throw new Error(own.complaints[0]?.message);
  return holds(predicate, told.director.world);
}

describe("a target means", () => {
  test.each([
    ["broker-2", "broker-2"],
    ["p1", "p1"],
    ["brokers", "broker-1 broker-2 broker-3"],
    ["controllers", "controller-1 controller-2 controller-3"],
    ["controller", "controller-2"],
    ["clients", "p1 c1"],
    ["all", "broker-1 broker-2 broker-3 controller-1 controller-2 controller-3"],
    ["none", ""],
    ["leader(orders-0)", "broker-1"],
    ["leader(orders)", "broker-1 broker-2"],
    ["leader(partitions)", "broker-1 broker-2"],
    ["followers(orders-1)", "broker-1 broker-3"],
    ["isr(orders-1)", "broker-2 broker-3"],
    ["osr(orders-1)", "broker-1"],
    ["elr(orders-1)", "broker-1"],
    ["replicas(orders-1)", "broker-1 broker-2 broker-3"],
    ["rack(a)", "broker-1 broker-2"],
    ["alive(brokers)", "broker-1 broker-2"],
    ["group-coordinator(workers)", "broker-3"],
    ["isr(orders-1) - leader(orders-1)", "broker-3"],
    ["broker-3 + leader(orders-0)", "broker-1 broker-3"],
    ["rack(a) & isr(orders-1)", "broker-2"],
    ["brokers - rack(a) + broker-1", "broker-1 broker-3"],
    ["brokers - (rack(a) + broker-3)", ""],
    ["majority(controllers) & controllers - controllers", ""],
    ["$old", ""],
  ])("%s: %s", (text, expected) => {
    expect(nodes(text, situation())).toBe(expected);
  });

  test.each([
    ["any(brokers)", 1],
    ["any 2 of brokers", 2],
    ["any 9 of brokers", 3],
    ["minority(brokers)", 1],
    ["majority(brokers)", 2],
    ["leader(any(partitions))", 1],
    ["any 2 of (brokers - broker-1)", 2],
  ])("%s: %d by chance, the same for the same stream", (text, count) => {
    const told = situation();

    const drawn = nodes(text, told, "7");

    expect(drawn.split(" ")).toHaveLength(count);
    expect(nodes(text, told, "7")).toBe(drawn);
  });

  test("any(brokers) means each of them sooner or later", () => {
    const told = situation();
    const drawn = new Set(
      Array.from({ length: 40 }, (_, i) => nodes("any(brokers)", told, `${i}`)),
    );

    expect([...drawn].sort(byText)).toEqual(["broker-1", "broker-2", "broker-3"]);
  });
});

describe("a predicate", () => {
  test.each([
    "hw(orders-0) >= 40",
    "hw(orders-0) == 40 and not hw(orders-0) > 40",
    "leo(orders-0) == 42",
    "leo(orders-0, broker-2) == 40",
    "leo(orders-0 at broker-2) + 2 == leo(orders-0)",
    "leo(orders-0) - hw(orders-0) * 1 == 2",
    "epoch(orders-1) == 4",
    "isr-size(orders-1) == 2",
    "rebalances(workers) == 2",
    "processed(workers) == 4",
    "reprocessed(workers) == 1",
    "skipped(workers) == 2",
    "uncommitted(workers) == 1",
    "isr(orders-1) == replicas(orders-1) - broker-1",
    "isr(orders-1) != replicas(orders-1)",
    "leader(orders-1) == broker-2",
    "leader(orders-0) != none",
    "alive(isr(orders-0)) >= 1",
    "alive(brokers) == 2",
    "acked(p1) == 7 and unknown(p1) == 2 and failed(p1) == 0 and sent(p1) == 9",
    "retries(p1) == 0 or read(c1) > 0",
    "unowned(workers) == 0s",
    "stall(p1) == 0s",
    "stall(p1) < 1m30s",
    "not (acked(p1) < 7)",
  ])("%s holds", (text) => {
    expect(isTrue(text, situation())).toBe(true);
    expect(isTrue(`not (${text})`, situation())).toBe(false);
  });

  test("appending holds in the event in which the broker appended, and in no other", () => {
    const told = situation();
    const heard: [number, boolean, boolean][] = [];
    const look = (at: number): void => {
      heard.push([at, isTrue("appending(broker-1)", told), isTrue("appending(broker-2)", told)]);
    };

    told.do(1, () => told.facts.note(appended(1, 42)));
    told.do(2, () => undefined);
    for (const at of [1, 2]) {
      told.scheduler.step();
      look(at);
    }

    expect(heard).toEqual([
      [1, true, false],
      [2, false, false],
    ]);
  });

  test("is evaluated only after facts that could change it", () => {
    const predicate = parsePredicate(scalar("hw(orders-0) >= 1 and acked(p1) > 0"), reading());

    const kinds = predicate && [...factsBehind(predicate)].sort(byText);

    expect(kinds).toEqual([
      "became-leader",
      "high-watermark-moved",
      "log-loaded",
      "partition-changed",
      "send-ended",
      "truncated",
    ]);
  });
});

describe("an expression is complained about", () => {
  test.each([
    ["leader(orders-0) -", "the expression ends where a value should stand"],
    [
      "leader(orders-0) broker-1",
      "`broker-1` stands after the end of the expression; is an operator missing?",
    ],
    ["broker-1-leader", "unknown name `broker-1-leader`; a minus needs spaces around it"],
    ["leader", "`leader` needs an argument in parentheses"],
    ["isr(orders-0) ? 1", "`?` has no meaning here"],
    ["any 0 of brokers", "write how many, from 1 on"],
    ["rack(c)", "unknown rack `c`; did you mean `a`?"],
    ["hw(orders)", "`hw` takes one partition, such as orders-0"],
    ["brokers >= brokers", "two sets of nodes compare with == or != only"],
    ["1 < 2 < 3", "comparisons do not chain; join two with `and`"],
    [
      "hw(orders-0",
      "the expression ends where `)` should stand; between [ ] or { } a comma ends a value, so write leo(orders-0 at broker-1)",
    ],
    ["(".repeat(400), "the expression ends where a value should stand"],
    ["(".repeat(600), "longer than 500 characters"],
    ["", "the expression ends where a value should stand"],
  ])("%s: %s", (text, message) => {
    const own = reading();

    expect(parseTarget(scalar(text), own)).toBeUndefined();

    expect(own.complaints.map((complaint) => complaint.message)).toEqual([message]);
  });
});
