import { fail, invariant } from "../../base/invariant.ts";
import { fromMillis, MINUTE, SECOND } from "../../base/time.ts";
import type { BrokerConfigs } from "../../kafka/config/broker-configs.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { Offset } from "../../kafka/ids.ts";
import { alterPartition } from "../../kafka/metadata/alter-partition.ts";
import { bootstrapRecords } from "../../kafka/metadata/bootstrap.ts";
import { heartbeat, isFencedIn, registerBroker } from "../../kafka/metadata/broker-lifecycle.ts";
import { BrokerSessions } from "../../kafka/metadata/broker-sessions.ts";
import { createPartitions } from "../../kafka/metadata/create-partitions.ts";
import { createTopics } from "../../kafka/metadata/create-topics.ts";
import type { ControllerRules, DecisionContext } from "../../kafka/metadata/decision.ts";
import type { MetadataImage } from "../../kafka/metadata/image.ts";
import {
  electPreferredLeaders,
  electUncleanLeaders,
  fenceBroker,
} from "../../kafka/metadata/partition-updates.ts";
import { allocateProducerIds } from "../../kafka/metadata/producer-id-blocks.ts";
import type { MetadataRecord } from "../../kafka/metadata/records.ts";
import { assignReplicas } from "../../kafka/metadata/replica-directories.ts";
import type { AlterPartitionRequest } from "../../kafka/protocol/alter-partition.ts";
import type { Api } from "../../kafka/protocol/api.ts";
import {
  ALLOCATE_PRODUCER_IDS,
  ALTER_PARTITION,
  ASSIGN_REPLICAS_TO_DIRS,
  BROKER_HEARTBEAT,
  BROKER_REGISTRATION,
  CREATE_PARTITIONS,
  CREATE_TOPICS,
} from "../../kafka/protocol/apis.ts";
import type { AssignReplicasToDirsRequest } from "../../kafka/protocol/assign-replicas.ts";
import type {
  BrokerHeartbeatRequest,
  BrokerRegistrationRequest,
} from "../../kafka/protocol/broker-lifecycle.ts";
import type { CreatePartitionsRequest } from "../../kafka/protocol/create-partitions.ts";
import type { CreateTopicsRequest } from "../../kafka/protocol/create-topics.ts";
import type { AllocateProducerIdsRequest } from "../../kafka/protocol/init-producer-id.ts";
import type { FeatureLevels } from "../../kafka/protocol-switches.ts";
import type { TimerHandle, World } from "../../ports/node.ts";
import type { QuorumClient } from "../quorum/quorum-client.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { CommitJournal } from "./commit-journal.ts";
import { refuse } from "./controller-apis.ts";
import { CONTROLLER_TIMER } from "./controller-timers.ts";

export interface ActiveControllerOptions {
  readonly world: World;
  readonly quorum: QuorumClient;
  readonly clusterId: string;
  readonly configs: BrokerConfigs;
  readonly features: FeatureLevels;
  readonly rules: ControllerRules;
  readonly journal: CommitJournal;
}

/** `QuorumController.MAX_ELECTIONS_PER_IMBALANCE`. */
const MAX_ELECTIONS = 1_000;
/** Kafka's default of `unclean.leader.election.interval.ms`. */
const UNCLEAN_ELECTION_INTERVAL = 5 * MINUTE;
/** Kafka looks for stale brokers this often in a session timeout. */
const FENCE_CHECKS_PER_SESSION = 4;

/** An answer that is given once all that it rests on is committed. */
interface PendingReply {
  readonly offset: Offset;
  readonly request: IncomingRequest;
  reply(): void;
}

/**
 * One term of the active controller: decides, applies what it decided at once to a state of its
 * own, and answers when that is committed (Kafka's `QuorumController`). It ends with its leadership,
 * and all that was not committed with it.
 *
 * Simplified: no queue of events, since a step takes no time but what its disk needs; every decision
 * is one batch, so none is committed in part.
 */
export class ActiveController {
  readonly #world: World;
  readonly #quorum: QuorumClient;
  readonly #options: ActiveControllerOptions;
  readonly #image: MetadataImage;
  readonly #context: DecisionContext;
  readonly #sessions: BrokerSessions;
  /** In offset order. */
  #pending: PendingReply[] = [];
  /** The last record that it wrote, while that is not committed. */
  #uncommitted: Offset | undefined = undefined;
  readonly #timers = new Map<number, TimerHandle>();

