import { fail } from "../../base/invariant.ts";
import type { Duration, Instant } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import type { BrokerConfigs } from "../../kafka/config/broker-configs.ts";
import { logDirectories } from "../../kafka/config/log-directories.ts";
import type { BrokerEpoch, BrokerId, TopicId } from "../../kafka/ids.ts";
import { MetadataImage } from "../../kafka/metadata/image.ts";
import type { MetadataRecord } from "../../kafka/metadata/records.ts";
import type { AddPartitionsToTxnRequest } from "../../kafka/protocol/add-partitions-to-txn.ts";
import type { Api } from "../../kafka/protocol/api.ts";
import {
  ADD_OFFSETS_TO_TXN,
  ADD_PARTITIONS_TO_TXN,
  CONSUMER_GROUP_HEARTBEAT,
  CREATE_PARTITIONS,
  CREATE_TOPICS,
  DELETE_RECORDS,
  DESCRIBE_PRODUCERS,
  DESCRIBE_TRANSACTIONS,
  END_TXN,
  FETCH,
  FIND_COORDINATOR,
  HEARTBEAT,
  INIT_PRODUCER_ID,
  JOIN_GROUP,
  LEAVE_GROUP,
  LIST_OFFSETS,
  LIST_TRANSACTIONS,
  METADATA,
  OFFSET_COMMIT,
  OFFSET_FETCH,
  OFFSET_FOR_LEADER_EPOCH,
  PRODUCE,
  SYNC_GROUP,
  TXN_OFFSET_COMMIT,
  WRITE_TXN_MARKERS,
} from "../../kafka/protocol/apis.ts";
import type { ConsumerGroupHeartbeatRequest } from "../../kafka/protocol/consumer-group-heartbeat.ts";
import type { CreatePartitionsRequest } from "../../kafka/protocol/create-partitions.ts";
import type { CreateTopicsRequest } from "../../kafka/protocol/create-topics.ts";
import type { DeleteRecordsRequest } from "../../kafka/protocol/delete-records.ts";
import type {
  DescribeProducersRequest,
  DescribeTransactionsRequest,
  ListTransactionsRequest,
} from "../../kafka/protocol/describe-transactions.ts";
import type { AddOffsetsToTxnRequest, EndTxnRequest } from "../../kafka/protocol/end-txn.ts";
import type { FetchRequest } from "../../kafka/protocol/fetch.ts";
import type { FindCoordinatorRequest } from "../../kafka/protocol/find-coordinator.ts";
import type {
  HeartbeatRequest,
  JoinGroupRequest,
  LeaveGroupRequest,
  SyncGroupRequest,
} from "../../kafka/protocol/group-membership.ts";
import type {
  OffsetCommitRequest,
  OffsetFetchRequest,
  TxnOffsetCommitRequest,
} from "../../kafka/protocol/group-offsets.ts";
import type { InitProducerIdRequest } from "../../kafka/protocol/init-producer-id.ts";
import type { ListOffsetsRequest } from "../../kafka/protocol/list-offsets.ts";
import type { MetadataRequest } from "../../kafka/protocol/metadata.ts";
import type { OffsetForLeaderEpochRequest } from "../../kafka/protocol/offset-for-leader-epoch.ts";
import type { ProduceRequest } from "../../kafka/protocol/produce.ts";
import type { WriteTxnMarkersRequest } from "../../kafka/protocol/write-txn-markers.ts";
import type { FeatureLevels } from "../../kafka/protocol-switches.ts";
import type { ReplicationRules } from "../../kafka/replication/replication-rules.ts";
import { byUuid, randomUuid } from "../../kafka/uuid.ts";
import { DiskError } from "../../ports/disk.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { Node, World } from "../../ports/node.ts";
import { DelayedDeletions } from "../../storage/delayed-deletion.ts";
import { LogManager } from "../../storage/log-manager.ts";
import type { PartitionLog } from "../../storage/partition-log.ts";
import { RefusedStart } from "../../storage/refused-start.ts";
import { TicketBook } from "../../storage/ticket-book.ts";
import type { FactSink } from "../../trace/fact.ts";
import { metadataLogDirectory, openMetadataLog } from "../quorum/metadata-log.ts";
import type { QuorumListener, QuorumVoter } from "../quorum/quorum-client.ts";
import { QuorumClient } from "../quorum/quorum-client.ts";
import { RpcClient } from "../rpc/rpc-client.ts";
import type { IncomingRequest, RequestHandler } from "../rpc/rpc-server.ts";
import { RpcServer } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import { Compaction } from "./compaction.ts";
import { ControllerChannel } from "./controller-channel.ts";
import { CoordinatedPartition } from "./coordinator/coordinated-partition.ts";
import { CoordinatorLog } from "./coordinator/coordinator-log.ts";
import { FindCoordinatorHandler } from "./coordinator/find-coordinator-handler.ts";
import { DelayedDeleteRecords } from "./delayed-delete-records.ts";
import { DeleteRecordsHandler } from "./delete-records-handler.ts";
import { answerDescribeProducers } from "./describe-producers.ts";
import { DirectoryAssignments } from "./directory-assignments.ts";
import { FetchHandler } from "./fetch-handler.ts";
import { GroupCoordinator } from "./group-coordinator/group-coordinator.ts";
import { RunningGroupTimer } from "./group-coordinator/group-shard.ts";
import { OffsetRequests } from "./group-coordinator/offset-requests.ts";
import { IsrChannel } from "./isr-channel.ts";
import { Lifecycle } from "./lifecycle.ts";
import { answerMetadata } from "./metadata-handler.ts";
import { OffsetsHandler } from "./offsets-handler.ts";
import type { Partition } from "./partition.ts";
import { ProduceHandler } from "./produce-handler.ts";
import { ProducePurgatory } from "./produce-purgatory.ts";
import { ProducerIds } from "./producer-ids.ts";
import { ReplicaFetcher } from "./replica-fetcher.ts";
import { ReplicaManager } from "./replica-manager.ts";
import { TransactionCoordinator } from "./transaction-coordinator/transaction-coordinator.ts";
import { TransactionRequests } from "./transaction-coordinator/transaction-requests.ts";
import { TransactionVerifier } from "./transaction-verifier.ts";
import { WriteTxnMarkersHandler } from "./write-txn-markers-handler.ts";
import { ZookeeperRegistration } from "./zookeeper-registration.ts";

