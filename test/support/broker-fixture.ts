import { fromMillis } from "../../src/base/time.ts";
import type { BrokerConfigs } from "../../src/kafka/config/broker-configs.ts";
import { BROKER_CONFIGS } from "../../src/kafka/config/broker-configs.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import { MetadataImage } from "../../src/kafka/metadata/image.ts";
import type { PartitionRegistration } from "../../src/kafka/metadata/partition-registration.ts";
import {
  DELETE_RECORDS,
  DESCRIBE_PRODUCERS,
  FETCH,
  LIST_OFFSETS,
  PRODUCE,
  WRITE_TXN_MARKERS,
} from "../../src/kafka/protocol/apis.ts";
import type {
  DeleteRecordsPartitionResult,
  DeleteRecordsRequest,
} from "../../src/kafka/protocol/delete-records.ts";
import type {
  DescribeProducersPartitionResult,
  DescribeProducersRequest,
} from "../../src/kafka/protocol/describe-transactions.ts";
import type {
  FetchPartition,
  FetchPartitionResponse,
  FetchRequest,
} from "../../src/kafka/protocol/fetch.ts";
import type { ListOffsetsRequest } from "../../src/kafka/protocol/list-offsets.ts";
import type { ProducePartitionResponse, ProduceRequest } from "../../src/kafka/protocol/produce.ts";
import type {
  WritableTxnMarker,
  WritableTxnMarkerPartitionResult,
  WriteTxnMarkersRequest,
} from "../../src/kafka/protocol/write-txn-markers.ts";
import type { FeatureLevels, ProtocolSwitches } from "../../src/kafka/protocol-switches.ts";
import { PRESENT_FEATURES, PRESENT_RULES } from "../../src/kafka/protocol-switches.ts";
import type { ReplicationRules } from "../../src/kafka/replication/replication-rules.ts";
import { replicationRules } from "../../src/kafka/replication/replication-rules.ts";
import type { BrokerContext } from "../../src/nodes/broker/broker-context.ts";
import { BROKER_TIMER } from "../../src/nodes/broker/broker-timers.ts";
import { ControllerChannel } from "../../src/nodes/broker/controller-channel.ts";
import { CoordinatedPartition } from "../../src/nodes/broker/coordinator/coordinated-partition.ts";
import { CoordinatorLog } from "../../src/nodes/broker/coordinator/coordinator-log.ts";
import { DelayedDeleteRecords } from "../../src/nodes/broker/delayed-delete-records.ts";
import { DeleteRecordsHandler } from "../../src/nodes/broker/delete-records-handler.ts";
import { answerDescribeProducers } from "../../src/nodes/broker/describe-producers.ts";
import { FetchHandler } from "../../src/nodes/broker/fetch-handler.ts";
import { IsrChannel } from "../../src/nodes/broker/isr-channel.ts";
import { OffsetsHandler } from "../../src/nodes/broker/offsets-handler.ts";
import { Partition } from "../../src/nodes/broker/partition.ts";
import { ProduceHandler } from "../../src/nodes/broker/produce-handler.ts";
import { ProducePurgatory } from "../../src/nodes/broker/produce-purgatory.ts";
import { ReplicaFetcher } from "../../src/nodes/broker/replica-fetcher.ts";
import { TransactionVerifier } from "../../src/nodes/broker/transaction-verifier.ts";
import type { MarkerWriter } from "../../src/nodes/broker/write-txn-markers-handler.ts";
import { WriteTxnMarkersHandler } from "../../src/nodes/broker/write-txn-markers-handler.ts";
import { RpcClient } from "../../src/nodes/rpc/rpc-client.ts";
import type { IncomingRequest } from "../../src/nodes/rpc/rpc-server.ts";
import { RpcServer } from "../../src/nodes/rpc/rpc-server.ts";
import type { DiskError } from "../../src/ports/disk.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../src/ports/network.ts";
import type { Node } from "../../src/ports/node.ts";
import { DEFAULT_LOG_CONFIG } from "../../src/storage/log-config.ts";
import { PartitionLog } from "../../src/storage/partition-log.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import { ASKER, AskedWorld } from "./asked-world.ts";

