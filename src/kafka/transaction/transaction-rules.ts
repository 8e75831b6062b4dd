import { fail } from "../../base/invariant.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { PartitionName } from "../ids.ts";
import { NO_EPOCH, NO_PRODUCER_ID } from "../ids.ts";
import type {
  TransactionMetadata,
  TransactionPartitions,
  TransactionTransition,
  TransactionVersion,
} from "./transaction-metadata.ts";
import { isEpochExhausted, MAX_EPOCH, supportsEpochBump } from "./transaction-metadata.ts";
import { isPrepared } from "./transaction-state.ts";

/**
 * What a coordinator answers to each request about a transactional id that it knows, in Kafka's order of
 * checks (`TransactionCoordinator`): an error, or the change to be written. NONE is an answer without a change.
 * NEEDS_PRODUCER_ID: the same question again, with an id that was never given out.
 */
export type Decision = ErrorCode | TransactionTransition;

export const NEEDS_PRODUCER_ID = "needs-producer-id";

export function isTransition(decision: Decision): decision is TransactionTransition {
  return "state" in decision;
}

export interface ProducerIdAndEpoch {
  readonly producerId: number;
  readonly producerEpoch: number;
}

/** A transaction that is open is to be aborted first; the answer is PrepareEpochFence. */
export function decideInitProducerId(
  metadata: TransactionMetadata,
  timeoutMs: number,
  expected: ProducerIdAndEpoch | undefined,
  now: number,
  newProducerId: number | undefined,
): Decision | typeof NEEDS_PRODUCER_ID {
  if (metadata.pendingState !== undefined) return ERRORS.CONCURRENT_TRANSACTIONS;
  if (expected !== undefined && !isKnownProducer(metadata, expected)) return ERRORS.PRODUCER_FENCED;
  switch (metadata.state) {
    case "PrepareAbort":
    case "PrepareCommit":
      return ERRORS.CONCURRENT_TRANSACTIONS;
    case "Ongoing":
      return metadata.prepareFenceProducerEpoch();
    case "Empty":
    case "CompleteAbort":
    case "CompleteCommit": {
      const isCurrent = expected === undefined || expected.producerEpoch === metadata.producerEpoch;
      if (!metadata.isEpochExhausted || !isCurrent) {
        return metadata.prepareIncrementProducerEpoch(timeoutMs, expected?.producerEpoch, now);
      }
      if (newProducerId === undefined) return NEEDS_PRODUCER_ID;
      const recordLastEpoch = expected !== undefined;
      return metadata.prepareProducerIdRotation(newProducerId, timeoutMs, now, recordLastEpoch);
    }
    default:
      return fail(`${metadata.transactionalId} is ${metadata.state}`);
  }
}

/** The id is new, its producer has not changed, or it was replaced for want of epochs and nobody was told. */
function isKnownProducer(metadata: TransactionMetadata, expected: ProducerIdAndEpoch): boolean {
  return (
    metadata.producerEpoch === NO_EPOCH ||
    expected.producerId === metadata.producerId ||
    (expected.producerId === metadata.previousProducerId &&
      isEpochExhausted(expected.producerEpoch))
  );
}

/** AddPartitionsToTxn, and AddOffsetsToTxn with the partition of the group's offsets. */
export function decideAddPartitions(
  metadata: TransactionMetadata,
  producer: ProducerIdAndEpoch,
  added: TransactionPartitions,
  now: number,
  clientTransactionVersion: TransactionVersion,
): Decision {
  const { state, partitions } = metadata;
  // First, since a producer may have been told of an id that is only coming (KAFKA-18660).
  if (metadata.pendingState !== undefined) return ERRORS.CONCURRENT_TRANSACTIONS;
  if (metadata.producerId !== producer.producerId) return ERRORS.INVALID_PRODUCER_ID_MAPPING;
  if (metadata.producerEpoch !== producer.producerEpoch) return ERRORS.PRODUCER_FENCED;
  if (isPrepared(state)) return ERRORS.CONCURRENT_TRANSACTIONS;
  if (state === "Ongoing" && containsAll(partitions, added)) return ERRORS.NONE;
  return metadata.prepareAddPartitions(added, now, clientTransactionVersion);
}

