import { fail, unreachable } from "../base/invariant.ts";
import type { Duration, Instant } from "../base/time.ts";
import type { Disk } from "../ports/disk.ts";
import type { ConnectionId, Frame, Network, NodeAddress } from "../ports/network.ts";
import type { Node, TimerHandle, World } from "../ports/node.ts";
import type { FactSink } from "../trace/fact.ts";
import type { Lender } from "./incarnation.ts";
import { Incarnation } from "./incarnation.ts";
import { NodeClock } from "./node-clock.ts";
import type { Rng } from "./rng.ts";
import type { EventHandler, Scheduler } from "./scheduler.ts";

/** How a node can come to an end: a crash keeps the page cache, a power-off loses it. */
export type StopKind = "crash" | "power-off" | "exit";

/** Told of every start (before `onStart`) and every stop (when the node is gone already). */
export interface HostWatcher {
  hostStarted(host: Host): void;
  /**
   * After an exit, frames that were sent before it still depart. A power-off of a machine whose
   * process is down already is told too: it takes the page cache.
   */
  hostStopped(host: Host, how: StopKind): void;
}

export interface HostOptions {
  readonly address: NodeAddress;
  readonly name: string;
  readonly scheduler: Scheduler;
  /** The node's stream of chance; each incarnation gets a fork of it. */
  readonly random: Rng;
  readonly facts: FactSink;
  /** Makes the node of each incarnation. */
  readonly program: (world: World) => Node;
  /** Called at each start, before the watchers and the node: the network as this host has it. */
  readonly network: (host: Host) => Network;
  /** Called at each start, before the watchers and the node: the disk as this incarnation opens it. */
  readonly disk: (host: Host) => Disk;
  readonly watchers: readonly HostWatcher[];
  /**
   * A step that is charged work makes the node busy until that is done, and what arrives meanwhile
   * waits in order: one thread, as KRaft's controllers have. Otherwise steps overlap.
   */
  readonly serial?: boolean;
  /** What the node's clock reads at true time 0, if it is right. */
  readonly clockStart?: Instant;
}

/** The subject of the event by which a host wakes itself; the node's timer kinds are 0 and more. */
const WAKE = -1;

type Input =
  | {
      readonly kind: "timer";
      readonly handle: TimerHandle;
      timer: number;
      readonly payload: unknown;
    }
  | { readonly kind: "connected"; readonly connection: ConnectionId }
  | {
      readonly kind: "frame";
      readonly connection: ConnectionId;
      readonly from: NodeAddress;
      readonly frame: Frame;
    }
  | { readonly kind: "closed"; readonly connection: ConnectionId; readonly from: NodeAddress }
  | { readonly kind: "synced"; readonly ticket: number; readonly ok: boolean }
  | { readonly kind: "shutdown" };

/** Runs one node, incarnation after incarnation, and decides when it hears what. */
export class Host implements EventHandler, Lender {
  readonly address: NodeAddress;
  readonly name: string;
  readonly clock: NodeClock;
  readonly eventKind: number;
  private readonly options: HostOptions;
  private readonly scheduler: Scheduler;
  private readonly serial: boolean;
  private lastIncarnation = -1;
  private world: Incarnation | undefined;
  private node: Node | undefined;
  private paused = false;
  private inStep = false;
  private charged: Duration = 0;
  /** A serial host is busy until then. */
  private busyUntil: Instant = 0;
  /** What came while the host was paused or busy, oldest first. */
  private backlog: Input[] = [];
  private wakePending = false;
  /** A stop that was asked for within a step and happens after it. */
  private ending: { readonly how: StopKind; readonly reason: string } | undefined;

  constructor(options: HostOptions) {
    this.address = options.address;
    this.name = options.name;
    this.clock = new NodeClock(options.scheduler, options.clockStart);
    this.options = options;
    this.scheduler = options.scheduler;
    this.serial = options.serial === true;
    this.eventKind = options.scheduler.register(options.name, this);
  }

  get isUp(): boolean {
    return this.node !== undefined;
  }

  get isPaused(): boolean {
    return this.paused;
  }

  /** The number of the incarnation that runs, or ran last; -1 before the first start. */
  get incarnation(): number {
    return this.lastIncarnation;
  }

  // Time that a step takes.

  /** This step takes that much longer. Without effect outside a step. */
  charge(work: Duration): void {
    this.charged += work;
  }

  /** When what this step does takes effect: now, and the work that it was charged so far. */
  departure(): Instant {
    return this.inStep ? this.scheduler.now + this.charged : this.scheduler.now;
  }

  // What the node hears, each a step of its own.

  connected(connection: ConnectionId): void {
    const node = this.node;
    if (node === undefined) return;
    if (this.mustWait()) {
      this.defer({ kind: "connected", connection });
      return;
    }
    this.begin();
    node.onConnected(connection);
    this.end();
  }

  frame(connection: ConnectionId, from: NodeAddress, frame: Frame): void {
    const node = this.node;
    if (node === undefined) return;
    if (this.mustWait()) {
      this.defer({ kind: "frame", connection, from, frame });
      return;
    }
    this.begin();
    node.onFrame(connection, from, frame);
    this.end();
  }

  closed(connection: ConnectionId, from: NodeAddress): void {
    const node = this.node;
    if (node === undefined) return;
    if (this.mustWait()) {
      this.defer({ kind: "closed", connection, from });
      return;
    }
    this.begin();
    node.onClosed(connection, from);
    this.end();
  }

  /** A `syncLater` has ended; of no interest if the incarnation that asked is gone. */
  synced(incarnation: number, ticket: number, ok: boolean): void {
    const node = this.node;
    if (node === undefined || incarnation !== this.lastIncarnation) return;
    if (this.mustWait()) {
      this.defer({ kind: "synced", ticket, ok });
      return;
    }
    this.begin();
    node.onSynced(ticket, ok);
    this.end();
  }

