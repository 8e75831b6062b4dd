import { SECOND } from "../../src/base/time.ts";
import type { Api } from "../../src/kafka/protocol/api.ts";
import type { ResponseHandler } from "../../src/nodes/rpc/rpc-client.ts";
import { RpcClient } from "../../src/nodes/rpc/rpc-client.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../src/ports/network.ts";
import type { Node, World } from "../../src/ports/node.ts";

/** Where the answer to one request is put; undefined until it is there, and if there never is one. */
export class Asked<Response> implements ResponseHandler<Response, undefined> {
  response: Response | undefined;
  disconnected = false;

  onResponse(response: Response): void {
    this.response = response;
  }

  onDisconnect(): void {
    this.disconnected = true;
  }

  get isOver(): boolean {
    return this.disconnected || this.response !== undefined;
  }
}

/** A node without a will of its own, that asks others what the test wants asked. */
export class AskingNode implements Node {
  readonly #rpc: RpcClient;

  constructor(world: World) {
    this.#rpc = new RpcClient(world, 0);
  }

  ask<Request, Response>(
    to: NodeAddress,
    api: Api<Request, Response>,
    body: Request,
  ): Asked<Response> {
    const asked = new Asked<Response>();
    this.#rpc.send(to, "test", api, body, 30 * SECOND, asked, undefined);
    return asked;
  }

  onStart(): void {}

  onTimer(): void {
    this.#rpc.onTimer();
  }

  onConnected(connection: ConnectionId): void {
    this.#rpc.onConnected(connection);
  }

  onFrame(connection: ConnectionId, _from: NodeAddress, frame: Frame): void {
    this.#rpc.onFrame(connection, frame);
  }

  onClosed(connection: ConnectionId): void {
    this.#rpc.onClosed(connection);
  }

  onSynced(): void {}

  onShutdown(): void {}
}
