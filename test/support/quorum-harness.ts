import type { Instant } from "../../src/base/time.ts";
import { MILLISECOND, SECOND } from "../../src/base/time.ts";
import { BROKER_CONFIGS } from "../../src/kafka/config/broker-configs.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import { METADATA_TOPIC, METADATA_TOPIC_ID } from "../../src/kafka/ids.ts";
import type { MetadataRecord } from "../../src/kafka/metadata/records.ts";
import type { QuorumRules } from "../../src/kafka/quorum/quorum-rules.ts";
import type { QuorumListener } from "../../src/nodes/quorum/quorum-client.ts";
import { QuorumClient } from "../../src/nodes/quorum/quorum-client.ts";
import { RpcClient } from "../../src/nodes/rpc/rpc-client.ts";
import { RpcServer } from "../../src/nodes/rpc/rpc-server.ts";
import type { ConnectionId, Frame, Network, NodeAddress } from "../../src/ports/network.ts";
import type { TimerHandle, World } from "../../src/ports/node.ts";
import { DEFAULT_LOG_CONFIG } from "../../src/storage/log-config.ts";
import { PartitionLog } from "../../src/storage/partition-log.ts";
import { TicketBook } from "../../src/storage/ticket-book.ts";
import { MemoryDisk } from "./memory-disk.ts";
import { SmallRandom } from "./small-random.ts";

const RPC_TIMER = 0;
const QUORUM_TIMER = 1;
const WORK_TIMER = 2;

const WORK_INTERVAL = 40 * MILLISECOND;

export interface HarnessOptions {
  readonly voters: number;
  readonly observers?: number;
  readonly seed: number;
  /** Rules that every member keeps instead of Kafka's. */
  readonly rules?: QuorumRules;
}

interface Event {
  readonly at: Instant;
  readonly order: number;
  readonly run: () => void;
}

interface Connection {
  readonly id: ConnectionId;
  readonly from: NodeAddress;
  readonly to: NodeAddress;
  open: boolean;
}

/**
 * A metadata quorum in a world of its own: one queue of events, chance from a seed, partitions that
 * swallow what is sent through them, crashes and losses of power. After every event it checks what
 * Kafka's `RaftEventSimulationTest` checks, and throws if one does not hold.
 */
export class QuorumHarness {
  now: Instant = 0;
  readonly members: Member[] = [];
  readonly random: SmallRandom;
  readonly connections = new Map<ConnectionId, Connection>();
  /** Pairs of members between which nothing gets through. */
  readonly #cut = new Set<string>();
  readonly #leaders = new Map<number, number>();
  readonly #committed = new Map<number, string>();
  #events: Event[] = [];
  #order = 0;
  #nextConnection = 0;

  constructor(options: HarnessOptions) {
    this.random = new SmallRandom(options.seed);
    const count = options.voters + (options.observers ?? 0);
    for (let i = 0; i < count; i++) {
      this.members.push(new Member(this, i, options.voters, options.rules));
    }
  }

  startAll(): void {
    for (const member of this.members) member.start();
  }

  get voters(): readonly Member[] {
    return this.members.filter((member) => member.isVoter);
  }

  /** The member that leads the newest epoch, if it is up. */
  get leader(): Member | undefined {
    const leaders = this.members.filter((member) => member.quorum?.isLeader === true);
    leaders.sort((a, b) => (b.quorum?.epoch ?? 0) - (a.quorum?.epoch ?? 0));
    return leaders[0];
  }

  /** The largest high watermark of all members, ever. */
  get committedOffsets(): number {
    return this.#committed.size;
  }

  isCut(a: NodeAddress, b: NodeAddress): boolean {
    return this.#cut.has(`${Math.min(a, b)}/${Math.max(a, b)}`);
  }

  cut(a: NodeAddress, b: NodeAddress): void {
    this.#cut.add(`${Math.min(a, b)}/${Math.max(a, b)}`);
  }

  /** Cuts one member off from all others. */
  isolate(member: Member): void {
    for (const other of this.members) if (other !== member) this.cut(member.address, other.address);
  }

  heal(): void {
    this.#cut.clear();
  }

