import { formatSeconds } from "../../base/time.ts";
import { brokerName } from "../broker-name.ts";
import type { CheckSetup } from "../check-setup.ts";
import type { ClientTransaction } from "../client-transactions.ts";
import type { CheckContext } from "../guarantee.ts";
import type { ToldDecision, TransactionStates } from "../transaction-states.ts";

/**
 * Why a record can land outside of the transaction that its producer meant. From transaction.version 2 on each
 * transaction has an epoch of its own, which tells late requests from those of the next one; below, the
 * same epoch serves many (KIP-890).
 */
export function sameEpochWaiver({ features }: CheckSetup): string | undefined {
  const version = features["transaction.version"];
  if (version >= 2) return undefined;
  return `transaction.version is ${version}, and a late request is taken for one of the next transaction, which has the same epoch (KIP-890)`;
}

/** Leaders that do not ask the coordinator take records of transactions that are over, or never began (KAFKA-14402). */
export function unverifiedWaiver({ brokers }: CheckSetup): string | undefined {
  const isVerified = brokers.every((one) => one["transaction.partition.verification.enable"]);
  if (isVerified) return undefined;
  return "transaction.partition.verification.enable is false, and a leader takes what no coordinator knows of";
}

/**
 * A coordinator reads its log to the end, not to the high watermark, and has markers written for each end that it
 * finds decided (`TransactionStateManager.loadTransactionMetadata`). If that record is lost before it is
 * committed, the next coordinator may decide otherwise of what is ended already; and if the epoch of those markers
 * was higher, its own are refused, and the transactional id stays as it is (INVALID_PRODUCER_EPOCH).
 */
export function unfoundedEndWaiver(
  states: TransactionStates,
  { transactionalId, producerId, producerEpoch }: ClientTransaction,
): string | undefined {
  for (const told of states.unfounded(transactionalId)) {
    const raised = told.producerEpoch - producerEpoch;
    // An end raises the epoch by up to two.
    if (told.producerId === producerId && raised >= 0 && raised <= 2) return unfounded(told);
  }
  return undefined;
}

/** The same of a client, whichever of its transactions it was. */
export function stuckIdWaiver(
  { transactions, setup }: CheckContext,
  client: string,
): string | undefined {
  const transactionalId = setup.clients.get(client)?.configs["transactional.id"] ?? "";
  if (transactions === undefined || transactionalId === "") return undefined;
  const [told] = transactions.states.unfounded(transactionalId);
  return told && unfounded(told);
}

function unfounded({ broker, at, isCommit, transactionalId }: ToldDecision): string {
  const end = isCommit ? "committed" : "aborted";
  return `${brokerName(broker)} read at ${formatSeconds(at)} that a transaction of ${transactionalId} is to be ${end}, from a record that was lost before it was committed`;
}
