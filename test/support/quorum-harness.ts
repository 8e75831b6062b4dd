import { MILLISECOND } from "../../src/base/time.ts";
import { BROKER_CONFIGS } from "../../src/kafka/config/broker-configs.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import type { MetadataRecord } from "../../src/kafka/metadata/records.ts";
import type { QuorumRules } from "../../src/kafka/quorum/quorum-rules.ts";
import { metadataLogDirectory, openMetadataLog } from "../../src/nodes/quorum/metadata-log.ts";
import type { QuorumListener } from "../../src/nodes/quorum/quorum-client.ts";
import { QuorumClient } from "../../src/nodes/quorum/quorum-client.ts";
import { RpcClient } from "../../src/nodes/rpc/rpc-client.ts";
import { RpcServer } from "../../src/nodes/rpc/rpc-server.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../src/ports/network.ts";
import type { Node, World } from "../../src/ports/node.ts";
import type { PartitionLog } from "../../src/storage/partition-log.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import type { SmallHost } from "./small-world.ts";
import { SmallWorld } from "./small-world.ts";

const RPC_TIMER = 0;
const QUORUM_TIMER = 1;
const WORK_TIMER = 2;

/** A member's `metadata.log.dir`, and where in it its log and its `quorum-state` are. */
const LOG_DIRECTORY = "data";
export const DIRECTORY: string = metadataLogDirectory(LOG_DIRECTORY);

const WORK_INTERVAL = 40 * MILLISECOND;

export interface HarnessOptions {
  readonly voters: number;
  readonly observers?: number;
  readonly seed: number;
  /** Rules that every member keeps instead of Kafka's. */
  readonly rules?: QuorumRules;
}

export type MemberHost = SmallHost<QuorumMember>;

/**
 * A metadata quorum in a small world. After every event it checks what Kafka's
 * `RaftEventSimulationTest` checks, and throws if one of these does not hold.
 */
export class QuorumHarness {
  readonly world: SmallWorld<QuorumMember>;
  readonly #voterCount: number;
  /** Who led which epoch. */
  readonly #leaders = new Map<number, NodeAddress>();
  readonly #committed = new Map<number, string>();
  readonly #lastEpochs = new Map<NodeAddress, number>();
  /** What a loss of power leaves of a member's log, beyond what this incarnation flushed. */
  readonly #durableEnds = new Map<NodeAddress, number>();

  constructor(options: HarnessOptions) {
    this.#voterCount = options.voters;
    const count = options.voters + (options.observers ?? 0);
    const programs = Array.from(
      { length: count },
      () => (world: World) => new QuorumMember(world, this, options),
    );
    this.world = new SmallWorld(options.seed, programs);
    this.world.check = () => this.#check();
    this.world.startAll();
  }

  get hosts(): readonly MemberHost[] {
    return this.world.hosts;
  }

