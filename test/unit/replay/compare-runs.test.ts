import { describe, expect, test } from "vitest";
import type { Witness } from "../../../src/replay/compare-runs.ts";
import { compareRuns, tellDifference } from "../../../src/replay/compare-runs.ts";
import { eventsOf, fingerprintOf } from "../../../src/replay/fingerprint.ts";
import { BASE, baseWith } from "../../support/base-scenario.ts";
import { scenarioOf } from "../../support/scenario-text.ts";

function witness(text: string, seed: string): Witness & { readonly asked: number[][] } {
  const scenario = scenarioOf(text);
  const asked: number[][] = [];
  return {
    asked,
    fingerprint: fingerprintOf(scenario, seed),
    events: (from, to) => {
      asked.push([from, to]);
      return eventsOf(scenario, seed, from, to);
    },
  };
}

/** Longer than the distance of two checkpoints, so that there is something to search. */
const LONG = baseWith(["records: 100", "records: 2000"], ["settle: 5s", "settle: 30s"]);

test("a run repeated is the same run, and is not asked about its events", () => {
  const [one, other] = [witness(LONG, "3"), witness(LONG, "3")];

  expect(compareRuns(one, other)).toBeUndefined();
  expect(one.asked).toEqual([]);
});

test("two runs that part late are told apart by the first event that differs", () => {
  const [one, other] = [witness(LONG, "3"), witness(LONG.replace("2000", "2001"), "3")];
  const [left, right] = [one, other].map((run) => run.events(1, run.fingerprint.events));
  const first = 1 + (left ?? []).findIndex((text, i) => text !== right?.[i]);
  expect(first).toBeGreaterThan(4096);
  one.asked.length = 0;

  const difference = compareRuns(one, other);

  expect(difference).toEqual({
    event: first,
    one: left?.[first - 1],
    other: right?.[first - 1],
  });
  // Only what lies between the last checkpoint on which both agree and the next.
  const [from = 0, to = 0] = one.asked[0] ?? [];
  expect(from % 4096).toBe(1);
  expect(to - from).toBeLessThan(4096);
});

test("another seed differs from the first event that chance decides", () => {
  const difference = compareRuns(witness(BASE, "1"), witness(BASE, "2"));

  expect(difference).toMatchObject({ event: expect.any(Number) });
  if (difference === undefined) throw new Error("they are the same");
  expect(tellDifference(difference, NAMES)).toMatch(
    /^DIVERGED {2}at event \d+\n {2}one {4}.+\n {2}other {2}.+/,
  );
});

const NAMES = ["one", "other"] as const;

describe("what is said of", () => {
  const run = (events: readonly string[]): Witness => ({
    fingerprint: { digest: String(events), events: events.length, checkpoints: [] },
    events: (from, to) => events.slice(from - 1, to),
  });
  const told = (one: readonly string[], other: readonly string[]): string => {
    const difference = compareRuns(run(one), run(other));
    return difference === undefined ? "the same" : tellDifference(difference, NAMES);
  };

  test("another event", () => {
    expect(told(["a d1", "b d2"], ["a d1", "c d3"])).toBe(
      "DIVERGED  at event 2\n  one    b d2\n  other  c d3",
    );
  });

  test("an event more", () => {
    expect(told(["a d1"], ["a d1", "b d2"])).toBe(
      "DIVERGED  at event 2\n  one    (had ended)\n  other  b d2",
    );
  });

  test("the same event after something else had been done", () => {
    expect(told(["a d1", "b d2"], ["a d1", "b d3"])).toContain(
      "\n  the event is the same; what event 1 did is not",
    );
  });

  test("runs that agree when they are asked again", () => {
    const one = run(["a d1"]);
    const other = { ...one, fingerprint: { ...one.fingerprint, digest: "else" } };

    expect(compareRuns(one, other)).toBe("nowhere");
    expect(tellDifference("nowhere", NAMES)).toMatch(/^DIVERGED {2}/);
  });
});
