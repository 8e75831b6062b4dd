import { fromMillis, MILLISECOND } from "../../base/time.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { Offset } from "../../kafka/ids.ts";
import { CREATE_TOPICS } from "../../kafka/protocol/apis.ts";
import type { CreatableTopic, CreateTopicsResponse } from "../../kafka/protocol/create-topics.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { Node, World } from "../../ports/node.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import { RpcClient } from "../rpc/rpc-client.ts";
import { RecordDeletion } from "./record-deletion.ts";

const TIMER = { rpcTimeout: 0, retry: 1, recordDeletion: 2 } as const;
const RETRY = 100 * MILLISECOND;
const REQUEST_TIMEOUT_MS = 5_000;

export interface AdminOptions {
  readonly brokers: readonly NodeAddress[];
  readonly topics: readonly CreatableTopic[];
}

/** An admin client: creates the scenario's topics before its time begins, then waits to be asked for more. */
export class Admin implements Node, ResponseHandler<CreateTopicsResponse, undefined> {
  readonly #world: World;
  readonly #rpc: RpcClient;
  readonly #brokers: readonly NodeAddress[];
  #missing: readonly CreatableTopic[];
  #attempt = 0;
  /** What Kafka refused for good, in its words. */
  #refusal: string | undefined;

  constructor(world: World, options: AdminOptions) {
    this.#world = world;
    this.#rpc = new RpcClient(world, TIMER.rpcTimeout);
    this.#brokers = options.brokers;
    this.#missing = options.topics;
  }

  get refusal(): string | undefined {
    return this.#refusal;
  }

  onStart(): void {
    this.#create();
  }

  /**
   * Has the records below an offset deleted, or with UP_TO_HIGH_WATERMARK all that are committed. To be
   * called from outside; it begins with a step of its own.
   */
  deleteRecords(topic: string, partition: number, before: Offset): void {
    const deletion = new RecordDeletion({
      world: this.#world,
      rpc: this.#rpc,
      brokers: this.#brokers,
      timerKind: TIMER.recordDeletion,
      topic,
      partition,
      before,
    });
    this.#world.timers.start(0, TIMER.recordDeletion, deletion);
  }

  #create(): void {
    const broker = this.#brokers[this.#attempt++ % this.#brokers.length];
    if (broker === undefined || this.#missing.length === 0) return;
    this.#rpc.send(
      broker,
      "admin",
      CREATE_TOPICS,
      { topics: this.#missing, timeoutMs: REQUEST_TIMEOUT_MS, validateOnly: false },
      fromMillis(REQUEST_TIMEOUT_MS),
      this,
      undefined,
    );
  }

  onResponse(response: CreateTopicsResponse): void {
    const done = new Set<string>();
    for (const { name, errorCode, errorMessage } of response.topics) {
      if (errorCode === 0 || errorCode === ERRORS.TOPIC_ALREADY_EXISTS.code) done.add(name);
      else if (errorCode === ERRORS.INVALID_CONFIG.code) {
        this.#refusal = `topic ${name}: ${errorMessage ?? "INVALID_CONFIG"}`;
      }
    }
    this.#missing = this.#missing.filter(({ name }) => !done.has(name));
    // Anything else is expected while the cluster forms: too few brokers, no controller yet.
    if (this.#missing.length > 0) this.#world.timers.start(RETRY, TIMER.retry);
  }

  onDisconnect(): void {
    this.#world.timers.start(RETRY, TIMER.retry);
  }

  onTimer(kind: number, payload: unknown): void {
    if (kind === TIMER.rpcTimeout) this.#rpc.onTimer();
    else if (payload instanceof RecordDeletion) payload.onTimer();
    else this.#create();
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

  onShutdown(): void {
    this.#world.process.exit("shutdown");
  }
}
