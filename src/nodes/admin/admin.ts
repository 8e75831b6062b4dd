import type { Duration } from "../../base/time.ts";
import { fromMillis, MILLISECOND } from "../../base/time.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { Offset, TopicPartition } from "../../kafka/ids.ts";
import { CREATE_PARTITIONS, CREATE_TOPICS, DELETE_RECORDS } from "../../kafka/protocol/apis.ts";
import type { CreatableTopic, CreateTopicsResponse } from "../../kafka/protocol/create-topics.ts";
import type { ConnectionId, Frame, NodeAddress } from "../../ports/network.ts";
import type { Node, World } from "../../ports/node.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import { RpcClient } from "../rpc/rpc-client.ts";
import type { AdminPorts } from "./admin-call.ts";
import { AdminCall, API_TIMEOUT_MS } from "./admin-call.ts";
import { HangingTransactions } from "./hanging-transactions.ts";

const TIMER = { rpcTimeout: 0, retry: 1, call: 2 } as const;
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
  readonly #ports: AdminPorts;
  #missing: readonly CreatableTopic[];
  #attempt = 0;
  /** What Kafka refused for good, in its words. */
  #refusal: string | undefined;

  constructor(world: World, options: AdminOptions) {
    this.#world = world;
    this.#rpc = new RpcClient(world, TIMER.rpcTimeout);
    this.#brokers = options.brokers;
    const { brokers } = options;
    this.#ports = { world, rpc: this.#rpc, brokers, timerKind: TIMER.call };
    this.#missing = options.topics;
  }

  get refusal(): string | undefined {
    return this.#refusal;
  }

  onStart(): void {
    this.#create();
  }

  /** Has the records below an offset deleted, or with UP_TO_HIGH_WATERMARK all that are committed. */
  deleteRecords(of: TopicPartition, before: Offset): void {
    const partitions = [{ partitionIndex: of.partition, offset: before }];
    const call = new AdminCall(this.#ports, {
      target: { kind: "leader", ...of },
      api: DELETE_RECORDS,
      body: { topics: [{ name: of.topic, partitions }], timeoutMs: API_TIMEOUT_MS },
      errorOf: ({ topics }) => errorOf(topics[0]?.partitions[0]?.errorCode ?? -1),
      partition: of,
      done: () => undefined,
    });
    call.start();
  }

  /** Has a topic given more partitions, so that it has `count`. */
  addPartitions(topic: string, count: number): void {
    const call = new AdminCall(this.#ports, {
      target: { kind: "any" },
      api: CREATE_PARTITIONS,
      body: { topics: [{ name: topic, count }], timeoutMs: API_TIMEOUT_MS, validateOnly: false },
      errorOf: ({ results }) => errorOf(results[0]?.errorCode ?? -1),
      done: () => undefined,
    });
    call.start();
  }

  /** Finds the transactions that hang, longer than `maxTimeout`, and has them aborted. */
  abortHanging(of: TopicPartition, maxTimeout: Duration): void {
    new HangingTransactions(this.#ports, of, maxTimeout).start();
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
    else if (payload instanceof AdminCall) payload.onTimer();
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
