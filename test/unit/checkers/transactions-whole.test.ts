import { expect, test } from "vitest";
import { TRANSACTIONS_WHOLE } from "../../../src/checkers/transactions-whole.ts";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

/** p1's transaction 0 has two batches of two records, which are acknowledged. */
class Whole extends TransactionFacts {
  readonly first: RecordBatch;
  readonly second: RecordBatch;

  constructor(version = 2) {
    super(TRANSACTIONS_WHOLE, { version });
    this.begin("p1", 0).send("p1", [0, 1, 2, 3]);
    this.first = this.write([0, 1]);
    this.second = this.write([2, 3]);
    this.acked("p1", [0, 1], 0).acked("p1", [2, 3], 2);
  }

  /** What comes after it, and so is read after it. */
  next(): RecordBatch {
    this.begin("p1", 1).send("p1", [4]);
    const batch = this.write([4]);
    this.acked("p1", [4], 4).ended("p1", 1, "committed");
    return batch;
  }
}

test("a read of what was aborted is found", () => {
  const history = new Whole();
  history.ended("p1", 0, "aborted");

  history.read(history.first);

  expect(history.violations()).toMatchObject([
    {
      kind: "aborted-write-read",
      client: "p1",
      text: ["Transaction 0 of p1 was aborted, as p1 was told, and its record 0 was read."],
      permitted: undefined,
    },
  ]);
});

test("a transaction of which one batch is read, and another is read past, is torn", () => {
  const history = new Whole();
  history.ended("p1", 0, "unknown");

  history.read(history.first).read(history.next());

  expect(history.violations()).toMatchObject([
    {
      kind: "transaction-torn",
      text: [
        "Of transaction 0 of p1, the end of which it was not told, record 0 was read, and record 2, at offset 2, was read past.",
      ],
    },
  ]);
});

test("a committed transaction that is read past is found", () => {
  const history = new Whole();
  history.ended("p1", 0, "committed");
  history.note({
    kind: "position-reset",
    client: "c1",
    partition: "orders-0",
    from: -1,
    to: 0,
    reason: "initial",
  });

  history.read(history.next());

  expect(history.violations()).toMatchObject([
    {
      kind: "committed-write-passed",
      text: [
        "Transaction 0 of p1 was committed, as p1 was told; but nothing of it was read, and record 0, at offset 0, was read past.",
      ],
    },
  ]);
});

test("a record that is read while its application goes on sending is found", () => {
  const history = new Whole();
  history.read(history.first);

  history.send("p1", [4]);

  expect(history.violations()).toMatchObject([
    {
      kind: "read-before-commit",
      text: [
        "p1's record 0 was read before p1 had sent all of its transaction 0: record 4 comes later.",
      ],
    },
  ]);
});

test("below transaction.version 2 all that is permitted", () => {
  const history = new Whole(1);
  history.ended("p1", 0, "aborted").read(history.first);

  expect(history.violations()).toMatchObject([
    { permitted: expect.stringContaining("transaction.version is 1") },
  ]);
});

test("all of what was committed, and nothing of what was not, is as it should be", () => {
  const history = new Whole();
  history.ended("p1", 0, "committed").read(history.first, history.second).read(history.next());

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 2 });
});
