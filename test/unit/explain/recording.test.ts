import fc from "fast-check";
import { expect, test } from "vitest";
import { Recording } from "../../../src/explain/recording.ts";
import { EventCauses } from "../../../src/sim/event-causes.ts";
import type { Fact } from "../../../src/trace/fact.ts";

/** A run of a few events, of which some note facts: which event scheduled each, and what they noted. */
interface Script {
  readonly scheduledBy: readonly number[];
  readonly notes: readonly (readonly string[])[];
}

const nodes = fc.constantFrom("broker-1", "broker-2", "broker-3");
const scripts: fc.Arbitrary<Script> = fc.integer({ min: 1, max: 30 }).chain((events) =>
  fc.record({
    scheduledBy: fc.tuple(...Array.from({ length: events }, (_, at) => fc.nat({ max: at }))),
    notes: fc.array(fc.array(nodes, { maxLength: 3 }), { minLength: events, maxLength: events }),
  }),
);

function record({ scheduledBy, notes }: Script): Recording {
  const causes = new EventCauses();
  const recording = new Recording(causes);
  for (const [at, during] of scheduledBy.entries()) {
    causes.scheduled(at, during);
    causes.happened(at + 1, at);
    for (const node of notes[at] ?? []) recording.note(paused(node), at, at + 1);
  }
  return recording;
}

function paused(node: string): Fact {
  return { kind: "node-paused", node };
}

test("the cause of a fact is the one before it in its event, else the last of the nearest event that led to it", () => {
  fc.assert(
    fc.property(scripts, (script) => {
      const { facts } = record(script);
      for (const { index, event, cause } of facts) {
        const before = facts[index - 1];
        let expected = before?.event === event ? before.index : -1;
        for (let at = event; at > 0 && expected < 0; ) {
          at = script.scheduledBy[at - 1] ?? 0;
          // Not yet noted is not there: events are numbered as they happen, so all earlier ones are.
          expected = facts.filter((one) => one.event === at && at > 0).at(-1)?.index ?? -1;
        }
        expect(cause).toBe(expected);
      }
    }),
    { seed: 42, numRuns: 300 },
  );
});

test("a fact knows who last wrote the state that it read", () => {
  const recording = record({
    scheduledBy: [0, 0, 0],
    notes: [["broker-1"], ["broker-2"], ["broker-1"]],
  });

  expect(recording.facts.map(({ read }) => read)).toEqual([[], [], [0]]);
});

test("a slice holds everything from which its facts can be reached, and nothing else", () => {
  fc.assert(
    fc.property(scripts, fc.nat(), (script, pick) => {
      const recording = record(script);
      const { facts } = recording;
      if (facts.length === 0) return;
      const from = pick % facts.length;
      const reaches = new Set([from]);
      for (let index = from; index >= 0; index--) {
        if (!reaches.has(index)) continue;
        const recorded = facts[index];
        for (const earlier of [recorded?.cause ?? -1, ...(recorded?.read ?? [])]) {
          if (earlier >= 0) reaches.add(earlier);
        }
      }
      expect([...recording.slice([from])].sort((a, b) => a - b)).toEqual(
        [...reaches].sort((a, b) => a - b),
      );
    }),
    { seed: 42, numRuns: 300 },
  );
});
