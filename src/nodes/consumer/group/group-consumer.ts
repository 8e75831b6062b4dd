import { fail, unreachable } from "../../../base/invariant.ts";
import type { Instant } from "../../../base/time.ts";
import { SECOND } from "../../../base/time.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../../ports/network.ts";
import type { Node, World } from "../../../ports/node.ts";
import { BrokerConnections } from "../../client-metadata/broker-connections.ts";
import { ClientMetadata } from "../../client-metadata/client-metadata.ts";
import type { GroupMetadata } from "../../producer/transaction/send-offsets.ts";
import { RpcClient } from "../../rpc/rpc-client.ts";
import { WakeUp } from "../../wake-up.ts";
import { ZookeeperClient } from "../../zookeeper/zookeeper-client.ts";
import type { CalledConsumer, ConsumerCall } from "../application-calls.ts";
import { ApplicationCalls } from "../application-calls.ts";
import { consumerSettings } from "../consumer-options.ts";
import { ConsumerParts } from "../consumer-parts.ts";
import { Fetcher } from "../fetcher.ts";
import { OffsetFinder } from "../offset-finder.ts";
import { PositionValidator } from "../position-validator.ts";
import { ClassicMembership } from "./classic-membership.ts";
import { ClassicOwnership } from "./classic-ownership.ts";
import { ConsumerMembership } from "./consumer-membership.ts";
import { CoordinatorLink } from "./coordinator-link.ts";
import { FetchBuffer } from "./fetch-buffer.ts";
import { GroupOffsets } from "./group-offsets.ts";
import type {
  GroupConsumerOptions,
  GroupSettings,
  SelfAssignment,
  Subscription,
} from "./group-options.ts";
import { groupSettings } from "./group-options.ts";
import type { MemberOffsets } from "./member-offsets.ts";
import type { Generation, Membership } from "./membership.ts";
import { NO_GENERATION } from "./membership.ts";
import { OwnedPartitions } from "./owned-partitions.ts";
import type { Finished, PolledWork } from "./polled-work.ts";
import { SelfAssigned } from "./self-assigned.ts";
import { Work } from "./work.ts";
import { ZookeeperMembership } from "./zookeeper-membership.ts";
import { ZookeeperOffsets } from "./zookeeper-offsets.ts";

/** What the timers of a member are for. */
const TIMER = { rpc: 0, wakeUp: 1, metadata: 2, work: 3, close: 4, zookeeper: 5, call: 6 };

/** The kind of the timer of a program's work, and the first that a node around a member may use for itself. */
export const WORK_TIMER: number = TIMER.work;
export const FREE_TIMER = 10;

/** How long `close` waits for its commit and for the coordinator (`DEFAULT_CLOSE_TIMEOUT_MS`). */
const CLOSE_TIMEOUT = 30 * SECOND;

/** What the one thread of the application does. */
type Phase = "polling" | "committing" | "working" | "closing" | "closed";

/**
 * A node that reads topics as a member of a group (`ClassicKafkaConsumer`, `AsyncKafkaConsumer`, and a program around it): polls,
 * works on each record that the poll gave it, commits as it is told, and polls again. Meanwhile heartbeats
 * go on, and what arrives is kept for the next poll.
 *
 * Simplified: while the coordinator is not known, partitions are read on; Kafka's poll waits for it first.
 */
export class GroupConsumer implements Node, CalledConsumer {
  readonly #world: World;
  readonly #options: GroupConsumerOptions;
  readonly #settings: GroupSettings;
  readonly #rpc: RpcClient;
  /** For questions, for fetches, and for the coordinator. */
  readonly #main: BrokerConnections;
  readonly #fetch: BrokerConnections;
  readonly #toCoordinator: BrokerConnections;
  readonly #parts: ConsumerParts;
  readonly #link: CoordinatorLink;
  readonly #membership: Membership;
  readonly #offsets: MemberOffsets;
  /** Of a group without a coordinator. */
  readonly #zookeeper: ZookeeperClient | undefined;
  readonly #buffer: FetchBuffer;
  readonly #calls: ApplicationCalls;
  readonly #finder: OffsetFinder;
  readonly #validator: PositionValidator;
  readonly #fetcher: Fetcher;
  readonly #work: PolledWork;
  readonly #owned: OwnedPartitions;
  /** Its last place in the group, even if it has none now. */
  #joined: Generation = NO_GENERATION;
  #phase: Phase = "polling";
  #isToClose = false;
  #metadataVersion = 0;

