import { expect, test } from "vitest";
import type { Violation } from "../../src/checkers/guarantee.ts";
import type { Explanation } from "../../src/explain/explain.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { engine } from "../support/engine.ts";
import { run, shipped } from "../support/run-scenario.ts";

const { explain, explanationLines, livesOf, recordUntil } = engine;

interface Found {
  readonly scenario: Scenario;
  readonly seed: string;
  readonly violation: Violation;
}

/** The first seed with such a violation, so that a change of what is drawn is no failure here. */
function find(scenario: Scenario, kind: string): Found {
  for (let seed = 1; seed <= 20; seed++) {
    const { violations } = run(scenario, seed);
    const violation = violations.find((one) => one.kind === kind && one.follows === undefined);
    if (violation !== undefined) return { scenario, seed: String(seed), violation };
  }
  throw new Error(`no ${kind} in 20 seeds`);
}

function explained({ scenario, seed, violation }: Found, tries = true): Explanation {
  return explain(scenario, violation, { seed, tries });
}

const LOSS = "acked-record-lost";
const GAP = find(shipped("acks-1-gap"), LOSS);

test("the loss of an unclean election is told: who was cut off, who acknowledged alone, who was elected", () => {
  const found = find(shipped("unclean-election"), LOSS);

  const { steps, needed, avoidedBy } = explained(found);

  const verbs = steps.map(({ verb }) => verb);
  expect(verbs.slice(0, 2)).toEqual(["fault", "isr"]);
  expect(verbs).toContain("ack");
  expect(steps.find(({ verb }) => verb === "ack")?.text).toMatch(/held by broker-\d alone$/);
  expect(steps.find(({ verb }) => verb === "elect")?.text).toMatch(/^UNCLEAN broker-\d, epoch/);
  expect(steps.length).toBeLessThanOrEqual(10);
  const names = needed?.map((at) => steps[at]?.note);
  expect(names).toEqual(["cut-off", "die"]);
  expect(avoidedBy).toEqual(["min.insync.replicas=2", "unclean.leader.election.enable=false"]);
});

test("a setting counts as safer only if the same faults strike at the same instants", () => {
  // The scenario's own trigger waits for an acknowledged record that no follower has.
  const { avoidedBy } = explained(GAP);

  expect(avoidedBy).toEqual(["acks=all"]);
});

test("the logs are drawn around the offsets that differ, with what was acknowledged and who leads", () => {
  const { drawing, violation } = explained(GAP, false);
  const [first] = violation.offsets ?? [];

  const at = drawing?.offsets.indexOf(first ?? -1) ?? -1;
  expect(at).toBeGreaterThan(0);
  // The old leader alone has the record, and is down; who leads now has not.
  const old = drawing?.replicas.find(({ isDown }) => isDown);
  expect(old?.cells[at]).toMatchObject({ isCut: false, isAcked: true });
  const leaders = drawing?.replicas.filter(({ isLeader }) => isLeader);
  expect(leaders).toHaveLength(1);
  expect(leaders?.[0]?.cells[at]?.isAcked).toBe(false);
  expect(leaders?.[0]?.cells[at - 1]).toEqual(old?.cells[at - 1]);
});

test("an explanation fits on 80 columns", () => {
  for (const name of ["unclean-election", "power-loss"]) {
    const lines = explanationLines(explained(find(shipped(name), LOSS), false));
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  }
});

test("a record's life goes from its sending to its loss", () => {
  const { scenario, seed, violation } = GAP;
  const offset = violation.offsets?.[0] ?? -1;
  const { simulation, recording } = recordUntil(scenario, Number.MAX_SAFE_INTEGER, { seed });
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
