import { fail } from "../../base/invariant.ts";
import { fromMillis } from "../../base/time.ts";
import type { BrokerConfigs } from "../../kafka/config/broker-configs.ts";
import type { BrokerId } from "../../kafka/ids.ts";
import type { Api } from "../../kafka/protocol/api.ts";
import { FETCH } from "../../kafka/protocol/apis.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { Timers } from "../../ports/node.ts";
import type { ResponseHandler, RpcClient } from "../rpc/rpc-client.ts";

/** A voter, and where it is. */
export interface Peer {
  readonly id: BrokerId;
  readonly address: NodeAddress;
}

/** What a request is remembered by. */
export interface Asked {
  readonly term: number;
  readonly peer: BrokerId;
}

/** Payload of the timer that ends the back-off from one peer. */
export class PeerRetry {
  readonly term: number;
  readonly peer: BrokerId;

  constructor(term: number, peer: BrokerId) {
    this.term = term;
    this.peer = peer;
  }
}

/**
 * Separate connections, so that a vote does not wait behind a fetch that is parked.
 * Simplified: Kafka has one for both.
 */
const CONTROL = "quorum";
const FETCHING = "quorum-fetch";

/**
 * The requests of one member to the voters: one at a time to each, a pause after a failure, and no
 * interest in answers to what it asked in an earlier role (Kafka's `RequestManager`).
 */
export class PeerRequests {
  readonly #rpc: RpcClient;
  readonly #timers: Timers;
  readonly #timerKind: number;
  readonly #configs: BrokerConfigs;
  readonly #addresses: ReadonlyMap<BrokerId, NodeAddress>;
  /** Counts roles. */
  #term = 0;
  /** Peers that have a request of this term, or just failed one. */
  readonly #busy: BrokerId[] = [];

  constructor(
    rpc: RpcClient,
    timers: Timers,
    timerKind: number,
    configs: BrokerConfigs,
    voters: readonly Peer[],
  ) {
    this.#rpc = rpc;
    this.#timers = timers;
    this.#timerKind = timerKind;
    this.#configs = configs;
    this.#addresses = new Map(voters.map(({ id, address }) => [id, address]));
  }

  /** Forgets all requests: the member has another role. */
  nextTerm(): void {
    this.#term++;
    this.#busy.length = 0;
  }

  isCurrent(asked: Asked): boolean {
    return asked.term === this.#term;
  }

  isBusy(peer: BrokerId): boolean {
    return this.#busy.includes(peer);
  }

  addressOf(voter: BrokerId): NodeAddress | undefined {
    return this.#addresses.get(voter);
  }

  ask<Request, Response>(
    voter: BrokerId,
    api: Api<Request, Response>,
    body: Request,
    handler: ResponseHandler<Response, Asked>,
  ): void {
    const address = this.addressOf(voter);
    if (address === undefined) fail(`${voter} is no voter`);
    this.#occupy(voter);
    const timeout = fromMillis(this.#configs["controller.quorum.request.timeout.ms"]);
    const purpose = api.key === FETCH.key ? FETCHING : CONTROL;
    const asked: Asked = { term: this.#term, peer: voter };
    this.#rpc.send(address, purpose, api, body, timeout, handler, asked);
  }

  /** The peer answered, and may be asked again. */
  answered(peer: BrokerId): void {
    this.#release(peer);
  }

  /** Leaves a peer alone for `controller.quorum.retry.backoff.ms`; a timer then brings a `PeerRetry`. */
  backOff(peer: BrokerId): void {
    this.#occupy(peer);
    const wait = fromMillis(this.#configs["controller.quorum.retry.backoff.ms"]);
    this.#timers.start(wait, this.#timerKind, new PeerRetry(this.#term, peer));
  }

  backOffIsOver(retry: PeerRetry): void {
    if (retry.term === this.#term) this.#release(retry.peer);
  }

  #occupy(peer: BrokerId): void {
    if (!this.#busy.includes(peer)) this.#busy.push(peer);
  }

  #release(peer: BrokerId): void {
    const busy = this.#busy;
    const at = busy.indexOf(peer);
    if (at < 0) return;
    // Their order says nothing.
    const last = busy.pop();
    if (last !== undefined && last !== peer) busy[at] = last;
  }
}
