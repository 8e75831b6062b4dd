import type { Duration } from "../../base/time.ts";
import type { Api } from "../../kafka/protocol/api.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import { NEVER, WakeUp } from "../wake-up.ts";

/** Where answers go. One long-lived object per purpose, so that a request costs no closure. */
export interface ResponseHandler<Response, Context> {
  onResponse(response: Response, context: Context, from: NodeAddress): void;
  /** The connection broke or the request timed out: it may or may not have been carried out. */
  onDisconnect(context: Context, from: NodeAddress): void;
}

/** One request on its way. */
class PendingRequest {
  readonly correlationId: number;
  /** When it times out, by the clock that is never set. */
  readonly deadline: Duration;
  readonly handler: ResponseHandler<unknown, unknown>;
  readonly context: unknown;

  constructor(
    correlationId: number,
    deadline: Duration,
    handler: ResponseHandler<unknown, unknown>,
    context: unknown,
  ) {
    this.correlationId = correlationId;
    this.deadline = deadline;
    this.handler = handler;
    this.context = context;
  }
}

/** One connection to one peer, with the requests that wait for their answers, oldest first. */
class Channel {
  readonly peer: NodeAddress;
  readonly purpose: string;
  readonly connection: ConnectionId;
  readonly inFlight: PendingRequest[] = [];
  connected = false;

  constructor(peer: NodeAddress, purpose: string, connection: ConnectionId) {
    this.peer = peer;
    this.purpose = purpose;
    this.connection = connection;
  }
}

/** How far the connection to a peer is. */
export type ConnectionState = "none" | "connecting" | "connected";

/**
 * The asking side of Kafka's protocol (`NetworkClient`): a connection per peer and purpose, opened
 * on demand, answers in the order of the requests, and a timeout after which the connection is
 * closed and all that waited on it is told so.
 */
export class RpcClient {
  readonly #world: World;
  readonly #timeouts: WakeUp;
  readonly #byConnection = new Map<ConnectionId, Channel>();
  /** By peer, in the order of opening: a node has few to each, for purposes that are constants. */
  readonly #byPeer: (Channel[] | undefined)[] = [];
  #nextCorrelationId = 0;

  /** Under `timerKind` the owner's `onTimer` gets this client's timeouts, to pass on. */
  constructor(world: World, timerKind: number) {
    this.#world = world;
    this.#timeouts = new WakeUp(world.timers, timerKind);
  }

