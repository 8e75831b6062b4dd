import { expect, test } from "vitest";
import type { ProducerTransactionState } from "../../../../src/kafka/client/producer-transaction-state.ts";
import { isLegalProducerTransition } from "../../../../src/kafka/client/producer-transaction-state.ts";

const NEXT: readonly [ProducerTransactionState, readonly ProducerTransactionState[]][] = [
  ["UNINITIALIZED", ["INITIALIZING"]],
  ["INITIALIZING", ["READY", "ABORTABLE_ERROR"]],
  ["READY", ["UNINITIALIZED", "IN_TRANSACTION"]],
  ["IN_TRANSACTION", ["COMMITTING_TRANSACTION", "ABORTING_TRANSACTION", "ABORTABLE_ERROR"]],
  ["COMMITTING_TRANSACTION", ["INITIALIZING", "READY", "ABORTABLE_ERROR"]],
  ["ABORTING_TRANSACTION", ["INITIALIZING", "READY"]],
  ["ABORTABLE_ERROR", ["UNINITIALIZED", "ABORTING_TRANSACTION", "ABORTABLE_ERROR"]],
  ["FATAL_ERROR", []],
];

test.each(NEXT)(
  "a producer that is %s goes on as Kafka's does, and can always fail",
  (from, next) => {
    const legal = NEXT.map(([to]) => to).filter((to) => isLegalProducerTransition(from, to));
    expect(legal).toEqual([...next, "FATAL_ERROR"]);
  },
);
