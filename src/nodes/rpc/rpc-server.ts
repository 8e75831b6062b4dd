import type { Api } from "../../kafka/protocol/api.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";

/** Handles requests; answers by `reply`, now or later, once for each request that expects one. */
export interface RequestHandler {
  onRequest(request: IncomingRequest): void;
}

/** A request that a broker or controller works on. */
export class IncomingRequest {
  readonly server: RpcServer;
  readonly channel: ServerChannel;
  readonly from: NodeAddress;
  readonly frame: Frame;

  constructor(server: RpcServer, channel: ServerChannel, from: NodeAddress, frame: Frame) {
    this.server = server;
    this.channel = channel;
    this.from = from;
    this.frame = frame;
  }

  get apiKey(): number {
    return this.frame.apiKey;
  }

  get body(): unknown {
    return this.frame.body;
  }

  /** Is the asker still there to hear an answer? */
  get isOpen(): boolean {
    return this.channel.open;
  }

  reply<Request, Response>(api: Api<Request, Response>, body: Response): void {
    this.server.reply(this, {
      apiKey: api.key,
      apiVersion: api.version,
      correlationId: this.frame.correlationId,
      isResponse: true,
      body,
      size: api.responseSize(body),
    });
  }

  /** Ends a request that gets no answer (acks=0). */
  done(): void {
    this.server.next(this.channel);
  }

  /** Ends a request by closing its connection: how a broker reports an error to acks=0. */
  hangUp(): void {
    this.server.hangUp(this.channel);
  }
}

class ServerChannel {
  readonly connection: ConnectionId;
  readonly queue: Frame[] = [];
  readonly from: NodeAddress;
  busy = false;
  open = true;

  constructor(connection: ConnectionId, from: NodeAddress) {
    this.connection = connection;
    this.from = from;
  }
}

/**
 * The answering side (`SocketServer`): one request at a time per connection, since Kafka mutes a
 * channel while it works on a request; what the client pipelined waits its turn.
 */
export class RpcServer {
  readonly #world: World;
  readonly #handler: RequestHandler;
  readonly #channels = new Map<ConnectionId, ServerChannel>();

  constructor(world: World, handler: RequestHandler) {
    this.#world = world;
    this.#handler = handler;
  }

  onFrame(connection: ConnectionId, from: NodeAddress, frame: Frame): void {
    let channel = this.#channels.get(connection);
    if (channel === undefined) {
      channel = new ServerChannel(connection, from);
      this.#channels.set(connection, channel);
    }
    if (channel.busy) channel.queue.push(frame);
    else this.#handle(channel, frame);
  }

  onClosed(connection: ConnectionId): void {
    const channel = this.#channels.get(connection);
    if (channel === undefined) return;
    channel.open = false;
    channel.queue.length = 0;
    this.#channels.delete(connection);
  }

  reply(request: IncomingRequest, frame: Frame): void {
    const { channel } = request;
    if (!channel.open) return;
    this.#world.network.send(channel.connection, frame);
    this.next(channel);
  }

  next(channel: ServerChannel): void {
    channel.busy = false;
    const frame = channel.queue.shift();
    if (frame !== undefined && channel.open) this.#handle(channel, frame);
  }

  hangUp(channel: ServerChannel): void {
    if (!channel.open) return;
    this.#world.network.close(channel.connection);
    this.onClosed(channel.connection);
  }

  #handle(channel: ServerChannel, frame: Frame): void {
    channel.busy = true;
    this.#handler.onRequest(new IncomingRequest(this, channel, channel.from, frame));
  }
}
