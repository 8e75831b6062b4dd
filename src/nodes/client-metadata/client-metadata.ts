import type { Duration, Instant } from "../../base/time.ts";
import {
  BACKOFF_JITTER_HIGH,
  BACKOFF_JITTER_LOW,
  exponentialBackoff,
} from "../../kafka/client/backoff.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { BrokerId } from "../../kafka/ids.ts";
import { NO_EPOCH, NO_LEADER } from "../../kafka/ids.ts";
import { METADATA } from "../../kafka/protocol/apis.ts";
import type {
  MetadataRequest,
  MetadataResponse,
  MetadataTopic,
} from "../../kafka/protocol/metadata.ts";
import type { LeaderIdAndEpoch } from "../../kafka/protocol/produce.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import type { ResponseHandler, RpcClient } from "../rpc/rpc-client.ts";
import { NEVER, WakeUp } from "../wake-up.ts";
import type { BrokerConnections } from "./broker-connections.ts";
import { NO_ADDRESS, TopicLeaders } from "./topic-leaders.ts";

export interface ClientMetadataOptions {
  /** The client's name, for facts. */
  readonly client: string;
  /** Undefined: all that there are. */
  readonly topics: readonly string[] | undefined;
  /** bootstrap.servers. */
  readonly bootstrap: readonly NodeAddress[];
  readonly requestTimeout: Duration;
  /** retry.backoff.ms and retry.backoff.max.ms. */
  readonly backoff: Duration;
  readonly backoffMax: Duration;
  /** metadata.max.age.ms. */
  readonly maxAge: Duration;
  /** Metadata requests travel on these. */
  readonly connections: BrokerConnections;
  /** The timer kind under which the owner is woken for `run`. */
  readonly timerKind: number;
}

/**
 * What a client knows of the cluster: brokers and their addresses, topics and their leaders. It asks
 * any broker; again when it is told that its knowledge is stale, and when it is old. News of an older
 * leader epoch than it has heard of are not believed (`Metadata`, KIP-320).
 */
export class ClientMetadata implements ResponseHandler<MetadataResponse, undefined> {
  readonly #world: World;
  readonly #rpc: RpcClient;
  readonly #options: ClientMetadataOptions;
  readonly #connections: BrokerConnections;
  #request: MetadataRequest;
  /** What is under way does not ask for all that is wanted. */
  #isOutgrown = false;
  readonly #topics = new Map<string, TopicLeaders>();
  readonly #brokers = new Map<BrokerId, NodeAddress>();
  readonly #wakeUp: WakeUp;
  /** Whom to ask: the brokers of the last response, at first those to bootstrap from. */
  #addresses: readonly NodeAddress[];
  #version = 0;
  /** Simplified: asked at the start; Kafka's producer asks for a topic with its first record. */
  #isNeeded = true;
  #isInProgress = false;
  #failures = 0;
  /** Responses in a row that told nothing new. */
  #equivalentResponses = 0;
  #lastSuccess: Instant;
  #notBefore: Instant = 0;

  constructor(world: World, rpc: RpcClient, options: ClientMetadataOptions) {
    this.#world = world;
    this.#rpc = rpc;
    this.#options = options;
    this.#connections = options.connections;
    this.#addresses = options.bootstrap;
    this.#wakeUp = new WakeUp(world.timers, options.timerKind);
    this.#lastSuccess = world.clock.now();
    for (const name of options.topics ?? []) this.#topics.set(name, new TopicLeaders(name));
    this.#request = requestFor(options.topics);
  }

  /** Grows whenever leaders may have changed. */
  get version(): number {
    return this.#version;
  }

  /** Has it asked for nothing that it has not been told? */
  get isFresh(): boolean {
    return !this.#isNeeded && !this.#isInProgress;
  }

  /** All topics that it knows, in the order in which it heard of them. */
  get topics(): Iterable<TopicLeaders> {
    return this.#topics.values();
  }

