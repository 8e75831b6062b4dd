import { expect, test } from "vitest";
import { MINUTE, SECOND } from "../../../../src/base/time.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import {
  DESCRIBE_PRODUCERS,
  DESCRIBE_TRANSACTIONS,
  FIND_COORDINATOR,
  LIST_TRANSACTIONS,
  METADATA,
  WRITE_TXN_MARKERS,
} from "../../../../src/kafka/protocol/apis.ts";
import type {
  ActiveProducer,
  DescribedTransactionTopic,
} from "../../../../src/kafka/protocol/describe-transactions.ts";
import { Admin } from "../../../../src/nodes/admin/admin.ts";
import type { FakeRequest } from "../../../support/fake-world.ts";
import { FakeWorld } from "../../../support/fake-world.ts";

const ORDERS_0 = { topic: "orders", partition: 0 };
/** Each producer wrote last at 10 s; it is 30 s now. */
const NOW = 30 * SECOND;

function producer(producerId: number, more: Partial<ActiveProducer> = {}): ActiveProducer {
  return {
    producerId,
    producerEpoch: 3,
    lastSequence: 4,
    lastTimestamp: 10_000,
    coordinatorEpoch: 2,
    currentTxnStartOffset: 100 + producerId,
    ...more,
  };
}

/** Brokers 1 and 2, at 11 and 12: 1 leads orders-0, 2 coordinates all there is. */
class Cluster {
  readonly world = new FakeWorld();
  readonly admin = new Admin(this.world, { brokers: [11, 12], topics: [] });
  producers: readonly ActiveProducer[] = [];
  /** By producer id. */
  transactionalIds: Readonly<Record<number, string>> = {};
  /** By transactional id; undefined: it has just been forgotten. */
  partitions: Readonly<Record<string, readonly DescribedTransactionTopic[]>> = {};
  /** How the leader takes markers, the first times; then NONE. */
  readonly refusals: number[] = [];

  constructor() {
    this.world.onRequest = (request) => this.#answer(request);
    this.world.begin(this.admin);
    this.world.run(NOW);
  }

  /** The markers that were asked for, as `producer id/epoch`, and of which coordinator epoch. */
  abort(maxTimeout = 15 * SECOND): string[] {
    this.admin.abortHanging(ORDERS_0, maxTimeout);
    this.world.run(10 * SECOND);
    return this.world
      .requestsOf(WRITE_TXN_MARKERS)
      .flatMap(({ markers }) =>
        markers.map((one) => `${one.producerId}/${one.producerEpoch} ${one.coordinatorEpoch}`),
      );
  }

  #answer(request: FakeRequest): void {
    const throttleTimeMs = 0;
    if (request.is(METADATA)) {
      const partition = { errorCode: 0, partitionIndex: 0, leaderId: 1, leaderEpoch: 3 };
      const nodes = { replicaNodes: [1, 2], isrNodes: [1, 2], offlineReplicas: [] };
      const partitions = [{ ...partition, ...nodes }];
      const topic = { errorCode: 0, name: "orders", topicId: "orders", isInternal: false };
      request.reply(METADATA, {
        throttleTimeMs,
        brokers: [1, 2].map((nodeId) => ({ nodeId, host: "", port: 10 + nodeId, rack: undefined })),
        clusterId: "c",
        controllerId: 1,
        topics: request.body(METADATA).topics?.map(() => ({ ...topic, partitions })) ?? [],
        errorCode: 0,
      });
    } else if (request.is(DESCRIBE_PRODUCERS)) {
      const told = { partitionIndex: 0, errorCode: 0, errorMessage: undefined };
      const partitions = [{ ...told, activeProducers: this.producers }];
      request.reply(DESCRIBE_PRODUCERS, {
        throttleTimeMs,
        topics: [{ name: "orders", partitions }],
      });
    } else if (request.is(LIST_TRANSACTIONS)) {
      const all = request.to === 12 ? Object.entries(this.transactionalIds) : [];
      const transactionStates = all.map(([producerId, transactionalId]) => ({
        transactionalId,
        producerId: Number(producerId),
        transactionState: "Ongoing",
      }));
      const told = { errorCode: 0, unknownStateFilters: [], transactionStates };
      request.reply(LIST_TRANSACTIONS, { throttleTimeMs, ...told });
    } else if (request.is(FIND_COORDINATOR)) {
      const [key = ""] = request.body(FIND_COORDINATOR).coordinatorKeys;
      const found = { key, nodeId: 2, host: "", port: 12, errorCode: 0, errorMessage: undefined };
      request.reply(FIND_COORDINATOR, { throttleTimeMs, coordinators: [found] });
    } else if (request.is(DESCRIBE_TRANSACTIONS)) {
      const [transactionalId = ""] = request.body(DESCRIBE_TRANSACTIONS).transactionalIds;
      const topics = this.partitions[transactionalId];
      const error = topics === undefined ? ERRORS.TRANSACTIONAL_ID_NOT_FOUND : ERRORS.NONE;
      const state = {
        errorCode: error.code,
        transactionalId,
        transactionState: "Ongoing",
        transactionTimeoutMs: 60_000,
        transactionStartTimeMs: 0,
        producerId: 0,
        producerEpoch: 0,
        topics: topics ?? [],
      };
      request.reply(DESCRIBE_TRANSACTIONS, { throttleTimeMs, transactionStates: [state] });
    } else if (request.is(WRITE_TXN_MARKERS)) {
      const [marker] = request.body(WRITE_TXN_MARKERS).markers;
      const partitions = [{ partitionIndex: 0, errorCode: this.refusals.shift() ?? 0 }];
      const topics = [{ name: "orders", partitions }];
      const markers = [{ producerId: marker?.producerId ?? -1, topics }];
      request.reply(WRITE_TXN_MARKERS, { markers });
    }
  }
}

