import { fromMillis, MILLISECOND } from "../../base/time.ts";
import type { Api } from "../../kafka/protocol/api.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import type { ResponseHandler, RpcClient } from "../rpc/rpc-client.ts";
import { BROKER_TIMER } from "./broker-timers.ts";

/** Kafka's `NodeToControllerRequestThread` looks for the controller this often. */
const RETRY = 50 * MILLISECOND;

class Waiting {
  readonly api: Api<unknown, unknown>;
  readonly body: unknown;
  readonly handler: ResponseHandler<unknown, unknown>;
  readonly context: unknown;

  constructor(
    api: Api<unknown, unknown>,
    body: unknown,
    handler: ResponseHandler<unknown, unknown>,
    context: unknown,
  ) {
    this.api = api;
    this.body = body;
    this.handler = handler;
    this.context = context;
  }
}

/**
 * Sends requests to the active controller as the quorum knows it (Kafka's
 * `NodeToControllerChannelManager`). While none is known they wait. A lost connection is told to
 * the handler; so is an answer of NOT_CONTROLLER, which the handler judges itself.
 */
export class ControllerChannel {
  readonly #world: World;
  readonly #rpc: RpcClient;
  readonly #purpose: string;
  readonly #leader: () => NodeAddress | undefined;
  readonly #timeoutMs: number;
  readonly #waiting: Waiting[] = [];
  #timerRuns = false;

  constructor(
    world: World,
    rpc: RpcClient,
    purpose: string,
    leader: () => NodeAddress | undefined,
    timeoutMs: number,
  ) {
    this.#world = world;
    this.#rpc = rpc;
    this.#purpose = purpose;
    this.#leader = leader;
    this.#timeoutMs = timeoutMs;
  }

  send<Request, Response, Context>(
    api: Api<Request, Response>,
    body: Request,
    handler: ResponseHandler<Response, Context>,
    context: Context,
  ): void {
    const leader = this.#leader();
    if (leader !== undefined) {
      this.#rpc.send(
        leader,
        this.#purpose,
        api,
        body,
        fromMillis(this.#timeoutMs),
        handler,
        context,
      );
      return;
    }
    // The types belong together; they are only kept until there is somebody to send to.
    this.#waiting.push(
      new Waiting(
        api as Api<unknown, unknown>,
        body,
        handler as ResponseHandler<unknown, unknown>,
        context,
      ),
    );
    if (this.#timerRuns) return;
    this.#timerRuns = true;
    this.#world.timers.start(RETRY, BROKER_TIMER.controllerRetry, this);
  }

  /** The retry timer came due, or the quorum has news of its leader. */
  retry(): void {
    this.#timerRuns = false;
    const waiting = this.#waiting.splice(0);
    for (const one of waiting) this.send(one.api, one.body, one.handler, one.context);
  }
}
