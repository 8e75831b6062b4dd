import { expect, test } from "vitest";
import { NO_ACKED_LOSS } from "../../../src/checkers/no-acked-loss.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

interface More {
  readonly version: number;
  /** What p1 was told of its first record, and of the transaction in which it is. */
  readonly isGivenUp: boolean;
  readonly outcome: "aborted" | "committed";
  /** Of its next transaction. */
  readonly producerEpoch: number;
}

const REUSED: More = { version: 1, isGivenUp: true, outcome: "aborted", producerEpoch: 0 };

/** p1 is told that the record of its next transaction stands where that of its first does. */
function permitted({ version, isGivenUp, outcome, producerEpoch }: More): string | undefined {
  const history = new TransactionFacts(NO_ACKED_LOSS, { version });
  history.begin("p1", 0).send("p1", [0]).write([0]);
  if (isGivenUp) {
    history.note({
      kind: "send-ended",
      client: "p1",
      partition: "orders-0",
      outcome: "unknown",
      values: [0],
      baseOffset: -1,
      acks: -1,
      error: "NOT_LEADER_OR_FOLLOWER",
      attempts: 1,
    });
  } else history.acked("p1", [0], 0);
  history.ended("p1", 0, outcome).mark("ABORT", { producerEpoch: 0 });
  history.begin("p1", 1, { producerEpoch }).send("p1", [1]);

  history.acked("p1", [1], 0);

  const found = history.violations();
  expect(found).toMatchObject([{ kind: "acked-record-lost", offsets: [0, 0] }]);
  return found[0]?.permitted;
}

test("a record that is taken for one that was given up is permitted to be lost, below transaction.version 2", () => {
  expect(permitted(REUSED)).toBe(
    "p1 had given up record 0 while it committed, and used its sequence again in the same epoch (transaction.version is 1)",
  );
});

test("with transaction.version 2, in another epoch, or without having given anything up it is not", () => {
  expect(permitted({ ...REUSED, version: 2 })).toBeUndefined();
  expect(permitted({ ...REUSED, producerEpoch: 1 })).toBeUndefined();
  expect(permitted({ ...REUSED, isGivenUp: false })).toBeUndefined();
  expect(permitted({ ...REUSED, outcome: "committed" })).toBeUndefined();
});
