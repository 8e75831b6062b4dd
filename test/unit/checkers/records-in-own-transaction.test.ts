import { expect, test } from "vitest";
import { RECORDS_IN_OWN_TRANSACTION } from "../../../src/checkers/records-in-own-transaction.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

test("records that arrive when their transaction is over are found: they begin one that nobody will end", () => {
  const history = new TransactionFacts(RECORDS_IN_OWN_TRANSACTION);
  history.state("Empty").state("Ongoing").state("PrepareAbort", { producerEpoch: 1 });
  history.mark("ABORT");
  history.state("CompleteAbort", { producerEpoch: 1 });

  history.write([0, 1]);

  expect(history.violations()).toMatchObject([
    {
      kind: "record-outside-transaction",
      offsets: [1, 2],
      text: [
        "The leader has taken offsets 1..2 of producer 7 epoch 0, which begin a transaction there; its coordinator says: CompleteAbort, epoch 1.",
      ],
      permitted: undefined,
    },
  ]);
});

test("they are permitted where leaders do not ask the coordinator", () => {
  const history = new TransactionFacts(RECORDS_IN_OWN_TRANSACTION, { isVerified: false });
  history.state("Empty");

  history.write([0, 1]);

  expect(history.violations()).toMatchObject([
    { permitted: expect.stringContaining("transaction.partition.verification.enable is false") },
  ]);
});

test("records in a partition that is not part of the transaction are found", () => {
  const history = new TransactionFacts(RECORDS_IN_OWN_TRANSACTION);
  history.state("Empty").state("Ongoing");

  history.write([0, 1], { partition: "orders-1" });

  expect(history.violations()).toMatchObject([
    { kind: "record-outside-transaction", partition: "orders-1" },
  ]);
});

test("a coordinator that has not heard of its successor lets in what it knows of itself", () => {
  const history = new TransactionFacts(RECORDS_IN_OWN_TRANSACTION);
  history.state("Empty").state("Ongoing", { partitions: ["orders-0"] });
  const both = { partitions: ["orders-0", "orders-1"] };
  history.told("Ongoing", "", { ...both, broker: 1 });
  history.told("Ongoing", "", { partitions: ["orders-0"], broker: 2 });

  history.write([0, 1], { partition: "orders-1" });

  expect(history.violations()).toEqual([]);
});

test("records of two transactions that one marker ends are found", () => {
  const history = new TransactionFacts(RECORDS_IN_OWN_TRANSACTION);
  history.state("Empty").begin("p1", 0).send("p1", [0, 1]).state("Ongoing");
  history.write([0, 1]);
  history.ended("p1", 0, "aborted").begin("p1", 1).send("p1", [2, 3]);
  history.write([2, 3]);

  history.mark("COMMIT");

  expect(history.violations()).toMatchObject([
    {
      kind: "record-of-another",
      text: [
        "The marker at offset 4 commits what p1 sent in its transactions 0 and 1, at offsets 2..3.",
      ],
    },
  ]);
});

test("records under another epoch than their transaction's are found", () => {
  const history = new TransactionFacts(RECORDS_IN_OWN_TRANSACTION);
  history.state("Empty").begin("p1", 0).send("p1", [0, 1]).state("Ongoing", { producerEpoch: 1 });

  history.write([0, 1], { producerEpoch: 1 });

  expect(history.violations()).toMatchObject([
    {
      kind: "record-of-another",
      text: [
        "Offsets 0..1 of p1 were written by producer 7 epoch 1; their transaction 0 had producer 7 epoch 0.",
      ],
    },
  ]);
});

test("records that were asked for before the end was decided, and come before the marker, are as they should be", () => {
  const history = new TransactionFacts(RECORDS_IN_OWN_TRANSACTION);
  history.state("Empty").begin("p1", 0).send("p1", [0, 1]).state("Ongoing");
  history.state("PrepareAbort", { producerEpoch: 2 });

  history.write([0, 1]);
  history.mark("ABORT", { producerEpoch: 2 });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});
