import type { Instant } from "../base/time.ts";
import type { ConnectionId, Frame, NodeAddress } from "../ports/network.ts";

/** What the network needs to know of a host: the end points of all connections are stations. */
export interface Station {
  readonly address: NodeAddress;
  readonly isPaused: boolean;
  /** When a frame that is sent now leaves. */
  departure(): Instant;
  connected(connection: ConnectionId): void;
  frame(connection: ConnectionId, from: NodeAddress, frame: Frame): void;
  closed(connection: ConnectionId, from: NodeAddress): void;
}
