import fc from "fast-check";
import { expect, test } from "vitest";
import type { Violation } from "../../../src/checkers/guarantee.ts";
import type { Move } from "../../support/small-replication.ts";
import { SmallReplication } from "../../support/small-replication.ts";

const ORDINARY: readonly Move["what"][] = [
  "write",
  "write",
  "copy",
  "copy",
  "copy",
  "copy",
  "advance",
  "advance",
  "ack",
  "poll",
];
const FAULTS: readonly Move["what"][] = [
  "shrink",
  "grow",
  "grow",
  "fail-over",
  "zombie-write",
  "power-loss",
];

function moves(kinds: readonly Move["what"][]): fc.Arbitrary<Move[]> {
  const move = fc.record({
    what: fc.constantFrom(...kinds),
    broker: fc.integer({ min: 1, max: 3 }),
    size: fc.integer({ min: 1, max: 3 }),
  });
  return fc.array(move, { minLength: 50, maxLength: 300 });
}

function play(history: readonly Move[], uncleanLeaderElection: boolean): SmallReplication {
  const replication = new SmallReplication({ topic: { uncleanLeaderElection } });
  for (const move of history) replication.play(move);
  return replication;
}

test("replication within its rules breaks no guarantee, whatever fails", () => {
  let interesting = 0;
  fc.assert(
    fc.property(moves([...ORDINARY, ...FAULTS]), (history) => {
      const { history: facts } = play(history, false);

      expect(facts.violations()).toEqual([]);
      for (const summary of facts.checkers.summaries()) interesting += summary.interesting;
    }),
    { seed: 42, numRuns: 300 },
  );
  expect(interesting).toBeGreaterThan(5_000);
});

test("what unclean elections break is permitted, each by one of them", () => {
  const found: Violation[] = [];
  fc.assert(
    fc.property(moves([...ORDINARY, ...FAULTS, "unclean"]), (history) => {
      const violations = play(history, true).history.violations();

      found.push(...violations);
      for (const { permitted } of violations) {
        expect(permitted).toMatch(/^unclean election of broker-\d at /);
      }
    }),
    { seed: 42, numRuns: 300 },
  );
  expect(new Set(found.map(({ kind }) => kind))).toEqual(
    new Set([
      "acked-record-lost",
      "acked-record-passed",
      "acks-out-of-order",
      "committed-record-truncated",
      "consumed-record-lost",
      "record-changed",
    ]),
  );
});

test("the same elections are bugs where unclean.leader.election.enable is false", () => {
  const found: Violation[] = [];
  fc.assert(
    fc.property(moves([...ORDINARY, ...FAULTS, "unclean"]), (history) => {
      found.push(...play(history, false).history.violations());
    }),
    { seed: 42, numRuns: 100 },
  );

  expect(found.length).toBeGreaterThan(0);
  expect(found.every(({ permitted }) => permitted === undefined)).toBe(true);
});