  /** `work`: what it does with what it polls, if it is not what the options say; its timer is of kind `work`. */
  constructor(world: World, options: GroupConsumerOptions, work?: PolledWork) {
    const { bootstrap, configs, name, subscription } = options;
    this.#world = world;
    this.#options = options;
    this.#settings = groupSettings(options);
    const settings = consumerSettings(configs, options.switches);
    const { reconnectBackoff, reconnectBackoffMax } = settings;
    const rpc = new RpcClient(world, TIMER.rpc);
    const connections = (purpose: string): BrokerConnections =>
      new BrokerConnections(world, rpc, purpose, reconnectBackoff, reconnectBackoffMax);
    this.#rpc = rpc;
    this.#main = connections("main");
    this.#fetch = connections("fetch");
    this.#toCoordinator = connections("coordinator");
    const metadata = new ClientMetadata(world, rpc, {
      client: name,
      topics: topicsOf(subscription),
      bootstrap,
      requestTimeout: settings.requestTimeout,
      backoff: settings.retryBackoff,
      backoffMax: settings.retryBackoffMax,
      maxAge: settings.metadataMaxAge,
      connections: this.#main,
      timerKind: TIMER.metadata,
    });
    const wakeUp = new WakeUp(world.timers, TIMER.wakeUp);
    const parts = new ConsumerParts(world, rpc, name, settings, metadata, wakeUp);
    const membership = (): Membership => this.#membership;
    this.#parts = parts;
    this.#buffer = new FetchBuffer(parts);
    this.#calls = new ApplicationCalls(parts, this.#main, (partition) =>
      this.#buffer.drop(partition),
    );
    this.#finder = new OffsetFinder(parts, this.#main);
    this.#validator = new PositionValidator(parts, this.#main);
    this.#fetcher = new Fetcher(parts, this.#fetch, this.#buffer);
    this.#link = new CoordinatorLink(parts, options.group, this.#main, this.#toCoordinator);
    const owned = new OwnedPartitions(parts, this.#settings, this.#buffer);
    const { zookeeper } = options;
    if (zookeeper === undefined) {
      const offsets = new GroupOffsets(parts, this.#settings, this.#link, membership);
      this.#offsets = offsets;
      this.#membership = this.#membershipBy(subscription, offsets, owned);
    } else {
      [this.#zookeeper, this.#offsets, this.#membership] = this.#registered(zookeeper, owned);
    }
    this.#link.onFound = (now) => this.#membership.coordinatorFound(now);
    this.#owned = owned;
    this.#work = work ?? new Work(world, name, options.group, options.work, TIMER.work);
  }

  #membershipBy(
    subscription: Subscription | SelfAssignment,
    offsets: GroupOffsets,
    owned: OwnedPartitions,
  ): Membership {
    const parts = this.#parts;
    const settings = this.#settings;
    if (subscription.kind === "assigned") return new SelfAssigned(parts, subscription, owned);
    if (settings.protocol === "classic") return this.#classic(subscription, offsets, owned);
    return new ConsumerMembership(parts, settings, subscription, this.#link, offsets, owned);
  }

  /** A member by the first protocol, its place in the group and its offsets all in ZooKeeper. */
  #registered(
    server: NodeAddress,
    owned: OwnedPartitions,
  ): [ZookeeperClient, MemberOffsets, Membership] {
    const { subscription } = this.#options;
    if (subscription.kind === "assigned") fail("who assigns himself partitions has no registry");
    const { zookeeperSessionTimeout } = this.#settings;
    let membership: ZookeeperMembership;
    const client = new ZookeeperClient(
      this.#world,
      server,
      zookeeperSessionTimeout,
      TIMER.zookeeper,
      {
        sessionBegan: () => membership.sessionBegan(),
        sessionExpired: () => membership.sessionExpired(),
        watchFired: () => membership.watchFired(),
      },
    );
    const parts = this.#parts;
    const settings = this.#settings;
    const offsets = new ZookeeperOffsets(parts, settings, client, () => membership.generation);
    membership = new ZookeeperMembership(parts, settings, subscription, client, offsets, owned);
    return [client, offsets, membership];
  }

  #classic(subscription: Subscription, offsets: GroupOffsets, owned: OwnedPartitions): Membership {
    let membership: ClassicMembership;
    const ownership = new ClassicOwnership(
      this.#parts,
      this.#settings,
      subscription,
      offsets,
      owned,
      () => membership,
    );
    membership = new ClassicMembership(this.#parts, this.#settings, this.#link, ownership);
    return membership;
  }

  onStart(): void {
    this.#zookeeper?.start();
    this.#run();
  }

  onTimer(kind: number, payload?: unknown): void {
    switch (kind) {
      case TIMER.rpc:
        this.#rpc.onTimer();
        break;
      case TIMER.wakeUp:
        this.#parts.wakeUp.fired();
        this.#parts.isChanged = true;
        break;
      case TIMER.metadata:
        this.#parts.metadata.fired();
        break;
      case TIMER.work:
        this.#finished(this.#work.done(payload));
        break;
      case TIMER.zookeeper:
        this.#zookeeper?.onTimer();
        break;
      case TIMER.call:
        break;
      case TIMER.close:
        this.#exit();
        return;
      default:
        fail(`a member of a group has no timer ${kind}`);
    }
    this.#run();
  }

  onConnected(connection: ConnectionId): void {
    if (this.#zookeeper?.owns(connection)) this.#zookeeper.onConnected();
    else this.#rpc.onConnected(connection);
    this.#parts.isChanged = true;
    this.#run();
  }

  onFrame(connection: ConnectionId, _from: NodeAddress, frame: Frame): void {
    if (this.#zookeeper?.owns(connection)) this.#zookeeper.onFrame(frame);
    else this.#rpc.onFrame(connection, frame);
    this.#run();
  }

  onClosed(connection: ConnectionId, from: NodeAddress): void {
    if (this.#zookeeper?.owns(connection)) {
      this.#zookeeper.onClosed();
      this.#run();
      return;
    }
    const purpose = this.#rpc.purposeOf(connection);
    if (purpose === undefined) return;
    const now = this.#world.clock.now();
    const all = [this.#main, this.#fetch, this.#toCoordinator];
    all.find((one) => one.purpose === purpose)?.disconnected(from, now);
    this.#parts.metadata.disconnected(now);
    this.#parts.isChanged = true;
    this.#rpc.onClosed(connection);
    this.#run();
  }

  onSynced(): void {
    fail("a consumer has no files");
  }

  /** `wakeup`: what the last poll gave is worked on still, and then the consumer is closed. */
  onShutdown(): void {
    this.#isToClose = true;
    this.#run();
  }

  /**
   * As its work is to name it to a coordinator (`groupMetadata`). Who is in the group no more goes by his last
   * generation, which fences him.
   */
  get groupMetadata(): GroupMetadata {
    const { generation } = this.#membership;
    const { id, memberId } = generation.id < 0 ? this.#joined : generation;
    const { groupId, instanceId } = this.#settings;
    return { groupId, generationId: id, memberId, groupInstanceId: instanceId };
  }

  /** Something happened outside of it that its work has waited for. */
  run(): void {
    this.#run();
  }

  /** The application asks something of it, as soon as it is back from its work. */
  call(call: ConsumerCall): void {
    this.#calls.add(call);
    this.#world.timers.start(0, TIMER.call);
  }

  /** Does all that can be done now. */
  #run(): void {
    const now = this.#world.clock.now();
    const parts = this.#parts;
    this.#followMetadata();
    let before: Phase;
    do {
      while (this.#step(now));
      before = this.#phase;
      if (before === "closed") return;
      this.#membership.beat(now);
      this.#offsets.run(now);
      // A commit that ends without having been sent sets the application going again.
    } while (this.#phase !== before);
    parts.metadata.run(now);
  }

  /** One step of the application. True if another may follow at once. */
  #step(now: Instant): boolean {
    switch (this.#phase) {
      case "polling":
        if (this.#isToClose) return this.#close();
        if (!this.#mayPoll(now)) return false;
        return this.#poll(now);
      case "working":
        this.#work.run(now);
        if (!this.#work.isOver) return false;
        if (this.#work.hasFailed) {
          this.#owned.rewind();
          this.#beginPoll();
        } else this.#commitOr("after", () => this.#beginPoll());
        return true;
      case "committing":
      case "closing":
      case "closed":
        return false;
      default:
        return fail(`the application does ${String(this.#phase satisfies never)}`);
    }
  }

  #beginPoll(): void {
    this.#phase = "polling";
    this.#membership.pollBegan(this.#world.clock.now());
  }

  /** Not while the application waits for the answer to another call; which counts as time that it spends elsewhere. */
  #mayPoll(now: Instant): boolean {
    const parts = this.#parts;
    const wasBlocked = parts.isBlocked;
    this.#calls.perform(now);
    if (parts.isBlocked && !wasBlocked) this.#membership.pollEnded(now);
    if (wasBlocked && !parts.isBlocked) this.#membership.pollBegan(now);
    return !parts.isBlocked;
  }

  /** True if it gave the application something. */
  #poll(now: Instant): boolean {
    const parts = this.#parts;
    this.#membership.poll(now);
    this.#offsets.autoCommit(now);
    this.#offsets.findBeginnings(now);
    if (parts.isChanged) this.#lookAround(now);
    const taken = this.#membership.isParting ? [] : this.#buffer.poll();
    // What is not there yet is fetched while the application works.
    this.#fetcher.run(now);
    if (taken.length === 0) return false;
    this.#membership.pollEnded(now);
    if (this.#membership.generation.id >= 0) this.#joined = this.#membership.generation;
    this.#work.polled(taken);
    this.#commitOr("before", (isCommitted) => this.#beginWork(isCommitted));
    return true;
  }

  #beginWork(isCommitted: boolean): void {
    this.#phase = "working";
    this.#work.begin(isCommitted);
  }

  /** Commits if it is to be done at this point, and goes on. */
  #commitOr(when: "before" | "after", next: (isCommitted: boolean) => void): void {
    const { mode, when: chosen } = this.#options.commit;
    if ((mode !== "sync" && mode !== "async") || chosen !== when) {
      next(false);
    } else if (mode === "async") {
      this.#offsets.commit("async", 0, () => undefined);
      next(false);
    } else {
      this.#phase = "committing";
      // A commit that fails is told to the application, which goes on to poll.
      const patience = this.#parts.settings.apiTimeout;
      this.#offsets.commit("sync", patience, (outcome) => next(outcome === "done"));
    }
  }

  /** A worker is done with a record. */
  #finished(finished: Finished | undefined): void {
    if (finished === undefined) return;
    const { partition, offset, unfinished } = finished;
    const { mode } = this.#options.commit;
    if (mode === "each-finished") this.#offsets.commitBelow(partition, offset + 1);
    else if (mode === "smallest-unfinished" && unfinished > offset) {
      // Else one that began before it is not done, and nothing more is.
      this.#offsets.commitBelow(partition, unfinished);
    }
  }

  /** Something changed that is not just another fetch. */
  #lookAround(now: Instant): void {
    const parts = this.#parts;
    parts.isChanged = false;
    this.#finder.run(now);
    this.#validator.run(now);
    this.#fetcher.regroup(now);
    for (const partition of parts.assigned) {
      if (partition.retryAt > now) parts.wakeUp.noLaterThan(partition.retryAt, now);
    }
  }

  #followMetadata(): void {
    const parts = this.#parts;
    if (this.#metadataVersion === parts.metadata.version) return;
    this.#metadataVersion = parts.metadata.version;
    parts.isChanged = true;
    for (const partition of parts.assigned) partition.followLeader();
  }

  // The end.

  #close(): boolean {
    this.#phase = "closing";
    this.#world.timers.start(CLOSE_TIMEOUT, TIMER.close);
    if (this.#settings.autoCommit) {
      this.#offsets.commit("auto", CLOSE_TIMEOUT, () => this.#leave());
    } else this.#leave();
    return false;
  }

  #leave(): void {
    this.#membership.close(() => this.#exit());
  }

  #exit(): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    this.#world.process.exit("closed");
  }
}

/** Which topics it asks about; undefined: all there are. */
function topicsOf(subscription: Subscription | SelfAssignment): readonly string[] | undefined {
  switch (subscription.kind) {
    case "topics":
      return subscription.topics;
    case "assigned":
      return [subscription.topic];
    case "pattern":
      return undefined;
    default:
      return unreachable(subscription);
  }
}