export interface BrokerOptions {
  readonly brokerId: BrokerId;
  readonly clusterId: string;
  readonly configs: BrokerConfigs;
  readonly features: FeatureLevels;
  readonly rules: ReplicationRules;
  readonly voters: readonly QuorumVoter[];
  readonly rack: string | undefined;
  /** Where consumers of the first protocol look for brokers; undefined: there is none. */
  readonly zookeeper?: NodeAddress | undefined;
}

/** Kafka's default of `controller.socket.timeout.ms`. */
const CONTROLLER_SOCKET_TIMEOUT_MS = 30_000;
/** What is done with the logs now and then, first after `log.initial.task.delay.ms`. */
const LOG_TASKS = [
  BROKER_TIMER.retention,
  BROKER_TIMER.flushCheck,
  BROKER_TIMER.recoveryPointCheckpoint,
  BROKER_TIMER.logStartCheckpoint,
] as const;
/** Periods from here on are Kafka's way to say never (Long.MAX_VALUE). */
const NEVER_MS = 1e15;

/**
 * One broker process: the parts, and what reaches which (Kafka's `BrokerServer` and `KafkaApis`).
 *
 * Simplified: no pools of threads and no request queue: work takes the time of its disk calls only.
 */
export class Broker implements Node, BrokerContext, RequestHandler, QuorumListener {
  readonly world: World;
  readonly facts: FactSink;
  readonly brokerId: BrokerId;
  readonly clusterId: string;
  readonly configs: BrokerConfigs;
  readonly features: FeatureLevels;
  readonly rules: ReplicationRules;
  readonly image: MetadataImage = new MetadataImage();
  readonly rpc: RpcClient;
  readonly controller: ControllerChannel;
  readonly isrChannel: IsrChannel;
  readonly maxLag: Duration;
  brokerEpoch: BrokerEpoch = -1;
  isServing = false;
  readonly #server: RpcServer;
  readonly #tickets: TicketBook = new TicketBook();
  readonly #deletions: DelayedDeletions;
  readonly #logs: LogManager;
  /** `metadata.log.dir`: the first log directory. Without it nothing goes on. */
  readonly #metadataDirectory: string;
  readonly #quorum: QuorumClient;
  readonly #heartbeats: ControllerChannel;
  readonly #assigning: ControllerChannel;
  readonly #assignments: DirectoryAssignments;
  readonly #lifecycle: Lifecycle;
  readonly #replicas: ReplicaManager;
  readonly #compaction: Compaction;
  readonly #purgatory: ProducePurgatory;
  readonly #verifier: TransactionVerifier;
  readonly #produce: ProduceHandler;
  readonly #writeTxnMarkers: WriteTxnMarkersHandler;
  readonly #fetch: FetchHandler;
  readonly #offsets: OffsetsHandler;
  readonly #deleteRecords: DeleteRecordsHandler;
  readonly #findCoordinator: FindCoordinatorHandler;
  readonly #groups: GroupCoordinator;
  readonly #groupOffsets: OffsetRequests;
  readonly #producerIds: ProducerIds;
  readonly #transactions: TransactionCoordinator;
  readonly #transactionRequests: TransactionRequests;
  readonly #registration: ZookeeperRegistration | undefined;
  /** The metadata has been caught up with once, and is followed record by record since. */
  #published = false;
  /** The logs are being closed, or closed. */
  #isStopping = false;

