import { expect, test } from "vitest";
import { MARKERS_FOLLOW_DECISION } from "../../../src/checkers/markers-follow-decision.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

const BOTH = { partitions: ["orders-0", "orders-1"] };

/** A transaction of two partitions is open. */
function open(version = 2): TransactionFacts {
  const history = new TransactionFacts(MARKERS_FOLLOW_DECISION, { version });
  history.state("Empty").state("Ongoing", BOTH);
  history.write([0, 1]);
  history.write([2, 3], { partition: "orders-1" });
  return history;
}

test("a marker that says otherwise than what was decided is found", () => {
  const history = open();
  history.state("PrepareCommit", { ...BOTH, producerEpoch: 1 });

  history.mark("COMMIT");
  history.mark("ABORT", { partition: "orders-1" });

  expect(history.violations()).toMatchObject([
    {
      kind: "marker-without-decision",
      partition: "orders-1",
      offsets: [0, 2],
      text: [
        "The marker at offset 2 aborts what producer 7 wrote from offset 0 on; no coordinator has decided that, under epoch 1.",
      ],
      permitted: undefined,
    },
  ]);
});

test("a marker that is written before anything is decided is found", () => {
  const history = open();

  history.mark("COMMIT");

  expect(history.violations()).toMatchObject([{ kind: "marker-without-decision" }]);
});

test("a transaction that is called complete while a partition has no marker is found", () => {
  const history = open();
  history.state("PrepareCommit", { ...BOTH, producerEpoch: 1 });
  history.mark("COMMIT");

  history.state("CompleteCommit", { producerEpoch: 1 });

  expect(history.violations()).toMatchObject([
    {
      kind: "marker-missing",
      partition: "orders-1",
      text: [
        "The transaction of app (producer 7) is complete, but no marker follows what it wrote at offset 0.",
      ],
    },
  ]);
});

test("a late marker that ends the next transaction is permitted below version 2, where both have one epoch", () => {
  const history = open(1);
  history.state("PrepareCommit", BOTH);
  history.mark("COMMIT", { producerEpoch: 0 });
  history.mark("COMMIT", { producerEpoch: 0, partition: "orders-1" });
  history.state("CompleteCommit").state("Ongoing");
  history.write([4, 5]);

  history.mark("COMMIT", { producerEpoch: 0 });

  expect(history.violations()).toMatchObject([
    { kind: "marker-of-another", permitted: expect.stringContaining("transaction.version is 1") },
  ]);
});

test("markers as decided are as they should be, also by a coordinator that has just read the decision, and twice", () => {
  const history = open();
  history.record("PrepareAbort", { ...BOTH, producerEpoch: 1 });
  history.told("PrepareAbort", "", { ...BOTH, producerEpoch: 1 });
  for (const partition of BOTH.partitions) history.mark("ABORT", { partition });
  history.mark("ABORT");

  history.state("CompleteAbort", { producerEpoch: 1 });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held" });
});

test("an administrator may have aborted what hangs, and nothing else", () => {
  const history = open();
  const hanging = {
    kind: "hanging-transaction-found",
    client: "admin",
    producerId: 7,
    producerEpoch: 0,
    firstOffset: 0,
  } as const;
  history.note({ ...hanging, partition: "orders-0" });
  history.note({ ...hanging, partition: "orders-1", firstOffset: 1 });

  history.mark("ABORT", { producerEpoch: 0 });
  expect(history.violations()).toEqual([]);
  history.mark("ABORT", { producerEpoch: 0, partition: "orders-1" });
  expect(history.violations()).toMatchObject([
    { kind: "marker-of-another", partition: "orders-1", permitted: undefined },
  ]);
});

test("nor is anything wrong if others, decided otherwise, have ended under the same epoch", () => {
  const history = open(1);
  history.state("PrepareCommit", BOTH);
  for (const partition of BOTH.partitions) {
    history.mark("COMMIT", { producerEpoch: 0, partition });
  }
  history.state("CompleteCommit").state("Ongoing");
  history.write([4, 5]);
  history.record("PrepareAbort", { isSilent: true });
  history.told("PrepareAbort", "");

  history.mark("ABORT", { producerEpoch: 0 });

  expect(history.violations()).toEqual([]);
});
