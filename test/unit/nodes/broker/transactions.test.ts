import { describe, expect, test } from "vitest";
import { MILLISECOND } from "../../../../src/base/time.ts";
import type { ErrorCode } from "../../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { ADD_PARTITIONS_TO_TXN } from "../../../../src/kafka/protocol/apis.ts";
import type { WritableTxnMarker } from "../../../../src/kafka/protocol/write-txn-markers.ts";
import {
  addressOf,
  BrokerFixture,
  epochOf,
  registration,
  TOPIC_ID,
} from "../../../support/broker-fixture.ts";
import type { FakeRequest } from "../../../support/fake-world.ts";

const TRANSACTION = { producerId: 7, producerEpoch: 0, isTransactional: true } as const;
const COORDINATOR = 2;
const { CONCURRENT_TRANSACTIONS, INVALID_TXN_STATE, NONE, NOT_COORDINATOR } = ERRORS;

/** A broker that leads orders-0 alone, where broker 2 coordinates transactions, and says what it is told to. */
class Leader extends BrokerFixture {
  /** What the coordinator says next, one for each time that it is asked; then NONE. */
  readonly answers: ErrorCode[] = [];

  constructor(options: ConstructorParameters<typeof BrokerFixture>[0] = {}) {
    super(options);
    const topicId = "transaction-state-0000";
    const replicas = [COORDINATOR];
    this.image.replay({ type: "TopicRecord", name: "__transaction_state", topicId }, 100);
    this.image.replay(
      {
        type: "PartitionRecord",
        topicId,
        partitionId: 0,
        eligibleLeaderReplicas: undefined,
        ...registration({ replicas, isr: replicas, leader: COORDINATOR }),
      },
      101,
    );
    this.world.onRequest = (request) => this.#coordinate(request);
    this.lead({ replicas: [1], isr: [1] });
  }

  /** A producer's records, of a transaction. */
  send(baseSequence: number, more: object = {}): number {
    const batch = this.batch(1, { ...TRANSACTION, baseSequence, ...more });
    const on = this.produce(batch, { transactionalId: "app" });
    this.world.run(10 * MILLISECOND);
    return on;
  }

  errorOf(on: number): number | undefined {
    return this.produced(on)?.errorCode;
  }

  get questions() {
    return this.world.requestsOf(ADD_PARTITIONS_TO_TXN).flatMap((body) => body.transactions);
  }

  #coordinate(request: FakeRequest): void {
    if (!request.is(ADD_PARTITIONS_TO_TXN)) return;
    expect(request.to).toBe(addressOf(COORDINATOR));
    const error = this.answers.shift() ?? NONE;
    request.reply(ADD_PARTITIONS_TO_TXN, {
      throttleTimeMs: 0,
      errorCode: 0,
      resultsByTransaction: request
        .body(ADD_PARTITIONS_TO_TXN)
        .transactions.map(({ transactionalId, topics }) => ({
          transactionalId,
          topicResults: topics.map(({ name, partitions }) => ({
            name,
            resultsByPartition: partitions.map((partitionIndex) => ({
              partitionIndex,
              partitionErrorCode: error.code,
            })),
          })),
        })),
    });
  }
}

