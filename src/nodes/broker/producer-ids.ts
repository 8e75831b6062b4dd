import { ERRORS } from "../../kafka/error-code.ts";
import { ALLOCATE_PRODUCER_IDS, INIT_PRODUCER_ID } from "../../kafka/protocol/apis.ts";
import type {
  AllocateProducerIdsResponse,
  InitProducerIdRequest,
} from "../../kafka/protocol/init-producer-id.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import type { BrokerContext } from "./broker-context.ts";

/**
 * Gives ids to idempotent producers, from blocks that the controller hands out (KIP-730,
 * `RPCProducerIdManager`). While a block is fetched the askers wait.
 */
export class ProducerIds implements ResponseHandler<AllocateProducerIdsResponse, undefined> {
  readonly #context: BrokerContext;
  readonly #waiting: IncomingRequest[] = [];
  #next = 0;
  #end = 0;

  constructor(context: BrokerContext) {
    this.#context = context;
  }

  handle(request: IncomingRequest, body: InitProducerIdRequest): void {
    if (body.transactionalId !== undefined) {
      // Simplified: transactions are not modelled.
      this.#refuse(request, ERRORS.UNSUPPORTED_VERSION.code);
      return;
    }
    if (this.#next < this.#end) {
      this.#give(request);
      return;
    }
    this.#waiting.push(request);
    if (this.#waiting.length > 1) return;
    this.#context.controller.send(
      ALLOCATE_PRODUCER_IDS,
      { brokerId: this.#context.brokerId, brokerEpoch: this.#context.brokerEpoch },
      this,
      undefined,
    );
  }

  onResponse(response: AllocateProducerIdsResponse): void {
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
