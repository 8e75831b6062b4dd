import { expect, test } from "vitest";
import { ACKS_IN_ORDER } from "../../../src/checkers/acks-in-order.ts";
import { History } from "../../support/fact-builders.ts";

/** Records 5 and 6 are written, then all of them again, by another epoch; at last the first copy is read. */
function againInOrder(baseSequence: number): History {
  const history = new History({ guarantees: [ACKS_IN_ORDER] });
  const first = history.commit([5, 6], { baseSequence });
  history.failedAttempt();
  history.commit([0, 1, 5, 6], { producerEpoch: 1, baseSequence: 0 });
  return history.ack([0, 1, 5, 6], 2).poll([first]);
}

test("who reads the first copy of what had to be written again sees it before what was sent before it", () => {
  const history = againInOrder(5);

  expect(history.violations()).toMatchObject([
    {
      kind: "acks-out-of-order",
      count: 2,
      permitted: "p1 had gone on with a new producer epoch, 1 to 0",
    },
  ]);
});

test("but nothing permits it if nothing made the producer write again", () => {
  const history = againInOrder(0);

  expect(history.violations()).toMatchObject([{ kind: "acks-out-of-order", permitted: undefined }]);
});
