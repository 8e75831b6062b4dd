import type { FactRecorder } from "../trace/recorder.ts";
import type { CheckSetup } from "./check-setup.ts";
import { ClientTransactions } from "./client-transactions.ts";
import type { ReplicaLogs } from "./replica-logs.ts";
import { TransactionParts } from "./transaction-parts.ts";
import { TransactionStates } from "./transaction-states.ts";

/** What the guarantees of transactions share: what coordinators, partitions and applications make of them. */
export interface Transactions {
  readonly states: TransactionStates;
  readonly parts: TransactionParts;
  readonly clients: ClientTransactions;
}

/** Undefined, and nobody listens to anything, if no producer has a `transactional.id`. */
export function transactionsOf(
  recorder: FactRecorder,
  logs: ReplicaLogs,
  setup: CheckSetup,
): Transactions | undefined {
  const isInUse = [...setup.clients.values()].some(
    ({ configs }) => configs["transactional.id"] !== "",
  );
  if (!isInUse) return undefined;
  // In this order: a decision is known before the markers that carry it out.
  return {
    clients: new ClientTransactions(recorder, setup),
    states: new TransactionStates(recorder, logs),
    parts: new TransactionParts(recorder, logs),
  };
}
