/** The address of a node: its place in the cluster's table of nodes, dense from 0. */
export type NodeAddress = number;

/** Names one connection; never used twice in a run. */
export type ConnectionId = number;

/**
 * What travels on a connection: one request or one response of Kafka's protocol. `body` holds the
 * fields of Kafka's schema for `apiKey` at `apiVersion`; `size` is the length in bytes that its
 * encoding has, header and length prefix included. Bodies are immutable once sent.
 * Simplified: a body is never encoded; only the record batches in it are bytes.
 */
export interface Frame {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  readonly isResponse: boolean;
  readonly body: unknown;
  readonly size: number;
}

/**
 * Connections that behave as TCP does. Order is kept and nothing is lost inside a connection;
 * what a closed, reset or crashed connection held in flight is lost without notice to the sender.
 */
export interface Network {
  /** Begins to connect. Ends in `onConnected`, or in `onClosed` if refused or unreachable in time. */
  connect(to: NodeAddress): ConnectionId;
  /**
   * Sends a frame; may be called before `onConnected` (it is sent then). It departs when this
   * step's charged work is done. On a connection that is gone it is silently lost.
   */
  send(connection: ConnectionId, frame: Frame): void;
  /** Closes from this side. The peer learns of it as `onClosed`; this node hears nothing more. */
  close(connection: ConnectionId): void;
  /**
   * Opens or closes the port to which others connect; a process starts with an open one. While it is
   * closed they are refused. Connections that stand go on.
   */
  listen(isOpen: boolean): void;
}