/**
 * AddPartitionsToTxn that only asks (KIP-890): an error for all partitions; NONE, and those that are not in
 * the transaction get TRANSACTION_ABORTABLE each. What is pending does not matter: the append looks again.
 */
export function verifyTransaction(
  metadata: TransactionMetadata,
  producer: ProducerIdAndEpoch,
): ErrorCode {
  if (metadata.producerId !== producer.producerId) return ERRORS.INVALID_PRODUCER_ID_MAPPING;
  if (metadata.producerEpoch !== producer.producerEpoch) return ERRORS.PRODUCER_FENCED;
  return isPrepared(metadata.state) ? ERRORS.CONCURRENT_TRANSACTIONS : ERRORS.NONE;
}

export interface EndOfTransaction extends ProducerIdAndEpoch {
  readonly commit: boolean;
  /** Or of the coordinator, which aborts what took too long or has another producer. */
  readonly isFromClient: boolean;
  readonly clientTransactionVersion: TransactionVersion;
}

/** EndTxn, up to the record that decides it. */
export function decideEnd(
  metadata: TransactionMetadata,
  end: EndOfTransaction,
  now: number,
  newProducerId: number | undefined,
): Decision | typeof NEEDS_PRODUCER_ID {
  return supportsEpochBump(end.clientTransactionVersion)
    ? decideEndV2(metadata, end, now, newProducerId)
    : decideEndV1(metadata, end, now);
}

function decideEndV1(metadata: TransactionMetadata, end: EndOfTransaction, now: number): Decision {
  const { isFencing, producerEpoch } = metadata;
  if (metadata.producerId !== end.producerId) return ERRORS.INVALID_PRODUCER_ID_MAPPING;
  const isForeign = end.isFromClient && end.producerEpoch !== producerEpoch;
  if (isForeign || end.producerEpoch < producerEpoch) return ERRORS.PRODUCER_FENCED;
  if (metadata.pendingState !== undefined && !isFencing) return ERRORS.CONCURRENT_TRANSACTIONS;
  switch (metadata.state) {
    case "Ongoing":
      if (isFencing && !end.commit) metadata.beginFencedAbort(end.producerEpoch);
      return metadata.prepareAbortOrCommit(outcomeOf(end), 0, NO_PRODUCER_ID, now, false);
    case "CompleteCommit":
      return end.commit ? ERRORS.NONE : ERRORS.INVALID_TXN_STATE;
    case "CompleteAbort":
      return end.commit ? ERRORS.INVALID_TXN_STATE : ERRORS.NONE;
    default:
      return whilePrepared(metadata, end);
  }
}

/**
 * The same epoch means the next transaction, the one before a repeated request (KIP-890):
 *
 * | state          | abort, before | abort, same | commit, before | commit, same |
 * | Empty          | fenced        | aborts      | fenced         | invalid      |
 * | CompleteAbort  | is done       | aborts      | invalid        | invalid      |
 * | CompleteCommit | invalid       | aborts      | is done        | invalid      |
 */
function decideEndV2(
  metadata: TransactionMetadata,
  end: EndOfTransaction,
  now: number,
  newProducerId: number | undefined,
): Decision | typeof NEEDS_PRODUCER_ID {
  const { isFencing, pendingState } = metadata;
  const isAfterOverflow = !isFencing && isRepeatedAfterOverflow(metadata, end);
  if (metadata.producerId !== end.producerId && !isAfterOverflow) {
    return ERRORS.INVALID_PRODUCER_ID_MAPPING;
  }
  if (pendingState !== undefined && !isFencing) return ERRORS.CONCURRENT_TRANSACTIONS;
  const isRepeated =
    isAfterOverflow || (!isFencing && metadata.producerEpoch === end.producerEpoch + 1);
  if (!hasValidEpoch(metadata, end, isRepeated)) return ERRORS.PRODUCER_FENCED;

  switch (metadata.state) {
    case "Ongoing":
      return endOpen(metadata, end, now, newProducerId, false);
    case "CompleteCommit":
    case "CompleteAbort":
      if (isRepeated) {
        const wasCommitted = metadata.state === "CompleteCommit";
        return wasCommitted === end.commit ? ERRORS.NONE : ERRORS.INVALID_TXN_STATE;
      }
      if (end.commit) return ERRORS.INVALID_TXN_STATE;
      return endOpen(metadata, end, now, newProducerId, true);
    case "Empty":
      if (end.commit) return ERRORS.INVALID_TXN_STATE;
      return endOpen(metadata, end, now, newProducerId, true);
    default:
      return whilePrepared(metadata, end);
  }
}

