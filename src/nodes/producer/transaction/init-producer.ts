import { ERRORS, errorOf } from "../../../kafka/error-code.ts";
import { INIT_PRODUCER_ID } from "../../../kafka/protocol/apis.ts";
import type { InitProducerIdResponse } from "../../../kafka/protocol/init-producer-id.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import type { TransactionManager } from "./transaction-manager.ts";
import { PRIORITY, TransactionRequest } from "./transaction-request.ts";

/** Asks for an identity, whereby whoever had the transactional id before is fenced; or for its next epoch. */
export class InitProducer
  extends TransactionRequest
  implements ResponseHandler<InitProducerIdResponse, undefined>
{
  readonly #manager: TransactionManager;
  /** Who it is until then; -1 if nobody yet. */
  readonly #producerId: number;
  readonly #producerEpoch: number;

  constructor(
    manager: TransactionManager,
    producerId: number,
    producerEpoch: number,
    isEpochBump: boolean,
  ) {
    const priority = isEpochBump ? PRIORITY.epochBump : PRIORITY.initProducerId;
    super(INIT_PRODUCER_ID.name, priority, manager.coordination, manager.parts.backoff);
    this.#manager = manager;
    this.#producerId = producerId;
    this.#producerEpoch = producerEpoch;
  }

  override sendTo(address: NodeAddress): void {
    const { transactionalId, transactionTimeoutMs } = this.#manager.parts;
    const body = {
      transactionalId,
      transactionTimeoutMs,
      producerId: this.#producerId,
      producerEpoch: this.#producerEpoch,
    };
    this.#manager.send(address, INIT_PRODUCER_ID, body, this);
  }

  onResponse(response: InitProducerIdResponse, _: undefined, from: NodeAddress): void {
    const manager = this.#manager;
    manager.arrived();
    const error = errorOf(response.errorCode);
    if (error === ERRORS.NONE) {
      manager.initialize(response.producerId, response.producerEpoch);
      manager.ready();
    } else if (error.retriable) manager.askAgain(this, error, from);
    else {
      manager.refused(this, error, from);
      if (error === ERRORS.TRANSACTION_ABORTABLE) manager.abortable(error);
      else manager.fatal(fencedOr(error));
    }
  }

  onDisconnect(_: undefined, from: NodeAddress): void {
    this.#manager.broken(this, from);
  }
}

function fencedOr(error: ReturnType<typeof errorOf>): ReturnType<typeof errorOf> {
  return error === ERRORS.INVALID_PRODUCER_EPOCH ? ERRORS.PRODUCER_FENCED : error;
}
