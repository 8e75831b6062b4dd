/**
 * Where a transactional producer stands (`TransactionManager.State`). Simplified: PREPARED_TRANSACTION, of
 * two-phase commit (KIP-939), is missing.
 */
export type ProducerTransactionState =
  | "UNINITIALIZED"
  | "INITIALIZING"
  | "READY"
  | "IN_TRANSACTION"
  | "COMMITTING_TRANSACTION"
  | "ABORTING_TRANSACTION"
  | "ABORTABLE_ERROR"
  | "FATAL_ERROR";

/** From where each can be reached; the last from everywhere. */
const PREVIOUS: {
  readonly [State in ProducerTransactionState]: readonly ProducerTransactionState[] | undefined;
} = {
  UNINITIALIZED: ["READY", "ABORTABLE_ERROR"],
  INITIALIZING: ["UNINITIALIZED", "COMMITTING_TRANSACTION", "ABORTING_TRANSACTION"],
  READY: ["INITIALIZING", "COMMITTING_TRANSACTION", "ABORTING_TRANSACTION"],
  IN_TRANSACTION: ["READY"],
  COMMITTING_TRANSACTION: ["IN_TRANSACTION"],
  ABORTING_TRANSACTION: ["IN_TRANSACTION", "ABORTABLE_ERROR"],
  ABORTABLE_ERROR: ["IN_TRANSACTION", "COMMITTING_TRANSACTION", "ABORTABLE_ERROR", "INITIALIZING"],
  FATAL_ERROR: undefined,
};

export function isLegalProducerTransition(
  from: ProducerTransactionState,
  to: ProducerTransactionState,
): boolean {
  return PREVIOUS[to]?.includes(from) ?? true;
}