test("a transaction of which no coordinator knows is aborted in its producer's epoch", () => {
  const cluster = new Cluster();
  cluster.producers = [producer(7), producer(8, { coordinatorEpoch: -1 })];

  expect(cluster.abort()).toEqual(["7/3 2", "8/3 0"]);
  expect(cluster.world.requestsOf(WRITE_TXN_MARKERS)[0]?.markers).toEqual([
    {
      producerId: 7,
      producerEpoch: 3,
      transactionResult: false,
      topics: [{ name: "orders", partitionIndexes: [0] }],
      coordinatorEpoch: 2,
      transactionVersion: 0,
    },
  ]);
  expect(cluster.world.factsOf("hanging-transaction-found")).toMatchObject([
    { partition: "orders-0", producerId: 7, producerEpoch: 3, firstOffset: 107 },
    { producerId: 8, firstOffset: 108 },
  ]);
});

test("a transaction that is not old enough, or not open, is nobody's concern", () => {
  const cluster = new Cluster();
  cluster.producers = [producer(7), producer(8, { currentTxnStartOffset: -1, lastTimestamp: 0 })];

  expect(cluster.abort(1 * MINUTE)).toEqual([]);
  expect(cluster.world.requestsOf(LIST_TRANSACTIONS)).toEqual([]);
});

test("a transaction to which its coordinator will write a marker does not hang", () => {
  const cluster = new Cluster();
  cluster.producers = [producer(7), producer(8), producer(9)];
  cluster.transactionalIds = { 7: "coming", 8: "elsewhere", 9: "forgotten" };
  cluster.partitions = {
    coming: [{ topic: "orders", partitions: [1, 0] }],
    elsewhere: [
      { topic: "orders", partitions: [1] },
      { topic: "bills", partitions: [0] },
    ],
  };

  expect(cluster.abort()).toEqual(["8/3 2", "9/3 2"]);
});

test("the leader is looked for again, and any other refusal is final", () => {
  const cluster = new Cluster();
  cluster.producers = [producer(7)];
  cluster.refusals.push(ERRORS.NOT_LEADER_OR_FOLLOWER.code, ERRORS.NOT_ENOUGH_REPLICAS.code);

  expect(cluster.abort()).toEqual(["7/3 2", "7/3 2"]);
  expect(cluster.world.factsOf("request-failed")).toMatchObject([
    { api: "WriteTxnMarkers", broker: 1, error: "NOT_LEADER_OR_FOLLOWER", retried: true },
    { api: "WriteTxnMarkers", broker: 1, error: "NOT_ENOUGH_REPLICAS", retried: false },
  ]);
});