  at(time: Instant, run: () => void): void {
    const event = { at: time, order: this.#order++, run };
    let place = this.#events.length;
    while (place > 0 && (this.#events[place - 1] as Event).at > time) place--;
    this.#events.splice(place, 0, event);
  }

  run(duration: number): void {
    const end = this.now + duration;
    this.runUntil(() => false, duration);
    this.now = end;
  }

  /** Runs until the condition holds; false if it does not within the duration. */
  runUntil(condition: () => boolean, duration: number = 60 * SECOND): boolean {
    const end = this.now + duration;
    for (;;) {
      if (condition()) return true;
      const next = this.#events[0];
      if (next === undefined || next.at > end) {
        this.now = end;
        return false;
      }
      this.#events.shift();
      this.now = next.at;
      next.run();
      this.#check();
    }
  }

  /** Runs until `count` more records are committed, on all members that are up. */
  commitsMore(count: number, duration?: number): boolean {
    const goal = this.#committed.size + count;
    return this.runUntil(
      () =>
        this.members.every(({ quorum }) => quorum === undefined || quorum.highWatermark >= goal),
      duration,
    );
  }

  connect(from: NodeAddress, to: NodeAddress): ConnectionId {
    const connection = { id: this.#nextConnection++, from, to, open: true };
    this.connections.set(connection.id, connection);
    this.at(this.now + this.#latency(), () => {
      if (!connection.open || this.isCut(from, to)) return;
      const answered = this.members[to]?.isUp === true;
      if (!answered) this.#forget(connection);
      this.at(this.now + this.#latency(), () => {
        if (answered) this.members[from]?.connected(connection.id);
        else this.members[from]?.closed(connection.id);
      });
    });
    return connection.id;
  }

  send(id: ConnectionId, from: NodeAddress, frame: Frame): void {
    const connection = this.connections.get(id);
    if (connection === undefined || !connection.open) return;
    const to = connection.from === from ? connection.to : connection.from;
    // Longer than it takes to connect, so that nothing overtakes.
    this.at(this.now + 5 * MILLISECOND, () => {
      if (!connection.open) return;
      if (this.isCut(from, to)) this.#forget(connection);
      else this.members[to]?.frame(id, from, frame);
    });
  }

  close(id: ConnectionId, by: NodeAddress): void {
    const connection = this.connections.get(id);
    if (connection === undefined || !connection.open) return;
    this.#forget(connection);
    const other = connection.from === by ? connection.to : connection.from;
    this.at(this.now + this.#latency(), () => {
      if (!this.isCut(by, other)) this.members[other]?.closed(id);
    });
  }

  #forget(connection: Connection): void {
    connection.open = false;
    this.connections.delete(connection.id);
  }

  committed(offset: number, record: MetadataRecord): void {
    const text = JSON.stringify(record);
    const known = this.#committed.get(offset);
    if (known === undefined) this.#committed.set(offset, text);
    else if (known !== text)
      throw new Error(`ConsistentCommittedData: ${offset}: ${known}, ${text}`);
  }

  #latency(): number {
    return this.random.between(200, 2_000);
  }

  #check(): void {
    for (const member of this.members) {
      const { quorum } = member;
      if (quorum === undefined) continue;
      const { epoch, highWatermark } = quorum;
      if (epoch < member.lastEpoch)
        throw new Error(`MonotonicEpoch: ${member.lastEpoch}, ${epoch}`);
      member.lastEpoch = epoch;
      if (highWatermark < member.lastHighWatermark) throw new Error("MonotonicHighWatermark");
      const hasRisen = highWatermark > member.lastHighWatermark;
      member.lastHighWatermark = highWatermark;
      if (!quorum.isLeader) continue;
      const known = this.#leaders.get(epoch);
      if (known === undefined) this.#leaders.set(epoch, member.address);
      else if (known !== member.address) throw new Error(`SingleLeader: epoch ${epoch}`);
      if (hasRisen) this.#checkMajority(highWatermark);
    }
  }

  #checkMajority(highWatermark: number): void {
    const reached = this.voters.filter((voter) => voter.durableEnd >= highWatermark).length;
    if (reached * 2 <= this.voters.length) {
      throw new Error(`MajorityReachedHighWatermark: ${highWatermark} is on ${reached} voters`);
    }
  }
}

/** One member, incarnation after incarnation. Its workload: while it leads, it appends records. */
export class Member {
  readonly address: NodeAddress;
  readonly isVoter: boolean;
  readonly disk: MemoryDisk = new MemoryDisk();
  quorum: QuorumClient | undefined;
  log: PartitionLog | undefined;
  lastEpoch = 0;
  lastHighWatermark = 0;
  leaderHeard = -1;
  /** What ended the process, if it did so itself. */
  exited: string | undefined;
  readonly #harness: QuorumHarness;
  readonly #voters: number;
  readonly #rules: QuorumRules | undefined;
  #rpc: RpcClient | undefined;
  #server: RpcServer | undefined;
  #incarnation = -1;
  #durableEnd = 0;
  #timers = new Map<TimerHandle, boolean>();
  #nextTimer = 0;

  constructor(
    harness: QuorumHarness,
    address: NodeAddress,
    voters: number,
    rules: QuorumRules | undefined,
  ) {
    this.address = address;
    this.isVoter = address < voters;
    this.#harness = harness;
    this.#voters = voters;
    this.#rules = rules;
  }

  get isUp(): boolean {
    return this.quorum !== undefined;
  }