  /** A timer of the node came due, or the host's own wake-up for its backlog. */
  handle(subject: number, payload: unknown): void {
    if (subject === WAKE) {
      this.wake(payload);
      return;
    }
    const node = this.node ?? fail(`${this.name} is down but a timer of it came due`);
    if (this.mustWait()) {
      const handle = this.scheduler.firing;
      this.defer({ kind: "timer", handle, timer: subject, payload });
      return;
    }
    this.begin();
    node.onTimer(subject, payload);
    this.end();
  }

  /** Says what an event of this host is, for a listing of events. */
  describe(subject: number): string {
    return subject === WAKE ? "wakes" : `timer ${subject}`;
  }

  // Lifecycle. Each does nothing if the host is in that state already.

  start(): void {
    if (this.node !== undefined) return;
    const { facts, network, disk, program, random, watchers } = this.options;
    const incarnation = ++this.lastIncarnation;
    const stream = random.fork(`incarnation ${incarnation}`);
    this.busyUntil = 0;
    const world = new Incarnation(
      this,
      incarnation,
      this.scheduler,
      network(this),
      disk(this),
      stream,
      facts,
    );
    facts.note({ kind: "node-started", node: this.name, incarnation });
    for (const watcher of watchers) watcher.hostStarted(this);
    this.begin();
    this.world = world;
    this.node = program(world);
    this.node.onStart();
    this.end();
  }

  /** The process dies; the page cache survives. Within a step of this host: after the step. */
  crash(reason: string): void {
    this.stop("crash", reason);
  }

  /** The machine loses its power, and its page cache. */
  powerOff(reason: string): void {
    if (this.node === undefined) this.tellStopped("power-off");
    else this.stop("power-off", reason);
  }

  exit(reason: string): void {
    this.stop("exit", reason);
  }

  /** SIGSTOP: the node does nothing, but its machine still takes in what arrives. */
  pause(): void {
    if (this.node === undefined || this.paused) return;
    this.paused = true;
    this.options.facts.note({ kind: "node-paused", node: this.name });
  }

  /** SIGCONT: what came meanwhile is handled now, in the order in which it came. */
  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.options.facts.note({ kind: "node-resumed", node: this.name });
    if (this.backlog.length > 0) this.wakeLater();
  }

  /** SIGTERM: the node begins an orderly stop and exits when done. */
  shutdown(): void {
    const node = this.node;
    if (node === undefined) return;
    if (this.mustWait()) {
      this.defer({ kind: "shutdown" });
      return;
    }
    this.begin();
    node.onShutdown();
    this.end();
  }

  forgetDue(timer: TimerHandle): void {
    // Apart, as a closure over the handle would cost an object for every timer that is cancelled.
    if (this.backlog.length > 0) this.dropDeferred(timer);
  }

  private dropDeferred(timer: TimerHandle): void {
    const at = this.backlog.findIndex((input) => input.kind === "timer" && input.handle === timer);
    if (at >= 0) this.backlog.splice(at, 1);
  }

  private mustWait(): boolean {
    return this.paused || this.backlog.length > 0 || this.scheduler.now < this.busyUntil;
  }

  private defer(input: Input): void {
    this.backlog.push(input);
    if (!this.paused) this.wakeLater();
  }

  private wakeLater(): void {
    if (this.wakePending) return;
    this.wakePending = true;
    const at = Math.max(this.scheduler.now, this.busyUntil);
    this.scheduler.at(at, this.eventKind, WAKE, this.lastIncarnation);
  }

  /** Handles the oldest input of the backlog: one step an event. */
  private wake(incarnation: unknown): void {
    if (incarnation !== this.lastIncarnation || this.node === undefined) return;
    this.wakePending = false;
    if (this.paused) return;
    const input = this.backlog.shift();
    if (input === undefined) return;
    this.begin();
    deliver(this.node, input);
    this.end();
    if (this.backlog.length > 0 && !this.paused) this.wakeLater();
  }

  private begin(): void {
    if (this.inStep) fail(`a step of ${this.name} began within another`);
    this.inStep = true;
    this.charged = 0;
  }

  private end(): void {
    if (this.serial) this.busyUntil = this.scheduler.now + this.charged;
    this.inStep = false;
    if (this.ending !== undefined) this.stop(this.ending.how, this.ending.reason);
  }

  private stop(how: StopKind, reason: string): void {
    if (this.node === undefined) return;
    if (this.inStep) {
      // A process ends once, in the way that was asked for first.
      this.ending ??= { how, reason };
      return;
    }
    this.ending = undefined;
    this.world?.die();
    this.world = undefined;
    this.node = undefined;
    this.paused = false;
    this.backlog = [];
    this.wakePending = false;
    this.options.facts.note({ kind: "node-stopped", node: this.name, how, reason });
    this.tellStopped(how);
  }

  private tellStopped(how: StopKind): void {
    for (const watcher of this.options.watchers) watcher.hostStopped(this, how);
  }
}

function deliver(node: Node, input: Input): void {
  switch (input.kind) {
    case "timer":
      node.onTimer(input.timer, input.payload);
      break;
    case "connected":
      node.onConnected(input.connection);
      break;
    case "frame":
      node.onFrame(input.connection, input.from, input.frame);
      break;
    case "closed":
      node.onClosed(input.connection, input.from);
      break;
    case "synced":
      node.onSynced(input.ticket, input.ok);
      break;
    case "shutdown":
      node.onShutdown();
      break;
    default:
      unreachable(input);
  }
}
