import { expect, test } from "vitest";
import { NO_ABORTED_READ } from "../../../src/checkers/no-aborted-read.ts";
import { controlKey, encodeEndTransaction } from "../../../src/kafka/log/control-record.ts";
import type { RecordBatch } from "../../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import { History } from "../../support/fact-builders.ts";
import { TransactionFacts } from "../../support/transaction-facts.ts";

const PARTITION = "orders-0";

/** Producer 7's and others' batches, as leaders append them. */
class Transactions extends History {
  constructor(isolation = "read_committed") {
    super({ guarantees: [NO_ABORTED_READ], isolation });
  }

  data(producerId: number, baseOffset: number, partitionLeaderEpoch = 0): RecordBatch {
    const producer = { producerId, producerEpoch: 0, baseSequence: 0, isTransactional: true };
    const records = [{ timestamp: 1 }, { timestamp: 1 }];
    return this.#appended(buildBatch(records, { ...producer, baseOffset, partitionLeaderEpoch }));
  }

  marker(producerId: number, baseOffset: number, type: "ABORT" | "COMMIT"): RecordBatch {
    const record = { timestamp: 1, key: controlKey(type), value: encodeEndTransaction(0) };
    const flags = { isTransactional: true, isControl: true, producerEpoch: 1 };
    return this.#appended(buildBatch([record], { ...flags, producerId, baseOffset }));
  }

  read(...batches: readonly RecordBatch[]): this {
    const firstOffset = batches[0]?.baseOffset ?? 0;
    const lastOffset = batches.at(-1)?.lastOffset ?? 0;
    const where = { client: "c1", partition: PARTITION, firstOffset, lastOffset };
    return this.note({ kind: "polled", ...where, batches });
  }

  #appended(batch: RecordBatch): RecordBatch {
    this.note({ kind: "appended", broker: 1, partition: PARTITION, batch, asLeader: true });
    return batch;
  }
}

test("records of a transaction that was aborted, given to a reader of committed ones, are found", () => {
  const history = new Transactions();
  const batch = history.data(7, 0);
  history.marker(7, 2, "ABORT");

  history.read(batch);

  expect(history.violations()).toMatchObject([
    {
      kind: "aborted-record-read",
      offsets: [0, 1],
      text: ["c1 was given offsets 0..1 of a transaction of producer 7, which was aborted."],
    },
  ]);
});

test("records of a transaction that is open are found, too", () => {
  const history = new Transactions();
  const batch = history.data(7, 0);
  history.marker(8, 2, "COMMIT");

  history.read(batch);

  expect(history.violations()).toMatchObject([{ kind: "undecided-record-read" }]);
});

test("those of one that was committed are as they should be, whatever the next one comes to", () => {
  const history = new Transactions();
  const committed = history.data(7, 0);
  history.marker(7, 2, "COMMIT");
  history.data(7, 3);
  history.marker(7, 5, "ABORT");

  history.read(committed);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("what another leader has written at the offset since is another matter", () => {
  const history = new Transactions();
  history.data(7, 0, 0);
  history.marker(7, 2, "ABORT");
  const kept = history.data(8, 0, 1);
  history.marker(8, 2, "COMMIT");

  history.read(kept);

  expect(history.violations()).toEqual([]);
});

test("a reader of all records may be given any", () => {
  const history = new Transactions("read_uncommitted");
  const batch = history.data(7, 0);
  history.marker(7, 2, "ABORT");

  history.read(batch);

  expect(history.violations()).toEqual([]);
});

test("the second of two aborted transactions that a leader once copied in one fetch may be passed over", () => {
  const history = new TransactionFacts(NO_ABORTED_READ);
  const first = [history.write([0, 1]), history.mark("ABORT")];
  const second = [
    history.write([2, 3], { producerEpoch: 1 }),
    history.mark("ABORT", { producerEpoch: 2 }),
  ];

  history.copyAndLead(2, [...first, ...second]).read(...second);

  expect(history.violations()).toMatchObject([
    {
      kind: "aborted-record-read",
      permitted: expect.stringMatching(
        /^broker-2 had copied two aborted transactions of producer 7/,
      ),
    },
  ]);
});

test("the first of them may not, nor one that was copied alone", () => {
  const history = new TransactionFacts(NO_ABORTED_READ);
  const first = [history.write([0, 1]), history.mark("ABORT")];
  const second = [
    history.write([2, 3], { producerEpoch: 1 }),
    history.mark("ABORT", { producerEpoch: 2 }),
  ];
  history.copyAndLead(2, first).copyAndLead(2, second);

  history.read(...first).read(...second);

  expect(history.violations()).toMatchObject([{ permitted: undefined }, { permitted: undefined }]);
});