  /** The end of what a loss of power would leave, now or, if it is down, at its stop. */
  get durableEnd(): number {
    if (this.log === undefined) return this.#durableEnd;
    const flushed = Math.max(this.log.recoveryPoint, this.#durableEnd);
    return Math.min(flushed, this.log.logEndOffset);
  }

  start(): void {
    if (this.isUp) return;
    this.#incarnation++;
    this.#timers = new Map();
    this.lastHighWatermark = 0;
    this.leaderHeard = -1;
    const world = this.#world();
    const log = PartitionLog.open({
      disk: this.disk,
      clock: world.clock,
      tickets: new TicketBook(),
      directory: `${METADATA_TOPIC}-0`,
      topic: METADATA_TOPIC,
      partition: 0,
      topicId: METADATA_TOPIC_ID,
      config: DEFAULT_LOG_CONFIG,
      recoveryPoint: 0,
      logStartOffset: 0,
      cleanShutdown: false,
    });
    const rpc = new RpcClient(world, RPC_TIMER);
    const voters = Array.from({ length: this.#voters }, (_, id) => ({ id, address: id }));
    const quorum: QuorumClient = new QuorumClient({
      world,
      rpc,
      log,
      directory: `${METADATA_TOPIC}-0`,
      nodeId: this.address,
      clusterId: "cluster",
      voters,
      configs: resolveConfigs(BROKER_CONFIGS),
      timerKind: QUORUM_TIMER,
      listener: this.#listener(),
      ...(this.#rules === undefined ? {} : { rules: this.#rules }),
    });
    this.log = log;
    this.quorum = quorum;
    this.#rpc = rpc;
    this.#server = new RpcServer(world, { onRequest: (request) => quorum.onRequest(request) });
    quorum.start();
    world.timers.start(WORK_INTERVAL, WORK_TIMER);
  }

  /** The process dies; what it wrote stays. */
  crash(): void {
    this.#stop();
  }

  /** The machine loses its power, and what was not synced. */
  powerOff(): void {
    this.#stop();
    this.disk.powerOff();
  }

  connected(id: ConnectionId): void {
    this.#rpc?.onConnected(id);
  }

  closed(id: ConnectionId): void {
    if (this.#rpc?.owns(id) === true) this.#rpc.onClosed(id);
    else this.#server?.onClosed(id);
  }

  frame(id: ConnectionId, from: NodeAddress, frame: Frame): void {
    if (frame.isResponse) this.#rpc?.onFrame(id, frame);
    else this.#server?.onFrame(id, from, frame);
  }

  #stop(): void {
    this.#durableEnd = this.durableEnd;
    this.quorum = undefined;
    this.log = undefined;
    this.#rpc = undefined;
    this.#server = undefined;
    for (const { id, from, to } of [...this.#harness.connections.values()]) {
      if (from === this.address || to === this.address) this.#harness.close(id, this.address);
    }
  }

  #onTimer(kind: number, payload: unknown): void {
    if (kind === RPC_TIMER) this.#rpc?.onTimer(payload);
    else if (kind === QUORUM_TIMER) this.quorum?.onTimer(payload);
    else this.#work();
  }

  #work(): void {
    const { quorum } = this;
    if (quorum === undefined) return;
    if (quorum.isLeader && this.leaderHeard === this.address) {
      quorum.append([
        {
          type: "ProducerIdsRecord",
          brokerId: this.address,
          brokerEpoch: quorum.epoch,
          nextProducerId: this.#harness.random.between(0, 1_000_000),
        },
      ]);
    }
    this.#startTimer(WORK_INTERVAL, WORK_TIMER, undefined);
  }

  #listener(): QuorumListener {
    let next = 0;
    return {
      onCommitted: (records, baseOffset, lastOffset) => {
        if (baseOffset !== next) throw new Error(`committed ${baseOffset}, expected ${next}`);
        next = lastOffset + 1;
        // Control records are as good as any to find where two logs differ.
        if (records.length === 0) this.#harness.committed(baseOffset, { type: "NoOpRecord" });
        for (const [i, record] of records.entries()) {
          this.#harness.committed(baseOffset + i, record);
        }
      },
      onLeader: (leader) => {
        this.leaderHeard = leader;
      },
    };
  }

  #startTimer(delay: number, kind: number, payload: unknown): TimerHandle {
    const handle = this.#nextTimer++;
    const timers = this.#timers;
    timers.set(handle, true);
    this.#harness.at(this.#harness.now + delay, () => {
      if (timers !== this.#timers || !this.isUp || !timers.delete(handle)) return;
      this.#onTimer(kind, payload);
    });
    return handle;
  }

  #world(): World {
    const harness = this.#harness;
    const { address } = this;
    const network: Network = {
      connect: (to) => harness.connect(address, to),
      send: (id, frame) => harness.send(id, address, frame),
      close: (id) => harness.close(id, address),
    };
    return {
      self: address,
      clock: { now: () => harness.now },
      timers: {
        start: (delay, kind, payload) => this.#startTimer(delay, kind, payload),
        cancel: (handle) => {
          this.#timers.delete(handle);
        },
      },
      network,
      disk: this.disk,
      random: harness.random,
      process: {
        exit: (reason) => {
          this.exited = reason;
          this.#stop();
        },
        incarnation: this.#incarnation,
      },
      facts: { note: () => undefined },
    };
  }
}
