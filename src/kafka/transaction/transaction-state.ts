import { invariant } from "../../base/invariant.ts";

/**
 * Where a transactional id stands, in Kafka's words (`TransactionState`). `PrepareEpochFence` is only ever
 * what is to come, before the abort of a transaction whose producer is fenced; `Dead` what is to come of an
 * id that has expired. Neither is written.
 */
export type TransactionState =
  | "Empty"
  | "Ongoing"
  | "PrepareCommit"
  | "PrepareAbort"
  | "CompleteCommit"
  | "CompleteAbort"
  | "Dead"
  | "PrepareEpochFence";

/** By their ids in the records of `__transaction_state`. */
export const TRANSACTION_STATES: readonly TransactionState[] = [
  "Empty",
  "Ongoing",
  "PrepareCommit",
  "PrepareAbort",
  "CompleteCommit",
  "CompleteAbort",
  "Dead",
  "PrepareEpochFence",
];

/** From which states each can be reached. To abort nothing is legal since KIP-890 (KAFKA-18575). */
const PREVIOUS: { readonly [State in TransactionState]: readonly TransactionState[] } = {
  Empty: ["Empty", "CompleteCommit", "CompleteAbort"],
  Ongoing: ["Ongoing", "Empty", "CompleteCommit", "CompleteAbort"],
  PrepareCommit: ["Ongoing"],
  PrepareAbort: ["Ongoing", "PrepareEpochFence", "Empty", "CompleteCommit", "CompleteAbort"],
  CompleteCommit: ["PrepareCommit"],
  CompleteAbort: ["PrepareAbort"],
  Dead: ["Empty", "CompleteAbort", "CompleteCommit"],
  PrepareEpochFence: ["Ongoing"],
};

export function isLegalTransition(from: TransactionState, to: TransactionState): boolean {
  return PREVIOUS[to].includes(from);
}

/** Nothing is under way: the id may expire, and a new transaction begin. */
export function isAtRest(state: TransactionState): boolean {
  return state === "Empty" || state === "CompleteCommit" || state === "CompleteAbort";
}

/** It is decided how the transaction ends, but not all markers are written. */
export function isPrepared(state: TransactionState): boolean {
  return state === "PrepareCommit" || state === "PrepareAbort";
}

/** The byte that a record of `__transaction_state` holds. */
export function transactionStateId(state: TransactionState): number {
  return TRANSACTION_STATES.indexOf(state);
}

export function transactionStateOf(id: number): TransactionState {
  const state = TRANSACTION_STATES[id];
  invariant(state !== undefined, () => `there is no transaction state ${id}`);
  return state;
}
