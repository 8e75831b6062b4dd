import { expect, test } from "vitest";
import { HOUR } from "../../../src/base/time.ts";
import { SEQUENCES_IN_ORDER } from "../../../src/checkers/sequences-in-order.ts";
import { History } from "../../support/fact-builders.ts";

function history(): History {
  return new History({ guarantees: [SEQUENCES_IN_ORDER] });
}

test("a sequence that is left out is found", () => {
  const facts = history();
  facts.commit([0, 1]);

  facts.commit([2], { baseSequence: 3 });

  expect(facts.violations()).toMatchObject([
    {
      kind: "sequence-out-of-order",
      client: "p1",
      offsets: [2, 2],
      text: [
        "p1's batch at offset 2 begins with sequence 3; the one before it of producer 1000 had epoch 0 and ended with 1.",
      ],
    },
  ]);
});

test("a sequence that comes twice is found, whatever the records say", () => {
  const facts = history();
  facts.commit([0, 1]);

  facts.commit([2, 3], { baseSequence: 0 });

  expect(facts.violations()).toMatchObject([{ kind: "sequence-out-of-order", count: 2 }]);
});

test("a new epoch that does not begin at 0 is found, as is one that comes back", () => {
  const facts = history();
  facts.commit([0, 1]);

  facts.commit([2], { producerEpoch: 1, baseSequence: 2 });
  facts.commit([3], { producerEpoch: 0, baseSequence: 2 });

  const kinds = facts.violations().map(({ kind }) => kind);
  expect(kinds).toEqual(["sequence-out-of-order", "epoch-fallen"]);
});

test("what was written before the expired batch is forgotten, is permitted to be followed by anything", () => {
  const facts = history();
  facts.commit([0, 1]);
  for (const broker of [1, 2, 3]) facts.moveStart(broker, 2, "delete-records");

  facts.commit([2], { baseSequence: 7 });

  expect(facts.violations()).toMatchObject([{ permitted: expect.stringContaining("expired") }]);
});

test("a producer that was forgotten may go on with anything", () => {
  const facts = history();
  facts.commit([0, 1]);
  facts.now += 24 * HOUR;

  facts.commit([2], { baseSequence: 7 });

  expect(facts.violations()).toMatchObject([
    { permitted: expect.stringContaining("producer.id.expiration.ms") },
  ]);
});

test("sequences that go on, wrap, or begin anew with an epoch are as they should be", () => {
  const facts = history();
  facts.commit([0, 1], { baseSequence: 0x7fff_fffe }).baseSequence;
  facts.commit([2], { baseSequence: 0 }).baseSequence;
  facts.commit([3], { producerEpoch: 1, baseSequence: 0 });

  expect(facts.violations()).toEqual([]);
  expect(facts.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 2 });
});

test("what an election has given up is not there to be gone on from", () => {
  const facts = history();
  facts.commit([0, 1]);
  facts.write([2, 3]);
  facts.stop(1).elect(2, { isr: [2, 3] });

  facts.commit([4], { baseSequence: 2 });

  expect(facts.violations()).toEqual([]);
});
