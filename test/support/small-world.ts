import type { Instant } from "../../src/base/time.ts";
import { MILLISECOND, SECOND } from "../../src/base/time.ts";
import type { ConnectionId, Frame, Network, NodeAddress } from "../../src/ports/network.ts";
import type { Node, TimerHandle, World } from "../../src/ports/node.ts";
import type { Fact } from "../../src/trace/fact.ts";
import { MemoryDisk } from "./memory-disk.ts";
import { SmallRandom } from "./small-random.ts";

interface Event {
  readonly at: Instant;
  readonly run: () => void;
}

interface Connection {
  readonly id: ConnectionId;
  readonly from: NodeAddress;
  readonly to: NodeAddress;
  open: boolean;
}

/** Longer than it takes to connect, so that nothing overtakes. */
const FRAME_LATENCY = 5 * MILLISECOND;

/**
 * A world of a few nodes: one queue of events, chance from a seed, partitions that swallow what is
 * sent through them, crashes and losses of power. For tests of what nodes promise each other, apart
 * from the simulator that is built for size and speed.
 */
export class SmallWorld<N extends Node> {
  now: Instant = 0;
  readonly random: SmallRandom;
  readonly facts: Fact[] = [];
  readonly hosts: readonly SmallHost<N>[];
  /** Called after every event. */
  check: () => void = () => undefined;
  /** Pairs of nodes between which nothing gets through. */
  readonly #cut = new Set<string>();
  readonly #connections = new Map<ConnectionId, Connection>();
  readonly #events: Event[] = [];
  #nextConnection = 0;

  constructor(seed: number, programs: readonly ((world: World) => N)[]) {
    this.random = new SmallRandom(seed);
    this.hosts = programs.map((program, address) => new SmallHost(this, address, program));
  }

  startAll(): void {
    for (const host of this.hosts) host.start();
  }

  isCut(a: NodeAddress, b: NodeAddress): boolean {
    return this.#cut.has(`${Math.min(a, b)}/${Math.max(a, b)}`);
  }

  cut(a: NodeAddress, b: NodeAddress): void {
    this.#cut.add(`${Math.min(a, b)}/${Math.max(a, b)}`);
  }

  /** Cuts one node off from all others. */
  isolate(address: NodeAddress): void {
    for (const { address: other } of this.hosts) if (other !== address) this.cut(address, other);
  }

  heal(): void {
    this.#cut.clear();
  }

  at(time: Instant, run: () => void): void {
    let place = this.#events.length;
    while (place > 0 && (this.#events[place - 1] as Event).at > time) place--;
    this.#events.splice(place, 0, { at: time, run });
  }

  run(duration: number): void {
    this.runUntil(() => false, duration);
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
      this.check();
    }
  }

  connect(from: NodeAddress, to: NodeAddress): ConnectionId {
    const connection = { id: this.#nextConnection++, from, to, open: true };
    this.#connections.set(connection.id, connection);
    this.at(this.now + this.#latency(), () => {
      if (!connection.open || this.isCut(from, to)) return;
      const answered = this.hosts[to]?.isUp === true;
      if (!answered) this.#forget(connection);
      this.at(this.now + this.#latency(), () => {
        if (answered) this.hosts[from]?.node?.onConnected(connection.id);
        else this.hosts[from]?.node?.onClosed(connection.id, to);
      });
    });
    return connection.id;
  }

  send(id: ConnectionId, from: NodeAddress, frame: Frame): void {
    const connection = this.#connections.get(id);
    if (connection === undefined) return;
    const to = connection.from === from ? connection.to : connection.from;
    this.at(this.now + FRAME_LATENCY, () => {
      if (!connection.open) return;
      if (this.isCut(from, to)) this.#forget(connection);
      else this.hosts[to]?.node?.onFrame(id, from, frame);
    });
  }

  close(id: ConnectionId, by: NodeAddress): void {
    const connection = this.#connections.get(id);
    if (connection === undefined) return;
    this.#forget(connection);
    const other = connection.from === by ? connection.to : connection.from;
    this.at(this.now + this.#latency(), () => {
      if (!this.isCut(by, other)) this.hosts[other]?.node?.onClosed(id, by);
    });
  }

  closeAllOf(address: NodeAddress): void {
    for (const { id, from, to } of [...this.#connections.values()]) {
      if (from === address || to === address) this.close(id, address);
    }
  }

  #forget(connection: Connection): void {
    connection.open = false;
    this.#connections.delete(connection.id);
  }

  #latency(): number {
    return this.random.between(200, 2_000);
  }
}

/** Runs one node, incarnation after incarnation. */
export class SmallHost<N extends Node> {
  readonly address: NodeAddress;
  readonly disk: MemoryDisk = new MemoryDisk();
  node: N | undefined;
  /** What ended the process, if it did so itself. */
  exited: string | undefined;
  readonly #world: SmallWorld<N>;
  readonly #program: (world: World) => N;
  #incarnation = -1;
  #timers = new Set<TimerHandle>();
  #nextTimer = 0;

  constructor(world: SmallWorld<N>, address: NodeAddress, program: (world: World) => N) {
    this.#world = world;
    this.address = address;
    this.#program = program;
  }

  get isUp(): boolean {
    return this.node !== undefined;
  }

  start(): void {
    if (this.isUp) return;
    this.#incarnation++;
    this.#timers = new Set();
    this.exited = undefined;
    this.node = this.#program(this.#worldOf(this.#incarnation));
    this.node.onStart();
  }

  /** The process dies; what it wrote stays. */
  crash(): void {
    if (!this.isUp) return;
    this.node = undefined;
    this.#world.closeAllOf(this.address);
  }

  /** The machine loses its power, and what was not synced. */
  powerOff(): void {
    this.crash();
    this.disk.powerOff();
  }

  #worldOf(incarnation: number): World {
    const world = this.#world;
    const { address } = this;
    const network: Network = {
      connect: (to) => world.connect(address, to),
      send: (id, frame) => world.send(id, address, frame),
      close: (id) => world.close(id, address),
      listen: () => {},
    };
    return {
      self: address,
      clock: { now: () => world.now, elapsed: () => world.now },
      timers: {
        start: (delay, kind, payload) => this.#startTimer(delay, kind, payload),
        startAfterWork: (kind, payload) => {
          this.#startTimer(0, kind, payload);
        },
        cancel: (handle) => {
          this.#timers.delete(handle);
        },
      },
      network,
      disk: this.disk,
      random: world.random,
      process: {
        exit: (reason) => {
          this.exited = reason;
          this.crash();
        },
        incarnation,
      },
      facts: { note: (fact) => world.facts.push(fact) },
    };
  }

  #startTimer(delay: number, kind: number, payload: unknown): TimerHandle {
    const handle = this.#nextTimer++;
    const timers = this.#timers;
    timers.add(handle);
    this.#world.at(this.#world.now + delay, () => {
      if (timers === this.#timers && this.isUp && timers.delete(handle)) {
        this.node?.onTimer(kind, payload);
      }
    });
    return handle;
  }
}
