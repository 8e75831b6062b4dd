import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../../kafka/error-code.ts";
import { FIND_COORDINATOR } from "../../../kafka/protocol/apis.ts";
import type { FindCoordinatorResponse } from "../../../kafka/protocol/find-coordinator.ts";
import { COORDINATOR_TYPE } from "../../../kafka/protocol/find-coordinator.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import type { TransactionManager } from "./transaction-manager.ts";
import type { Coordination } from "./transaction-request.ts";
import { PRIORITY, TransactionRequest } from "./transaction-request.ts";

/** Asks any broker who coordinates the transactional id, or a group. */
export class FindCoordinator
  extends TransactionRequest
  implements ResponseHandler<FindCoordinatorResponse, undefined>
{
  readonly sought: Coordination;
  readonly #manager: TransactionManager;

  constructor(manager: TransactionManager, sought: Coordination) {
    super(FIND_COORDINATOR.name, PRIORITY.findCoordinator, undefined, manager.parts.backoff);
    this.#manager = manager;
    this.sought = sought;
  }

  override sendTo(address: NodeAddress): void {
    const { kind, key } = this.sought;
    const body = { keyType: COORDINATOR_TYPE[kind], coordinatorKeys: [key] };
    this.#manager.send(address, FIND_COORDINATOR, body, this);
  }

  onResponse({ coordinators }: FindCoordinatorResponse, _: undefined, from: NodeAddress): void {
    this.#manager.arrived();
    const [found] = coordinators;
    const error: ErrorCode =
      found === undefined ? ERRORS.UNKNOWN_SERVER_ERROR : errorOf(found.errorCode);
    if (found !== undefined && error === ERRORS.NONE) {
      this.#manager.found(this.sought.kind, found.port);
    } else if (error.retriable) this.#manager.again(this, error, from);
    else {
      this.#manager.refused(this, error, from);
      if (error === ERRORS.TRANSACTION_ABORTABLE) this.#manager.abortable(error);
      else this.#manager.fatal(error);
    }
  }

  onDisconnect(_: undefined, from: NodeAddress): void {
    this.#manager.broken(this, from);
  }
}
