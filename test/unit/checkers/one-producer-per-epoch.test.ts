import { expect, test } from "vitest";
import { ONE_PRODUCER_PER_EPOCH } from "../../../src/checkers/one-producer-per-epoch.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

test("two applications with one producer id and epoch are found", () => {
  const history = new TransactionFacts(ONE_PRODUCER_PER_EPOCH);
  history.begin("p1", 0);

  history.begin("p2", 0);

  expect(history.violations()).toMatchObject([
    {
      kind: "epoch-held-twice",
      client: "p2",
      text: ["p2 begins a transaction as producer 7 epoch 0, as p1 did."],
    },
  ]);
});

test("an application that is started again with the epoch that it had is found", () => {
  const history = new TransactionFacts(ONE_PRODUCER_PER_EPOCH);
  history.begin("p1", 0).note({ kind: "node-started", node: "p1", incarnation: 1 });

  history.begin("p1", 0x100_0000);

  expect(history.violations()).toMatchObject([
    {
      text: [
        "p1 begins a transaction as producer 7 epoch 0, as it did before it was started again.",
      ],
    },
  ]);
});

test("one after the other, each with an epoch of its own, is as it should be", () => {
  const history = new TransactionFacts(ONE_PRODUCER_PER_EPOCH);
  history.begin("p1", 0).begin("p1", 1);

  history.begin("p2", 0, { producerEpoch: 1 });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});