describe("the first records of a transaction in a partition", () => {
  test("are written when the coordinator has added the partition; those behind them at once", () => {
    const broker = new Leader();

    expect(broker.errorOf(broker.send(0))).toBe(0);
    expect(broker.errorOf(broker.send(1))).toBe(0);

    expect(broker.questions).toEqual([
      {
        transactionalId: "app",
        producerId: 7,
        producerEpoch: 0,
        verifyOnly: false,
        topics: [{ name: "orders", partitions: [0] }],
      },
    ]);
    expect(broker.partition(TOPIC_ID, 0)?.logEndOffset).toBe(2);
  });

  test("are verified only before transaction.version 2", () => {
    const broker = new Leader({ features: { "transaction.version": 1 } });
    broker.send(0);
    expect(broker.questions.map(({ verifyOnly }) => verifyOnly)).toEqual([true]);
  });

  test("of a transaction that the coordinator does not know are refused, and none is in the log", () => {
    const broker = new Leader({ features: { "transaction.version": 1 } });
    broker.answers.push(ERRORS.TRANSACTION_ABORTABLE);

    expect(broker.errorOf(broker.send(0))).toBe(ERRORS.TRANSACTION_ABORTABLE.code);
    expect(broker.partition(TOPIC_ID, 0)?.logEndOffset).toBe(0);
  });

  test("are written unasked where nothing is verified, before transaction.version 2", () => {
    const configs = { "transaction.partition.verification.enable": false };
    const broker = new Leader({ configs, features: { "transaction.version": 1 } });

    expect(broker.errorOf(broker.send(0))).toBe(0);
    expect(broker.questions).toEqual([]);
  });

  test("are asked for again while the transaction before is being ended, for a little while", () => {
    const broker = new Leader();
    broker.answers.push(CONCURRENT_TRANSACTIONS, CONCURRENT_TRANSACTIONS);
    const on = broker.send(0);
    expect(broker.produced(on)).toBeUndefined();

    broker.world.run(80 * MILLISECOND);
    expect(broker.errorOf(on)).toBe(0);
    expect(broker.questions).toHaveLength(3);

    const other = new Leader();
    for (let n = 0; n < 20; n++) other.answers.push(CONCURRENT_TRANSACTIONS);
    const late = other.send(0);
    other.world.run(200 * MILLISECOND);
    expect(other.errorOf(late)).toBe(CONCURRENT_TRANSACTIONS.code);
    expect(other.questions.length).toBeLessThan(8);
  });

  test("are to be sent again where the coordinator cannot be asked", () => {
    const broker = new Leader();
    broker.answers.push(NOT_COORDINATOR);
    expect(broker.errorOf(broker.send(0))).toBe(ERRORS.NOT_ENOUGH_REPLICAS.code);

    broker.world.onRequest = () => broker.world.disconnect(addressOf(COORDINATOR));
    expect(broker.errorOf(broker.send(0))).toBe(ERRORS.NOT_ENOUGH_REPLICAS.code);

    broker.register(COORDINATOR, epochOf(COORDINATOR) + 50, true);
    expect(broker.errorOf(broker.send(0))).toBe(ERRORS.NOT_ENOUGH_REPLICAS.code);
  });

  test("are refused if a marker came while the coordinator was asked", () => {
    const broker = new Leader({ features: { "transaction.version": 1 } });
    broker.world.latency = 5 * MILLISECOND;
    const on = broker.produce(broker.batch(1, { ...TRANSACTION, baseSequence: 0 }), {
      transactionalId: "app",
    });
    broker.writeMarker({ transactionResult: false });
    broker.world.run(30 * MILLISECOND);

    expect(broker.errorOf(on)).toBe(INVALID_TXN_STATE.code);
  });

  test("of two producers in one request are refused", () => {
    const broker = new Leader();
    broker.lead({ replicas: [1], isr: [1] }, 1, 1);
    const batches = [7, 8].map((producerId) =>
      broker.batch(1, { ...TRANSACTION, producerId, baseSequence: 0 }),
    );
    const on = broker.produceTo(batches, "app");
    expect(broker.errorOf(on)).toBe(ERRORS.INVALID_PRODUCER_ID_MAPPING.code);
  });
});

describe("a marker", () => {
  test("ends the transaction, and is answered when it is replicated", () => {
    const broker = new Leader();
    const partition = broker.lead({ replicas: [1, 2], isr: [1, 2], leaderEpoch: 6 });
    broker.send(0);

    const on = broker.writeMarker({ producerEpoch: 1 });
    expect(partition.logEndOffset).toBe(2);
    expect(partition.log.producers.hasOngoing(7, 0)).toBe(false);
    expect(broker.markerWritten(on)).toBeUndefined();

    const follower = { replicaId: 2, replicaEpoch: epochOf(2) };
    broker.fetch({ fetchOffset: 2, currentLeaderEpoch: 6, logStartOffset: 0 }, follower);
    expect(broker.markerWritten(on)).toEqual([{ partitionIndex: 0, errorCode: 0 }]);
  });

  test("is refused by its own error in each partition", () => {
    const broker = new Leader();
    broker.send(0);
    broker.follow({}, 1);
    const topics = [{ name: "orders", partitionIndexes: [0, 1, 2] }];

    const written = broker.markerWritten(broker.writeMarker({ topics }));

    expect(written?.map(({ errorCode }) => errorCode)).toEqual([
      ERRORS.INVALID_PRODUCER_EPOCH.code,
      ERRORS.NOT_LEADER_OR_FOLLOWER.code,
      ERRORS.UNKNOWN_TOPIC_OR_PARTITION.code,
    ]);
  });

  test("of a producer, of which one request has two, is answered with the other", () => {
    const broker = new Leader();
    broker.lead({ replicas: [1], isr: [1] }, 1, 1);
    const topics = [{ name: "orders", partitionIndexes: [1] }];

    const written = broker.markerWritten(broker.writeMarker({}, { topics }));

    expect(written).toEqual([
      { partitionIndex: 0, errorCode: 0 },
      { partitionIndex: 1, errorCode: 0 },
    ]);
  });

  test("of an administrator ends what hangs in the epoch that it has (KIP-1228)", () => {
    const broker = new Leader();
    broker.send(0);

    const on = broker.writeMarker({ transactionResult: false, transactionVersion: 0 });

    expect(broker.markerWritten(on)?.[0]?.errorCode).toBe(0);
    expect(broker.partition(TOPIC_ID, 0)?.log.producers.hasOngoing(7, 0)).toBe(false);
  });

  test("of an older coordinator is fenced", () => {
    const broker = new Leader();
    broker.send(0);
    broker.writeMarker({ producerEpoch: 1, coordinatorEpoch: 4 });
    const late = broker.writeMarker({ producerEpoch: 2, coordinatorEpoch: 3 });
    expect(broker.markerWritten(late)?.[0]?.errorCode).toBe(
      ERRORS.TRANSACTION_COORDINATOR_FENCED.code,
    );
  });

  test("of a group's offsets is written by the group's coordinator, which is waited for", () => {
    const asked: [WritableTxnMarker, (error: ErrorCode) => void][] = [];
    const broker = new Leader({
      offsetsMarkers: {
        completeTransaction: (_, marker, done) => {
          asked.push([marker, done]);
        },
      },
    });
    const name = "__consumer_offsets";
    broker.image.replay({ type: "TopicRecord", name, topicId: TOPIC_ID }, 200);
    const topics = [{ name, partitionIndexes: [0] }];

    const on = broker.writeMarker({ topics });
    expect(broker.markerWritten(on)).toBeUndefined();
    asked[0]?.[1](NOT_COORDINATOR);

    expect(broker.markerWritten(on)).toEqual([
      { partitionIndex: 0, errorCode: ERRORS.NOT_LEADER_OR_FOLLOWER.code },
    ]);
  });
});