  /** From now on it asks for these, too. */
  watch(names: readonly string[]): void {
    const asked = this.#request.topics;
    if (asked === undefined) return;
    const added = names.filter((name) => asked.every((topic) => topic.name !== name));
    if (added.length === 0) return;
    for (const name of added) this.topic(name);
    this.#request = requestFor([...asked.map(({ name = "" }) => name), ...added]);
    this.#isOutgrown = this.#isInProgress;
    this.requestUpdate();
  }

  /** One of the topics it was made for. */
  topic(name: string): TopicLeaders {
    const known = this.#topics.get(name);
    if (known !== undefined) return known;
    const topic = new TopicLeaders(name);
    this.#topics.set(name, topic);
    return topic;
  }

  /** The broker at this address; NO_LEADER if it has not been heard of. */
  brokerAt(address: NodeAddress): BrokerId {
    for (const [id, at] of this.#brokers) if (at === address) return id;
    return NO_LEADER;
  }

  /** What is known is stale. The next `run` asks, unless it has just been asked. */
  requestUpdate(): void {
    this.#isNeeded = true;
  }

  /** A connection broke: perhaps its broker is gone. */
  disconnected(now: Instant): void {
    // An update that was about to be sent counts as tried, so that the next one waits.
    if (this.#isNeeded && !this.#isInProgress && now >= this.#notBefore) this.#failed(now);
    this.#isNeeded = true;
  }

  /** The timer of `timerKind` came due; `run` is to follow. */
  fired(): void {
    this.#wakeUp.fired();
  }

  /** Asks a broker if it is time to. To be called after whatever happened. */
  run(now: Instant): void {
    if (this.#isInProgress) return;
    const due = this.#isNeeded ? this.#notBefore : this.#expiry();
    if (now < due) {
      this.#wakeUp.noLaterThan(due, now);
      return;
    }
    const address = this.leastLoaded(now);
    if (address === NO_ADDRESS) {
      // Connecting, and the end of that wakes the client; or each waits to be tried again.
      this.#wakeUp.noLaterThan(this.nextAttempt(now), now);
      return;
    }
    if (!this.#connections.ready(address, now)) return;
    this.#isInProgress = true;
    const { purpose } = this.#connections;
    const { requestTimeout } = this.#options;
    this.#rpc.send(address, purpose, METADATA, this.#request, requestTimeout, this, undefined);
  }

  /**
   * The address to ask: connected with the fewest requests under way, else any that may be
   * connected to, the least recently tried first. NO_ADDRESS while another is being connected to,
   * and if none may be tried yet (`NetworkClient.leastLoadedNode`).
   */
  leastLoaded(now: Instant): NodeAddress {
    const addresses = this.#addresses;
    const connections = this.#connections;
    const offset = this.#world.random.below(addresses.length);
    let connected = NO_ADDRESS;
    let fewest = NEVER;
    let candidate = NO_ADDRESS;
    let isConnecting = false;
    for (let i = 0; i < addresses.length; i++) {
      const address = addresses[(offset + i) % addresses.length] as NodeAddress;
      const state = connections.state(address);
      if (state === "connected") {
        const load = this.#rpc.inFlight(address, connections.purpose);
        if (load < fewest) {
          fewest = load;
          connected = address;
        }
      } else if (state === "connecting") {
        isConnecting = true;
      } else if (now >= connections.notBefore(address)) {
        const isOlder =
          candidate === NO_ADDRESS ||
          connections.lastAttempt(address) < connections.lastAttempt(candidate);
        if (isOlder) candidate = address;
      }
    }
    if (connected !== NO_ADDRESS) return connected;
    return isConnecting ? NO_ADDRESS : candidate;
  }

  /** The earliest instant from which a broker may be connected to that now may not; NEVER if none. */
  nextAttempt(now: Instant): Instant {
    let next = NEVER;
    for (const address of this.#addresses) {
      const at = this.#connections.notBefore(address);
      if (at > now && at < next) next = at;
    }
    return next;
  }

  /**
   * Takes what a broker said beside an error about who leads instead (KIP-951). True if it is news.
   *
   * Simplified: the endpoints of new leaders, which such a response also carries, are not modelled;
   * the address must be known already.
   */
  learnLeader(topic: string, partition: number, hint: LeaderIdAndEpoch | undefined): boolean {
    if (hint === undefined || hint.leaderId === NO_LEADER || hint.leaderEpoch < 0) return false;
    const known = this.topic(topic).partition(partition);
    const address = this.#brokers.get(hint.leaderId);
    if (address === undefined || hint.leaderEpoch <= known.leaderEpoch) return false;
    known.set(hint.leaderId, hint.leaderEpoch, address);
    this.#version++;
    return true;
  }

  onResponse(response: MetadataResponse): void {
    const now = this.#world.clock.now();
    this.#isInProgress = false;
    // A broker that has just started may not know of any.
    if (response.brokers.length === 0) {
      this.#failed(now);
      return;
    }
    this.#isNeeded = this.#isOutgrown;
    this.#isOutgrown = false;
    this.#failures = 0;
    this.#lastSuccess = now;
    this.#equivalentResponses++;
    this.#brokers.clear();
    for (const broker of response.brokers) this.#brokers.set(broker.nodeId, broker.port);
    this.#addresses = [...this.#brokers.values()];
    for (const topic of response.topics) this.#updateTopic(topic);
    this.#version++;
    const repeats = this.#equivalentResponses;
    this.#notBefore = now + (repeats > 0 ? this.#backoff(repeats - 1) : 0);
  }

  onDisconnect(_context: undefined, from: NodeAddress): void {
    const now = this.#world.clock.now();
    this.#connections.disconnected(from, now);
    this.#isInProgress = false;
    this.#isNeeded = true;
    this.#failed(now);
    this.#world.facts.note({
      kind: "request-failed",
      client: this.#options.client,
      api: METADATA.name,
      broker: this.brokerAt(from),
      partition: "",
      error: ERRORS.NETWORK_EXCEPTION.name,
      retried: true,
    });
  }

  #updateTopic(response: MetadataTopic): void {
    const isWanted = this.#request.topics === undefined || this.#topics.has(response.name);
    if (!isWanted) return;
    const topic = this.topic(response.name);
    const error = errorOf(response.errorCode);
    topic.isKnown = error === ERRORS.NONE;
    topic.isInternal = response.isInternal;
    if (error !== ERRORS.NONE) {
      for (const leader of topic.partitions) leader.set(NO_LEADER, leader.leaderEpoch, NO_ADDRESS);
      this.#requestUpdateOn(error);
      return;
    }
    const isRecreated = topic.topicId !== response.topicId;
    topic.topicId = response.topicId;
    for (const partition of response.partitions) {
      const known = topic.partition(partition.partitionIndex);
      const heardOf = isRecreated ? NO_EPOCH : known.leaderEpoch;
      if (partition.leaderEpoch > heardOf) this.#equivalentResponses = 0;
      if (partition.leaderEpoch >= heardOf) {
        const address = this.#brokers.get(partition.leaderId) ?? NO_ADDRESS;
        known.set(partition.leaderId, partition.leaderEpoch, address);
      } else {
        known.address = this.#brokers.get(known.leaderId) ?? NO_ADDRESS;
      }
      this.#requestUpdateOn(errorOf(partition.errorCode));
    }
  }

  #requestUpdateOn(error: ErrorCode): void {
    if (error.refreshesMetadata) this.#isNeeded = true;
  }

  #failed(now: Instant): void {
    this.#notBefore = now + this.#backoff(this.#failures);
    this.#failures++;
  }

  #expiry(): Instant {
    return this.#lastSuccess + this.#options.maxAge;
  }

  #backoff(attempts: number): Duration {
    const { backoff, backoffMax } = this.#options;
    const jitter = this.#world.random.between(BACKOFF_JITTER_LOW, BACKOFF_JITTER_HIGH);
    return exponentialBackoff(backoff, backoffMax, attempts, jitter);
  }
}

function requestFor(topics: readonly string[] | undefined): MetadataRequest {
  return {
    topics: topics?.map((name) => ({ topicId: undefined, name })),
    allowAutoTopicCreation: false,
  };
}
