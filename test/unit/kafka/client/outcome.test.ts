import { expect, test } from "vitest";
import { attemptOutcome, sendOutcome } from "../../../../src/kafka/client/outcome.ts";
import type { ErrorName } from "../../../../src/kafka/error-code.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";

const FAILED: readonly ErrorName[] = [
  "UNKNOWN_TOPIC_OR_PARTITION",
  "UNKNOWN_TOPIC_ID",
  "INVALID_TOPIC_EXCEPTION",
  "CORRUPT_MESSAGE",
  "MESSAGE_TOO_LARGE",
  "RECORD_LIST_TOO_LARGE",
  "NOT_ENOUGH_REPLICAS",
  "INVALID_REQUIRED_ACKS",
  "INVALID_TIMESTAMP",
  "INVALID_RECORD",
  "OUT_OF_ORDER_SEQUENCE_NUMBER",
  "INVALID_PRODUCER_EPOCH",
  "PRODUCER_FENCED",
  "UNKNOWN_PRODUCER_ID",
];

const UNKNOWN: readonly ErrorName[] = [
  "NETWORK_EXCEPTION",
  "REQUEST_TIMED_OUT",
  "UNKNOWN_SERVER_ERROR",
  "NOT_LEADER_OR_FOLLOWER",
  "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
  "KAFKA_STORAGE_ERROR",
  // No broker answers a produce request with it: so nothing is promised.
  "NEW_LEADER_ELECTED",
];

test("each error of a produce request tells what it can about the records", () => {
  const outcomes = (names: readonly ErrorName[]): unknown[] =>
    names.map((name) => [name, attemptOutcome(ERRORS[name])]);

  expect(outcomes(FAILED)).toEqual(FAILED.map((name) => [name, "failed"]));
  expect(outcomes(UNKNOWN)).toEqual(UNKNOWN.map((name) => [name, "unknown"]));
  expect(attemptOutcome(ERRORS.NONE)).toBe("acked");
  expect(attemptOutcome(ERRORS.DUPLICATE_SEQUENCE_NUMBER)).toBe("acked");
});

test("an earlier attempt that may have been written leaves a failure open, and a success as it is", () => {
  expect(sendOutcome("failed", false)).toBe("failed");
  expect(sendOutcome("failed", true)).toBe("unknown");
  expect(sendOutcome("unknown", false)).toBe("unknown");
  expect(sendOutcome("acked", true)).toBe("acked");
});
