import { describe, expect, test } from "vitest";
import type { ProcessorSetup } from "../../../src/checkers/check-setup.ts";
import { PROCESSED_AS_PROMISED } from "../../../src/checkers/processed-as-promised.ts";
import { OFFSETS, TransactionFacts } from "../../support/transaction-facts.ts";

const LEDGER = { name: "ledger", isKeyUnique: false };

function processing(
  guarantee: ProcessorSetup["guarantee"],
  store?: ProcessorSetup["store"],
  version = 2,
): TransactionFacts {
  const processor = { guarantee, store };
  return new TransactionFacts(PROCESSED_AS_PROMISED, { version, processor }).inputs(3);
}

/** p1 works on the records from an offset on, in a transaction that ends so, and commits how far it came. */
function transaction(
  facts: TransactionFacts,
  number: number,
  [from, to]: readonly [number, number],
  end: "COMMIT" | "ABORT",
  offsets = to + 1,
): void {
  const identity = { producerEpoch: number };
  const values = Array.from({ length: to - from + 1 }, (_, i) => number * 10 + i);
  facts.begin("p1", number, identity).send("p1", values);
  for (const [i, value] of values.entries()) facts.derive(from + i, value);
  facts.write(values, identity);
  facts.progress(offsets, identity);
  facts.mark(end, identity);
  facts.mark(end, { ...identity, partition: OFFSETS });
  facts.ended("p1", number, end === "COMMIT" ? "committed" : "aborted");
}

describe("exactly once", () => {
  test("transactions whose inputs tile, and one that was aborted, are as promised", () => {
    const facts = processing("exactly-once");

    transaction(facts, 0, [0, 0], "COMMIT");
    transaction(facts, 1, [1, 2], "ABORT");
    transaction(facts, 2, [1, 2], "COMMIT");

    expect(facts.violations()).toEqual([]);
    expect(facts.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 2 });
  });

  test("an input of two committed transactions is found", () => {
    const facts = processing("exactly-once");

    transaction(facts, 0, [0, 1], "COMMIT", 1);
    transaction(facts, 1, [1, 2], "COMMIT");

    expect(facts.violations()).toMatchObject([
      { kind: "input-doubled", client: "p1", partition: "inputs-0", offsets: [1, 1] },
    ]);
    expect(facts.checkers.violations()[0]?.permitted).toBeUndefined();
  });

  test("an input that nobody has worked on is found, if the group has come past it", () => {
    const facts = processing("exactly-once");

    transaction(facts, 0, [0, 0], "COMMIT");
    transaction(facts, 1, [2, 2], "COMMIT");

    expect(facts.violations()).toMatchObject([
      { kind: "input-passed-over", offsets: [1, 1], permitted: undefined },
    ]);
  });

  test("an input of which only an aborted transaction knows is found, if the group has come past it", () => {
    const facts = processing("exactly-once");

    transaction(facts, 0, [0, 1], "ABORT");
    facts.progress(2);

    expect(facts.violations()).toMatchObject([
      { kind: "input-passed-over", offsets: [0, 1], count: 2, permitted: undefined },
    ]);
  });

  test("an output that is committed without its offset is found", () => {
    const facts = processing("exactly-once");

    transaction(facts, 0, [0, 2], "COMMIT", 2);

    expect(facts.violations()).toMatchObject([
      { kind: "input-ahead", offsets: [2, 2], permitted: undefined },
    ]);
  });

  test("below transaction.version 2 late requests are to blame", () => {
    const facts = processing("exactly-once", undefined, 1);

    transaction(facts, 0, [0, 2], "COMMIT", 2);

    expect(facts.violations()).toMatchObject([
      { permitted: expect.stringContaining("transaction.version is 1") },
    ]);
  });

  test("two rows are the store's matter if they have no key, and a bug if they have", () => {
    for (const [isKeyUnique, permitted] of [
      [false, "a transaction does not reach ledger, whose rows have no key"],
      [true, undefined],
    ] as const) {
      const facts = processing("exactly-once", { ...LEDGER, isKeyUnique });
      facts.row(0).row(0);
      transaction(facts, 0, [0, 2], "COMMIT");

      expect(facts.violations()).toMatchObject([{ kind: "row-doubled", permitted }]);
    }
  });
});

describe("at least once", () => {
  test("doing it again is as promised, and passing over is not", () => {
    const facts = processing("at-least-once");
    facts.derive(0, 0).derive(0, 1).write([0, 1]);
    facts.mark("COMMIT");
    facts.progress(2);

    expect(facts.violations()).toMatchObject([
      { kind: "input-passed-over", offsets: [1, 1], permitted: undefined },
    ]);
  });
});

describe("at most once", () => {
  test("passing over is as promised, and doing it again is not, be it a record or a row", () => {
    const facts = processing("at-most-once", LEDGER);
    facts.progress(3).derive(1, 0).derive(1, 1).write([0, 1]);
    facts.mark("COMMIT");
    facts.row(1).row(1);

    expect(facts.violations()).toMatchObject([
      { kind: "input-doubled", offsets: [1, 1], permitted: undefined },
      { kind: "row-doubled", offsets: [1, 1], permitted: undefined },
    ]);
  });

  test("a commit that came after a later one excuses it", () => {
    const facts = processing("at-most-once");
    facts.progress(3).progress(1).derive(1, 0).derive(1, 1).write([0, 1]);
    facts.mark("COMMIT");

    expect(facts.violations()).toMatchObject([
      { kind: "input-doubled", permitted: "a commit of group g came after a later one" },
    ]);
  });
});
