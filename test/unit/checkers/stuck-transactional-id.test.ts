import { expect, test } from "vitest";
import { SECOND } from "../../../src/base/time.ts";
import type { Guarantee } from "../../../src/checkers/guarantee.ts";
import { SENDS_END } from "../../../src/checkers/sends-end.ts";
import { WORK_GOES_ON } from "../../../src/checkers/work-goes-on.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

/** p1 has sent something in a transaction when the last fault ends, and it has no end five minutes later. */
function waiting(
  guarantee: Guarantee,
  happened: (history: TransactionFacts) => void,
): TransactionFacts {
  const history = new TransactionFacts(guarantee);
  for (const node of ["broker-1", "p1", "c1"]) {
    history.note({ kind: "node-started", node, incarnation: 0 });
  }
  history.state("Empty").begin("p1", 0).send("p1", [0, 1]).state("Ongoing");
  happened(history);
  history.note({ kind: "fault-begun", fault: -1, verb: "settle", text: "faults end", name: "" });
  history.now += 300 * SECOND;
  return history;
}

test("a send without an end is found", () => {
  const history = waiting(SENDS_END, () => undefined);

  expect(history.violations()).toMatchObject([
    { kind: "send-unanswered", client: "p1", permitted: undefined },
  ]);
});

test("it is permitted once a coordinator has carried out an end that it had read, and that was lost with it", () => {
  const history = waiting(SENDS_END, (facts) => {
    facts
      .record("PrepareAbort", { producerEpoch: 2 })
      .told("PrepareAbort", "", { producerEpoch: 2 });
    facts.lose();
  });

  expect(history.violations()).toMatchObject([
    {
      permitted: expect.stringMatching(
        /^broker-1 read at .* that a transaction of app is to be aborted/,
      ),
    },
  ]);
});

test("a reader of committed records is not stuck before what was aborted, nor before what is open", () => {
  const history = waiting(WORK_GOES_ON, (facts) => {
    const client = "c1";
    const partition = "orders-0";
    facts.note({ kind: "position-reset", client, partition, from: -1, to: 0, reason: "initial" });
    facts.write([0, 1]);
    facts.mark("ABORT");
    facts.write([2, 3], { producerId: 8 });
    facts.acked("p1", [0, 1], 0);
  });

  expect(history.violations()).toEqual([]);
});
