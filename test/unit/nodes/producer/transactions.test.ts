import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../src/base/time.ts";
import { BareProducer, TransactionBench } from "../../../support/transaction-bench.ts";

const BEGIN = ["FindCoordinator", "InitProducerId"];

describe("a transactional producer", () => {
  test("of version 2 produces at once, and takes its identity from each end", () => {
    const bench = new TransactionBench(2);
    bench.produce();

    bench.world.run(2 * SECOND);

    expect(bench.asked).toEqual([
      ...BEGIN,
      "Produce 1 at 0",
      "Produce 1 at 1",
      "EndTxn commit epoch 0 v5",
      "Produce 1 at 0",
      "Produce 1 at 1",
      "EndTxn commit epoch 1 v5",
    ]);
    expect(bench.ends()).toEqual(["committed", "committed"]);
    expect(bench.batches.map(({ isTransactional }) => isTransactional)).toEqual(
      Array(4).fill(true),
    );
    expect(bench.batches.map(({ producerEpoch }) => producerEpoch)).toEqual([0, 0, 1, 1]);
    expect(bench.world.factsOf("transaction-begun").map(({ transaction }) => transaction)).toEqual([
      0, 1,
    ]);
  });

  test("of version 1 adds the partition first, and goes on with its sequences", () => {
    const bench = new TransactionBench(1);
    bench.produce();

    bench.world.run(2 * SECOND);

    expect(bench.asked).toEqual([
      ...BEGIN,
      "AddPartitionsToTxn v3",
      "Produce 1 at 0",
      "Produce 1 at 1",
      "EndTxn commit epoch 0 v4",
      "AddPartitionsToTxn v3",
      "Produce 1 at 2",
      "Produce 1 at 3",
      "EndTxn commit epoch 0 v4",
    ]);
  });

  test("commits only when all records have an answer, and then does not linger", () => {
    const bench = new TransactionBench(2);
    bench.replies.set("Produce", ["silence"]);
    bench.produce({ "linger.ms": 5_000, "request.timeout.ms": 10_000 });

    bench.world.run(4 * SECOND);
    expect(bench.asked).toEqual([...BEGIN, "Produce 2 at 0"]);

    bench.world.run(10 * SECOND);
    expect(bench.asked.slice(2, 5)).toEqual([
      "Produce 2 at 0",
      "Produce 2 at 0",
      "EndTxn commit epoch 0 v5",
    ]);
  });

  test("aborts what it has in mind to abort, and what is open when it is closed", () => {
    const bench = new TransactionBench(2);
    const abort = { times: 1, outOf: 1 };
    const producer = bench.produce({}, { transaction: { records: 3, time: undefined, abort } });
    bench.world.run(SECOND);
    expect(bench.ends()).toEqual(["aborted", "aborted"]);
    expect(bench.asked).toContain("EndTxn abort epoch 0 v5");

    const closing = new TransactionBench(2);
    const other = closing.produce(
      {},
      { transaction: { records: 9, time: undefined, abort: undefined }, records: 9 },
    );
    closing.world.run(160 * MILLISECOND);
    other.onShutdown();
    closing.world.run(SECOND);
    expect(closing.asked.at(-1)).toBe("EndTxn abort epoch 0 v5");
    expect(producer.isIdle && other.isIdle).toBe(true);
  });

  test("ends a transaction when its time is over", () => {
    const bench = new TransactionBench(2);
    const transaction = { records: undefined, time: 25 * MILLISECOND, abort: undefined };
    bench.produce({}, { transaction, records: 4 });

    bench.world.run(SECOND);

    const counts = bench.asked.filter((one) => one.startsWith("EndTxn"));
    expect(counts).toEqual(["EndTxn commit epoch 0 v5", "EndTxn commit epoch 1 v5"]);
  });
});

