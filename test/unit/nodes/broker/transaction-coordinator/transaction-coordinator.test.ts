import { describe, expect, test } from "vitest";
import { SECOND } from "../../../../../src/base/time.ts";
import { ERRORS } from "../../../../../src/kafka/error-code.ts";
import {
  ADD_OFFSETS_TO_TXN,
  DESCRIBE_TRANSACTIONS,
  END_TXN,
  INIT_PRODUCER_ID,
  LIST_TRANSACTIONS,
} from "../../../../../src/kafka/protocol/apis.ts";
import type { Identity } from "../../../../support/asked-coordinator.ts";
import { AskedCoordinator, NOBODY } from "../../../../support/asked-coordinator.ts";

function next({ producerId, producerEpoch }: Identity): Identity {
  return { producerId, producerEpoch: producerEpoch + 1 };
}

describe("a transactional id", () => {
  test("gets a producer id of its own, and the next epoch with each producer that comes", () => {
    const asked = new AskedCoordinator();
    const first = asked.begin();

    expect(first.producerEpoch).toBe(0);
    expect(asked.init()).toEqual(next(first));
    const other = asked.init(NOBODY, 60_000, "other");
    expect(other).toMatchObject({ producerEpoch: 0 });
    expect(other).not.toEqual(first);
  });

  test("is told from no id at all by what cannot be meant", () => {
    const asked = new AskedCoordinator();
    const who = asked.begin();

    expect(asked.init(NOBODY, 60_000, "")).toBe("INVALID_REQUEST");
    expect(asked.init({ producerId: 7, producerEpoch: -1 })).toBe("INVALID_REQUEST");
    expect(asked.init(NOBODY, 900_001)).toBe("INVALID_TRANSACTION_TIMEOUT");
    expect(asked.init(NOBODY, 0)).toBe("INVALID_TRANSACTION_TIMEOUT");
    expect(asked.init({ producerId: who.producerId + 1, producerEpoch: 0 })).toBe(
      "PRODUCER_FENCED",
    );
  });

  test("is unknown until a producer has come, and elsewhere", () => {
    const asked = new AskedCoordinator();
    const who = { producerId: 0, producerEpoch: 0 };

    expect(asked.add(who)).toEqual(["INVALID_PRODUCER_ID_MAPPING"]);
    expect(asked.end(who, true)).toBe("INVALID_PRODUCER_ID_MAPPING");
    asked.coordinator = (asked.coordinator % 3) + 1;
    expect(asked.init()).toBe("NOT_COORDINATOR");
    expect(asked.add(who)).toEqual(["NOT_COORDINATOR"]);
  });

  test("is forgotten when it has not been used for its time, with a tombstone", () => {
    const asked = new AskedCoordinator(2, {
      "transactional.id.expiration.ms": 60_000,
      "transaction.remove.expired.transaction.cleanup.interval.ms": 20_000,
    });
    const who = asked.begin();
    asked.run(50 * SECOND);
    expect(asked.states()).toEqual(["Empty"]);

    asked.run(40 * SECOND);
    expect(asked.states()).toEqual(["Empty", "Dead"]);
    expect(asked.add(who)).toEqual(["INVALID_PRODUCER_ID_MAPPING"]);
    const last = asked
      .factsOf("appended")
      .filter(({ partition, asLeader }) => partition === "__transaction_state-0" && asLeader)
      .at(-1);
    expect(last?.batch.records()).toMatchObject([{ value: undefined }]);
  });
});

