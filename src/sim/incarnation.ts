import { fail } from "../base/invariant.ts";
import type { Duration, Instant } from "../base/time.ts";
import type { Disk } from "../ports/disk.ts";
import type { ConnectionId, Frame, Network, NodeAddress } from "../ports/network.ts";
import type { Clock, Process, TimerHandle, Timers, World } from "../ports/node.ts";
import { NO_TIMER } from "../ports/node.ts";
import type { Random } from "../ports/random.ts";
import type { Fact, FactSink } from "../trace/fact.ts";
import type { NodeClock } from "./node-clock.ts";
import type { Scheduler } from "./scheduler.ts";

/** What a host lends to each of its incarnations. */
export interface Lender {
  readonly address: NodeAddress;
  readonly clock: NodeClock;
  /** The kind of event by which the host hears of its timers; their subject is the node's own kind. */
  readonly eventKind: number;
  /** Ends the running incarnation after its current step. */
  exit(reason: string): void;
  /** When what the running step does takes effect. */
  departure(): Instant;
  /** Forgets a timer that came due while the host was paused or busy. */
  forgetDue(timer: TimerHandle): void;
}

/** The id that a dead incarnation gets for a connection that it cannot make. */
const NO_CONNECTION: ConnectionId = -1;

/**
 * The world as one incarnation of a node sees it. Once that has died, nothing it still does has an
 * effect: what survives of an old process must not reach the new one.
 */
export class Incarnation implements World, Clock, Timers, Process, Network, FactSink {
  readonly self: NodeAddress;
  readonly incarnation: number;
  readonly clock: Clock = this;
  readonly timers: Timers = this;
  readonly process: Process = this;
  readonly network: Network = this;
  readonly facts: FactSink = this;
  readonly disk: Disk;
  readonly random: Random;
  private readonly host: Lender;
  private readonly scheduler: Scheduler;
  private readonly nodeClock: NodeClock;
  private readonly connections: Network;
  private readonly trace: FactSink;
  private readonly eventKind: number;
  private alive = true;

  constructor(
    host: Lender,
    incarnation: number,
    scheduler: Scheduler,
    connections: Network,
    disk: Disk,
    random: Random,
    trace: FactSink,
  ) {
    this.self = host.address;
    this.incarnation = incarnation;
    this.disk = disk;
    this.random = random;
    this.host = host;
    this.scheduler = scheduler;
    this.nodeClock = host.clock;
    this.connections = connections;
    this.trace = trace;
    this.eventKind = host.eventKind;
  }

  /** From here on nothing of this incarnation reaches the world; its pending timers are gone. */
  die(): void {
    this.alive = false;
    this.scheduler.cancelTimers(this.eventKind);
  }

  now(): Instant {
    return this.nodeClock.now();
  }

  elapsed(): Duration {
    return this.nodeClock.elapsed();
  }

  start(delay: Duration, kind: number, payload?: unknown): TimerHandle {
    // Not an invariant: its closure would cost an object for each timer.
    if (!(kind >= 0)) fail(`a node's timer of kind ${kind}`);
    if (!this.alive) return NO_TIMER;
    return this.scheduler.startTimer(
      this.nodeClock.trueDelay(delay),
      this.eventKind,
      kind,
      payload,
    );
  }

  startAfterWork(kind: number, payload?: unknown): void {
    if (!this.alive) return;
    const delay = this.host.departure() - this.scheduler.now;
    this.scheduler.startTimer(delay, this.eventKind, kind, payload);
  }

  cancel(handle: TimerHandle): void {
    if (!this.alive) return;
    this.scheduler.cancelTimer(handle);
    this.host.forgetDue(handle);
  }

  exit(reason: string): void {
    if (this.alive) this.host.exit(reason);
  }

  note(fact: Fact): void {
    if (this.alive) this.trace.note(fact);
  }

  connect(to: NodeAddress): ConnectionId {
    return this.alive ? this.connections.connect(to) : NO_CONNECTION;
  }

  send(connection: ConnectionId, frame: Frame): void {
    if (this.alive) this.connections.send(connection, frame);
  }

  close(connection: ConnectionId): void {
    if (this.alive) this.connections.close(connection);
  }

  listen(isOpen: boolean): void {
    if (this.alive) this.connections.listen(isOpen);
  }
}
