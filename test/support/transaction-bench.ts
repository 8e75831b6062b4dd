import { MILLISECOND } from "../../src/base/time.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import { PRODUCER_CONFIGS } from "../../src/kafka/config/producer-configs.ts";
import type { ErrorName } from "../../src/kafka/error-code.ts";
import { ERRORS } from "../../src/kafka/error-code.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { ADD_PARTITIONS_TO_TXN_V3 } from "../../src/kafka/protocol/add-partitions-to-txn.ts";
import {
  ADD_OFFSETS_TO_TXN,
  END_TXN,
  FIND_COORDINATOR,
  INIT_PRODUCER_ID,
  PRODUCE,
  TXN_OFFSET_COMMIT,
} from "../../src/kafka/protocol/apis.ts";
import { END_TXN_V4 } from "../../src/kafka/protocol/end-txn.ts";
import { KafkaProducer } from "../../src/nodes/producer/kafka-producer.ts";
import { Producer } from "../../src/nodes/producer/producer.ts";
import type { ProducerOptions } from "../../src/nodes/producer/producer-options.ts";
import type { TransactionManager } from "../../src/nodes/producer/transaction/transaction-manager.ts";
import { RpcClient } from "../../src/nodes/rpc/rpc-client.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../src/ports/network.ts";
import type { Node, World } from "../../src/ports/node.ts";
import { addressOf, FakeCluster, TOPIC, TOPIC_ID } from "./fake-cluster.ts";
import type { FakeRequest } from "./fake-world.ts";
import { FakeWorld } from "./fake-world.ts";

/** What is answered: an error, or nothing at all. */
export type Reply = ErrorName | "silence" | "disconnect";

/** Brokers that answer a transactional producer as a test says; broker 1 coordinates, and leads orders-0. */
export class TransactionBench {
  readonly world = new FakeWorld();
  /** What was asked, in order: `EndTxn commit epoch 0 v5`. */
  readonly asked: string[] = [];
  readonly batches: RecordBatch[] = [];
  /** Answers by the name of the API, in turn; then all is well. */
  readonly replies = new Map<string, Reply[]>();
  coordinator = 1;
  readonly version: 1 | 2;
  #epoch = 0;

  constructor(version: 1 | 2 = 2) {
    this.version = version;
    const cluster = new FakeCluster(this.world);
    const { onRequest } = this.world;
    this.world.onRequest = (request) => {
      if (!this.#answer(request)) onRequest(request);
    };
    cluster.onRequest = () => {};
  }

  options(
    configs: Record<string, unknown> = {},
    options: Partial<ProducerOptions> = {},
  ): ProducerOptions {
    return {
      name: "p1",
      address: this.world.self,
      topic: TOPIC,
      arrival: 10 * MILLISECOND,
      records: 4,
      keys: { kind: "none" },
      recordSize: 100,
      tombstones: undefined,
      transaction: { records: 2, time: undefined, abort: undefined },
      transactionVersion: this.version,
      configs: resolveConfigs(PRODUCER_CONFIGS, {
        "linger.ms": 0,
        "transactional.id": "app",
        ...configs,
      }),
      idempotence: true,
      bootstrap: [addressOf(1), addressOf(2)],
      ...options,
    };
  }

  /** An application that sends two records a transaction, four in all. */
  produce(configs: Record<string, unknown> = {}, options: Partial<ProducerOptions> = {}): Producer {
    const producer = new Producer(this.world, this.options(configs, options));
    this.world.begin(producer);
    return producer;
  }

  /** How the application was told that its transactions ended. */
  ends(): string[] {
    return this.world
      .factsOf("transaction-ended")
      .map(({ outcome, error }) => (error === "NONE" ? outcome : `${outcome} ${error}`));
  }

  sends(): string[] {
    return this.world
      .factsOf("send-ended")
      .flatMap(({ values, outcome }) => values.map((value) => `${value} ${outcome}`));
  }

  #answer(request: FakeRequest): boolean {
    const name = this.#note(request);
    if (name === undefined) return false;
    const reply = this.replies.get(name)?.shift() ?? "NONE";
    if (reply === "disconnect") this.world.disconnect(request.to);
    else if (reply !== "silence") this.#reply(request, ERRORS[reply].code);
    return true;
  }