function hasValidEpoch(
  metadata: TransactionMetadata,
  end: EndOfTransaction,
  isRepeated: boolean,
): boolean {
  const { state, producerEpoch } = metadata;
  const isSame = end.producerEpoch === producerEpoch;
  if (metadata.isFencing)
    return (!end.isFromClient || isSame) && end.producerEpoch >= producerEpoch;
  switch (state) {
    case "PrepareCommit":
    case "PrepareAbort":
      return producerEpoch === end.producerEpoch + 1;
    case "CompleteCommit":
    case "CompleteAbort":
      return isRepeated || isSame;
    default:
      return isSame;
  }
}

/** The request used the last epoch; its answer, with another producer id, was lost. */
function isRepeatedAfterOverflow(
  metadata: TransactionMetadata,
  { producerId, producerEpoch }: ProducerIdAndEpoch,
): boolean {
  return (
    metadata.previousProducerId === producerId &&
    producerEpoch === MAX_EPOCH - 1 &&
    metadata.producerEpoch === 0
  );
}

function endOpen(
  metadata: TransactionMetadata,
  end: EndOfTransaction,
  now: number,
  newProducerId: number | undefined,
  noPartitionAdded: boolean,
): Decision | typeof NEEDS_PRODUCER_ID {
  // Also of a fence, which takes the last epoch (KAFKA-20090).
  const rotates = metadata.isEpochExhausted;
  // Even if no producer id is to be had: another attempt can be made then.
  if (metadata.isFencing && !end.commit) metadata.beginFencedAbort(end.producerEpoch);
  if (rotates && newProducerId === undefined) return NEEDS_PRODUCER_ID;
  return metadata.prepareAbortOrCommit(
    outcomeOf(end),
    end.clientTransactionVersion,
    rotates ? (newProducerId ?? NO_PRODUCER_ID) : NO_PRODUCER_ID,
    now,
    noPartitionAdded,
  );
}

/** Too late to decide otherwise; too early to be done. Nothing was open at all in Empty. */
function whilePrepared(
  { state, transactionalId }: TransactionMetadata,
  end: EndOfTransaction,
): ErrorCode {
  switch (state) {
    case "Empty":
      return ERRORS.INVALID_TXN_STATE;
    case "PrepareCommit":
    case "PrepareAbort":
      return state === outcomeOf(end) ? ERRORS.CONCURRENT_TRANSACTIONS : ERRORS.INVALID_TXN_STATE;
    default:
      return fail(`${transactionalId} is ${state}`);
  }
}

/** The decision is committed: whether markers may follow, and what is to be noted when they are written. */
export function decideMarkers(
  metadata: TransactionMetadata,
  end: EndOfTransaction,
  now: number,
): Decision {
  if (metadata.producerId !== end.producerId) return ERRORS.INVALID_PRODUCER_ID_MAPPING;
  const isBumped =
    supportsEpochBump(end.clientTransactionVersion) &&
    metadata.producerEpoch === end.producerEpoch + 1;
  if (metadata.producerEpoch !== end.producerEpoch && !isBumped) return ERRORS.PRODUCER_FENCED;
  if (metadata.pendingState !== undefined) return ERRORS.CONCURRENT_TRANSACTIONS;
  if (metadata.state !== outcomeOf(end)) return ERRORS.INVALID_TXN_STATE;
  return metadata.prepareComplete(now);
}

function outcomeOf({ commit }: EndOfTransaction): "PrepareCommit" | "PrepareAbort" {
  return commit ? "PrepareCommit" : "PrepareAbort";
}

function containsAll(
  partitions: ReadonlyMap<PartitionName, unknown>,
  names: ReadonlyMap<PartitionName, unknown>,
): boolean {
  for (const name of names.keys()) if (!partitions.has(name)) return false;
  return true;
}
