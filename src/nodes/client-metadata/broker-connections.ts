import type { Duration, Instant } from "../../base/time.ts";
import {
  BACKOFF_JITTER_HIGH,
  BACKOFF_JITTER_LOW,
  exponentialBackoff,
} from "../../kafka/client/backoff.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import type { ConnectionState, RpcClient } from "../rpc/rpc-client.ts";

/** What a client remembers of its connection to one broker (`ClusterConnectionStates`). */
class Peer {
  readonly address: NodeAddress;
  isConnected = false;
  /** Failures since it was connected last. */
  failures = 0;
  /** No new attempt before; reconnect.backoff.ms. */
  notBefore: Instant = 0;
  lastAttempt: Instant = -1;
  brokenAt: Instant = -1;

  constructor(address: NodeAddress) {
    this.address = address;
  }
}

/**
 * A client's connections of one purpose. A client sends only on a connection that stands: what
 * waits for one has not left the client, so its fate is known.
 */
export class BrokerConnections {
  readonly purpose: string;
  readonly #world: World;
  readonly #rpc: RpcClient;
  readonly #backoff: Duration;
  readonly #backoffMax: Duration;
  /** By address. */
  readonly #peers: (Peer | undefined)[] = [];

  /** `backoff` and `backoffMax` are reconnect.backoff.ms and reconnect.backoff.max.ms. */
  constructor(
    world: World,
    rpc: RpcClient,
    purpose: string,
    backoff: Duration,
    backoffMax: Duration,
  ) {
    this.#world = world;
    this.#rpc = rpc;
    this.purpose = purpose;
    this.#backoff = backoff;
    this.#backoffMax = backoffMax;
  }

  /** Does the connection stand? Otherwise it is being opened as soon as the backoff allows. */
  ready(address: NodeAddress, now: Instant): boolean {
    const peer = this.#peer(address);
    if (peer.isConnected) return true;
    const state = this.state(address);
    if (state === "connected") {
      peer.isConnected = true;
      peer.failures = 0;
      return true;
    }
    if (state === "none" && now >= peer.notBefore) {
      peer.lastAttempt = now;
      this.#rpc.connect(address, this.purpose);
    }
    return false;
  }

  /** When the next attempt to connect is allowed; in the past if it is already. */
  notBefore(address: NodeAddress): Instant {
    return this.#peer(address).notBefore;
  }

  /** When it was last tried to connect; -1 if never. */
  lastAttempt(address: NodeAddress): Instant {
    return this.#peer(address).lastAttempt;
  }

  state(address: NodeAddress): ConnectionState {
    return this.#rpc.connectionState(address, this.purpose);
  }

  /** The connection is gone. May be told more than once: by the network and by each request on it. */
  disconnected(address: NodeAddress, now: Instant): void {
    const peer = this.#peer(address);
    peer.isConnected = false;
    if (peer.brokenAt === now) return;
    peer.brokenAt = now;
    const jitter = this.#world.random.between(BACKOFF_JITTER_LOW, BACKOFF_JITTER_HIGH);
    const pause = exponentialBackoff(this.#backoff, this.#backoffMax, peer.failures, jitter);
    peer.failures++;
    peer.notBefore = now + pause;
  }

  #peer(address: NodeAddress): Peer {
    let peer = this.#peers[address];
    if (peer === undefined) {
      peer = new Peer(address);
      this.#peers[address] = peer;
    }
    return peer;
  }
}