describe("an error that may pass", () => {
  test("has the coordinator sought anew, and the same request sent again", () => {
    const bench = new TransactionBench(2);
    bench.replies.set("EndTxn", ["NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"]);
    bench.produce({}, { records: 2 });

    bench.world.run(2 * SECOND);

    expect(bench.asked.slice(4)).toEqual([
      "EndTxn commit epoch 0 v5",
      "FindCoordinator",
      "EndTxn commit epoch 0 v5",
      "EndTxn commit epoch 0 v5",
    ]);
    expect(bench.ends()).toEqual(["committed"]);
  });

  test("of the first partition is soon asked again, since markers take a moment", () => {
    const bench = new TransactionBench(1);
    bench.replies.set("AddPartitionsToTxn", ["CONCURRENT_TRANSACTIONS"]);
    bench.produce({}, { records: 2 });

    bench.world.run(2 * SECOND);

    const asked = bench.world.requests.filter(({ frame }) => frame.apiKey === 24);
    expect((asked[1]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeLessThan(30 * MILLISECOND);
  });

  test("like a broken connection leaves the end as it was asked for", () => {
    const bench = new TransactionBench(2);
    bench.replies.set("EndTxn", ["disconnect"]);
    bench.produce({}, { records: 2 });

    bench.world.run(2 * SECOND);

    expect(bench.asked.filter((one) => one.startsWith("EndTxn"))).toEqual([
      "EndTxn commit epoch 0 v5",
      "EndTxn commit epoch 0 v5",
    ]);
    expect(bench.ends()).toEqual(["committed"]);
  });

  test("keeps records back: nothing is produced while a request of the transaction waits", () => {
    const bench = new TransactionBench(1);
    bench.replies.set("AddPartitionsToTxn", ["NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"]);
    bench.produce({}, { records: 2 });

    bench.world.run(2 * SECOND);

    const first = bench.asked.findIndex((one) => one.startsWith("Produce"));
    const last = bench.asked.lastIndexOf("AddPartitionsToTxn v3");
    expect(last).toBeLessThan(first);
  });
});

describe("an error of a record", () => {
  test.each([1, 2] as const)("aborts, and the application goes on (version %i)", (version) => {
    const bench = new TransactionBench(version);
    bench.replies.set("Produce", ["INVALID_TXN_STATE"]);
    bench.produce();

    bench.world.run(3 * SECOND);

    expect(bench.ends()).toEqual(["aborted TRANSACTION_ABORTABLE", "committed", "committed"]);
    const v = version === 2 ? 5 : 4;
    const abort = bench.asked.indexOf(`EndTxn abort epoch 0 v${v}`);
    expect(abort).toBeGreaterThan(0);
    // Below version 2 the producer asks for the epoch that the end brings in version 2.
    expect(bench.asked[abort + 1]).toBe(
      version === 1 ? "InitProducerId epoch 0" : "Produce 1 at 0",
    );
    expect(bench.batches.at(-1)?.producerEpoch).toBe(version === 1 ? 1 : 2);
  });

  test("gives up what was not sent yet", () => {
    const bench = new TransactionBench(2);
    bench.replies.set("Produce", ["TRANSACTION_ABORTABLE"]);
    bench.produce(
      { "max.in.flight.requests.per.connection": 1 },
      {
        arrival: 100,
        records: 6,
        transaction: { records: 6, time: undefined, abort: undefined },
      },
    );

    bench.world.run(2 * SECOND);

    expect(bench.ends()[0]).toBe("aborted TRANSACTION_ABORTABLE");
    expect(bench.sends().filter((one) => one.endsWith("failed")).length).toBeGreaterThan(1);
  });

  test("that cannot be sent at all aborts without a word to anybody", () => {
    const bench = new TransactionBench(2);
    bench.produce({ "max.request.size": 120 }, { recordSize: 500, records: 2 });

    bench.world.run(2 * SECOND);

    expect(bench.ends()).toEqual(["aborted MESSAGE_TOO_LARGE", "aborted MESSAGE_TOO_LARGE"]);
    expect(bench.asked).toEqual(BEGIN);
  });
});

describe("a fatal error", () => {
  test("of a producer that is fenced ends it", () => {
    const bench = new TransactionBench(2);
    bench.replies.set("EndTxn", ["INVALID_PRODUCER_EPOCH"]);
    const producer = bench.produce();

    bench.world.run(5 * SECOND);

    expect(bench.ends()).toEqual(["unknown PRODUCER_FENCED"]);
    expect(bench.world.factsOf("producer-fenced")).toMatchObject([
      { transactionalId: "app", producerId: 7, producerEpoch: 0 },
    ]);
    expect(bench.asked.at(-1)).toBe("EndTxn commit epoch 0 v5");
    expect(producer.isIdle).toBe(true);
  });

  test("within a transaction leaves no doubt: no commit was asked for", () => {
    const bench = new TransactionBench(2);
    bench.replies.set("Produce", ["PRODUCER_FENCED"]);
    bench.produce();

    bench.world.run(5 * SECOND);

    expect(bench.ends()).toEqual(["aborted PRODUCER_FENCED"]);
    expect(bench.sends()).toEqual(["0 failed", ...bench.sends().slice(1)]);
    expect(bench.asked.some((one) => one.startsWith("EndTxn"))).toBe(false);
  });

  test.each([
    ["InitProducerId", "INVALID_TRANSACTION_TIMEOUT"],
    ["InitProducerId", "PRODUCER_FENCED"],
    ["FindCoordinator", "INVALID_REQUEST"],
    ["EndTxn", "INVALID_TXN_STATE"],
    ["EndTxn", "INVALID_PRODUCER_ID_MAPPING"],
  ] as const)("answers %s with %s", (api, error) => {
    const bench = new TransactionBench(2);
    bench.replies.set(api, [error]);
    bench.produce();

    bench.world.run(5 * SECOND);

    expect(bench.asked.at(-1)).toMatch(new RegExp(`^${api}`));
    expect(bench.world.factsOf("request-failed").at(-1)).toMatchObject({ error, retried: false });
  });

  test("is an abort that would have to be aborted", () => {
    const bench = new TransactionBench(2);
    bench.replies.set("EndTxn", ["TRANSACTION_ABORTABLE", "TRANSACTION_ABORTABLE"]);
    bench.produce();

    bench.world.run(5 * SECOND);

    expect(bench.asked.slice(-2)).toEqual(["EndTxn commit epoch 0 v5", "EndTxn abort epoch 0 v5"]);
    expect(bench.ends()).toEqual(["unknown TRANSACTION_ABORTABLE"]);
  });
});

describe("offsets of a group", () => {
  const offsets = new Map([
    ["in-0", { topic: "in", partition: 0, offset: 12, leaderEpoch: 3 }],
    ["in-1", { topic: "in", partition: 1, offset: 5, leaderEpoch: 3 }],
  ]);
  const group = { groupId: "g", generationId: 4, memberId: "m", groupInstanceId: undefined };

  function sent(
    version: 1 | 2,
    replies: Record<string, readonly ("NOT_COORDINATOR" | "ILLEGAL_GENERATION")[]> = {},
  ): {
    readonly bench: TransactionBench;
    readonly producer: BareProducer;
  } {
    const bench = new TransactionBench(version);
    for (const [api, names] of Object.entries(replies)) bench.replies.set(api, [...names]);
    const producer = new BareProducer(bench.world, bench.options());
    bench.world.begin(producer);
    bench.world.run(SECOND);
    producer.transaction.beginTransaction();
    producer.transaction.sendOffsetsToTransaction(offsets, group);
    producer.run();
    bench.world.run(SECOND);
    return { bench, producer };
  }

  test("go to the group's coordinator, in version 1 after the transaction's has been told", () => {
    for (const version of [1, 2] as const) {
      const { bench, producer } = sent(version);
      expect(producer.transaction.isSendingOffsets).toBe(false);
      producer.transaction.commitTransaction();
      producer.run();
      bench.world.run(SECOND);

      const first = version === 1 ? ["AddOffsetsToTxn"] : [];
      const end = `EndTxn commit epoch 0 v${version === 1 ? 4 : 5}`;
      expect(bench.asked.slice(2)).toEqual([...first, "FindCoordinator", "TxnOffsetCommit", end]);
      expect(producer.transaction.state).toBe("READY");
    }
  });

  test("are sent again to another coordinator", () => {
    const { bench, producer } = sent(2, { TxnOffsetCommit: ["NOT_COORDINATOR"] });
    expect(bench.asked.slice(2)).toEqual([
      "FindCoordinator",
      "TxnOffsetCommit",
      "FindCoordinator",
      "TxnOffsetCommit",
    ]);
    expect(producer.transaction.state).toBe("IN_TRANSACTION");
  });

  test("of a member that the group has left behind abort the transaction", () => {
    const { producer } = sent(2, { TxnOffsetCommit: ["ILLEGAL_GENERATION"] });
    expect(producer.transaction.state).toBe("ABORTABLE_ERROR");
    expect(producer.transaction.lastError.name).toBe("ILLEGAL_GENERATION");
  });
});
