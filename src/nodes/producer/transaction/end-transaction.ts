import { ERRORS, errorOf } from "../../../kafka/error-code.ts";
import { NO_PRODUCER_ID } from "../../../kafka/ids.ts";
import { END_TXN } from "../../../kafka/protocol/apis.ts";
import type { EndTxnResponse } from "../../../kafka/protocol/end-txn.ts";
import { END_TXN_V4 } from "../../../kafka/protocol/end-txn.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import type { TransactionManager } from "./transaction-manager.ts";
import { PRIORITY, TransactionRequest } from "./transaction-request.ts";

/** Commits or aborts, once all records have an answer. In version 2 the answer is a new identity. */
export class EndTransaction
  extends TransactionRequest
  implements ResponseHandler<EndTxnResponse, undefined>
{
  readonly #manager: TransactionManager;
  readonly #commit: boolean;
  /** As it is asked for: the same again whenever the request is repeated. */
  readonly #producerId: number;
  readonly #producerEpoch: number;

  constructor(manager: TransactionManager, commit: boolean) {
    super(END_TXN.name, PRIORITY.endTxn, manager.coordination, manager.parts.backoff);
    this.#manager = manager;
    this.#commit = commit;
    const { producerId, producerEpoch } = manager.parts.sequences;
    this.#producerId = producerId;
    this.#producerEpoch = producerEpoch;
  }

  override sendTo(address: NodeAddress): void {
    const manager = this.#manager;
    if (this.#commit) manager.wasCommitSent = true;
    const body = {
      transactionalId: manager.parts.transactionalId,
      producerId: this.#producerId,
      producerEpoch: this.#producerEpoch,
      committed: this.#commit,
    };
    manager.send(address, manager.isV2 ? END_TXN : END_TXN_V4, body, this);
  }

  onResponse(response: EndTxnResponse, _: undefined, from: NodeAddress): void {
    const manager = this.#manager;
    manager.arrived();
    const error = errorOf(response.errorCode);
    if (error === ERRORS.NONE) {
      const { producerId, producerEpoch } = response;
      if (producerId !== NO_PRODUCER_ID) manager.initialize(producerId, producerEpoch);
      manager.completed();
      return;
    }
    if (error.retriable) {
      manager.askAgain(this, error, from);
      return;
    }
    manager.refused(this, error, from);
    switch (error) {
      case ERRORS.INVALID_PRODUCER_EPOCH:
      case ERRORS.PRODUCER_FENCED:
        manager.fatal(ERRORS.PRODUCER_FENCED);
        break;
      case ERRORS.UNKNOWN_PRODUCER_ID:
        manager.abortableWithBump(error);
        break;
      case ERRORS.TRANSACTION_ABORTABLE:
        // An abort that would have to be aborted: there is no way on.
        if (this.#commit) manager.abortable(error);
        else manager.fatal(error);
        break;
      default:
        manager.fatal(error);
    }
  }

  onDisconnect(_: undefined, from: NodeAddress): void {
    this.#manager.broken(this, from);
  }
}
