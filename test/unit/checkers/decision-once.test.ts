import { expect, test } from "vitest";
import { DECISION_ONCE } from "../../../src/checkers/decision-once.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

test("a transaction that is committed and then aborted after all is found", () => {
  const history = new TransactionFacts(DECISION_ONCE);
  history.state("Empty").state("Ongoing").state("PrepareCommit", { producerEpoch: 1 });

  history.state("PrepareAbort", { producerEpoch: 1 });

  expect(history.violations()).toMatchObject([
    {
      kind: "decision-changed",
      text: [
        "Transactional id app (producer 7) was PrepareCommit under epoch 1, and is PrepareAbort under epoch 1 now.",
      ],
    },
  ]);
});

test("an end that nobody has decided is found, and an epoch that comes back", () => {
  const history = new TransactionFacts(DECISION_ONCE);
  history.state("Empty", { producerEpoch: 3 }).state("CompleteCommit", { producerEpoch: 3 });

  history.state("Ongoing", { producerEpoch: 2 });

  const kinds = history.violations().map(({ kind }) => kind);
  expect(kinds).toEqual(["illegal-transition", "epoch-taken-back"]);
});

test("one transaction after the other, and the end of an id that nobody uses, are as they should be", () => {
  const history = new TransactionFacts(DECISION_ONCE);
  history
    .state("Empty")
    .state("Ongoing")
    .state("Ongoing", { partitions: ["orders-0", "orders-1"] });
  history.state("PrepareCommit", { producerEpoch: 1 });
  history.state("CompleteCommit", { producerEpoch: 1 });
  history.state("Ongoing", { producerEpoch: 1 }).state("PrepareAbort", { producerEpoch: 2 });
  history
    .state("CompleteAbort", { producerEpoch: 2 })
    .state("Dead")
    .state("Empty", { producerId: 8 });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 2 });
});
