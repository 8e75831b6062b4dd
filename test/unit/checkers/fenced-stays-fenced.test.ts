import { expect, test } from "vitest";
import { FENCED_STAYS_FENCED } from "../../../src/checkers/fenced-stays-fenced.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

test("records of an epoch before InitProducerId are found, when they are committed", () => {
  const history = new TransactionFacts(FENCED_STAYS_FENCED);
  history.state("Empty").state("Empty", { producerEpoch: 1 });

  history.write([0, 1]);

  expect(history.violations()).toMatchObject([
    {
      kind: "fenced-producer-wrote",
      offsets: [0, 1],
      text: [
        expect.stringMatching(
          /^The leader has taken offsets 0\.\.1 of producer 7 epoch 0 at .*; app has had epoch 1 since/,
        ),
      ],
      permitted: undefined,
    },
  ]);
});

test("records of a producer id that was given up are found", () => {
  const history = new TransactionFacts(FENCED_STAYS_FENCED);
  history.state("Empty", { producerEpoch: 5 }).state("Empty", { producerId: 8 });

  history.write([0, 1], { producerEpoch: 5 });

  expect(history.violations()).toMatchObject([{ kind: "fenced-producer-wrote" }]);
});

test("they are permitted where leaders do not ask the coordinator", () => {
  const history = new TransactionFacts(FENCED_STAYS_FENCED, { isVerified: false });
  history.state("Empty").state("Empty", { producerEpoch: 1 });

  history.write([0, 1]);

  expect(history.violations()).toMatchObject([
    { permitted: expect.stringContaining("transaction.partition.verification.enable is false") },
  ]);
});

test("records of the epoch that was given last are as they should be", () => {
  const history = new TransactionFacts(FENCED_STAYS_FENCED);
  history.state("Empty");
  history.write([0, 1]);
  history.state("Empty", { producerEpoch: 1 });

  history.write([2, 3], { producerEpoch: 1 });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});
