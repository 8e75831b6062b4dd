import type { Instant } from "../../base/time.ts";
import { toMillis } from "../../base/time.ts";
import { CompressionRatio } from "../../kafka/client/compression-ratio.ts";
import { murmur2, toPositive } from "../../kafka/client/murmur2.ts";
import type { Payload } from "../../kafka/client/payload.ts";
import { ProducerSequences } from "../../kafka/client/producer-sequences.ts";
import { ABSENT, singleRecordBatchBound } from "../../kafka/client/record-size.ts";
import { StickyPartition } from "../../kafka/client/sticky-partition.ts";
import { TransactionalSequences } from "../../kafka/client/transactional-sequences.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { PartitionName } from "../../kafka/ids.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import { BrokerConnections } from "../client-metadata/broker-connections.ts";
import { ClientMetadata } from "../client-metadata/client-metadata.ts";
import type { TopicLeaders } from "../client-metadata/topic-leaders.ts";
import type { RpcClient } from "../rpc/rpc-client.ts";
import { ProducerIdKeeper } from "./producer-id.ts";
import type { KafkaProducerOptions, ProducerSettings } from "./producer-options.ts";
import { producerSettings } from "./producer-options.ts";
import { RecordAccumulator } from "./record-accumulator.ts";
import { Sender } from "./sender.ts";
import { TransactionManager } from "./transaction/transaction-manager.ts";

/** The timer kinds under which the owner wakes the parts of a producer. */
export interface ProducerTimers {
  readonly send: number;
  readonly expiry: number;
  readonly metadata: number;
  readonly producerId: number;
  readonly transaction: number;
}

/** Kafka's producer as its application uses it (`KafkaProducer`). */
export class KafkaProducer {
  readonly settings: ProducerSettings;
  readonly #world: World;
  readonly #client: string;
  readonly #topic: TopicLeaders;
  readonly #connections: BrokerConnections;
  readonly #accumulator: RecordAccumulator;
  readonly #sticky: StickyPartition;
  #refused = 0;
  readonly metadata: ClientMetadata;
  readonly sender: Sender;
  readonly producerId: ProducerIdKeeper | undefined;
  readonly transaction: TransactionManager | undefined;