  /**
   * Sends a request. `purpose` separates connections to the same peer: a long poll blocks all that
   * stands behind it, so fetchers have their own. With `handler` undefined no answer is expected
   * (acks=0). `timeout` is request.timeout.ms or its like, in microseconds.
   */
  send<Request, Response, Context>(
    to: NodeAddress,
    purpose: string,
    api: Api<Request, Response>,
    body: Request,
    timeout: Duration,
    handler: ResponseHandler<Response, Context> | undefined,
    context: Context,
  ): void {
    const channel = this.#channel(to, purpose);
    const correlationId = this.#nextCorrelationId++;
    if (handler !== undefined) {
      const now = this.#world.clock.elapsed();
      const deadline = now + timeout;
      // The handler gets back the context it was sent with, and the response of its own API.
      const given = handler as ResponseHandler<unknown, unknown>;
      channel.inFlight.push(new PendingRequest(correlationId, deadline, given, context));
      this.#timeouts.noLaterThan(deadline, now);
    }
    this.#world.network.send(channel.connection, {
      apiKey: api.key,
      apiVersion: api.version,
      correlationId,
      isResponse: false,
      body,
      size: api.requestSize(body),
    });
  }

  /** Requests that wait for an answer on this connection. */
  inFlight(to: NodeAddress, purpose: string): number {
    return this.#find(to, purpose)?.inFlight.length ?? 0;
  }

  /** Opens the connection if there is none. Clients wait until it stands before they send. */
  connect(to: NodeAddress, purpose: string): void {
    this.#channel(to, purpose);
  }

  connectionState(to: NodeAddress, purpose: string): ConnectionState {
    const channel = this.#find(to, purpose);
    if (channel === undefined) return "none";
    return channel.connected ? "connected" : "connecting";
  }

  /** What the connection is for; undefined if it is not ours. */
  purposeOf(connection: ConnectionId): string | undefined {
    return this.#byConnection.get(connection)?.purpose;
  }

  /** Is this connection ours? */
  owns(connection: ConnectionId): boolean {
    return this.#byConnection.has(connection);
  }

  onConnected(connection: ConnectionId): void {
    const channel = this.#byConnection.get(connection);
    if (channel !== undefined) channel.connected = true;
  }

  /** Takes a response of one of our connections. */
  onFrame(connection: ConnectionId, frame: Frame): void {
    const channel = this.#byConnection.get(connection);
    if (channel === undefined) return;
    const pending = takeOut(channel.inFlight, frame.correlationId);
    pending?.handler.onResponse(frame.body, pending.context, channel.peer);
  }

  onClosed(connection: ConnectionId): void {
    const channel = this.#byConnection.get(connection);
    if (channel !== undefined) this.#drop(channel);
  }

  /** The timer came due: of a request that has timed out, Kafka closes the whole connection. */
  onTimer(): void {
    const reached = this.#timeouts.fired();
    let next = NEVER;
    for (const channel of [...this.#byConnection.values()]) {
      const deadline = firstDeadline(channel);
      if (deadline <= reached) {
        this.#world.network.close(channel.connection);
        this.#drop(channel);
      } else if (deadline < next) next = deadline;
    }
    this.#timeouts.noLaterThan(next, this.#world.clock.elapsed());
  }

  /** Closes the connections to a peer, or that of one purpose; what waits on them is told. */
  disconnect(to: NodeAddress, purpose?: string): void {
    for (const channel of [...this.#byConnection.values()]) {
      if (channel.peer !== to || (purpose !== undefined && channel.purpose !== purpose)) continue;
      this.#world.network.close(channel.connection);
      this.#drop(channel);
    }
  }

  #find(peer: NodeAddress, purpose: string): Channel | undefined {
    const channels = this.#byPeer[peer];
    if (channels === undefined) return undefined;
    for (const channel of channels) if (channel.purpose === purpose) return channel;
    return undefined;
  }

  #channel(peer: NodeAddress, purpose: string): Channel {
    const known = this.#find(peer, purpose);
    if (known !== undefined) return known;
    const channel = new Channel(peer, purpose, this.#world.network.connect(peer));
    const channels = this.#byPeer[peer];
    if (channels === undefined) this.#byPeer[peer] = [channel];
    else channels.push(channel);
    this.#byConnection.set(channel.connection, channel);
    return channel;
  }

  #drop(channel: Channel): void {
    this.#byConnection.delete(channel.connection);
    const channels = this.#byPeer[channel.peer];
    channels?.splice(channels.indexOf(channel), 1);
    const waiting = channel.inFlight.splice(0);
    for (const { handler, context } of waiting) handler.onDisconnect(context, channel.peer);
  }
}

/** When the first of a channel's requests times out; NEVER if none waits. */
function firstDeadline({ inFlight }: Channel): Duration {
  let first = NEVER;
  for (const { deadline } of inFlight) if (deadline < first) first = deadline;
  return first;
}

/** Answers come in order, unless a beyond-TCP fault lost, doubled or overtook one. */
function takeOut(inFlight: PendingRequest[], correlationId: number): PendingRequest | undefined {
  if (inFlight[0]?.correlationId === correlationId) return inFlight.shift();
  return takeOutOfOrder(inFlight, correlationId);
}

/** Apart, as its closure would cost an object for each answer. */
function takeOutOfOrder(
  inFlight: PendingRequest[],
  correlationId: number,
): PendingRequest | undefined {
  const at = inFlight.findIndex((one) => one.correlationId === correlationId);
  return at < 0 ? undefined : inFlight.splice(at, 1)[0];
}
