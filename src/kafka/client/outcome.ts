import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";

/** What a client knows of a send: it is written, it is definitely not, or it may be. */
export type Outcome = "acked" | "failed" | "unknown";

/**
 * What one answer to a produce request tells. Errors that no broker sends before it appended, and
 * all that are not listed, leave it open.
 */
export function attemptOutcome(error: ErrorCode): Outcome {
  if (error === ERRORS.NONE) return "acked";
  // Its sequence is on the log already, too far back for the broker to tell at which offset.
  if (error === ERRORS.DUPLICATE_SEQUENCE_NUMBER) return "acked";
  return DEFINITE_FAILURES.has(error) ? "failed" : "unknown";
}

/**
 * What the application is told after the last attempt. With retries a send has failed only if
 * every attempt has: one that may have been written leaves the whole send open.
 */
export function sendOutcome(last: Outcome, anyEarlierUnknown: boolean): Outcome {
  return last === "failed" && anyEarlierUnknown ? "unknown" : last;
}

/**
 * Refused before anything was appended (the order of checks in `ReplicaManager.appendToLocalLog`).
 * Not among them: NOT_LEADER_OR_FOLLOWER, also the answer to who waited for replicas when the
 * leader changed (KAFKA-13574); NOT_ENOUGH_REPLICAS_AFTER_APPEND and REQUEST_TIMED_OUT, where the
 * records stay in the log; KAFKA_STORAGE_ERROR, where some of the bytes may (KAFKA-7866).
 */
const DEFINITE_FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ERRORS.UNKNOWN_TOPIC_OR_PARTITION,
  ERRORS.UNKNOWN_TOPIC_ID,
  ERRORS.INCONSISTENT_TOPIC_ID,
  ERRORS.INVALID_TOPIC_EXCEPTION,
  ERRORS.CORRUPT_MESSAGE,
  ERRORS.MESSAGE_TOO_LARGE,
  ERRORS.RECORD_LIST_TOO_LARGE,
  ERRORS.NOT_ENOUGH_REPLICAS,
  ERRORS.INVALID_REQUIRED_ACKS,
  ERRORS.INVALID_TIMESTAMP,
  ERRORS.INVALID_RECORD,
  ERRORS.INVALID_REQUEST,
  ERRORS.UNSUPPORTED_VERSION,
  ERRORS.POLICY_VIOLATION,
  ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER,
  ERRORS.INVALID_PRODUCER_EPOCH,
  ERRORS.PRODUCER_FENCED,
  ERRORS.UNKNOWN_PRODUCER_ID,
]);
