import { expect, test } from "vitest";
import { COORDINATOR_KNOWS_LOG } from "../../../src/checkers/coordinator-knows-log.ts";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { STATES, TransactionFacts } from "../../support/transaction-facts.ts";

test("a coordinator that loads something else than what its log says last is found", () => {
  const history = new TransactionFacts(COORDINATOR_KNOWS_LOG);
  history.state("Empty").state("Ongoing").record("PrepareCommit", { producerEpoch: 1 });

  history.loaded();
  history.event--;
  history.told("Ongoing", "");

  expect(history.violations()).toMatchObject([
    {
      kind: "state-not-in-log",
      partition: STATES,
      text: [
        "broker-1 takes transactional id app (producer 7 epoch 0, in orders-0) for Ongoing; the last record of it in its log says PrepareCommit (producer 7 epoch 1, in orders-0).",
      ],
    },
  ]);
});

test("one that has not read a transactional id is found", () => {
  const history = new TransactionFacts(COORDINATOR_KNOWS_LOG);
  history.state("Empty").state("Empty", { transactionalId: "other", producerId: 8 });
  history.state("Dead", { transactionalId: "gone" });

  history.loaded();
  history.event--;
  history.told("Empty", "");

  expect(history.violations()).toMatchObject([
    {
      kind: "state-not-loaded",
      text: [
        `broker-1 has loaded ${STATES}, and knows nothing of transactional id other, which is Empty there.`,
      ],
    },
  ]);
});

test("one that tells of a change which it has not written is found", () => {
  const history = new TransactionFacts(COORDINATOR_KNOWS_LOG);
  history.state("Empty").state("Ongoing");

  history.told("PrepareCommit", "Ongoing", { producerEpoch: 1 });

  expect(history.violations()).toMatchObject([{ kind: "state-not-in-log" }]);
});

test("one that reads what is not committed yet goes by its log, as it should", () => {
  const history = new TransactionFacts(COORDINATOR_KNOWS_LOG);
  history.state("Empty").record("Ongoing");

  history.loaded();
  history.event--;
  history.told("Ongoing", "");

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("what a replica has copied behind a record of its own is in its log, too", () => {
  const history = new TransactionFacts(COORDINATOR_KNOWS_LOG);
  const other = new TransactionFacts(COORDINATOR_KNOWS_LOG).record("Ongoing");
  const append = (batch: RecordBatch | undefined, asLeader: boolean): void => {
    if (batch === undefined) throw new Error("nothing was written");
    history.note({ kind: "appended", broker: 2, partition: STATES, batch, asLeader });
  };
  history.record("Empty");
  append(other.batches[0], true);
  history.record("Ongoing", { producerEpoch: 1 });
  append(history.batches[1], false);

  history.note({ kind: "coordinator-loaded", broker: 2, partition: STATES, leaderEpoch: 1 });
  history.event--;
  history.told("Ongoing", "", { producerEpoch: 1, broker: 2 });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held" });
});
