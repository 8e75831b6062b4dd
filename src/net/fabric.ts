import { fail, invariant } from "../base/invariant.ts";
import type { Duration } from "../base/time.ts";
import { MINUTE, SECOND } from "../base/time.ts";
import type { MessageDisturbance, Undo } from "../ports/hands.ts";
import type { ConnectionId, Frame, Network, NodeAddress } from "../ports/network.ts";
import type { DurationSource } from "../ports/random.ts";
import type { HostWatcher, StopKind } from "../sim/host.ts";
import type { Rng } from "../sim/rng.ts";
import type { EventHandler, Scheduler } from "../sim/scheduler.ts";
import type { FactSink, MessageDisturbed } from "../trace/fact.ts";
import { Connection } from "./connection.ts";
import type { Fate } from "./disturbance.ts";
import type { LinkQuality } from "./link.ts";
import { Link } from "./link.ts";
import type { Side } from "./side.ts";
import type { Station } from "./station.ts";
import type { DeliveryObserver, Signal, Wiring } from "./wiring.ts";

/** `socket.connection.setup.timeout.ms`. */
const SETUP_TIMEOUT = 10 * SECOND;
/** `connections.max.idle.ms` of a broker. */
const MAX_IDLE = 10 * MINUTE;
/** About what Linux takes for its 15 retransmissions (`tcp_retries2`). */
const RETRANSMISSION_TIMEOUT = 15 * MINUTE;

const HOW: Readonly<Record<Exclude<Fate, "pass">, MessageDisturbed["how"]>> = {
  drop: "dropped",
  duplicate: "doubled",
  reorder: "overtaken",
};

export interface FabricOptions {
  readonly scheduler: Scheduler;
  /** The run's root: each link takes a stream of its own below it. */
  readonly random: Rng;
  /** The names of all nodes, by address. */
  readonly nodes: readonly string[];
  /** Where it is noted what becomes of single messages; nowhere if absent. */
  readonly facts?: FactSink;
  /** What each link is like, unless `setQuality` says otherwise. */
  readonly quality: LinkQuality;
  /**
   * How long an unanswered connect takes to fail. Default 10 s.
   * Simplified: it does not grow with each failure up to socket.connection.setup.timeout.max.ms.
   */
  readonly setupTimeout?: Duration;
  /**
   * After so long without a frame the accepting side closes a connection. Default 10 min;
   * `undefined`: never. Simplified: one value for all nodes; clients have none of their own.
   */
  readonly maxIdle?: Duration | undefined;
  /** How long a cut link may hold a connection's frames before the sender gives it up. Default 15 min. */
  readonly retransmissionTimeout?: Duration;
}

/** One node's machine, as the network sees it. */
class Machine {
  /** The process, while it runs. */
  station: Station | undefined;
  /** Does the process take connections? */
  isListening = false;
  isOff = false;
  /** Every connection of which this is one side, until nobody has it any more. */
  readonly connections = new Set<Connection>();
}

/**
 * The network: a link in each direction between any two nodes, and all connections over them.
 *
 * What becomes of a connection when a side stops: after a crash the machine resets it, and what is
 * in flight either way is lost; after an exit it is closed, and what was sent before still arrives;
 * after a power-off the other side hears nothing until it sends and the machine is up again.
 *
 * Simplified: neither socket buffers nor the backlog of a listening port are ever full.
 */
export class Fabric implements HostWatcher {
  readonly #scheduler: Scheduler;
  readonly #random: Rng;
  readonly #names: readonly string[];
  readonly #quality: LinkQuality;
  readonly #wiring: Wiring;
  /** Dense, at from * nodes + to; made when first needed. */
  readonly #links: (Link | undefined)[];
  readonly #machines: Machine[];
  /** By id: each connection has two, one for each side. Absent once forgotten. */
  readonly #sides: (Side | undefined)[] = [];

