import { formatSeconds } from "../../base/time.ts";
import { brokerName } from "../broker-name.ts";
import type { CheckSetup } from "../check-setup.ts";
import type { TransactionStates } from "../transaction-states.ts";

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
 * committed, the next coordinator may decide otherwise of what is ended already.
 */
export function unfoundedEndWaiver(
  states: TransactionStates,
  producerId: number,
  producerEpoch: number,
): string | undefined {
  const told = states.unfounded(producerId, producerEpoch);
  if (told === undefined) return undefined;
  const verb = told.isCommit ? "commit" : "abort";
  return `${brokerName(told.broker)} read at ${formatSeconds(told.at)} that it is to ${verb} it, from a record that was lost before it was committed`;
}