describe("a transaction", () => {
  test("of version 2 ends with a marker of the next epoch, which is the producer's from then on", () => {
    const asked = new AskedCoordinator();
    const who = asked.begin();

    expect(asked.add(who)).toEqual(["NONE"]);
    expect(asked.end(who, true)).toEqual(next(who));
    asked.run(SECOND);
    expect(asked.states()).toEqual(["Empty", "Ongoing", "PrepareCommit", "CompleteCommit"]);
    expect(asked.markers()).toEqual([`${who.producerId} 1`]);
    expect(asked.end(who, true)).toEqual(next(who));
    expect(asked.end(who, false)).toBe("INVALID_TXN_STATE");
    expect(asked.end(next(who), true)).toBe("INVALID_TXN_STATE");
  });

  test("of version 1 keeps the epoch, and the answer has none", () => {
    const asked = new AskedCoordinator(1);
    const who = asked.begin();

    asked.add(who);
    expect(asked.end(who, false)).toEqual(NOBODY);
    asked.run(SECOND);
    expect(asked.states()).toEqual(["Empty", "Ongoing", "PrepareAbort", "CompleteAbort"]);
    expect(asked.markers()).toEqual([`${who.producerId} 0`]);
    expect(asked.end(who, false)).toEqual(NOBODY);
    expect(asked.end(who, true)).toBe("INVALID_TXN_STATE");
  });

  test("takes no partition that is not there, and then none of the others", () => {
    const asked = new AskedCoordinator();
    const who = asked.begin();

    expect(asked.add(who, [0, 5])).toEqual([
      "OPERATION_NOT_ATTEMPTED",
      "UNKNOWN_TOPIC_OR_PARTITION",
    ]);
    expect(asked.states()).toEqual(["Empty"]);
  });

  test("tells leaders what is in it", () => {
    const asked = new AskedCoordinator(1);
    const who = asked.begin();

    expect(asked.add(who, [0], true)).toEqual(["TRANSACTION_ABORTABLE"]);
    asked.add(who);
    expect(asked.add(who, [0], true)).toEqual(["NONE"]);
    expect(asked.add(next(who), [0], true)).toEqual(["PRODUCER_FENCED"]);
  });

  test("takes the partition that keeps a group's offsets", () => {
    const asked = new AskedCoordinator(1, { "offsets.topic.num.partitions": 4 });
    const who = asked.begin();
    const body = { transactionalId: "app", ...who, groupId: "g" };

    expect(asked.answer(asked.coordinator, ADD_OFFSETS_TO_TXN, body).errorCode).toBe(0);
    expect(asked.factsOf("transaction-state-changed").at(-1)?.partitions).toEqual([
      // "g" is 103 in Java's hash.
      "__consumer_offsets-3",
    ]);
  });

  test("that is open when another producer comes is aborted first, under an epoch of nobody", () => {
    const asked = new AskedCoordinator(1);
    const who = asked.begin();
    asked.add(who);

    expect(asked.init()).toBe("CONCURRENT_TRANSACTIONS");
    asked.run(SECOND);
    expect(asked.markers()).toEqual([`${who.producerId} 1`]);
    expect(asked.init()).toEqual(next(next(who)));
    expect(asked.end(who, true)).toBe("PRODUCER_FENCED");
    expect(asked.add(next(who))).toEqual(["PRODUCER_FENCED"]);
  });

  test.each([1, 2] as const)("that takes too long is aborted in version %i", (version) => {
    const asked = new AskedCoordinator(version);
    const who = asked.begin(NOBODY, 15_000);
    asked.add(who);
    asked.run(14 * SECOND);
    expect(asked.states().at(-1)).toBe("Ongoing");

    asked.run(12 * SECOND);
    expect(asked.states().at(-1)).toBe("CompleteAbort");
    expect(asked.factsOf("transaction-state-changed").at(-2)?.reason).toBe(
      "transaction.timeout.ms is over",
    );
    expect(asked.end(who, true)).toBe("PRODUCER_FENCED");
  });

  test("of which two requests come at once: the second is to come again", () => {
    const asked = new AskedCoordinator();
    const who = asked.begin();
    asked.add(who);
    const body = { transactionalId: "app", ...who, committed: true };

    const first = asked.ask(asked.coordinator, END_TXN, body);
    const init = { transactionalId: "app", transactionTimeoutMs: 60_000, ...NOBODY };
    const second = asked.ask(asked.coordinator, INIT_PRODUCER_ID, init);
    asked.until(() => first.isOver && second.isOver);

    expect(first.response?.errorCode).toBe(0);
    // One connection is answered in turn: the markers are not written yet.
    expect(second.response?.errorCode).toBe(51);
  });
});

describe("when a coordinator dies", () => {
  test("the next knows what was decided, and answers as it did", () => {
    const asked = new AskedCoordinator();
    const who = asked.begin();
    asked.add(who);
    asked.end(who, true);
    asked.run(SECOND);

    asked.crash(asked.coordinator);
    const old = asked.coordinator;
    asked.run(15 * SECOND);
    asked.find();
    expect(asked.coordinator).not.toBe(old);
    expect(asked.states().at(-1)).toBe("CompleteCommit");
    expect(asked.end(who, true)).toEqual(next(who));
    expect(asked.add(next(who))).toEqual(["NONE"]);
  });

  test("the next finishes what it has decided", () => {
    const asked = new AskedCoordinator();
    const who = asked.begin();
    asked.add(who);
    asked.end(who, false);
    // Told at once: the markers are on their way.
    asked.crash(asked.coordinator);
    asked.run(20 * SECOND);
    asked.find();

    expect(asked.states()).toContain("PrepareAbort");
    expect(asked.states().at(-1)).toBe("CompleteAbort");
    expect(asked.markers().length).toBeGreaterThan(0);
  });
});

