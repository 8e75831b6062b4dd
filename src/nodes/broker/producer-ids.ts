import { ERRORS } from "../../kafka/error-code.ts";
import { ALLOCATE_PRODUCER_IDS, INIT_PRODUCER_ID } from "../../kafka/protocol/apis.ts";
import type { AllocateProducerIdsResponse } from "../../kafka/protocol/init-producer-id.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";

/**
 * Gives out producer ids, from blocks that the controller hands out (KIP-730, `RPCProducerIdManager`). While
 * a block is fetched, idempotent producers wait; the transaction coordinator has its askers come again.
 *
 * Simplified: Kafka has idempotent producers come again too, and fetches the next block before one is used up.
 */
export class ProducerIds implements ResponseHandler<AllocateProducerIdsResponse, undefined> {
  readonly #context: BrokerContext;
  readonly #waiting: IncomingRequest[] = [];
  #next = 0;
  #end = 0;
  #isFetching = false;

  constructor(context: BrokerContext) {
    this.#context = context;
  }

  /** InitProducerId without a transactional id. */
  handle(request: IncomingRequest): void {
    if (this.#next < this.#end) {
      this.#give(request);
      return;
    }
    this.#waiting.push(request);
    this.#fetch();
  }

  /** An id for a transactional id; undefined while there is none. */
  next(): number | undefined {
    if (this.#next < this.#end) return this.#next++;
    this.#fetch();
    return undefined;
  }

  #fetch(): void {
    if (this.#isFetching) return;
    this.#isFetching = true;
    this.#context.controller.send(
      ALLOCATE_PRODUCER_IDS,
      { brokerId: this.#context.brokerId, brokerEpoch: this.#context.brokerEpoch },
      this,
      undefined,
    );
  }

  onResponse(response: AllocateProducerIdsResponse): void {
    this.#isFetching = false;
    if (response.errorCode !== 0) {
      this.#fail();
      return;
    }
    this.#next = response.producerIdStart;
    this.#end = response.producerIdStart + response.producerIdLen;
    for (const request of this.#waiting.splice(0)) this.#give(request);
  }

  onDisconnect(): void {
    this.#fail();
  }

  #fail(): void {
    this.#isFetching = false;
    // The producer tries again (KAFKA-13840 keeps it retriable).
    const error = ERRORS.NOT_CONTROLLER.code;
    for (const request of this.#waiting.splice(0)) this.#refuse(request, error);
  }

  #give(request: IncomingRequest): void {
    request.reply(INIT_PRODUCER_ID, {
      throttleTimeMs: 0,
      errorCode: 0,
      producerId: this.#next++,
      producerEpoch: 0,
    });
  }

  #refuse(request: IncomingRequest, errorCode: number): void {
    request.reply(INIT_PRODUCER_ID, {
      throttleTimeMs: 0,
      errorCode,
      producerId: -1,
      producerEpoch: -1,
    });
  }
}
