import { fail } from "../../base/invariant.ts";
import { SECOND } from "../../base/time.ts";
import type { BrokerConfigs } from "../../kafka/config/broker-configs.ts";
import { logDirectories } from "../../kafka/config/log-directories.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { BrokerId, Offset, QuorumEpoch } from "../../kafka/ids.ts";
import { NO_LEADER } from "../../kafka/ids.ts";
import { CONTROLLER_RULES } from "../../kafka/metadata/controller-rules.ts";
import type { ControllerRules } from "../../kafka/metadata/decision.ts";
import { MetadataImage } from "../../kafka/metadata/image.ts";
import type { MetadataRecord } from "../../kafka/metadata/records.ts";
import type { FeatureLevels } from "../../kafka/protocol-switches.ts";
import type { QuorumRules } from "../../kafka/quorum/quorum-rules.ts";
import { DiskError } from "../../ports/disk.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { Node, World } from "../../ports/node.ts";
import { ensureMetaProperties } from "../../storage/meta-properties.ts";
import { TicketBook } from "../../storage/ticket-book.ts";
import { metadataLogDirectory, openMetadataLog } from "../quorum/metadata-log.ts";
import type { QuorumListener, QuorumVoter } from "../quorum/quorum-client.ts";
import { QuorumClient } from "../quorum/quorum-client.ts";
import { RpcClient } from "../rpc/rpc-client.ts";
import type { IncomingRequest, RequestHandler } from "../rpc/rpc-server.ts";
import { RpcServer } from "../rpc/rpc-server.ts";
import { ActiveController } from "./active-controller.ts";
import { CommitJournal } from "./commit-journal.ts";
import { CommittedFacts } from "./committed-facts.ts";
import { refuse } from "./controller-apis.ts";
import { CONTROLLER_TIMER } from "./controller-timers.ts";

export interface ControllerOptions {
  /** One of `voters`. */
  readonly nodeId: BrokerId;
  readonly clusterId: string;
  readonly voters: readonly QuorumVoter[];
  readonly configs: BrokerConfigs;
  /** What a new cluster begins with. */
  readonly features: FeatureLevels;
  /** The same for all controllers; without one, each notes again what others noted. */
  readonly journal?: CommitJournal;
  /** Kafka's, unless a test breaks one. */
  readonly rules?: ControllerRules;
  readonly quorumRules?: QuorumRules;
}

/** `SharedServer` gives the quorum this long to find the next leader. */
const SHUTDOWN_PATIENCE = 5 * SECOND;

/**
 * One controller process: a voter of the metadata quorum that keeps the committed metadata, and is
 * the active controller while it leads (KIP-500, KIP-631).
 */
export class Controller implements Node, RequestHandler, QuorumListener {
  readonly #world: World;
  readonly #options: ControllerOptions;
  readonly #journal: CommitJournal;
  readonly #rpc: RpcClient;
  readonly #server: RpcServer;
  readonly #tickets: TicketBook = new TicketBook();
  readonly #quorum: QuorumClient;
  readonly #facts: CommittedFacts;
  /** What is committed, as far as this node knows. */
  readonly #image: MetadataImage = new MetadataImage();
  #active: ActiveController | undefined;
  #activeEpoch: QuorumEpoch = -1;
  #isStopping = false;

