import { expect, test } from "vitest";
import { LAST_STABLE_OFFSET } from "../../../src/checkers/last-stable-offset.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

class Stable extends TransactionFacts {
  constructor() {
    super(LAST_STABLE_OFFSET);
  }

  stable(lastStableOffset: number): this {
    return this.note({
      kind: "last-stable-offset-moved",
      broker: 1,
      partition: "orders-0",
      lastStableOffset,
      leaderEpoch: 0,
    });
  }
}

test("a last stable offset within an open transaction is found", () => {
  const history = new Stable();
  history.write([0, 1]);

  history.stable(1);

  expect(history.violations()).toMatchObject([
    {
      kind: "last-stable-offset-wrong",
      text: [
        "broker-1's last stable offset is 1; the first transaction that is open in its log begins at 0, and its high watermark is 2.",
      ],
    },
  ]);
});

test("one that lags behind the high watermark for no transaction is found, as is one that goes back", () => {
  const history = new Stable();
  history.write([0, 1]);
  history.mark("COMMIT");
  history.stable(3);

  history.stable(2);

  const kinds = history.violations().map(({ kind }) => kind);
  expect(kinds).toEqual(["last-stable-offset-wrong", "last-stable-offset-went-back"]);
});

test("one that waits for the first of two transactions, and then goes on, is as it should be", () => {
  const history = new Stable();
  history.write([0, 1]);
  history.write([2, 3], { producerId: 8 });
  history.stable(0);
  history.mark("COMMIT");
  history.stable(2);
  history.mark("ABORT", { producerId: 8 });
  history.stable(6);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 2 });
});