  /** Throws `DiskError` or `RefusedStart` if nothing can be done with its disks. */
  constructor(world: World, options: BrokerOptions) {
    this.world = world;
    this.facts = world.facts;
    this.brokerId = options.brokerId;
    this.clusterId = options.clusterId;
    this.configs = options.configs;
    this.features = options.features;
    this.rules = options.rules;
    this.maxLag = fromMillis(options.configs["replica.lag.time.max.ms"]);
    this.rpc = new RpcClient(world, BROKER_TIMER.rpcTimeout);
    this.#server = new RpcServer(world, this);
    const directories = logDirectories(options.configs);
    const [metadataDirectory] = directories;
    this.#metadataDirectory = metadataDirectory;
    this.#deletions = new DelayedDeletions(
      world.disk,
      world.timers,
      BROKER_TIMER.fileDeletion,
      (problem) => this.diskFailed(problem),
    );
    this.#logs = new LogManager({
      disk: world.disk,
      clock: world.clock,
      tickets: this.#tickets,
      random: world.random,
      deletions: this.#deletions,
      fileDeleteDelayMs: options.configs["log.segment.delete.delay.ms"],
      directories,
      nodeId: options.brokerId,
      clusterId: options.clusterId,
      incarnation: world.process.incarnation,
      configOf: (topic) => this.#replicas.topicConfigs(topic),
      producerIdExpirationMs: options.configs["producer.id.expiration.ms"],
      verifiesTransactions: options.configs["transaction.partition.verification.enable"],
      onDiskError: (problem) => this.diskFailed(problem),
      onTruncatedBelowActive: (log) => this.#compaction.cleaner.truncated(log),
      onRemoved: (log, directory) => this.#compaction.cleaner.removed(log, directory),
    });
    if (!this.#logs.directories.some(({ path }) => path === metadataDirectory)) {
      throw new RefusedStart(`its log directory ${metadataDirectory} has failed`);
    }
    this.#quorum = new QuorumClient({
      world,
      rpc: this.rpc,
      log: openMetadataLog(world, this.#tickets, metadataDirectory),
      directory: metadataLogDirectory(metadataDirectory),
      nodeId: options.brokerId,
      clusterId: options.clusterId,
      voters: options.voters,
      brokerEpoch: () => this.brokerEpoch,
      configs: options.configs,
      timerKind: BROKER_TIMER.quorum,
      listener: this,
    });
    const leader = (): NodeAddress | undefined => this.#quorum.leaderAddress;
    this.controller = new ControllerChannel(
      world,
      this.rpc,
      "controller",
      leader,
      CONTROLLER_SOCKET_TIMEOUT_MS,
    );
    // Heartbeats have a channel and a shorter patience of their own (KAFKA-14392).
    this.#heartbeats = new ControllerChannel(
      world,
      this.rpc,
      "heartbeat",
      leader,
      options.configs["broker.session.timeout.ms"] / 2,
    );
    this.#assigning = new ControllerChannel(
      world,
      this.rpc,
      "directories",
      leader,
      CONTROLLER_SOCKET_TIMEOUT_MS,
    );
    this.#assignments = new DirectoryAssignments(this, this.#assigning);
    this.#replicas = new ReplicaManager(this, this.#logs, this.#assignments);
    this.#compaction = new Compaction(this, this.#logs, this.#tickets);
    this.isrChannel = new IsrChannel(this);
    this.#lifecycle = new Lifecycle(this, this.#heartbeats, {
      incarnationId: randomUuid(world.random),
      rack: options.rack,
      logDirs: this.#logs.directories.map(({ id }) => id).sort(byUuid),
      address: world.self,
      host: `broker-${options.brokerId}`,
      previousBrokerEpoch: this.#logs.previousBrokerEpoch,
      metadataOffset: () => (this.#published ? this.image.lastOffset : -1),
      onUnfenced: () => this.#serve(),
      onMayStop: (reason) => this.#stop(reason),
    });
    this.#purgatory = new ProducePurgatory(this);
    this.#verifier = new TransactionVerifier(this);
    this.#produce = new ProduceHandler(this, this.#purgatory, this.#verifier);
    this.#groups = new GroupCoordinator(this);
    this.#writeTxnMarkers = new WriteTxnMarkersHandler(this, this.#purgatory, this.#groups);
    this.#fetch = new FetchHandler(this);
    this.#offsets = new OffsetsHandler(this);
    this.#deleteRecords = new DeleteRecordsHandler(this);
    this.#findCoordinator = new FindCoordinatorHandler(this);
    this.#groupOffsets = new OffsetRequests(this, this.#groups, this.#verifier);
    this.#producerIds = new ProducerIds(this);
    this.#transactions = new TransactionCoordinator(this, this.#producerIds);
    this.#transactionRequests = new TransactionRequests(this, this.#transactions);
    const { zookeeper } = options;
    this.#registration =
      zookeeper === undefined ? zookeeper : new ZookeeperRegistration(this, zookeeper);
  }

  // What the parts ask of the whole.

  now(): Instant {
    return this.world.clock.now();
  }

  partition(topicId: TopicId, index: number): Partition | undefined {
    return this.#replicas.get(topicId, index);
  }

  partitions(): Iterable<Partition> {
    return this.#replicas.all();
  }

  addressOf(broker: BrokerId): NodeAddress | undefined {
    return this.image.brokers.get(broker)?.address;
  }

  /**
   * The directory goes offline alone, and the controller is told; without any left, or without that of
   * the metadata log, a broker halts (`ReplicaManager.handleLogDirFailure`).
   */
  diskFailed(problem: DiskError): void {
    if (this.#isStopping) return;
    const directory = this.#logs.directoryOf(problem.path);
    if (directory === undefined) return;
    const { path, id } = directory;
    this.#noteFailed(path, problem);
    this.#replicas.directoryFailed(directory);
    this.#logs.fail(directory);
    if (path === this.#metadataDirectory || this.#logs.directories.length === 0) {
      this.world.process.exit(`its log directory ${path} has failed`);
    } else {
      this.#lifecycle.directoryFailed(id);
    }
  }

  #noteFailed(directory: string, { message: reason }: DiskError): void {
    const { brokerId: broker } = this;
    this.facts.note({ kind: "log-directory-failed", broker, directory, reason });
  }

  // The process.

  onStart(): void {
    this.world.network.listen(false);
    for (const { path, problem } of this.#logs.failedAtStart) this.#noteFailed(path, problem);
    this.#quorum.start();
    this.#lifecycle.start();
  }

  onShutdown(): void {
    this.#lifecycle.beginShutdown();
  }

  /** Only now its port is opened (`SocketServer.enableRequestProcessing`). */
  #serve(): void {
    this.isServing = true;
    this.world.network.listen(true);
    this.#registration?.client.start();
    for (const partition of this.#replicas.all()) if (partition.isLeader) partition.noteLeading();
  }

  #stop(reason: string): void {
    this.#isStopping = true;
    this.#registration?.client.close(() => undefined);
    this.#compaction.cleaner.stop();
    this.#logs.shutdown(this.brokerEpoch, (log) => this.#highWatermarkOf(log));
    this.world.process.exit(reason);
  }

  #highWatermarkOf(log: PartitionLog): number {
    return this.#replicas.get(log.topicId, log.partition)?.highWatermark ?? 0;
  }

  // The metadata.

  onCommitted(records: readonly MetadataRecord[], baseOffset: number, lastOffset: number): void {
    let offset = baseOffset;
    for (const record of records) this.image.replay(record, offset++);
    this.image.lastOffset = lastOffset;
    if (this.#published) {
      this.#replicas.publish(records);
      this.#groups.publish(records);
      this.#transactions.publish(records);
    } else if (this.#quorum.highWatermark <= lastOffset + 1) {
      // Until then roles of long ago would be taken up one after the other (`MetadataLoader`).
      this.#published = true;
      this.#initialize();
    }
  }

  /**
   * The first metadata are there. Only now are the logs opened, since their configs are known only now
   * (`BrokerMetadataPublisher.initializeManagers`).
   */
  #initialize(): void {
    try {
      this.#replicas.load();
    } catch (problem) {
      if (!(problem instanceof RefusedStart)) throw problem;
      this.world.process.exit(problem.message);
      return;
    }
    this.#every(BROKER_TIMER.isrScan);
    this.#every(BROKER_TIMER.highWatermarkCheckpoint);
    this.#every(BROKER_TIMER.producerExpiry);
    // `LogManager.startupWithConfigOverrides`.
    const pause = fromMillis(this.configs["log.initial.task.delay.ms"]);
    for (const kind of LOG_TASKS) this.world.timers.start(pause, kind);
    this.#replicas.publishAll();
    this.#groups.publishAll();
    this.#transactions.publishAll();
    this.#compaction.start();
  }

  onLeader(leader: BrokerId): void {
    if (leader < 0) return;
    this.controller.retry();
    this.#heartbeats.retry();
    this.#assigning.retry();
  }

  // The network.

  onConnected(connection: ConnectionId): void {
    if (this.#registration?.client.owns(connection)) this.#registration.client.onConnected();
    else this.rpc.onConnected(connection);
  }

  onFrame(connection: ConnectionId, from: NodeAddress, frame: Frame): void {
    if (this.#registration?.client.owns(connection)) this.#registration.client.onFrame(frame);
    else if (frame.isResponse) this.rpc.onFrame(connection, frame);
    else this.#server.onFrame(connection, from, frame);
  }

  onClosed(connection: ConnectionId): void {
    if (this.#registration?.client.owns(connection)) this.#registration.client.onClosed();
    else if (this.rpc.owns(connection)) this.rpc.onClosed(connection);
    else this.#server.onClosed(connection);
  }

  onSynced(ticket: number, ok: boolean): void {
    try {
      this.#tickets.synced(ticket, ok);
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.diskFailed(problem);
    }
  }

  onRequest(request: IncomingRequest): void {
    const { body } = request;
    // A frame's body is of its API's type: all nodes are of one release.
    switch (request.apiKey) {
      case PRODUCE.key:
        this.#produce.handle(request, body as ProduceRequest);
        return;
      case FETCH.key:
        this.#fetch.handle(request, body as FetchRequest);
        return;
      case LIST_OFFSETS.key:
        this.#offsets.listOffsets(request, body as ListOffsetsRequest);
        return;
      case OFFSET_FOR_LEADER_EPOCH.key:
        this.#offsets.offsetForLeaderEpoch(request, body as OffsetForLeaderEpochRequest);
        return;
      case DELETE_RECORDS.key:
        this.#deleteRecords.handle(request, body as DeleteRecordsRequest);
        return;
      case WRITE_TXN_MARKERS.key:
        this.#writeTxnMarkers.handle(request, body as WriteTxnMarkersRequest);
        return;
      case DESCRIBE_PRODUCERS.key:
        answerDescribeProducers(this, request, body as DescribeProducersRequest);
        return;
      case METADATA.key:
        answerMetadata(this, request, body as MetadataRequest);
        return;
      case JOIN_GROUP.key:
        this.#groups.join(request, body as JoinGroupRequest);
        return;
      case SYNC_GROUP.key:
        this.#groups.sync(request, body as SyncGroupRequest);
        return;
      case HEARTBEAT.key:
        this.#groups.heartbeat(request, body as HeartbeatRequest);
        return;
      case CONSUMER_GROUP_HEARTBEAT.key:
        this.#groups.consumerHeartbeat(request, body as ConsumerGroupHeartbeatRequest);
        return;
      case LEAVE_GROUP.key:
        this.#groups.leave(request, body as LeaveGroupRequest);
        return;
      case OFFSET_COMMIT.key:
        this.#groupOffsets.commit(request, body as OffsetCommitRequest);
        return;
      case OFFSET_FETCH.key:
        this.#groupOffsets.fetch(request, body as OffsetFetchRequest);
        return;
      case TXN_OFFSET_COMMIT.key:
        this.#groupOffsets.commitInTransaction(request, body as TxnOffsetCommitRequest);
        return;
      case FIND_COORDINATOR.key:
        this.#findCoordinator.handle(request, body as FindCoordinatorRequest);
        return;
      case INIT_PRODUCER_ID.key:
        this.#initProducerId(request, body as InitProducerIdRequest);
        return;
      case ADD_PARTITIONS_TO_TXN.key:
        this.#transactionRequests.addPartitions(request, body as AddPartitionsToTxnRequest);
        return;
      case ADD_OFFSETS_TO_TXN.key:
        this.#transactionRequests.addOffsets(request, body as AddOffsetsToTxnRequest);
        return;
      case END_TXN.key:
        this.#transactionRequests.endTransaction(request, body as EndTxnRequest);
        return;
      case LIST_TRANSACTIONS.key:
        this.#transactionRequests.list(request, body as ListTransactionsRequest);
        return;
      case DESCRIBE_TRANSACTIONS.key:
        this.#transactionRequests.describe(request, body as DescribeTransactionsRequest);
        return;
      case CREATE_TOPICS.key:
        this.#forward(request, CREATE_TOPICS, body as CreateTopicsRequest);
        return;
      case CREATE_PARTITIONS.key:
        this.#forward(request, CREATE_PARTITIONS, body as CreatePartitionsRequest);
        return;
      default:
        fail(`a broker was asked for API ${request.apiKey}`);
    }
  }

  /** What a broker does not do itself it passes on (KIP-590). Simplified: without an Envelope. */
  #forward<Request, Response>(
    request: IncomingRequest,
    api: Api<Request, Response>,
    body: Request,
  ): void {
    const handler = {
      onResponse: (response: Response) => request.reply(api, response),
      onDisconnect: () => request.hangUp(),
    };
    this.controller.send(api, body, handler, undefined);
  }

  #initProducerId(request: IncomingRequest, body: InitProducerIdRequest): void {
    const { transactionalId } = body;
    if (transactionalId === undefined) this.#producerIds.handle(request);
    else this.#transactionRequests.initProducerId(request, body, transactionalId);
  }

  // Time.

  onTimer(kind: number, payload: unknown): void {
    switch (kind) {
      case BROKER_TIMER.rpcTimeout:
        this.rpc.onTimer();
        return;
      case BROKER_TIMER.quorum:
        this.#quorum.onTimer(payload);
        return;
      case BROKER_TIMER.heartbeat:
        this.#lifecycle.onTimer();
        return;
      case BROKER_TIMER.lifecycleDeadline:
        this.#lifecycle.onDeadline();
        return;
      case BROKER_TIMER.directoryFailureDeadline:
        this.#lifecycle.onDirectoryFailureDeadline(payload);
        return;
      case BROKER_TIMER.directoryAssignments:
        this.#assignments.onTimer();
        return;
      case BROKER_TIMER.delayedProduce:
        this.#purgatory.onTimer();
        return;
      case BROKER_TIMER.transactionVerification:
        this.#verifier.onTimer(payload);
        return;
      case BROKER_TIMER.delayedDeleteRecords:
        if (payload instanceof DelayedDeleteRecords) payload.expire();
        return;
      case BROKER_TIMER.coordinatorLoad:
        if (payload instanceof CoordinatedPartition) payload.load();
        return;
      case BROKER_TIMER.group:
        if (payload instanceof RunningGroupTimer) payload.onTimer();
        return;
      case BROKER_TIMER.coordinatorCommit:
        if (payload instanceof CoordinatorLog) payload.onTimer();
        return;
      case BROKER_TIMER.transactionAbort:
        this.#transactions.onAbortTimer();
        return;
      case BROKER_TIMER.transactionalIdExpiry:
        this.#transactions.onExpiryTimer();
        return;
      case BROKER_TIMER.markerRetry:
        this.#transactions.markers.retry();
        return;
      case BROKER_TIMER.delayedFetch:
        this.#fetch.onTimer();
        return;
      case BROKER_TIMER.fetcherBackoff:
        if (payload instanceof ReplicaFetcher) payload.onTimer();
        return;
      case BROKER_TIMER.fileDeletion:
        this.#deletions.onTimer(payload);
        return;
      case BROKER_TIMER.cleaner:
        this.#compaction.cleaner.run();
        return;
      case BROKER_TIMER.alterPartitionRetry:
        this.isrChannel.retry();
        return;
      case BROKER_TIMER.zookeeper:
        this.#registration?.client.onTimer();
        return;
      case BROKER_TIMER.controllerRetry:
        if (payload instanceof ControllerChannel) payload.retry();
        return;
      default:
        this.#onPeriod(kind);
    }
  }

  #onPeriod(kind: number): void {
    switch (kind) {
      case BROKER_TIMER.isrScan:
        this.#replicas.shrinkIsrs();
        break;
      case BROKER_TIMER.highWatermarkCheckpoint:
        this.#logs.checkpointHighWatermarks((log) => this.#highWatermarkOf(log));
        break;
      case BROKER_TIMER.retention:
        this.#replicas.deleteOldSegments();
        break;
      case BROKER_TIMER.recoveryPointCheckpoint:
        this.#logs.checkpointRecoveryPoints();
        break;
      case BROKER_TIMER.logStartCheckpoint:
        this.#logs.checkpointLogStarts();
        break;
      case BROKER_TIMER.producerExpiry:
        for (const { log } of this.#replicas.all()) log.expireProducers();
        break;
      case BROKER_TIMER.flushCheck:
        this.#replicas.flushIfDue();
        break;
      default:
        fail(`a broker has no timer of kind ${kind}`);
    }
    this.#every(kind);
  }

  /** Starts the timer of a periodic task; one of Kafka's "never" is never started. */
  #every(kind: number): void {
    const milliseconds = this.#periodMs(kind);
    if (milliseconds >= NEVER_MS) return;
    this.world.timers.start(Math.floor(fromMillis(milliseconds)), kind);
  }

  #periodMs(kind: number): number {
    const { configs } = this;
    switch (kind) {
      case BROKER_TIMER.isrScan:
        return configs["replica.lag.time.max.ms"] / 2;
      case BROKER_TIMER.highWatermarkCheckpoint:
        return configs["replica.high.watermark.checkpoint.interval.ms"];
      case BROKER_TIMER.retention:
        return configs["log.retention.check.interval.ms"];
      case BROKER_TIMER.recoveryPointCheckpoint:
        return configs["log.flush.offset.checkpoint.interval.ms"];
      case BROKER_TIMER.logStartCheckpoint:
        return configs["log.flush.start.offset.checkpoint.interval.ms"];
      case BROKER_TIMER.producerExpiry:
        return configs["producer.id.expiration.check.interval.ms"];
      default:
        return configs["log.flush.scheduler.interval.ms"];
    }
  }
}
