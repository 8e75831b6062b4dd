import type { Instant } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { BrokerId, TopicPartition } from "../../kafka/ids.ts";
import { NO_LEADER, partitionName } from "../../kafka/ids.ts";
import type { Api } from "../../kafka/protocol/api.ts";
import { FIND_COORDINATOR, METADATA } from "../../kafka/protocol/apis.ts";
import { COORDINATOR_TYPE } from "../../kafka/protocol/find-coordinator.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import type { RpcClient } from "../rpc/rpc-client.ts";

/** Kafka's defaults of `default.api.timeout.ms`, `request.timeout.ms` and `retry.backoff.ms`. */
export const API_TIMEOUT_MS = 60_000;
const REQUEST_TIMEOUT_MS = 30_000;
const RETRY_BACKOFF_MS = 100;

/** What the calls of one admin client share. */
export interface AdminPorts {
  readonly world: World;
  readonly rpc: RpcClient;
  /** `bootstrap.servers` */
  readonly brokers: readonly NodeAddress[];
  /** A timer of this kind, with the call as its payload, is to be passed on to the call's `onTimer`. */
  readonly timerKind: number;
}

export interface AdminPeer {
  readonly nodeId: BrokerId;
  readonly port: NodeAddress;
}

/** Whom a request is for. But for a broker it is looked up anew with each try (`AdminApiLookupStrategy`). */
export type AdminTarget =
  | { readonly kind: "any" }
  | ({ readonly kind: "broker" } & AdminPeer)
  | ({ readonly kind: "leader" } & TopicPartition)
  | { readonly kind: "coordinator"; readonly transactionalId: string };

export interface AdminRequest<Request, Response> {
  readonly target: AdminTarget;
  readonly api: Api<Request, Response>;
  readonly body: Request;
  /** What the answer says of what was asked. */
  readonly errorOf: (response: Response) => ErrorCode;
  /** Which errors may pass; those that are retriable if absent. */
  readonly mayPass?: (error: ErrorCode) => boolean;
  /** For the timeline: of which partition it is. */
  readonly partition?: TopicPartition;
  /** Called with an answer without an error. */
  readonly done: (response: Response) => void;
}

/**
 * One request of an administrator: it is looked up whom to ask, and both are done again after an error that
 * may pass, until a minute is over (`AdminApiDriver`). A failure is noted.
 */
export class AdminCall<Request = unknown, Response = unknown> {
  readonly #ports: AdminPorts;
  readonly #request: AdminRequest<Request, Response>;
  readonly #deadline: Instant;
  #attempt = 0;
  #asked: BrokerId = NO_LEADER;

  constructor(ports: AdminPorts, request: AdminRequest<Request, Response>) {
    this.#ports = ports;
    this.#request = request;
    this.#deadline = ports.world.clock.now() + fromMillis(API_TIMEOUT_MS);
  }

  /** To be called from outside, too: it begins with a step of its own. */
  start(): void {
    this.#ports.world.timers.start(0, this.#ports.timerKind, this);
  }

  /** Its beginning, and the end of each pause. */
  onTimer(): void {
    const { brokers } = this.#ports;
    const { target } = this.#request;
    const broker = brokers[this.#attempt++ % brokers.length];
    if (broker === undefined) return;
    this.#asked = NO_LEADER;
    switch (target.kind) {
      case "any":
        this.#ask({ nodeId: NO_LEADER, port: broker });
        return;
      case "broker":
        this.#ask(target);
        return;
      case "leader":
        this.#findLeader(broker, target);
        return;
      case "coordinator":
        this.#findCoordinator(broker, target.transactionalId);
    }
  }

  #findLeader(broker: NodeAddress, { topic, partition }: TopicPartition): void {
    const body = { topics: [{ topicId: undefined, name: topic }], allowAutoTopicCreation: false };
    this.#send(broker, METADATA, body, ({ topics, brokers }) => {
      const known = topics[0]?.partitions.find(
        ({ partitionIndex }) => partitionIndex === partition,
      );
      const leader = brokers.find(({ nodeId }) => nodeId === known?.leaderId);
      if (leader === undefined) this.#failed(ERRORS.LEADER_NOT_AVAILABLE);
      else this.#ask(leader);
    });
  }

  #findCoordinator(broker: NodeAddress, transactionalId: string): void {
    const body = { keyType: COORDINATOR_TYPE.transaction, coordinatorKeys: [transactionalId] };
    this.#send(broker, FIND_COORDINATOR, body, ({ coordinators: [found] }) => {
      const error = errorOf(found?.errorCode ?? -1);
      if (found === undefined || error !== ERRORS.NONE) this.#failed(error);
      else this.#ask(found);
    });
  }

  #ask({ nodeId, port }: AdminPeer): void {
    const { api, body, errorOf: told, mayPass, done } = this.#request;
    this.#asked = nodeId;
    this.#send(port, api, body, (response) => {
      const error = told(response);
      if (error === ERRORS.NONE) done(response);
      else this.#failed(error, mayPass?.(error));
    });
  }

  #send<Body, Answer>(
    to: NodeAddress,
    api: Api<Body, Answer>,
    body: Body,
    onResponse: (answer: Answer) => void,
  ): void {
    const onDisconnect = (): void => this.#failed(ERRORS.NETWORK_EXCEPTION);
    const handler = { onResponse, onDisconnect };
    const timeout = fromMillis(REQUEST_TIMEOUT_MS);
    this.#ports.rpc.send(to, "admin", api, body, timeout, handler, undefined);
  }

  #failed(error: ErrorCode, mayPass: boolean = error.retriable): void {
    const { world, timerKind } = this.#ports;
    const { api, partition } = this.#request;
    const retried = mayPass && world.clock.now() < this.#deadline;
    world.facts.note({
      kind: "request-failed",
      client: "admin",
      api: api.name,
      broker: this.#asked,
      partition: partition === undefined ? "" : partitionName(partition.topic, partition.partition),
      error: error.name,
      retried,
    });
    if (retried) world.timers.start(fromMillis(RETRY_BACKOFF_MS), timerKind, this);
  }
}