  /** `committed` is all that earlier controllers left. */
  constructor(options: ActiveControllerOptions, committed: MetadataImage) {
    const { world, quorum, configs, rules } = options;
    this.#world = world;
    this.#quorum = quorum;
    this.#options = options;
    this.#image = committed.copy();
    this.#context = { image: this.#image, configs, rules };
    this.#sessions = new BrokerSessions(fromMillis(configs["broker.session.timeout.ms"]));
    this.#sessions.activate(this.#image, world.clock.elapsed());
  }

  /** The first controller of a cluster writes what its formatting prepared. */
  activate(): void {
    if (this.#image.features.size === 0) this.#write(bootstrapRecords(this.#options.features));
    for (const task of PERIODIC_TASKS) this.#every(task);
  }

  handle(request: IncomingRequest): void {
    switch (request.apiKey) {
      case BROKER_REGISTRATION.key:
        this.#register(request, request.body as BrokerRegistrationRequest);
        break;
      case BROKER_HEARTBEAT.key:
        this.#heartbeat(request, request.body as BrokerHeartbeatRequest);
        break;
      case ALTER_PARTITION.key: {
        const body = request.body as AlterPartitionRequest;
        const { records, response } = alterPartition(this.#context, body);
        this.#answer(request, ALTER_PARTITION, records, response);
        break;
      }
      case ASSIGN_REPLICAS_TO_DIRS.key: {
        const body = request.body as AssignReplicasToDirsRequest;
        const { records, response } = assignReplicas(this.#context, body);
        this.#answer(request, ASSIGN_REPLICAS_TO_DIRS, records, response);
        break;
      }
      case CREATE_TOPICS.key: {
        const body = request.body as CreateTopicsRequest;
        const { records, response } = createTopics(this.#context, body, this.#world.random);
        this.#answer(request, CREATE_TOPICS, records, response);
        break;
      }
      case CREATE_PARTITIONS.key: {
        const body = request.body as CreatePartitionsRequest;
        const { records, response } = createPartitions(this.#context, body, this.#world.random);
        this.#answer(request, CREATE_PARTITIONS, records, response);
        break;
      }
      case ALLOCATE_PRODUCER_IDS.key: {
        const body = request.body as AllocateProducerIdsRequest;
        const { records, response } = allocateProducerIds(this.#context, body);
        this.#answer(request, ALLOCATE_PRODUCER_IDS, records, response);
        break;
      }
      default:
        refuse(request, ERRORS.UNKNOWN_SERVER_ERROR);
    }
  }

  /** All up to `lastOffset` is committed: what waited for it is answered. */
  committed(lastOffset: Offset): void {
    if (this.#uncommitted !== undefined && this.#uncommitted <= lastOffset) {
      this.#uncommitted = undefined;
    }
    // Taken out first: an answer can bring the next request of its connection at once.
    let ready = 0;
    while ((this.#pending[ready]?.offset ?? Number.MAX_SAFE_INTEGER) <= lastOffset) ready++;
    if (ready === 0) return;
    for (const pending of this.#pending.splice(0, ready)) pending.reply();
  }

  /** Leadership is lost. Nobody is told of what may yet be committed by another. */
  renounce(): void {
    for (const timer of this.#timers.values()) this.#world.timers.cancel(timer);
    for (const { request } of this.#pending.splice(0)) refuse(request, ERRORS.NOT_CONTROLLER);
  }

  onTimer(kind: number): void {
    this.#every(kind);
    switch (kind) {
      case CONTROLLER_TIMER.noOp:
        this.#write(NO_OP);
        break;
      case CONTROLLER_TIMER.fenceStale:
        this.#fenceOne();
        break;
      case CONTROLLER_TIMER.preferredElections:
        this.#write(electPreferredLeaders(this.#context, MAX_ELECTIONS));
        break;
      case CONTROLLER_TIMER.uncleanElections:
        this.#write(electUncleanLeaders(this.#context, MAX_ELECTIONS));
        break;
      default:
        fail(`an active controller has no timer of kind ${kind}`);
    }
  }

  #register(request: IncomingRequest, body: BrokerRegistrationRequest): void {
    const now = this.#world.clock.elapsed();
    const { clusterId, journal } = this.#options;
    const nextOffset = this.#image.lastOffset + 1;
    const decision = registerBroker(
      this.#context,
      this.#sessions,
      clusterId,
      body,
      nextOffset,
      now,
    );
    if (decision.records.length > 0) {
      this.#sessions.register(body.brokerId, now);
      if (decision.isNewIncarnation) journal.registering(nextOffset, decision.isCleanShutdown);
    }
    this.#answer(request, BROKER_REGISTRATION, decision.records, decision.response);
  }

  #heartbeat(request: IncomingRequest, body: BrokerHeartbeatRequest): void {
    const { brokerId, currentMetadataOffset } = body;
    const decision = heartbeat(this.#context, this.#sessions, body);
    const { state } = decision;
    if (state !== undefined) {
      const now = this.#world.clock.elapsed();
      this.#sessions.touch(brokerId, currentMetadataOffset, isFencedIn(state), now);
    }
    this.#answer(request, BROKER_HEARTBEAT, decision.records, decision.response);
    // What the others must have applied before the broker may go: also what this heartbeat changed.
    if (state === "controlled-shutdown") {
      this.#sessions.beginShutdown(brokerId, this.#image.lastOffset);
    }
  }

  /** One broker a pass, so that each sees what the one before changed. */
  #fenceOne(): void {
    const now = this.#world.clock.elapsed();
    const broker = this.#sessions.stalest(this.#image, now);
    if (broker === undefined) return;
    this.#write(fenceBroker(this.#context, broker));
    this.#start(0, CONTROLLER_TIMER.fenceStale);
  }

  /**
   * Answers when the records are committed, and all that was decided before, by itself too: an answer
   * without records was read from a state that may yet be lost with the leadership
   * (`QuorumController.ControllerWriteEvent`).
   */
  #answer<Request, Response>(
    request: IncomingRequest,
    api: Api<Request, Response>,
    records: readonly MetadataRecord[],
    response: Response,
  ): void {
    this.#write(records);
    const offset = this.#uncommitted;
    if (offset === undefined) request.reply(api, response);
    else this.#pending.push({ offset, request, reply: () => request.reply(api, response) });
  }

  /** Appends the records and applies them at once: the next decision rests on them. */
  #write(records: readonly MetadataRecord[]): void {
    if (records.length === 0) return;
    const lastOffset = this.#quorum.append(records);
    let offset = lastOffset - records.length + 1;
    invariant(
      offset === this.#image.lastOffset + 1,
      () => `appended at ${offset} to a state up to ${this.#image.lastOffset}`,
    );
    for (const record of records) this.#image.replay(record, offset++);
    this.#uncommitted = lastOffset;
  }

  #every(task: number): void {
    const { configs } = this.#options;
    switch (task) {
      case CONTROLLER_TIMER.noOp: {
        const interval = configs["metadata.max.idle.interval.ms"];
        if (interval > 0) this.#start(fromMillis(interval), task);
        break;
      }
      case CONTROLLER_TIMER.fenceStale: {
        const session = fromMillis(configs["broker.session.timeout.ms"]);
        this.#start(Math.floor(session / FENCE_CHECKS_PER_SESSION), task);
        break;
      }
      case CONTROLLER_TIMER.preferredElections:
        if (configs["auto.leader.rebalance.enable"]) {
          this.#start(configs["leader.imbalance.check.interval.seconds"] * SECOND, task);
        }
        break;
      default:
        this.#start(UNCLEAN_ELECTION_INTERVAL, task);
    }
  }

  #start(delay: number, task: number): void {
    const { timers } = this.#world;
    const running = this.#timers.get(task);
    if (running !== undefined) timers.cancel(running);
    this.#timers.set(task, timers.start(delay, task));
  }
}

const NO_OP: readonly MetadataRecord[] = [{ type: "NoOpRecord" }];

const PERIODIC_TASKS: readonly number[] = [
  CONTROLLER_TIMER.noOp,
  CONTROLLER_TIMER.fenceStale,
  CONTROLLER_TIMER.preferredElections,
  CONTROLLER_TIMER.uncleanElections,
];
