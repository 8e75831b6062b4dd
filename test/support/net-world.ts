import type { Duration, Instant } from "../../src/base/time.ts";
import type { FabricOptions } from "../../src/net/fabric.ts";
import { Fabric } from "../../src/net/fabric.ts";
import type { Station } from "../../src/net/station.ts";
import type { ConnectionId, Frame, Network, NodeAddress } from "../../src/ports/network.ts";
import type { DurationSource } from "../../src/ports/random.ts";
import type { StopKind } from "../../src/sim/host.ts";
import { Rng } from "../../src/sim/rng.ts";
import { Scheduler } from "../../src/sim/scheduler.ts";

/** The same latency always. */
export function fixed(latency: Duration): DurationSource {
  return { draw: () => latency };
}

/** Any latency between two. */
export function uniform(low: Duration, high: Duration): DurationSource {
  return { draw: (random) => random.between(low, high) };
}

/** A frame whose body is a number or a word, to be recognised by. */
export function frame(body: unknown, size = 100): Frame {
  return { apiKey: 1, apiVersion: 1, correlationId: 0, isResponse: false, body, size };
}

/** Both sides' ids of a connection as one number. */
function connectionOf(id: ConnectionId): number {
  return Math.floor(id / 2);
}

/**
 * A host that only writes down what it hears, one line each: `instant what connection body`.
 * Connections are numbered from 0, the same on both sides.
 */
export class RecordingStation implements Station {
  readonly address: NodeAddress;
  readonly heard: string[] = [];
  readonly #scheduler: Scheduler;
  isPaused = false;
  /** What the present step has been charged. */
  charged: Duration = 0;
  onFrame: (connection: number, frame: Frame) => void = () => undefined;

  constructor(address: NodeAddress, scheduler: Scheduler) {
    this.address = address;
    this.#scheduler = scheduler;
  }

  departure(): Instant {
    return this.#scheduler.now + this.charged;
  }

  connected(connection: ConnectionId): void {
    this.heard.push(`${this.#scheduler.now} connected ${connectionOf(connection)}`);
  }

  frame(connection: ConnectionId, _from: NodeAddress, arrived: Frame): void {
    this.heard.push(
      `${this.#scheduler.now} frame ${connectionOf(connection)} ${String(arrived.body)}`,
    );
    this.onFrame(connectionOf(connection), arrived);
  }

  closed(connection: ConnectionId, _from: NodeAddress): void {
    this.heard.push(`${this.#scheduler.now} closed ${connectionOf(connection)}`);
  }

  /** The bodies of the frames that arrived. */
  bodies(): string[] {
    return this.heard.flatMap((line) => {
      const body = /^\d+ frame \d+ (.*)$/.exec(line)?.[1];
      return body === undefined ? [] : [body];
    });
  }

  /** Takes what was heard so far. */
  take(): string[] {
    return this.heard.splice(0);
  }
}

/** A node's port, with connections named as `RecordingStation` names them. */
class NumberedNetwork implements Network {
  readonly #port: Network;
  readonly #opened = new Set<number>();

  constructor(port: Network) {
    this.#port = port;
  }

  connect(to: NodeAddress): number {
    const connection = connectionOf(this.#port.connect(to));
    this.#opened.add(connection);
    return connection;
  }

  send(connection: number, sent: Frame): void {
    this.#port.send(this.#sideOf(connection), sent);
  }

  close(connection: number): void {
    this.#port.close(this.#sideOf(connection));
  }

  listen(isOpen: boolean): void {
    this.#port.listen(isOpen);
  }

  #sideOf(connection: number): ConnectionId {
    return 2 * connection + (this.#opened.has(connection) ? 0 : 1);
  }
}

/** A fabric between nodes that only listen; all are up. Latency 1,000 us unless told otherwise. */
export class NetWorld {
  readonly scheduler = new Scheduler();
  readonly fabric: Fabric;
  readonly stations: RecordingStation[] = [];
  readonly networks: Network[] = [];

  constructor(nodes: number, options: Partial<FabricOptions> = {}, seed = "42") {
    this.fabric = new Fabric({
      scheduler: this.scheduler,
      random: new Rng(seed),
      nodes: Array.from({ length: nodes }, (_, i) => `broker-${i + 1}`),
      quality: { latency: fixed(1_000) },
      ...options,
    });
    for (let address = 0; address < nodes; address++) {
      const station = new RecordingStation(address, this.scheduler);
      this.stations.push(station);
      this.networks.push(new NumberedNetwork(this.fabric.networkFor(station)));
      this.fabric.hostStarted(station);
    }
  }

  station(address: NodeAddress): RecordingStation {
    const station = this.stations[address];
    if (station === undefined) throw new Error(`no station ${address}`);
    return station;
  }

  network(address: NodeAddress): Network {
    const network = this.networks[address];
    if (network === undefined) throw new Error(`no network ${address}`);
    return network;
  }

  /** Handles all that happens up to that instant; leaves the clock at the last event. */
  runUntil(until: Instant): void {
    this.#stopAt(until);
    while (this.scheduler.now < until) this.scheduler.step();
  }

  /** Handles all that ever happens. */
  runDry(): void {
    while (this.scheduler.step());
  }

  /** An established connection from one node to another; what was heard of it is forgotten. */
  connected(from: NodeAddress, to: NodeAddress): number {
    const id = this.network(from).connect(to);
    const station = this.station(from);
    while (!station.heard.some((line) => line.endsWith(`connected ${id}`))) this.scheduler.step();
    for (const each of this.stations) each.take();
    return id;
  }

  /** A connection over which one frame has gone each way, so that both sides know it. */
  acquainted(from: NodeAddress, to: NodeAddress): number {
    const id = this.connected(from, to);
    this.network(from).send(id, frame("hello"));
    this.runUntil(this.scheduler.now + 100_000);
    this.network(to).send(id, frame("hello"));
    this.runUntil(this.scheduler.now + 100_000);
    for (const each of this.stations) each.take();
    return id;
  }

  stop(address: NodeAddress, how: StopKind): void {
    this.fabric.hostStopped(this.station(address), how);
  }

  start(address: NodeAddress): void {
    this.fabric.hostStarted(this.station(address));
  }

  /** An event that does nothing but move the clock. */
  #stopAt(until: Instant): void {
    const kind = this.scheduler.register("stop", { handle: () => undefined });
    this.scheduler.at(until, kind, 0, undefined);
  }
}
