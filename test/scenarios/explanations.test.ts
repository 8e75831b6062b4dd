import { expect, test } from "vitest";
import type { Violation } from "../../src/checkers/guarantee.ts";
import type { Explanation } from "../../src/explain/explain.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { engine } from "../support/engine.ts";
import { run, shipped } from "../support/run-scenario.ts";

const { explain, explanationLines, livesOf, recordUntil } = engine;

function firstOf(scenario: Scenario, seed: string, kind: string): Violation {
  const { violations } = run(scenario, seed);
  const found = violations.find((one) => one.kind === kind && one.follows === undefined);
  if (found === undefined) throw new Error(`no ${kind} with seed ${seed}`);
  return found;
}

function explained(scenario: Scenario, seed: string, kind: string): Explanation {
  return explain(scenario, firstOf(scenario, seed, kind), { seed, tries: true });
}

test("the loss of an unclean election is told: who was cut off, who acknowledged alone, who was elected", () => {
  const scenario = shipped("unclean-election");

  const { steps, needed, avoidedBy } = explained(scenario, "42", "acked-record-lost");

  const verbs = steps.map(({ verb }) => verb);
  expect(verbs.slice(0, 2)).toEqual(["fault", "isr"]);
  expect(verbs).toContain("ack");
  expect(steps.find(({ verb }) => verb === "ack")?.text).toContain("held by broker-3 alone");
  expect(steps.find(({ verb }) => verb === "elect")?.text).toContain("UNCLEAN broker-1");
  expect(steps.length).toBeLessThanOrEqual(10);
  const names = needed?.map((at) => steps[at]?.note);
  expect(names).toEqual(["cut-off", "die"]);
  expect(avoidedBy).toEqual(["min.insync.replicas=2", "unclean.leader.election.enable=false"]);
});

test("a setting counts as safer only if the same faults strike at the same instants", () => {
  // The scenario's own trigger waits for an acknowledged record that no follower has.
  const { avoidedBy } = explained(shipped("acks-1-gap"), "42", "acked-record-lost");

  expect(avoidedBy).toEqual(["acks=all"]);
});

test("the logs are drawn around the offsets that differ, with what was acknowledged and who leads", () => {
  const { drawing, violation } = explained(shipped("acks-1-gap"), "42", "acked-record-lost");
  const [first] = violation.offsets ?? [];

  const at = drawing?.offsets.indexOf(first ?? -1) ?? -1;
  expect(at).toBeGreaterThan(0);
  const column = drawing?.replicas.map(({ broker, isLeader, isDown, cells }) => ({
    broker,
    isLeader,
    isDown,
    cell: cells[at],
  }));
  expect(column?.[0]).toEqual({
    broker: 1,
    isLeader: false,
    isDown: true,
    cell: { epoch: 0, isCut: false, isAcked: true },
  });
  for (const { cell } of column?.slice(1) ?? []) expect(cell?.epoch).toBeUndefined();
  expect(column?.filter(({ isLeader }) => isLeader)).toHaveLength(1);
});

test("an explanation fits on 80 columns", () => {
  for (const [name, kind] of [
    ["unclean-election", "acked-record-lost"],
    ["power-loss", "acked-record-lost"],
  ] as const) {
    const lines = explanationLines(explained(shipped(name), "42", kind));
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  }
});

test("a record's life goes from its sending to its loss", () => {
  const scenario = shipped("acks-1-gap");
  const violation = firstOf(scenario, "42", "acked-record-lost");
  const offset = violation.offsets?.[0] ?? -1;
  const { simulation, recording } = recordUntil(scenario, Number.MAX_SAFE_INTEGER, { seed: "42" });
  const names = new Map(
    simulation.cluster.table.clients.map(({ name, address }) => [address, name]),
  );

  const [first, second] = livesOf(recording.facts, "orders-0", offset, names);

  const verbs = first?.events.map(({ verb }) => verb);
  expect(verbs?.slice(0, 3)).toEqual(["sent", "appended", "acked"]);
  expect(verbs).toContain("LOST");
  expect(verbs?.at(-1)).toBe("cut off");
  expect(first?.holders).toEqual([]);
  expect(second?.epoch).toBeGreaterThan(first?.epoch ?? 0);
  expect(second?.holders).toEqual([1, 2, 3]);
});