/** The broker under test. */
export const SELF = 1;
/** The address of the active controller. */
export const CONTROLLER: NodeAddress = 50;
export const TOPIC_ID = "orders-topic-id-000000";

/** The address of the broker with this id. */
export function addressOf(broker: number): NodeAddress {
  return broker + 10;
}

/** The broker epoch of a broker's only registration so far. */
export function epochOf(broker: number): number {
  return broker + 100;
}

/** orders-0 as the metadata have it: replicas and ISR 1, 2, 3, leader epoch 5, unless told otherwise. */
export function registration(more: Partial<PartitionRegistration> = {}): PartitionRegistration {
  return {
    replicas: [1, 2, 3],
    directories: [],
    isr: [1, 2, 3],
    elr: [],
    lastKnownElr: [],
    removingReplicas: [],
    addingReplicas: [],
    leader: SELF,
    leaderRecoveryState: 0,
    leaderEpoch: 5,
    partitionEpoch: 7,
    ...more,
  };
}

export interface BrokerFixtureOptions {
  readonly configs?: Readonly<Record<string, unknown>>;
  readonly switches?: Partial<ProtocolSwitches>;
  readonly features?: Partial<FeatureLevels>;
  /** Who writes the markers of `__consumer_offsets`. */
  readonly offsetsMarkers?: MarkerWriter;
}

/**
 * The parts of broker 1 that replicate, without a quorum: the test plays metadata, controller, other
 * brokers and clients. Brokers 1, 2 and 3 are registered and unfenced.
 */
export class BrokerFixture implements Node, BrokerContext {
  readonly world: AskedWorld = new AskedWorld();
  readonly facts = this.world.facts;
  readonly brokerId = SELF;
  readonly clusterId = "cluster";
  readonly configs: BrokerConfigs;
  readonly features: FeatureLevels;
  readonly rules: ReplicationRules;
  readonly image = new MetadataImage();
  readonly rpc: RpcClient;
  readonly controller: ControllerChannel;
  readonly isrChannel: IsrChannel;
  readonly maxLag: number;
  readonly isServing = true;
  brokerEpoch = epochOf(SELF);
  /** Where the active controller is, as the quorum would know. */
  leader: NodeAddress | undefined = CONTROLLER;
  /** Partitions whose disk has failed. */
  readonly failed: Partition[] = [];
  readonly purgatory: ProducePurgatory;
  readonly verifier: TransactionVerifier;
  readonly produces: ProduceHandler;
  readonly markers: WriteTxnMarkersHandler;
  readonly offsets: OffsetsHandler;
  readonly fetches: FetchHandler;
  readonly deletions: DeleteRecordsHandler;
  readonly #partitions: Partition[] = [];
  readonly #server: RpcServer;
  readonly #tickets = new TicketBook();

  constructor(options: BrokerFixtureOptions = {}) {
    const { world } = this;
    // Brokers' clocks show a date; to them 0 is long ago.
    world.now = 1_767_225_600_000_000;
    this.configs = resolveConfigs(BROKER_CONFIGS, options.configs ?? {});
    this.features = { ...PRESENT_FEATURES, ...options.features };
    this.rules = replicationRules({ ...PRESENT_RULES, ...options.switches });
    this.maxLag = fromMillis(this.configs["replica.lag.time.max.ms"]);
    this.rpc = new RpcClient(world, BROKER_TIMER.rpcTimeout);
    this.controller = new ControllerChannel(
      world,
      this.rpc,
      "controller",
      () => this.leader,
      30_000,
    );
    this.isrChannel = new IsrChannel(this);
    this.purgatory = new ProducePurgatory(this);
    this.verifier = new TransactionVerifier(this);
    this.markers = new WriteTxnMarkersHandler(this, this.purgatory, options.offsetsMarkers);
    this.offsets = new OffsetsHandler(this);
    this.produces = new ProduceHandler(this, this.purgatory, this.verifier);
    this.fetches = new FetchHandler(this);
    this.deletions = new DeleteRecordsHandler(this);
    this.#server = new RpcServer(world, { onRequest: (request) => this.#onRequest(request) });
    for (const broker of [1, 2, 3]) this.register(broker, epochOf(broker));
    this.#replay({ type: "TopicRecord", name: "orders", topicId: TOPIC_ID });
    world.begin(this);
  }