  constructor(world: World, rpc: RpcClient, options: KafkaProducerOptions, timers: ProducerTimers) {
    const settings = producerSettings(options.configs);
    const isTransactional = settings.transactionalId !== "";
    const client = options.name;
    this.settings = settings;
    this.#world = world;
    this.#client = client;
    this.#connections = new BrokerConnections(
      world,
      rpc,
      "main",
      settings.reconnectBackoff,
      settings.reconnectBackoffMax,
    );
    this.metadata = new ClientMetadata(world, rpc, {
      client,
      topics: [options.topic],
      bootstrap: options.bootstrap,
      requestTimeout: settings.requestTimeout,
      backoff: settings.retryBackoff,
      backoffMax: settings.retryBackoffMax,
      maxAge: settings.metadataMaxAge,
      connections: this.#connections,
      timerKind: timers.metadata,
    });
    this.#topic = this.metadata.topic(options.topic);
    this.#sticky = new StickyPartition(settings.batchSize);
    this.#accumulator = new RecordAccumulator({
      topic: this.#topic,
      batchSize: settings.batchSize,
      compressor: {
        codec: settings.compression,
        level: settings.compressionLevel,
        ratio: new CompressionRatio(),
      },
      bufferMemory: settings.bufferMemory,
      deliveryTimeout: settings.deliveryTimeout,
      isIdempotent: options.idempotence,
      isTransactional,
    });
    const transactional = isTransactional ? new TransactionalSequences() : undefined;
    const sequences = transactional ?? (options.idempotence ? new ProducerSequences() : undefined);
    const parts = { world, rpc, client, metadata: this.metadata, connections: this.#connections };
    this.transaction =
      transactional === undefined
        ? undefined
        : new TransactionManager({
            ...parts,
            sequences: transactional,
            transactionalId: settings.transactionalId,
            transactionTimeoutMs: settings.transactionTimeoutMs,
            version: options.transactionVersion,
            requestTimeout: settings.requestTimeout,
            backoff: settings.retryBackoff,
            timerKind: timers.transaction,
          });
    this.sender = new Sender({
      ...parts,
      topic: this.#topic,
      settings,
      accumulator: this.#accumulator,
      sequences,
      transaction: this.transaction,
      sendTimer: timers.send,
      expiryTimer: timers.expiry,
    });
    this.producerId =
      sequences === undefined || transactional !== undefined
        ? undefined
        : new ProducerIdKeeper({
            ...parts,
            sequences,
            requestTimeout: settings.requestTimeout,
            backoff: settings.retryBackoff,
            backoffMax: settings.retryBackoffMax,
            timerKind: timers.producerId,
          });
  }

  /** Has the application been told how each of its sends ended? */
  get isIdle(): boolean {
    return this.#accumulator.oldest === undefined;
  }

  /** How many of its sends have not been acknowledged, and will not be. */
  get failures(): number {
    return this.#refused + this.sender.failures;
  }

  /**
   * Takes a record. False if the call would block, for want of metadata or memory: the application
   * is to try again after each thing that happens, and to `giveUp` after max.block.ms. `run` follows.
   */
  trySend(
    value: number,
    key: Uint8Array | undefined,
    payload: Payload | undefined,
    now: Instant,
  ): boolean {
    const topic = this.#topic;
    if (!topic.isKnown) {
      this.metadata.requestUpdate();
      return false;
    }
    const isKeyed = key !== undefined && !this.settings.ignoresKeys;
    const partition = isKeyed
      ? toPositive(murmur2(key)) % topic.partitions.length
      : this.#stickyPartition();
    const accumulator = this.#accumulator;
    const queue = accumulator.queue(partition);
    const bound = singleRecordBatchBound(key?.length ?? ABSENT, payload?.length ?? ABSENT);
    if (bound > this.settings.maxRequestSize || bound > this.settings.bufferMemory) {
      this.#noteSent(value, queue.name);
      this.#refuse(value, queue.name, ERRORS.MESSAGE_TOO_LARGE);
      return true;
    }
    const record = { timestamp: toMillis(now), key, value: payload };
    const bytes = accumulator.append(queue, record, value, bound, now);
    if (bytes < 0) return false;
    this.transaction?.addPartition(topic.name, partition);
    accumulator.isExhausted = false;
    if (!isKeyed) this.#sticky.produced(bytes, queue.last?.isFull ?? true);
    this.#noteSent(value, queue.name);
    return true;
  }

  /** The call has blocked for max.block.ms, or the producer is closed or fenced: the record never left. */
  giveUp(value: number, error: ErrorCode = ERRORS.REQUEST_TIMED_OUT): void {
    this.#accumulator.isExhausted = false;
    // Which partition it would have gone to was never said.
    this.#noteSent(value, "");
    this.#refuse(value, "", error);
  }

  /** No record will follow; what there is goes out without lingering. */
  close(): void {
    this.#accumulator.isClosed = true;
  }

  /** Does all that can be done now. To be called after whatever happened. */
  run(now: Instant): void {
    if (this.transaction === undefined || !this.#runTransaction(this.transaction, now)) {
      this.sender.run(now);
    }
    this.producerId?.run(now);
    this.metadata.run(now);
  }

  disconnected(address: NodeAddress, now: Instant): void {
    this.#connections.disconnected(address, now);
    this.transaction?.disconnected(address);
    this.metadata.disconnected(now);
  }

  /** True while its requests come before records (`Sender.maybeSendAndPollTransactionalRequest`). */
  #runTransaction(transaction: TransactionManager, now: Instant): boolean {
    this.#accumulator.isCompleting = transaction.isCompleting;
    const { state, lastError } = transaction;
    if (state === "FATAL_ERROR") {
      this.sender.abortAll(lastError);
      return true;
    }
    if (state === "ABORTABLE_ERROR") this.sender.abortUnsent(lastError);
    // In Kafka a TransactionAbortedException: they were never sent.
    else if (state === "ABORTING_TRANSACTION") {
      this.sender.abortUnsent(ERRORS.OPERATION_NOT_ATTEMPTED);
    }
    return transaction.run(now, !this.isIdle);
  }

  /** The partition of records without a key: among those that have a leader, if any has. */
  #stickyPartition(): number {
    const sticky = this.#sticky;
    if (sticky.current >= 0) return sticky.current;
    const { partitions } = this.#topic;
    const led = partitions.filter((leader) => leader.isKnown);
    const among = led.length > 0 ? led : partitions;
    sticky.use(among[this.#world.random.below(among.length)]?.partition ?? 0);
    return sticky.current;
  }

  #noteSent(value: number, partition: PartitionName): void {
    this.#world.facts.note({ kind: "record-sent", client: this.#client, partition, value });
  }

  #refuse(value: number, partition: PartitionName, error: ErrorCode): void {
    this.#refused++;
    // A transaction whose send has failed cannot be committed.
    if (this.transaction?.state === "IN_TRANSACTION") this.transaction.batchFailed(error);
    this.#world.facts.note({
      kind: "send-ended",
      client: this.#client,
      partition,
      outcome: "failed",
      values: [value],
      baseOffset: -1,
      acks: this.settings.acks,
      error: error.name,
      attempts: 0,
    });
  }
}
