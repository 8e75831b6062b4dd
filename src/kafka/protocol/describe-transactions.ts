import type { Offset } from "../ids.ts";
import {
  arraySize,
  EMPTY,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
  uniformSize,
} from "./wire-size.ts";

/** DescribeProducersRequest v0 (KIP-664): which producers does a replica know of? */
export interface DescribeProducersRequest {
  readonly topics: readonly DescribeProducersTopic[];
}

export interface DescribeProducersTopic {
  readonly name: string;
  readonly partitionIndexes: readonly number[];
}

export interface DescribeProducersResponse {
  readonly throttleTimeMs: number;
  readonly topics: readonly DescribeProducersTopicResult[];
}

export interface DescribeProducersTopicResult {
  readonly name: string;
  readonly partitions: readonly DescribeProducersPartitionResult[];
}

export interface DescribeProducersPartitionResult {
  readonly partitionIndex: number;
  readonly errorCode: number;
  readonly errorMessage: string | undefined;
  readonly activeProducers: readonly ActiveProducer[];
}

export interface ActiveProducer {
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly lastSequence: number;
  /** Milliseconds. */
  readonly lastTimestamp: number;
  /** Of the last marker; -1 if there was none. */
  readonly coordinatorEpoch: number;
  /** -1 if no transaction is open. */
  readonly currentTxnStartOffset: Offset;
}

/**
 * ListTransactionsRequest v2 (KIP-664, KIP-994): of all that a broker coordinates. Empty filters let all pass.
 * Simplified: no pattern of transactional ids (KIP-1152).
 */
export interface ListTransactionsRequest {
  readonly stateFilters: readonly string[];
  readonly producerIdFilters: readonly number[];
  /** Milliseconds; -1 lets all pass. */
  readonly durationFilter: number;
}

export interface ListTransactionsResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly unknownStateFilters: readonly string[];
  readonly transactionStates: readonly ListedTransaction[];
}

export interface ListedTransaction {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly transactionState: string;
}

/** DescribeTransactionsRequest v0 (KIP-664), to the coordinator of the transactional ids. */
export interface DescribeTransactionsRequest {
  readonly transactionalIds: readonly string[];
}

export interface DescribeTransactionsResponse {
  readonly throttleTimeMs: number;
  readonly transactionStates: readonly DescribedTransaction[];
}

export interface DescribedTransaction {
  readonly errorCode: number;
  readonly transactionalId: string;
  readonly transactionState: string;
  readonly transactionTimeoutMs: number;
  /** Milliseconds; -1 without a transaction. */
  readonly transactionStartTimeMs: number;
  readonly producerId: number;
  readonly producerEpoch: number;
  /** What takes part; once the end is decided, what has no marker yet. */
  readonly topics: readonly DescribedTransactionTopic[];
}

export interface DescribedTransactionTopic {
  readonly topic: string;
  readonly partitions: readonly number[];
}

export function describeProducersRequestSize(body: DescribeProducersRequest): number {
  const topics = arraySize(
    body.topics,
    ({ name, partitionIndexes }) => textSize(name) + uniformSize(partitionIndexes, INT32) + NO_TAGS,
  );
  return REQUEST_OVERHEAD + topics + NO_TAGS;
}

export function describeProducersResponseSize(body: DescribeProducersResponse): number {
  const producer = 3 * INT64 + 3 * INT32 + NO_TAGS;
  const topics = arraySize(
    body.topics,
    ({ name, partitions }) =>
      textSize(name) +
      arraySize(
        partitions,
        ({ errorMessage, activeProducers }) =>
          INT32 + INT16 + textSize(errorMessage) + uniformSize(activeProducers, producer) + NO_TAGS,
      ) +
      NO_TAGS,
  );
  return RESPONSE_OVERHEAD + INT32 + topics + NO_TAGS;
}

export function listTransactionsRequestSize(body: ListTransactionsRequest): number {
  return (
    REQUEST_OVERHEAD +
    arraySize(body.stateFilters, textSize) +
    uniformSize(body.producerIdFilters, INT64) +
    INT64 +
    EMPTY +
    NO_TAGS
  );
}

export function listTransactionsResponseSize(body: ListTransactionsResponse): number {
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    INT16 +
    arraySize(body.unknownStateFilters, textSize) +
    arraySize(
      body.transactionStates,
      ({ transactionalId, transactionState }) =>
        textSize(transactionalId) + INT64 + textSize(transactionState) + NO_TAGS,
    ) +
    NO_TAGS
  );
}

export function describeTransactionsRequestSize(body: DescribeTransactionsRequest): number {
  return REQUEST_OVERHEAD + arraySize(body.transactionalIds, textSize) + NO_TAGS;
}

export function describeTransactionsResponseSize(body: DescribeTransactionsResponse): number {
  const states = arraySize(
    body.transactionStates,
    ({ transactionalId, transactionState, topics }) =>
      2 * INT16 +
      textSize(transactionalId) +
      textSize(transactionState) +
      INT32 +
      2 * INT64 +
      arraySize(
        topics,
        ({ topic, partitions }) => textSize(topic) + uniformSize(partitions, INT32) + NO_TAGS,
      ) +
      NO_TAGS,
  );
  return RESPONSE_OVERHEAD + INT32 + states + NO_TAGS;
}