  // What the metadata say.

  /** A broker registers, with a new epoch if it did before, and is unfenced. */
  register(brokerId: number, brokerEpoch: number, fenced = false): void {
    this.#replay({
      type: "RegisterBrokerRecord",
      brokerId,
      incarnationId: "AAAAAAAAAAAAAAAAAAAAAA",
      brokerEpoch,
      endPoints: [{ name: "PLAINTEXT", host: "", port: addressOf(brokerId), securityProtocol: 0 }],
      features: [],
      rack: undefined,
      fenced,
      inControlledShutdown: false,
      logDirs: [],
    });
  }

  /** The broker begins a controlled shutdown. */
  retire(brokerId: number): void {
    this.#replay({
      type: "BrokerRegistrationChangeRecord",
      brokerId,
      brokerEpoch: this.image.brokers.get(brokerId)?.brokerEpoch ?? -1,
      fenced: 0,
      inControlledShutdown: 1,
    });
  }

  #replay(record: Parameters<MetadataImage["replay"]>[0]): void {
    this.image.replay(record, this.image.lastOffset + 1);
  }

  /** orders-0 on the disk of this broker, with these leader epochs of its records, one batch each. */
  addPartition(epochs: readonly number[] = [], index = 0): Partition {
    const log = PartitionLog.open({
      disk: this.world.disk,
      clock: this.world.clock,
      tickets: this.#tickets,
      directory: `data/orders-${index}`,
      topic: "orders",
      partition: index,
      topicId: TOPIC_ID,
      config: DEFAULT_LOG_CONFIG,
      recoveryPoint: 0,
      logStartOffset: 0,
      cleanShutdown: true,
      verifiesTransactions: this.configs["transaction.partition.verification.enable"],
    });
    for (const epoch of epochs) log.appendAsLeader([this.batch()], epoch);
    const partition = new Partition(this, "orders", index, TOPIC_ID, log, 0);
    this.#partitions[index] = partition;
    return partition;
  }

  /** orders-0, led by this broker in `leaderEpoch` with an ISR of all three, unless told otherwise. */
  lead(more: Partial<PartitionRegistration> = {}, minInsyncReplicas = 1, index = 0): Partition {
    const partition = this.#partitions[index] ?? this.addPartition([], index);
    partition.makeLeader(registration({ leader: SELF, ...more }), minInsyncReplicas);
    return partition;
  }

  follow(more: Partial<PartitionRegistration> = {}, index = 0): Partition {
    const partition = this.#partitions[index] ?? this.addPartition([], index);
    partition.makeFollower(registration({ leader: 2, ...more }), 1);
    return partition;
  }

  // What others ask.

  /** A client's batch of records, of 20 bytes each. */
  batch(count = 1, options: Parameters<typeof buildBatch>[1] = {}): RecordBatch {
    const timestamp = this.world.now / 1000;
    const records = Array.from({ length: count }, () => ({ timestamp, value: new Uint8Array(20) }));
    return buildBatch(records, options);
  }

  /** A client produces to a partition of orders, by default 0, on a connection, by default a new one; returns that. */
  produce(
    records: RecordBatch,
    options: {
      acks?: number;
      timeoutMs?: number;
      on?: ConnectionId;
      index?: number;
      transactionalId?: string;
    } = {},
  ): ConnectionId {
    const { acks = -1, timeoutMs = 30_000, on = this.world.accept(), index = 0 } = options;
    const body: ProduceRequest = {
      transactionalId: options.transactionalId,
      acks,
      timeoutMs,
      topicData: [{ topicId: TOPIC_ID, partitionData: [{ index, records }] }],
    };
    this.#server.onFrame(on, ASKER, this.world.request(PRODUCE, body));
    return on;
  }

  /** A producer's request with a batch for each of the first partitions of orders; returns the connection. */
  produceTo(batches: readonly RecordBatch[], transactionalId: string): ConnectionId {
    const on = this.world.accept();
    const partitionData = batches.map((records, index) => ({ index, records }));
    const topicData = [{ topicId: TOPIC_ID, partitionData }];
    const body: ProduceRequest = { transactionalId, acks: -1, timeoutMs: 30_000, topicData };
    this.#server.onFrame(on, ASKER, this.world.request(PRODUCE, body));
    return on;
  }

  /** What was answered to the produce on this connection; undefined while it is parked. */
  produced(on: ConnectionId): ProducePartitionResponse | undefined {
    return this.world.answerTo(PRODUCE, on)?.responses[0]?.partitionResponses[0];
  }

  /** A coordinator, or an administrator, has a marker written into orders-0; returns the connection. */
  writeMarker(...parts: readonly Partial<WritableTxnMarker>[]): ConnectionId {
    const on = this.world.accept();
    const markers = parts.map(
      (part): WritableTxnMarker => ({
        producerId: 7,
        producerEpoch: 0,
        transactionResult: true,
        topics: [{ name: "orders", partitionIndexes: [0] }],
        coordinatorEpoch: 0,
        transactionVersion: this.features["transaction.version"],
        ...part,
      }),
    );
    this.#server.onFrame(on, ASKER, this.world.request(WRITE_TXN_MARKERS, { markers }));
    return on;
  }

  /** What was answered to the marker on this connection, partition by partition; undefined while it is parked. */
  markerWritten(on: ConnectionId): readonly WritableTxnMarkerPartitionResult[] | undefined {
    return this.world.answerTo(WRITE_TXN_MARKERS, on)?.markers[0]?.topics[0]?.partitions;
  }

  /** Where orders-0 ends for a reader of that isolation level (1: committed). */
  latestOffset(isolationLevel: number): number | undefined {
    const on = this.world.accept();
    const partitions = [{ partitionIndex: 0, currentLeaderEpoch: -1, timestamp: -1 }];
    const topics = [{ name: "orders", partitions }];
    const body = { replicaId: -1, isolationLevel, topics, timeoutMs: 30_000 };
    this.#server.onFrame(on, ASKER, this.world.request(LIST_OFFSETS, body));
    return this.world.answerTo(LIST_OFFSETS, on)?.topics[0]?.partitions[0]?.offset;
  }

  /** A client asks for the records of orders-0 below `offset` to be deleted; returns the connection. */
  deleteRecords(offset: number, timeoutMs = 30_000): ConnectionId {
    const on = this.world.accept();
    const topics = [{ name: "orders", partitions: [{ partitionIndex: 0, offset }] }];
    this.#server.onFrame(on, ASKER, this.world.request(DELETE_RECORDS, { topics, timeoutMs }));
    return on;
  }

  /** What was answered to the DeleteRecords on this connection; undefined while it is parked. */
  deleted(on: ConnectionId): DeleteRecordsPartitionResult | undefined {
    return this.world.answerTo(DELETE_RECORDS, on)?.topics[0]?.partitions[0];
  }

  /** What an administrator is told of the producers of orders-0, 1 and 2. */
  describeProducers(): readonly DescribeProducersPartitionResult[] | undefined {
    const on = this.world.accept();
    const body = { topics: [{ name: "orders", partitionIndexes: [0, 1, 2] }] };
    this.#server.onFrame(on, ASKER, this.world.request(DESCRIBE_PRODUCERS, body));
    return this.world.answerTo(DESCRIBE_PRODUCERS, on)?.topics[0]?.partitions;
  }

  /** Somebody fetches from orders-0, a follower if it names its id; returns the connection. */
  fetch(
    from: Partial<FetchPartition> & { fetchOffset: number },
    options: Partial<FetchRequest> & { on?: ConnectionId } = {},
  ): ConnectionId {
    const { on = this.world.accept(), ...more } = options;
    const replicaId = more.replicaId ?? -1;
    const body: FetchRequest = {
      clusterId: undefined,
      replicaId,
      replicaEpoch: replicaId < 0 ? -1 : epochOf(replicaId),
      maxWaitMs: 500,
      minBytes: 1,
      maxBytes: 1_000_000,
      isolationLevel: 0,
      sessionId: 0,
      sessionEpoch: -1,
      topics: [
        {
          topicId: TOPIC_ID,
          partitions: [
            {
              partition: 0,
              currentLeaderEpoch: -1,
              lastFetchedEpoch: -1,
              logStartOffset: 0,
              partitionMaxBytes: 1_000_000,
              highWatermark: -1,
              ...from,
            },
          ],
        },
      ],
      forgottenTopicsData: [],
      ...more,
    };
    this.#server.onFrame(on, ASKER, this.world.request(FETCH, body));
    return on;
  }

  /** What was answered to the fetch on this connection; undefined while it is parked. */
  fetched(on: ConnectionId): FetchPartitionResponse | undefined {
    return this.world.answerTo(FETCH, on)?.responses[0]?.partitions[0];
  }

  /** The asker of a connection goes away. */
  hangUp(on: ConnectionId): void {
    this.#server.onClosed(on);
  }

  #onRequest(request: IncomingRequest): void {
    if (request.apiKey === PRODUCE.key)
      this.produces.handle(request, request.body as ProduceRequest);
    else if (request.apiKey === DELETE_RECORDS.key)
      this.deletions.handle(request, request.body as DeleteRecordsRequest);
    else if (request.apiKey === WRITE_TXN_MARKERS.key)
      this.markers.handle(request, request.body as WriteTxnMarkersRequest);
    else if (request.apiKey === DESCRIBE_PRODUCERS.key)
      answerDescribeProducers(this, request, request.body as DescribeProducersRequest);
    else if (request.apiKey === LIST_OFFSETS.key)
      this.offsets.listOffsets(request, request.body as ListOffsetsRequest);
    else this.fetches.handle(request, request.body as FetchRequest);
  }

  // What the parts ask of the whole.

  now(): number {
    return this.world.now;
  }

  partition(topicId: string, index: number): Partition | undefined {
    return topicId === TOPIC_ID ? this.#partitions[index] : undefined;
  }

  partitions(): Iterable<Partition> {
    return this.#partitions.values();
  }

  addressOf(broker: number): NodeAddress | undefined {
    return this.image.brokers.get(broker)?.address;
  }

  diskFailed({ path }: DiskError): void {
    for (const partition of this.#partitions) {
      if (partition.offline || !path.startsWith(`${partition.log.directory}/`)) continue;
      partition.offline = true;
      this.failed.push(partition);
    }
  }

  // The process.

  onStart(): void {}

  onShutdown(): void {}

  onSynced(ticket: number, ok: boolean): void {
    this.#tickets.synced(ticket, ok);
  }

  onConnected(connection: ConnectionId): void {
    this.rpc.onConnected(connection);
  }

  onFrame(connection: ConnectionId, from: NodeAddress, frame: Frame): void {
    if (frame.isResponse) this.rpc.onFrame(connection, frame);
    else this.#server.onFrame(connection, from, frame);
  }

  onClosed(connection: ConnectionId): void {
    if (this.rpc.owns(connection)) this.rpc.onClosed(connection);
    else this.#server.onClosed(connection);
  }

  onTimer(kind: number, payload: unknown): void {
    if (kind === BROKER_TIMER.rpcTimeout) this.rpc.onTimer();
    else if (kind === BROKER_TIMER.alterPartitionRetry) this.isrChannel.retry();
    else if (kind === BROKER_TIMER.delayedProduce) this.purgatory.onTimer();
    else if (kind === BROKER_TIMER.transactionVerification) this.verifier.onTimer(payload);
    else if (kind === BROKER_TIMER.delayedFetch) this.fetches.onTimer();
    else if (payload instanceof CoordinatorLog) payload.onTimer();
    else if (payload instanceof CoordinatedPartition) payload.load();
    else if (payload instanceof DelayedDeleteRecords) payload.expire();
    else if (payload instanceof ReplicaFetcher) payload.onTimer();
    else if (payload instanceof ControllerChannel) payload.retry();
    else throw new Error(`no timer of kind ${kind}`);
  }
}