  constructor(options: FabricOptions) {
    const { scheduler, nodes } = options;
    this.#scheduler = scheduler;
    this.#random = options.random;
    this.#names = nodes;
    this.#quality = options.quality;
    this.#links = new Array<Link | undefined>(nodes.length * nodes.length).fill(undefined);
    this.#machines = nodes.map(() => new Machine());
    const sides = this.#sides;
    this.#wiring = {
      scheduler,
      arrival: scheduler.register("arrival", new ArrivalHandler(scheduler, sides)),
      straggler: scheduler.register("late arrival", new StragglerHandler(scheduler, sides)),
      signal: scheduler.register("connection", new SignalHandler(scheduler, sides)),
      setupTimeout: options.setupTimeout ?? SETUP_TIMEOUT,
      retransmissionTimeout: options.retransmissionTimeout ?? RETRANSMISSION_TIMEOUT,
      maxIdle: "maxIdle" in options ? options.maxIdle : MAX_IDLE,
      onDelivery: undefined,
      onDisturbance: (from, to, { apiKey, isResponse }, fate) =>
        options.facts?.note({
          kind: "message-disturbed",
          how: HOW[fate],
          from: this.#name(from),
          to: this.#name(to),
          apiKey,
          isResponse,
        }),
      listenerAt: (address) => {
        const { station, isListening } = this.#machine(address);
        return isListening ? station : undefined;
      },
      forget: (connection) => this.#forget(connection),
    };
  }

  /** The network as a host has it; good for all its incarnations. */
  networkFor(station: Station): Network {
    this.#machine(station.address);
    return new HostNetwork(this, station);
  }

  /** Calls the observer for each frame, just before the node that it is for; `undefined`: none. */
  observe(observer: DeliveryObserver | undefined): void {
    this.#wiring.onDelivery = observer;
  }

  // What hosts do.

  connect(station: Station, to: NodeAddress): ConnectionId {
    const from = station.address;
    const id = this.#sides.length;
    const there = this.#link(from, to);
    const back = this.#link(to, from);
    const connection = new Connection(id, station, there, back, this.#wiring);
    this.#sides.push(connection.opener, connection.acceptor);
    this.#machine(from).connections.add(connection);
    this.#machine(to).connections.add(connection);
    connection.open(station.departure());
    return id;
  }

  send(station: Station, id: ConnectionId, frame: Frame): void {
    const side = this.#sides[id];
    if (side === undefined || side.station !== station) return;
    side.send(frame, station.departure());
  }

  close(station: Station, id: ConnectionId): void {
    const side = this.#sides[id];
    if (side === undefined || side.station !== station) return;
    side.connection.close(side, station.departure());
  }

  /** Only of the process that runs: one that is gone has no port any more. */
  listen(station: Station, isOpen: boolean): void {
    const machine = this.#machine(station.address);
    if (machine.station === station) machine.isListening = isOpen;
  }

  hostStarted(station: Station): void {
    const machine = this.#machine(station.address);
    machine.station = station;
    machine.isListening = true;
    if (!machine.isOff) return;
    machine.isOff = false;
    for (const link of this.#linksTo(station.address)) this.#unblock(link);
  }

  hostStopped(station: Station, how: StopKind): void {
    const { address } = station;
    const machine = this.#machine(address);
    machine.station = undefined;
    const { now } = this.#scheduler;
    if (how === "power-off") {
      if (machine.isOff) return;
      machine.isOff = true;
      for (const link of this.#linksTo(address)) link.block();
    }
    for (const side of this.#sidesAt(address)) {
      const { connection } = side;
      if (how === "power-off") connection.losePower(side);
      else if (how === "crash") connection.crash(side, now);
      else connection.exit(side, now);
    }
  }

  // Faults. Each is directed, and several at once add up.

  /** Gives one link another latency and bandwidth than the rest has. */
  setQuality(from: NodeAddress, to: NodeAddress, quality: LinkQuality): void {
    const link = this.#link(from, to);
    link.setQuality(this.#scheduler.now, quality);
    this.#hasten(link);
  }

  /** From now on nothing gets from one node to the other; what is sent or in flight is held. */
  cut(from: NodeAddress, to: NodeAddress): void {
    this.#link(from, to).block();
  }

  /** Takes back one `cut`. After the last, what was held departs. */
  heal(from: NodeAddress, to: NodeAddress): void {
    this.#unblock(this.#link(from, to));
  }

  /** Adds a further latency to each frame. */
  delay(from: NodeAddress, to: NodeAddress, extra: DurationSource): Undo {
    const link = this.#link(from, to);
    link.addDelay(extra);
    return once(() => link.removeDelay(extra));
  }

  /** Limits the bandwidth of a link. When that ends, what has piled up flows at the speed of before. */
  slow(from: NodeAddress, to: NodeAddress, bytesPerSecond: number): Undo {
    const link = this.#link(from, to);
    link.addSpeedLimit(this.#scheduler.now, bytesPerSecond);
    return once(() => {
      link.removeSpeedLimit(this.#scheduler.now, bytesPerSecond);
      this.#hasten(link);
    });
  }

  /** Drops, doubles or delays single messages, which TCP would never do. */
  disturb(from: NodeAddress, to: NodeAddress, disturbance: MessageDisturbance): Undo {
    const link = this.#link(from, to);
    link.addDisturbance(disturbance);
    return once(() => link.removeDisturbance(disturbance));
  }

  /** Resets every connection between two nodes, whoever opened it; says how many there were. */
  reset(one: NodeAddress, other: NodeAddress): number {
    let count = 0;
    for (const { link, connection } of this.#sidesAt(one)) {
      if (link.to === other && connection.reset(this.#scheduler.now)) count++;
    }
    return count;
  }

  #unblock(link: Link): void {
    if (!link.unblock()) return;
    for (const side of this.#sidesAt(link.from)) {
      if (side.link === link) side.connection.healed(side, this.#scheduler.now);
    }
  }

  #hasten(link: Link): void {
    for (const side of this.#sidesAt(link.from)) {
      if (side.link === link) side.hasten(this.#scheduler.now);
    }
  }

  /** The sides that a machine has of connections, oldest connection first. */
  #sidesAt(address: NodeAddress): Side[] {
    const sides: Side[] = [];
    for (const { opener, acceptor } of this.#machine(address).connections) {
      if (opener.link.from === address) sides.push(opener);
      if (acceptor.link.from === address) sides.push(acceptor);
    }
    return sides;
  }

  #forget(connection: Connection): void {
    const { opener, acceptor } = connection;
    connection.stop();
    this.#sides[opener.id] = undefined;
    this.#sides[acceptor.id] = undefined;
    this.#machine(opener.link.from).connections.delete(connection);
    this.#machine(acceptor.link.from).connections.delete(connection);
  }

  #link(from: NodeAddress, to: NodeAddress): Link {
    const at = from * this.#names.length + to;
    const known = this.#links[at];
    if (known !== undefined) return known;
    const name = `${this.#name(from)}->${this.#name(to)}`;
    const random = this.#random.fork(`net/${name}`);
    const link = new Link(from, to, name, random, this.#quality);
    if (this.#machine(to).isOff) link.block();
    this.#links[at] = link;
    return link;
  }

  /** The links to a node that were ever used. */
  #linksTo(to: NodeAddress): Link[] {
    const links: Link[] = [];
    for (let from = 0; from < this.#names.length; from++) {
      const link = this.#links[from * this.#names.length + to];
      if (link !== undefined) links.push(link);
    }
    return links;
  }

  #machine(address: NodeAddress): Machine {
    return this.#machines[address] ?? fail(`there is no node at address ${address}`);
  }

  #name(address: NodeAddress): string {
    return this.#names[address] ?? fail(`there is no node at address ${address}`);
  }
}

/** The port of one host. */
class HostNetwork implements Network {
  readonly #fabric: Fabric;
  readonly #station: Station;

  constructor(fabric: Fabric, station: Station) {
    this.#fabric = fabric;
    this.#station = station;
  }

  connect(to: NodeAddress): ConnectionId {
    return this.#fabric.connect(this.#station, to);
  }

  send(connection: ConnectionId, frame: Frame): void {
    this.#fabric.send(this.#station, connection, frame);
  }

  close(connection: ConnectionId): void {
    this.#fabric.close(this.#station, connection);
  }

  listen(isOpen: boolean): void {
    this.#fabric.listen(this.#station, isOpen);
  }
}

/** What an event is of which the connection is no more. */
const GONE = "nothing: the connection is gone";

type SideTable = readonly (Side | undefined)[];

class ArrivalHandler implements EventHandler {
  readonly #scheduler: Scheduler;
  readonly #sides: SideTable;

  constructor(scheduler: Scheduler, sides: SideTable) {
    this.#scheduler = scheduler;
    this.#sides = sides;
  }

  handle(subject: number): void {
    const side = this.#sides[subject];
    if (side !== undefined) side.deliver(this.#scheduler.now);
  }

  describe(subject: number): string {
    return this.#sides[subject]?.describeNext(this.#scheduler.now) ?? GONE;
  }
}

class StragglerHandler implements EventHandler {
  readonly #scheduler: Scheduler;
  readonly #sides: SideTable;

  constructor(scheduler: Scheduler, sides: SideTable) {
    this.#scheduler = scheduler;
    this.#sides = sides;
  }

  handle(subject: number, payload: unknown): void {
    // Only sides schedule these events, each with the frame that is late.
    this.#sides[subject]?.deliverLate(payload as Frame, this.#scheduler.now);
  }

  describe(subject: number, payload: unknown): string {
    return this.#sides[subject]?.describe(payload as Frame) ?? GONE;
  }
}

class SignalHandler implements EventHandler {
  readonly #scheduler: Scheduler;
  readonly #sides: SideTable;

  constructor(scheduler: Scheduler, sides: SideTable) {
    this.#scheduler = scheduler;
    this.#sides = sides;
  }

  handle(subject: number, payload: unknown): void {
    const side = this.#sides[subject];
    // Only sides schedule these events, each with a signal.
    side?.connection.onSignal(side, payload as Signal, this.#scheduler.now);
  }

  describe(subject: number, payload: unknown): string {
    const side = this.#sides[subject];
    return side === undefined ? GONE : `${side.name}: ${String(payload)}`;
  }
}

function once(undo: Undo): Undo {
  let isDone = false;
  return () => {
    invariant(!isDone, () => "a fault of the network was taken back twice");
    isDone = true;
    undo();
  };
}
