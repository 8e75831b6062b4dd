import type { Duration, Instant } from "../../base/time.ts";
import {
  BACKOFF_JITTER_HIGH,
  BACKOFF_JITTER_LOW,
  exponentialBackoff,
} from "../../kafka/client/backoff.ts";
import type { ProducerSequences } from "../../kafka/client/producer-sequences.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import { NO_EPOCH, NO_PRODUCER_ID } from "../../kafka/ids.ts";
import { INIT_PRODUCER_ID } from "../../kafka/protocol/apis.ts";
import type {
  InitProducerIdRequest,
  InitProducerIdResponse,
} from "../../kafka/protocol/init-producer-id.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import type { BrokerConnections } from "../client-metadata/broker-connections.ts";
import type { ClientMetadata } from "../client-metadata/client-metadata.ts";
import { NO_ADDRESS } from "../client-metadata/topic-leaders.ts";
import type { ResponseHandler, RpcClient } from "../rpc/rpc-client.ts";
import { WakeUp } from "../wake-up.ts";

export interface ProducerIdParts {
  readonly world: World;
  readonly rpc: RpcClient;
  readonly client: string;
  readonly sequences: ProducerSequences;
  readonly metadata: ClientMetadata;
  readonly connections: BrokerConnections;
  readonly requestTimeout: Duration;
  readonly backoff: Duration;
  readonly backoffMax: Duration;
  /** The timer kind under which the owner is woken for `run`. */
  readonly timerKind: number;
}

/**
 * Gets an idempotent producer its id, from any broker (KIP-98). Nothing is sent before it is there.
 *
 * Simplified: any error is retried; in Kafka those that are not retriable end the producer, but no
 * broker of the simulator gives one.
 */
export class ProducerIdKeeper implements ResponseHandler<InitProducerIdResponse, undefined> {
  readonly #parts: ProducerIdParts;
  readonly #wakeUp: WakeUp;
  #isInProgress = false;
  #failures = 0;
  #notBefore: Instant = 0;

  constructor(parts: ProducerIdParts) {
    this.#parts = parts;
    this.#wakeUp = new WakeUp(parts.world.timers, parts.timerKind);
  }

  /** The timer of `timerKind` came due; `run` is to follow. */
  fired(): void {
    this.#wakeUp.fired();
  }

  /** Asks for an id if there is none. To be called after whatever happened. */
  run(now: Instant): void {
    const { sequences, metadata, connections, rpc, requestTimeout } = this.#parts;
    if (sequences.hasProducerId || this.#isInProgress) return;
    if (now < this.#notBefore) {
      this.#wakeUp.noLaterThan(this.#notBefore, now);
      return;
    }
    const address = metadata.leastLoaded(now);
    if (address === NO_ADDRESS) {
      this.#wakeUp.noLaterThan(metadata.nextAttempt(now), now);
      return;
    }
    if (!connections.ready(address, now)) return;
    this.#isInProgress = true;
    const { purpose } = connections;
    rpc.send(address, purpose, INIT_PRODUCER_ID, REQUEST, requestTimeout, this, undefined);
  }

  onResponse(response: InitProducerIdResponse, _context: undefined, from: NodeAddress): void {
    this.#isInProgress = false;
    const error = errorOf(response.errorCode);
    if (error !== ERRORS.NONE) {
      this.#failed(error, from);
      return;
    }
    this.#failures = 0;
    this.#parts.sequences.initialize(response.producerId, response.producerEpoch);
  }

  onDisconnect(_context: undefined, from: NodeAddress): void {
    const { world, connections, metadata } = this.#parts;
    const now = world.clock.now();
    this.#isInProgress = false;
    connections.disconnected(from, now);
    metadata.disconnected(now);
    this.#failed(ERRORS.NETWORK_EXCEPTION, from);
  }

  #failed(error: ErrorCode, from: NodeAddress): void {
    const { world, client, metadata, backoff, backoffMax } = this.#parts;
    const jitter = world.random.between(BACKOFF_JITTER_LOW, BACKOFF_JITTER_HIGH);
    const pause = exponentialBackoff(backoff, backoffMax, this.#failures, jitter);
    this.#failures++;
    this.#notBefore = world.clock.now() + pause;
    world.facts.note({
      kind: "request-failed",
      client,
      api: INIT_PRODUCER_ID.name,
      broker: metadata.brokerAt(from),
      partition: "",
      error: error.name,
      retried: true,
    });
  }
}

const REQUEST: InitProducerIdRequest = {
  transactionalId: undefined,
  transactionTimeoutMs: 2_147_483_647,
  producerId: NO_PRODUCER_ID,
  producerEpoch: NO_EPOCH,
};