describe("an administrator", () => {
  test("is told of the producers of a replica, leader or not, and of their open transactions", () => {
    const broker = new Leader();
    broker.follow({}, 1);
    broker.produce(broker.batch(3));
    broker.send(0, { producerEpoch: 2 });

    expect(broker.describeProducers()).toEqual([
      {
        partitionIndex: 0,
        errorCode: 0,
        errorMessage: undefined,
        activeProducers: [
          {
            producerId: 7,
            producerEpoch: 2,
            lastSequence: 0,
            lastTimestamp: expect.any(Number),
            coordinatorEpoch: -1,
            currentTxnStartOffset: 3,
          },
        ],
      },
      { partitionIndex: 1, errorCode: 0, errorMessage: undefined, activeProducers: [] },
      {
        partitionIndex: 2,
        errorCode: ERRORS.UNKNOWN_TOPIC_OR_PARTITION.code,
        errorMessage: undefined,
        activeProducers: [],
      },
    ]);
  });
});

describe("readers of committed records", () => {
  test("stop at the first open transaction, and are told what was aborted below", () => {
    const broker = new Leader();
    broker.send(0);
    broker.writeMarker({ producerEpoch: 1, transactionResult: false });
    broker.produce(broker.batch(1));
    broker.send(0, { producerId: 8 });
    broker.produce(broker.batch(1));

    const committed = broker.fetched(broker.fetch({ fetchOffset: 0 }, { isolationLevel: 1 }));
    const all = broker.fetched(broker.fetch({ fetchOffset: 0 }));

    expect(committed?.records.map(({ baseOffset }) => baseOffset)).toEqual([0, 1, 2]);
    expect(committed?.lastStableOffset).toBe(3);
    expect(committed?.highWatermark).toBe(5);
    expect(committed?.abortedTransactions).toMatchObject([{ producerId: 7, firstOffset: 0 }]);
    expect(all?.records).toHaveLength(5);
    expect(all?.lastStableOffset).toBe(3);
    expect(all?.abortedTransactions).toBeUndefined();
    expect([broker.latestOffset(1), broker.latestOffset(0)]).toEqual([3, 5]);
  });

  test("wait until the transaction has ended, whatever else is written", () => {
    const broker = new Leader();
    broker.send(0);
    const on = broker.fetch({ fetchOffset: 0 }, { isolationLevel: 1 });
    broker.produce(broker.batch(1));
    expect(broker.fetched(on)).toBeUndefined();

    broker.writeMarker({ producerEpoch: 1 });

    expect(broker.fetched(on)?.records.map(({ baseOffset }) => baseOffset)).toEqual([0, 1, 2]);
  });

  test("go on waiting where a marker is not replicated yet", () => {
    const broker = new Leader();
    broker.lead({ replicas: [1, 2], isr: [1, 2], leaderEpoch: 6 });
    broker.send(0);
    const follower = { replicaId: 2, replicaEpoch: epochOf(2) };
    const caughtUpTo = (fetchOffset: number): void => {
      broker.fetch({ fetchOffset, currentLeaderEpoch: 6, logStartOffset: 0 }, follower);
    };
    caughtUpTo(1);
    const on = broker.fetch({ fetchOffset: 0, currentLeaderEpoch: 6 }, { isolationLevel: 1 });
    broker.writeMarker({ producerEpoch: 1 });
    expect(broker.fetched(on)).toBeUndefined();

    caughtUpTo(2);
    expect(broker.fetched(on)?.records.map(({ baseOffset }) => baseOffset)).toEqual([0, 1]);
  });
});
