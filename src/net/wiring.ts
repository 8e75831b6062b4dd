import type { Duration } from "../base/time.ts";
import type { Frame, NodeAddress } from "../ports/network.ts";
import type { Scheduler } from "../sim/scheduler.ts";
import type { Connection } from "./connection.ts";
import type { Fate } from "./disturbance.ts";
import type { Station } from "./station.ts";

/** Told of each frame just before the node that it is for. */
export type DeliveryObserver = (from: NodeAddress, to: NodeAddress, frame: Frame) => void;

/** Told of each message that does not simply pass. */
export type DisturbanceObserver = (
  from: NodeAddress,
  to: NodeAddress,
  frame: Frame,
  fate: Exclude<Fate, "pass">,
) => void;

/** What a connection's own events say. */
export type Signal =
  | "syn"
  | "syn-ack"
  | "reset"
  | "setup-timeout"
  | "retransmission-timeout"
  | "idle";

/** What all connections of a fabric have in common. */
export interface Wiring {
  readonly scheduler: Scheduler;
  /** Kinds of events. Their subject is the id of the side that sends. */
  readonly arrival: number;
  readonly straggler: number;
  readonly signal: number;
  readonly setupTimeout: Duration;
  readonly retransmissionTimeout: Duration;
  /** Absent: connections may idle for ever. */
  readonly maxIdle: Duration | undefined;
  onDelivery: DeliveryObserver | undefined;
  readonly onDisturbance: DisturbanceObserver;
  /** The process that takes connections at an address; absent if there is none. */
  listenerAt(address: NodeAddress): Station | undefined;
  /** Nobody has the connection any more: what is still under way on it is lost. */
  forget(connection: Connection): void;
}
