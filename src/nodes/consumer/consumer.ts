import { fail } from "../../base/invariant.ts";
import type { Instant } from "../../base/time.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { Node, World } from "../../ports/node.ts";
import { BrokerConnections } from "../client-metadata/broker-connections.ts";
import { ClientMetadata } from "../client-metadata/client-metadata.ts";
import { RpcClient } from "../rpc/rpc-client.ts";
import { WakeUp } from "../wake-up.ts";
import type { CalledConsumer, ConsumerCall } from "./application-calls.ts";
import { ApplicationCalls } from "./application-calls.ts";
import { AssignedPartition } from "./assigned-partition.ts";
import type { ConsumerOptions } from "./consumer-options.ts";
import { consumerSettings } from "./consumer-options.ts";
import { ConsumerParts } from "./consumer-parts.ts";
import { Delivery } from "./delivery.ts";
import { Fetcher } from "./fetcher.ts";
import { OffsetFinder } from "./offset-finder.ts";
import { PositionValidator } from "./position-validator.ts";

/** What the consumer's timers are for. */
const TIMER = { rpc: 0, wakeUp: 1, metadata: 2, call: 3 };

/** A node that reads the partitions it is assigned, from their leaders, as records come. */
export class Consumer implements Node, CalledConsumer {
  readonly #world: World;
  readonly #options: ConsumerOptions;
  readonly #rpc: RpcClient;
  /** For questions; what is fetched has connections of its own, since a long poll blocks. */
  readonly #main: BrokerConnections;
  readonly #fetch: BrokerConnections;
  readonly #parts: ConsumerParts;
  readonly #calls: ApplicationCalls;
  readonly #finder: OffsetFinder;
  readonly #validator: PositionValidator;
  readonly #fetcher: Fetcher;
  #metadataVersion = 0;
  #isStopped = false;

  constructor(world: World, options: ConsumerOptions) {
    this.#world = world;
    this.#options = options;
    const settings = consumerSettings(options.configs, options.switches);
    const { reconnectBackoff, reconnectBackoffMax } = settings;
    const rpc = new RpcClient(world, TIMER.rpc);
    this.#rpc = rpc;
    this.#main = new BrokerConnections(world, rpc, "main", reconnectBackoff, reconnectBackoffMax);
    this.#fetch = new BrokerConnections(world, rpc, "fetch", reconnectBackoff, reconnectBackoffMax);
    const metadata = new ClientMetadata(world, rpc, {
      client: options.name,
      topics: [options.topic],
      bootstrap: options.bootstrap,
      requestTimeout: settings.requestTimeout,
      backoff: settings.retryBackoff,
      backoffMax: settings.retryBackoffMax,
      maxAge: settings.metadataMaxAge,
      connections: this.#main,
      timerKind: TIMER.metadata,
    });
    this.#parts = new ConsumerParts(
      world,
      rpc,
      options.name,
      settings,
      metadata,
      new WakeUp(world.timers, TIMER.wakeUp),
    );
    this.#calls = new ApplicationCalls(this.#parts, this.#main, () => undefined);
    this.#finder = new OffsetFinder(this.#parts, this.#main);
    this.#validator = new PositionValidator(this.#parts, this.#main);
    const delivery = new Delivery(world, options.name, settings.maxPollRecords);
    this.#fetcher = new Fetcher(this.#parts, this.#fetch, delivery);
  }

  /** Reads no more; what is being fetched is still taken. */
  stop(): void {
    this.#isStopped = true;
  }

  /** The application asks something of it. */
  call(call: ConsumerCall): void {
    this.#calls.add(call);
    this.#world.timers.start(0, TIMER.call);
  }

  onStart(): void {
    this.#run();
  }

  onTimer(kind: number): void {
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
      case TIMER.call:
        break;
      default:
        fail(`a consumer has no timer ${kind}`);
    }
    this.#run();
  }

  onConnected(connection: ConnectionId): void {
    this.#rpc.onConnected(connection);
    this.#parts.isChanged = true;
    this.#run();
  }

  onFrame(connection: ConnectionId, _from: NodeAddress, frame: Frame): void {
    this.#rpc.onFrame(connection, frame);
    this.#run();
  }

  onClosed(connection: ConnectionId, from: NodeAddress): void {
    const purpose = this.#rpc.purposeOf(connection);
    if (purpose === undefined) return;
    const now = this.#world.clock.now();
    const connections = purpose === this.#fetch.purpose ? this.#fetch : this.#main;
    connections.disconnected(from, now);
    this.#parts.metadata.disconnected(now);
    this.#parts.isChanged = true;
    this.#rpc.onClosed(connection);
    this.#run();
  }

  onSynced(): void {
    fail("a consumer has no files");
  }

  onShutdown(): void {
    this.#world.process.exit("closed");
  }

  /** Does all that can be done now. */
  #run(): void {
    if (this.#isStopped) return;
    const now = this.#world.clock.now();
    const parts = this.#parts;
    if (this.#metadataVersion !== parts.metadata.version) this.#followMetadata();
    this.#calls.perform(now);
    if (!parts.isBlocked) {
      if (parts.isChanged) this.#lookAround(now);
      this.#fetcher.run(now);
    }
    parts.metadata.run(now);
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
    this.#metadataVersion = parts.metadata.version;
    parts.isChanged = true;
    this.#assign();
    for (const partition of parts.assigned) partition.followLeader();
  }

  /** All partitions of the topic may mean more of them later. */
  #assign(): void {
    const { assigned, metadata, settings } = this.#parts;
    const topic = metadata.topic(this.#options.topic);
    const { partitions, startAt } = this.#options;
    const wanted = partitions ?? topic.partitions.map((leader) => leader.partition);
    for (let i = assigned.length; i < wanted.length; i++) {
      const leader = topic.partition(wanted[i] as number);
      const policy = startAt ?? settings.resetPolicy;
      assigned.push(new AssignedPartition(topic, leader, policy));
    }
  }
}
