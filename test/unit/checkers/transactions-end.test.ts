import { expect, test } from "vitest";
import { SECOND } from "../../../src/base/time.ts";
import { TRANSACTIONS_END } from "../../../src/checkers/transactions-end.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

/** Something is open when the last fault ends. */
class Open extends TransactionFacts {
  constructor(isVerified = true) {
    super(TRANSACTIONS_END, { isVerified });
    this.note({ kind: "node-started", node: "broker-1", incarnation: 0 });
    this.note({ kind: "broker-registered", broker: 1, brokerEpoch: 1, cleanShutdown: true });
    this.note({ kind: "broker-unfenced", broker: 1, brokerEpoch: 1 });
    this.note({ kind: "fault-begun", fault: 0, verb: "crash", text: "crash p1", name: "" });
    this.state("Empty").state("Ongoing");
    this.write([0, 1]);
  }

  settle(seconds: number): this {
    this.note({ kind: "fault-begun", fault: -1, verb: "settle", text: "faults end", name: "" });
    this.now += seconds * SECOND;
    return this;
  }
}

test("an open transaction of which its coordinator knows nothing any more is found", () => {
  const history = new Open();
  history.state("PrepareAbort", { producerEpoch: 1 }).state("CompleteAbort", { producerEpoch: 1 });

  history.settle(60);

  expect(history.violations()).toMatchObject([
    {
      kind: "transaction-hangs",
      partition: "orders-0",
      offsets: [0, 1],
      text: [
        expect.stringMatching(
          /^Producer 7 has a transaction open from offset 0 on since .*: 2 records from there on are not read as committed; its coordinator says: CompleteAbort\.$/,
        ),
      ],
      permitted: undefined,
    },
  ]);
});

test("it is permitted where leaders do not ask the coordinator", () => {
  const history = new Open(false);
  history.state("PrepareAbort", { producerEpoch: 1 }).state("CompleteAbort", { producerEpoch: 1 });

  history.settle(60);

  expect(history.violations()).toMatchObject([
    { permitted: expect.stringContaining("transaction.partition.verification.enable is false") },
  ]);
});

test("one that its coordinator does not abort though its time is long over is found", () => {
  const history = new Open();

  history.settle(300);

  expect(history.violations()).toMatchObject([{ kind: "transaction-not-ended" }]);
});

test("one whose time is not over may be open", () => {
  const history = new Open();

  history.settle(60);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("one that has ended keeps nobody back", () => {
  const history = new Open();
  history.mark("ABORT");

  history.settle(300);

  expect(history.violations()).toEqual([]);
});
