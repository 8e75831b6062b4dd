import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";

/**
 * What a client is told if its coordinator could not write to its log
 * (`GroupCoordinatorService.handleOperationException`, `TransactionStateManager.appendTransactionToLog`).
 */
export function coordinatorErrorOf(writeError: ErrorCode): ErrorCode {
  switch (writeError) {
    case ERRORS.UNKNOWN_TOPIC_OR_PARTITION:
    case ERRORS.NOT_ENOUGH_REPLICAS:
    case ERRORS.NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case ERRORS.REQUEST_TIMED_OUT:
      return ERRORS.COORDINATOR_NOT_AVAILABLE;
    case ERRORS.NOT_LEADER_OR_FOLLOWER:
    case ERRORS.KAFKA_STORAGE_ERROR:
      return ERRORS.NOT_COORDINATOR;
    case ERRORS.MESSAGE_TOO_LARGE:
    case ERRORS.RECORD_LIST_TOO_LARGE:
      return ERRORS.UNKNOWN_SERVER_ERROR;
    default:
      return writeError;
  }
}
