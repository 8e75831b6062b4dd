import type { Duration, Instant } from "../../src/base/time.ts";
import { MILLISECOND } from "../../src/base/time.ts";
import type { Api } from "../../src/kafka/protocol/api.ts";
import type { Disk } from "../../src/ports/disk.ts";
import type { ConnectionId, Frame, Network, NodeAddress } from "../../src/ports/network.ts";
import type { Clock, Node, Process, TimerHandle, Timers, World } from "../../src/ports/node.ts";
import type { Random } from "../../src/ports/random.ts";
import type { Fact, FactKind, FactOf, FactSink } from "../../src/trace/fact.ts";

/** A request that the node under test sent, as it reached its peer. */
export class FakeRequest {
  readonly world: FakeWorld;
  readonly at: Instant;
  readonly connection: ConnectionId;
  readonly to: NodeAddress;
  readonly frame: Frame;

  constructor(world: FakeWorld, connection: ConnectionId, to: NodeAddress, frame: Frame) {
    this.world = world;
    this.at = world.now;
    this.connection = connection;
    this.to = to;
    this.frame = frame;
  }

  is<Request, Response>(api: Api<Request, Response>): boolean {
    return this.frame.apiKey === api.key;
  }

  /** The request's fields; the caller names the API that it has checked. */
  body<Request, Response>(_api: Api<Request, Response>): Request {
    return this.frame.body as Request;
  }

  /** The answer arrives a latency later, if the connection still stands. */
  reply<Request, Response>(_api: Api<Request, Response>, body: Response): void {
    this.world.deliver(this, body);
  }
}

interface Event {
  readonly at: Instant;
  readonly sequence: number;
  readonly happen: () => void;
}

/**
 * One node alone with virtual time: its timers come due, its frames are caught, and the test plays
 * its peers. Connections and frames take `latency`; addresses in `refused` refuse to connect.
 */
export class FakeWorld implements World, Timers, Network, Random, Process, FactSink {
  readonly self: NodeAddress = 100;
  incarnation = 0;
  readonly clock: Clock = { now: () => this.now, elapsed: () => this.now };
  readonly timers: Timers = this;
  readonly network: Network = this;
  readonly random: Random = this;
  readonly process: Process = this;
  readonly facts: FactSink = this;
  now: Instant = 0;
  latency: Duration = MILLISECOND;
  readonly refused = new Set<NodeAddress>();
  readonly notes: Fact[] = [];
  readonly requests: FakeRequest[] = [];
  /** Each attempt to connect. */
  readonly attempts: { readonly to: NodeAddress; readonly at: Instant }[] = [];
  /** Plays the peers; called as each request arrives. */
  onRequest: (request: FakeRequest) => void = () => {};
  exited: string | undefined;
  #node: Node | undefined;
  #events: Event[] = [];
  #sequence = 0;
  #state = 42;
  readonly #connections = new Map<
    ConnectionId,
    { to: NodeAddress; connected: boolean; held: Frame[] }
  >();

  get disk(): Disk {
    throw new Error("this fake world has no disk");
  }

  /** Starts the node. */
  begin(node: Node): void {
    this.#node = node;
    node.onStart();
  }

  /** Lets all happen that is due within `duration`. */
  run(duration: Duration): void {
    const end = this.now + duration;
    while (this.exited === undefined) {
      const next = this.#events[0];
      if (next === undefined || next.at > end) break;
      this.#events.shift();
      this.now = next.at;
      next.happen();
    }
    this.now = end;
  }

  /** Breaks the connections to an address: what is in flight on them is lost. */
  disconnect(to: NodeAddress): void {
    for (const [connection, { to: peer }] of [...this.#connections]) {
      if (peer !== to) continue;
      this.#connections.delete(connection);
      this.#node?.onClosed(connection, to);
    }
  }

  factsOf<K extends FactKind>(kind: K): FactOf<K>[] {
    return this.notes.filter((fact): fact is FactOf<K> => fact.kind === kind);
  }

  requestsOf<Request, Response>(api: Api<Request, Response>): Request[] {
    return this.requests.filter((one) => one.is(api)).map((one) => one.body(api));
  }

  deliver(request: FakeRequest, body: unknown): void {
    const { connection, frame, to } = request;
    const response: Frame = { ...frame, isResponse: true, body };
    this.#at(this.latency, () => {
      if (this.#connections.has(connection)) this.#node?.onFrame(connection, to, response);
    });
  }

  /** A frame that a peer sends unasked, or long after it was asked. */
  push(connection: ConnectionId, frame: Frame): void {
    const to = this.#connections.get(connection)?.to;
    this.#at(this.latency, () => {
      if (to === undefined || !this.#connections.has(connection)) return;
      this.#node?.onFrame(connection, to, frame);
    });
  }

  /** A peer closes a connection, after all that it has sent. */
  hangUp(connection: ConnectionId): void {
    const to = this.#connections.get(connection)?.to;
    this.#at(this.latency, () => {
      if (to === undefined || !this.#connections.delete(connection)) return;
      this.#node?.onClosed(connection, to);
    });
  }

  /** Lets something happen in the test after a while. */
  later(delay: Duration, happen: () => void): void {
    this.#at(delay, happen);
  }

  // Timers.

  start(delay: Duration, kind: number, payload?: unknown): TimerHandle {
    return this.#at(delay, () => this.#node?.onTimer(kind, payload));
  }

  startAfterWork(kind: number, payload?: unknown): void {
    this.start(0, kind, payload);
  }

  cancel(handle: TimerHandle): void {
    this.#events = this.#events.filter((event) => event.sequence !== handle);
  }

  // Network.

  connect(to: NodeAddress): ConnectionId {
    const connection = this.#sequence++;
    this.attempts.push({ to, at: this.now });
    this.#connections.set(connection, { to, connected: false, held: [] });
    this.#at(this.latency, () => {
      const found = this.#connections.get(connection);
      if (found === undefined) return;
      if (this.refused.has(to)) {
        this.#connections.delete(connection);
        this.#node?.onClosed(connection, to);
        return;
      }
      found.connected = true;
      this.#node?.onConnected(connection);
      for (const frame of found.held) this.send(connection, frame);
    });
    return connection;
  }

  send(connection: ConnectionId, frame: Frame): void {
    const found = this.#connections.get(connection);
    if (found === undefined) return;
    if (!found.connected) {
      found.held.push(frame);
      return;
    }
    this.#at(this.latency, () => {
      if (!this.#connections.has(connection)) return;
      const request = new FakeRequest(this, connection, found.to, frame);
      this.requests.push(request);
      this.onRequest(request);
    });
  }

  close(connection: ConnectionId): void {
    this.#connections.delete(connection);
  }

  listen(): void {}

  // Random: a linear congruence, good enough for a test.

  below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 0x1_0000_0000) * bound);
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(numerator: number, denominator: number): boolean {
    return this.below(denominator) < numerator;
  }

  exit(reason: string): void {
    this.exited ??= reason;
  }

  note(fact: Fact): void {
    this.notes.push(fact);
  }

  #at(delay: Duration, happen: () => void): number {
    const event: Event = { at: this.now + delay, sequence: this.#sequence++, happen };
    let place = this.#events.length;
    while (place > 0 && (this.#events[place - 1]?.at ?? 0) > event.at) place--;
    this.#events.splice(place, 0, event);
    return event.sequence;
  }
}
