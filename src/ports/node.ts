import type { Duration, Instant } from "../base/time.ts";
import type { FactSink } from "../trace/fact.ts";
import type { Disk } from "./disk.ts";
import type { ConnectionId, Frame, Network, NodeAddress } from "./network.ts";
import type { Random } from "./random.ts";

/**
 * A participant: one incarnation of a broker, controller or client. Each handler runs to
 * completion; there is nothing to await. A node cannot tell simulation from reality.
 */
export interface Node {
  /** The process has started. Called once, before anything else. */
  onStart(): void;
  /** A timer that this incarnation started has come due. */
  onTimer(kind: number, payload: unknown): void;
  /** The connection that this node asked for is established. */
  onConnected(connection: ConnectionId): void;
  /** A frame arrived, on a connection that either side opened. */
  onFrame(connection: ConnectionId, from: NodeAddress, frame: Frame): void;
  /** The connection is gone: refused, closed or reset by the peer, or timed out. Not called for
   * connections that this node closed itself. */
  onClosed(connection: ConnectionId, from: NodeAddress): void;
  /** A `syncLater` of this incarnation has ended; `ok` is false if the disk reported an error. */
  onSynced(ticket: number, ok: boolean): void;
  /** SIGTERM: begin an orderly stop, and call `Process.exit` when done. */
  onShutdown(): void;
}

/** A timer's handle: stale ones are recognised and ignored. */
export type TimerHandle = number;
export const NO_TIMER: TimerHandle = -1;

export interface Clock {
  /** This node's own clock, which may be wrong: offset and drift are faults. Never true time. */
  now(): Instant;
  /**
   * How much time this node has seen pass since the world began: it gains and loses as `now` does, but
   * is never set (Kafka's `Time.nanoseconds`, where `now` is `Time.milliseconds`).
   */
  elapsed(): Duration;
}

export interface Timers {
  /** Calls `onTimer(kind, payload)` once, after `delay` on this node's own clock. */
  start(delay: Duration, kind: number, payload?: unknown): TimerHandle;
  /**
   * Calls `onTimer(kind, payload)` once, when the work is done that this step was charged so far: how a
   * node learns that a long read has ended.
   */
  startAfterWork(kind: number, payload?: unknown): void;
  /** Forgets a timer. A handle that fired, was cancelled or is `NO_TIMER` is ignored. */
  cancel(handle: TimerHandle): void;
}

export interface Process {
  /** Ends this incarnation by itself, as after an orderly stop or a fatal error. */
  exit(reason: string): void;
  /** The number of this incarnation: 0 at the first start. */
  readonly incarnation: number;
}

/** The whole outside world of one incarnation of one node. */
export interface World {
  readonly self: NodeAddress;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly network: Network;
  readonly disk: Disk;
  readonly random: Random;
  readonly process: Process;
  /** Where a node notes what happened to it. */
  readonly facts: FactSink;
}