test("markers wait for a leader, and until they are written the producer is told to come again", () => {
  const alone = {
    name: "orders",
    numPartitions: 3,
    replicationFactor: 1,
    assignments: [],
    configs: [],
  };
  const asked = new AskedCoordinator(2, {}, { topics: [alone] });
  const who = asked.begin();
  const led = asked
    .factsOf("partition-changed")
    .filter(({ partition }) => partition.startsWith("orders"));
  const away = led.find(({ leader }) => leader !== asked.coordinator);
  const partition = Number(away?.partition.slice("orders-".length));
  asked.add(who, [partition]);
  asked.crash(away?.leader ?? -1);

  expect(asked.end(who, true)).toEqual(next(who));
  asked.run(20 * SECOND);
  expect(asked.states().at(-1)).toBe("PrepareCommit");
  expect(asked.init()).toBe("CONCURRENT_TRANSACTIONS");
  expect(asked.add(next(who))).toEqual(["CONCURRENT_TRANSACTIONS"]);
  expect(asked.end(who, true)).toBe("CONCURRENT_TRANSACTIONS");

  asked.restart(away?.leader ?? -1);
  asked.run(15 * SECOND);
  expect(asked.states().at(-1)).toBe("CompleteCommit");
});

test("without enough replicas nothing changes, and whoever asked is to ask again", () => {
  const asked = new AskedCoordinator();
  const who = asked.begin();
  for (const broker of [1, 2, 3]) if (broker !== asked.coordinator) asked.crash(broker);
  // It leaves the ISR alone only after replica.lag.time.max.ms.
  asked.run(60 * SECOND);

  expect(asked.add(who)).toEqual(["COORDINATOR_NOT_AVAILABLE"]);
  expect(asked.states().at(-1)).toBe("Empty");
});

describe("an administrator", () => {
  /** The ids that a broker lists. */
  function listed(asked: AskedCoordinator, broker: number, filters: object = {}): string[] {
    const body = { stateFilters: [], producerIdFilters: [], durationFilter: -1, ...filters };
    const answer = asked.answer(broker, LIST_TRANSACTIONS, body);
    expect(answer.errorCode).toBe(0);
    return answer.transactionStates.map(
      ({ transactionalId, transactionState }) => `${transactionalId} ${transactionState}`,
    );
  }

  test("is told of all transactions of a coordinator, or those that he asks for", () => {
    const asked = new AskedCoordinator();
    const { coordinator } = asked;
    const who = asked.begin();
    asked.add(who);
    asked.init(NOBODY, 60_000, "other");
    asked.run(5 * SECOND);

    expect(listed(asked, coordinator)).toEqual(["app Ongoing", "other Empty"]);
    expect(listed(asked, (coordinator % 3) + 1)).toEqual([]);
    const producerIdFilters = [who.producerId, 99];
    expect(listed(asked, coordinator, { producerIdFilters })).toEqual(["app Ongoing"]);
    expect(listed(asked, coordinator, { stateFilters: ["Empty"] })).toEqual(["other Empty"]);
    expect(listed(asked, coordinator, { stateFilters: ["Idle"] })).toEqual([]);
    // One that is at rest began before all time.
    expect(listed(asked, coordinator, { durationFilter: 10_000 })).toEqual(["other Empty"]);
  });

  test("is told what is in a transaction, by its coordinator", () => {
    const asked = new AskedCoordinator();
    const who = asked.begin();
    asked.add(who);

    const body = { transactionalIds: ["app", "nobody", ""] };
    const { transactionStates } = asked.answer(asked.coordinator, DESCRIBE_TRANSACTIONS, body);
    expect(transactionStates).toMatchObject([
      {
        errorCode: 0,
        transactionalId: "app",
        transactionState: "Ongoing",
        transactionTimeoutMs: 60_000,
        ...who,
        topics: [{ topic: "orders", partitions: [0] }],
      },
      { errorCode: ERRORS.TRANSACTIONAL_ID_NOT_FOUND.code, topics: [] },
      { errorCode: ERRORS.INVALID_REQUEST.code },
    ]);
    const other = asked.answer((asked.coordinator % 3) + 1, DESCRIBE_TRANSACTIONS, body);
    expect(other.transactionStates[0]).toMatchObject({ errorCode: ERRORS.NOT_COORDINATOR.code });
  });
});
