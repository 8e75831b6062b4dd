import { expect, test } from "vitest";
import { TOLD_AS_DECIDED } from "../../../src/checkers/told-as-decided.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

/** p1 has sent two records in its transaction 0, and they are written. */
function sent(version = 2): TransactionFacts {
  const history = new TransactionFacts(TOLD_AS_DECIDED, { version });
  history.state("Empty").begin("p1", 0).send("p1", [0, 1]).state("Ongoing");
  history.write([0, 1]);
  return history;
}

test("a commit that is told and was never decided is found", () => {
  const history = sent();

  history.ended("p1", 0, "committed");

  expect(history.violations()).toMatchObject([
    {
      kind: "told-otherwise",
      client: "p1",
      text: ["p1 was told that its transaction 0 is committed; nobody has decided that."],
    },
  ]);
});

test("a commit that is told of what is decided to be aborted is found, and the records, too", () => {
  const history = sent();
  history.state("PrepareAbort", { producerEpoch: 1 }).ended("p1", 0, "committed");

  history.mark("ABORT");

  expect(history.violations()).toMatchObject([
    { text: ["p1 was told that its transaction 0 is committed; it was decided to abort it."] },
    {
      kind: "ended-otherwise",
      offsets: [0, 1],
      text: [
        "What p1 sent in its transaction 0, which is committed as it was told, was aborted at offsets 0..1.",
      ],
    },
  ]);
});

test("an abort that is told before it is decided to commit is found", () => {
  const history = sent();
  history.ended("p1", 0, "aborted");

  history.state("PrepareCommit", { producerEpoch: 1 });

  expect(history.violations()).toMatchObject([
    { text: ["p1 was told that its transaction 0 is aborted; it was decided to commit it."] },
  ]);
});

test("of a transaction whose end nobody was told, all records end alike", () => {
  const history = sent();
  history.write([2, 3], { partition: "orders-1" });
  history.send("p1", [2, 3]).ended("p1", 0, "unknown");
  history.mark("COMMIT");

  history.mark("ABORT", { partition: "orders-1" });

  const texts = history.violations().map(({ text }) => text);
  expect(texts).toEqual([
    [
      "What p1 sent in its transaction 0, of which others were committed, was aborted at offsets 0..1.",
    ],
  ]);
});

test("what is told as it was decided is as it should be", () => {
  const history = sent();
  history.state("PrepareCommit", { producerEpoch: 1 }).ended("p1", 0, "committed");
  history.mark("COMMIT");
  history.begin("p1", 1, { producerEpoch: 1 }).send("p1", [2]).ended("p1", 1, "aborted");

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 2 });
});

test("an end that a coordinator had read from its log, and that was lost with it, may have been carried out", () => {
  const history = sent();
  history
    .record("PrepareAbort", { producerEpoch: 2 })
    .told("PrepareAbort", "", { producerEpoch: 2 });
  history.mark("ABORT", { producerEpoch: 2 });
  history.lose();

  history.state("PrepareCommit", { producerEpoch: 1 }).ended("p1", 0, "committed");

  expect(history.violations()).toMatchObject([
    {
      kind: "ended-otherwise",
      permitted: expect.stringMatching(
        /^broker-1 read at .* that a transaction of app is to be aborted, from a record that was lost before it was committed$/,
      ),
    },
  ]);
});