  /** Throws `DiskError` if its log directory cannot be used, `RefusedStart` if that is another node's. */
  constructor(world: World, options: ControllerOptions) {
    const { nodeId, clusterId, voters, configs, quorumRules } = options;
    this.#world = world;
    this.#options = options;
    this.#journal = options.journal ?? new CommitJournal();
    this.#rpc = new RpcClient(world, CONTROLLER_TIMER.rpcTimeout);
    this.#server = new RpcServer(world, this);
    // `metadata.log.dir` is the first log directory.
    const [directory] = logDirectories(configs);
    const { incarnation } = world.process;
    ensureMetaProperties(world.disk, directory, { nodeId, clusterId, place: 0, incarnation });
    this.#facts = new CommittedFacts(world.facts, configs, this.#journal);
    this.#quorum = new QuorumClient({
      world,
      rpc: this.#rpc,
      log: openMetadataLog(world, this.#tickets, directory),
      directory: metadataLogDirectory(directory),
      nodeId,
      clusterId,
      voters,
      configs,
      timerKind: CONTROLLER_TIMER.quorum,
      listener: this,
      ...(quorumRules === undefined ? {} : { rules: quorumRules }),
    });
  }

  onStart(): void {
    this.#quorum.start();
  }

  onTimer(kind: number, payload: unknown): void {
    switch (kind) {
      case CONTROLLER_TIMER.rpcTimeout:
        this.#rpc.onTimer();
        break;
      case CONTROLLER_TIMER.quorum:
        this.#quorum.onTimer(payload);
        break;
      case CONTROLLER_TIMER.shutdown:
        this.#exit();
        break;
      default:
        if (this.#active === undefined) fail(`timer ${kind} of a controller that is not active`);
        this.#active.onTimer(kind);
    }
  }

  onConnected(connection: ConnectionId): void {
    this.#rpc.onConnected(connection);
  }

  onFrame(connection: ConnectionId, from: NodeAddress, frame: Frame): void {
    if (frame.isResponse) this.#rpc.onFrame(connection, frame);
    else this.#server.onFrame(connection, from, frame);
  }

  onClosed(connection: ConnectionId): void {
    if (this.#rpc.owns(connection)) this.#rpc.onClosed(connection);
    else this.#server.onClosed(connection);
  }

  onSynced(ticket: number, ok: boolean): void {
    try {
      this.#tickets.synced(ticket, ok);
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.#world.process.exit(`the metadata log is lost: ${problem.message}`);
    }
  }

  /** A leader stays until there is another, so that the voters need not find out by themselves. */
  onShutdown(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    if (!this.#quorum.isLeader || this.#options.voters.length === 1) {
      this.#exit();
      return;
    }
    this.#world.timers.start(SHUTDOWN_PATIENCE, CONTROLLER_TIMER.shutdown);
    this.#quorum.resign();
  }

  onRequest(request: IncomingRequest): void {
    if (this.#quorum.onRequest(request)) return;
    if (this.#active === undefined) refuse(request, ERRORS.NOT_CONTROLLER);
    else this.#active.handle(request);
  }

  onCommitted(
    records: readonly MetadataRecord[],
    baseOffset: Offset,
    lastOffset: Offset,
    epoch: QuorumEpoch,
  ): void {
    // Who leads notes it, also what earlier leaders appended and did not see committed.
    const notes = this.#quorum.isLeader;
    let offset = baseOffset;
    for (const record of records) this.#facts.replay(this.#image, record, offset++, epoch, notes);
    this.#image.lastOffset = lastOffset;
    this.#active?.committed(lastOffset);
  }

  onLeader(leader: BrokerId, epoch: QuorumEpoch): void {
    const { nodeId } = this.#options;
    if (this.#active !== undefined) this.#renounce();
    if (leader === nodeId) this.#claim(epoch);
    else if (this.#isStopping && leader !== NO_LEADER) this.#exit();
  }

  #claim(epoch: QuorumEpoch): void {
    const { clusterId, configs, features, nodeId, rules = CONTROLLER_RULES } = this.#options;
    const active = new ActiveController(
      {
        world: this.#world,
        quorum: this.#quorum,
        clusterId,
        configs,
        features,
        rules,
        journal: this.#journal,
      },
      this.#image,
    );
    this.#active = active;
    this.#activeEpoch = epoch;
    this.#world.facts.note({ kind: "controller-elected", controller: nodeId, quorumEpoch: epoch });
    active.activate();
  }

  #renounce(): void {
    const active = this.#active;
    this.#active = undefined;
    this.#world.facts.note({
      kind: "controller-resigned",
      controller: this.#options.nodeId,
      quorumEpoch: this.#activeEpoch,
    });
    active?.renounce();
  }

  #exit(): void {
    this.#world.process.exit("shutdown");
  }
}