  get voters(): readonly MemberHost[] {
    return this.hosts.slice(0, this.#voterCount);
  }

  /** The member that leads the newest epoch, if it is up. */
  get leader(): MemberHost | undefined {
    const leaders = this.hosts.filter(({ node }) => node?.quorum.isLeader === true);
    leaders.sort((a, b) => (b.node?.quorum.epoch ?? 0) - (a.node?.quorum.epoch ?? 0));
    return leaders[0];
  }

  /** How many records anyone ever knew to be committed. */
  get committedOffsets(): number {
    return this.#committed.size;
  }

  /** Runs until `count` more records are committed, and known to be on all members that are up. */
  commitsMore(count: number): boolean {
    const goal = this.#committed.size + count;
    return this.world.runUntil(() =>
      this.hosts.every(({ node }) => node === undefined || node.quorum.highWatermark >= goal),
    );
  }

  committed(offset: number, record: MetadataRecord): void {
    const text = JSON.stringify(record);
    const known = this.#committed.get(offset);
    if (known === undefined) this.#committed.set(offset, text);
    else if (known !== text)
      throw new Error(`ConsistentCommittedData: ${offset}: ${known}, ${text}`);
  }

  #check(): void {
    for (const { address, node, exited } of this.hosts) {
      // Unless its disk has failed, who ends by itself has lost what it had promised.
      if (exited?.includes("EIO") === false) throw new Error(`NoFatalFault: ${exited}`);
      if (node === undefined) continue;
      const { epoch, highWatermark, isLeader } = node.quorum;
      const lastEpoch = this.#lastEpochs.get(address) ?? 0;
      if (epoch < lastEpoch) throw new Error(`MonotonicEpoch: ${lastEpoch}, ${epoch}`);
      this.#lastEpochs.set(address, epoch);
      const hasRisen = highWatermark > node.lastHighWatermark;
      if (highWatermark < node.lastHighWatermark) throw new Error("MonotonicHighWatermark");
      node.lastHighWatermark = highWatermark;
      const durable = Math.max(node.log.recoveryPoint, this.#durableEnds.get(address) ?? 0);
      this.#durableEnds.set(address, Math.min(durable, node.log.logEndOffset));
      if (!isLeader) continue;
      const known = this.#leaders.get(epoch);
      if (known === undefined) this.#leaders.set(epoch, address);
      else if (known !== address) throw new Error(`SingleLeader: epoch ${epoch}`);
      if (hasRisen) this.#checkMajority(highWatermark);
    }
  }

  #checkMajority(highWatermark: number): void {
    const reached = this.voters.filter(
      ({ address }) => (this.#durableEnds.get(address) ?? 0) >= highWatermark,
    );
    if (reached.length * 2 <= this.#voterCount) {
      throw new Error(`MajorityReachedHighWatermark: ${highWatermark} is on ${reached.length}`);
    }
  }
}

/** One member, in one incarnation. Its work: while it leads, it appends records. */
export class QuorumMember implements Node {
  readonly quorum: QuorumClient;
  readonly log: PartitionLog;
  lastHighWatermark = 0;
  /** The leader that the listener was told of last. */
  leaderHeard = -1;
  readonly #world: World;
  readonly #rpc: RpcClient;
  readonly #server: RpcServer;

  constructor(world: World, harness: QuorumHarness, options: HarnessOptions) {
    this.#world = world;
    this.log = openMetadataLog(world, new TicketBook(), LOG_DIRECTORY);
    this.#rpc = new RpcClient(world, RPC_TIMER);
    this.quorum = new QuorumClient({
      world,
      rpc: this.#rpc,
      log: this.log,
      directory: DIRECTORY,
      nodeId: world.self,
      clusterId: "cluster",
      voters: Array.from({ length: options.voters }, (_, id) => ({ id, address: id })),
      configs: resolveConfigs(BROKER_CONFIGS),
      timerKind: QUORUM_TIMER,
      listener: this.#listener(harness),
      ...(options.rules === undefined ? {} : { rules: options.rules }),
    });
    this.#server = new RpcServer(world, {
      onRequest: (request) => this.quorum.onRequest(request),
    });
  }

  onStart(): void {
    this.quorum.start();
    this.#world.timers.start(WORK_INTERVAL, WORK_TIMER);
  }

  onTimer(kind: number, payload: unknown): void {
    if (kind === RPC_TIMER) this.#rpc.onTimer();
    else if (kind === QUORUM_TIMER) this.quorum.onTimer(payload);
    else this.#work();
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

  onSynced(): void {
    throw new Error("the quorum waits for its fsyncs");
  }

  onShutdown(): void {
    this.quorum.resign();
  }

  #work(): void {
    const { self, random, timers } = this.#world;
    if (this.leaderHeard === self) {
      this.quorum.append([
        {
          type: "ProducerIdsRecord",
          brokerId: self,
          brokerEpoch: this.quorum.epoch,
          nextProducerId: random.between(0, 1_000_000),
        },
      ]);
    }
    timers.start(WORK_INTERVAL, WORK_TIMER);
  }

  #listener(harness: QuorumHarness): QuorumListener {
    let next = 0;
    return {
      onCommitted: (records, baseOffset, lastOffset) => {
        if (baseOffset !== next) throw new Error(`committed ${baseOffset}, expected ${next}`);
        next = lastOffset + 1;
        // The content of control records does not matter here, only where they are.
        if (records.length === 0) harness.committed(baseOffset, { type: "NoOpRecord" });
        for (const [i, record] of records.entries()) harness.committed(baseOffset + i, record);
      },
      onLeader: (leader) => {
        this.leaderHeard = leader;
      },
    };
  }
}