  #note(request: FakeRequest): string | undefined {
    const { apiVersion } = request.frame;
    const at = request.to === addressOf(this.coordinator) ? "" : ` at ${request.to - 10}`;
    const add = (name: string, text: string): string => {
      this.asked.push(`${name}${text}${at}`);
      return name;
    };
    if (request.is(FIND_COORDINATOR)) {
      this.asked.push("FindCoordinator");
      return "FindCoordinator";
    }
    if (request.is(INIT_PRODUCER_ID)) {
      const { producerEpoch } = request.body(INIT_PRODUCER_ID);
      return add("InitProducerId", producerEpoch < 0 ? "" : ` epoch ${producerEpoch}`);
    }
    if (request.is(ADD_PARTITIONS_TO_TXN_V3)) return add("AddPartitionsToTxn", ` v${apiVersion}`);
    if (request.is(ADD_OFFSETS_TO_TXN)) return add("AddOffsetsToTxn", "");
    if (request.is(TXN_OFFSET_COMMIT)) return add("TxnOffsetCommit", "");
    if (request.is(END_TXN)) {
      const { committed, producerEpoch } = request.body(END_TXN);
      const how = committed ? "commit" : "abort";
      return add("EndTxn", ` ${how} epoch ${producerEpoch} v${apiVersion}`);
    }
    if (!request.is(PRODUCE)) return undefined;
    for (const { records } of request.body(PRODUCE).topicData[0]?.partitionData ?? []) {
      this.batches.push(records);
      this.asked.push(`Produce ${records.recordCount} at ${records.baseSequence}`);
    }
    return "Produce";
  }

  #reply(request: FakeRequest, errorCode: number): void {
    const throttleTimeMs = 0;
    const ok = errorCode === 0;
    if (request.is(FIND_COORDINATOR)) {
      const { coordinatorKeys } = request.body(FIND_COORDINATOR);
      const [key = ""] = coordinatorKeys;
      const found = { key, nodeId: this.coordinator, host: "", port: addressOf(this.coordinator) };
      const coordinators = [{ ...found, errorCode, errorMessage: undefined }];
      request.reply(FIND_COORDINATOR, { throttleTimeMs, coordinators });
    } else if (request.is(INIT_PRODUCER_ID)) {
      const { producerEpoch } = request.body(INIT_PRODUCER_ID);
      if (ok && producerEpoch >= 0) this.#epoch++;
      const identity = { producerId: 7, producerEpoch: this.#epoch };
      request.reply(INIT_PRODUCER_ID, { throttleTimeMs, errorCode, ...identity });
    } else if (request.is(ADD_PARTITIONS_TO_TXN_V3)) {
      const { transactions } = request.body(ADD_PARTITIONS_TO_TXN_V3);
      const resultsByTransaction = transactions.map(({ transactionalId, topics }) => ({
        transactionalId,
        topicResults: topics.map(({ name, partitions }) => ({
          name,
          resultsByPartition: partitions.map((partitionIndex) => ({
            partitionIndex,
            partitionErrorCode: errorCode,
          })),
        })),
      }));
      const body = { throttleTimeMs, errorCode: 0, resultsByTransaction };
      request.reply(ADD_PARTITIONS_TO_TXN_V3, body);
    } else if (request.is(ADD_OFFSETS_TO_TXN)) {
      request.reply(ADD_OFFSETS_TO_TXN, { throttleTimeMs, errorCode });
    } else if (request.is(TXN_OFFSET_COMMIT)) {
      const topics = request.body(TXN_OFFSET_COMMIT).topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode })),
      }));
      request.reply(TXN_OFFSET_COMMIT, { throttleTimeMs, topics });
    } else if (request.is(END_TXN)) {
      if (ok && this.version === 2) this.#epoch++;
      const isTold = ok && this.version === 2;
      request.reply(this.version === 2 ? END_TXN : END_TXN_V4, {
        throttleTimeMs,
        errorCode,
        producerId: isTold ? 7 : -1,
        producerEpoch: isTold ? this.#epoch : -1,
      });
    } else this.#replyToProduce(request, errorCode);
  }

  #replyToProduce(request: FakeRequest, errorCode: number): void {
    request.reply(PRODUCE, {
      throttleTimeMs: 0,
      responses: [
        {
          topicId: TOPIC_ID,
          partitionResponses: [
            {
              index: 0,
              errorCode,
              baseOffset: errorCode === 0 ? 0 : -1,
              logAppendTimeMs: -1,
              logStartOffset: 0,
              currentLeader: undefined,
            },
          ],
        },
      ],
    });
  }
}

/** A producer without an application: the test calls it. */
export class BareProducer implements Node {
  readonly client: KafkaProducer;
  readonly #rpc: RpcClient;
  readonly #world: World;

  constructor(world: World, options: ProducerOptions) {
    this.#world = world;
    this.#rpc = new RpcClient(world, 0);
    const timers = { send: 1, expiry: 2, metadata: 3, producerId: 4, transaction: 5 };
    this.client = new KafkaProducer(world, this.#rpc, options, timers);
  }

  get transaction(): TransactionManager {
    const { transaction } = this.client;
    if (transaction === undefined) throw new Error("it has no transactional.id");
    return transaction;
  }

  run(): void {
    this.client.run(this.#world.clock.now());
  }

  onStart(): void {
    this.transaction.initTransactions();
    this.run();
  }

  onTimer(kind: number): void {
    if (kind === 0) this.#rpc.onTimer();
    else if (kind === 1) this.client.sender.fired();
    else if (kind === 3) this.client.metadata.fired();
    else if (kind === 5) this.transaction.fired();
    this.run();
  }

  onConnected(connection: ConnectionId): void {
    this.#rpc.onConnected(connection);
    this.run();
  }

  onFrame(connection: ConnectionId, _from: NodeAddress, frame: Frame): void {
    this.#rpc.onFrame(connection, frame);
    this.run();
  }

  onClosed(connection: ConnectionId, from: NodeAddress): void {
    this.client.disconnected(from, this.#world.clock.now());
    this.#rpc.onClosed(connection);
    this.run();
  }

  onSynced(): void {}

  onShutdown(): void {}
}
