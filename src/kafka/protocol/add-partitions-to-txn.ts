import type { Api } from "./api.ts";
import {
  arraySize,
  INT8,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
  uniformSize,
} from "./wire-size.ts";

/**
 * AddPartitionsToTxnRequest v5 (KIP-98, KIP-890): a broker asks the coordinator to add partitions to
 * transactions, or whether they are in them. Clients speak v3, which has one transaction and cannot ask only.
 */
export interface AddPartitionsToTxnRequest {
  readonly transactions: readonly AddPartitionsToTxnTransaction[];
}

export interface AddPartitionsToTxnTransaction {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
  /** Only tell whether the partitions are in the transaction. */
  readonly verifyOnly: boolean;
  readonly topics: readonly AddPartitionsToTxnTopic[];
}

export interface AddPartitionsToTxnTopic {
  readonly name: string;
  readonly partitions: readonly number[];
}

export interface AddPartitionsToTxnResponse {
  readonly throttleTimeMs: number;
  /** Of the whole request; v3 has none. */
  readonly errorCode: number;
  readonly resultsByTransaction: readonly AddPartitionsToTxnResult[];
}

export interface AddPartitionsToTxnResult {
  readonly transactionalId: string;
  readonly topicResults: readonly AddPartitionsToTxnTopicResult[];
}

export interface AddPartitionsToTxnTopicResult {
  readonly name: string;
  readonly resultsByPartition: readonly AddPartitionsToTxnPartitionResult[];
}

export interface AddPartitionsToTxnPartitionResult {
  readonly partitionIndex: number;
  readonly partitionErrorCode: number;
}

export function addPartitionsToTxnRequestSize(body: AddPartitionsToTxnRequest): number {
  return (
    REQUEST_OVERHEAD +
    arraySize(
      body.transactions,
      ({ transactionalId, topics }) =>
        textSize(transactionalId) + INT64 + INT16 + INT8 + topicsSize(topics) + NO_TAGS,
    ) +
    NO_TAGS
  );
}

/** The fields of the one transaction stand alone. */
function v3RequestSize(body: AddPartitionsToTxnRequest): number {
  let size = REQUEST_OVERHEAD + NO_TAGS;
  for (const { transactionalId, topics } of body.transactions) {
    size += textSize(transactionalId) + INT64 + INT16 + topicsSize(topics);
  }
  return size;
}

export function addPartitionsToTxnResponseSize(body: AddPartitionsToTxnResponse): number {
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    INT16 +
    arraySize(
      body.resultsByTransaction,
      ({ transactionalId, topicResults }) =>
        textSize(transactionalId) + resultsSize(topicResults) + NO_TAGS,
    ) +
    NO_TAGS
  );
}

/** The results of the one transaction stand alone. */
function v3ResponseSize(body: AddPartitionsToTxnResponse): number {
  let size = RESPONSE_OVERHEAD + INT32 + NO_TAGS;
  for (const { topicResults } of body.resultsByTransaction) size += resultsSize(topicResults);
  return size;
}

/** As clients speak it: only brokers know the later versions. */
export const ADD_PARTITIONS_TO_TXN_V3: Api<AddPartitionsToTxnRequest, AddPartitionsToTxnResponse> =
  {
    key: 24,
    version: 3,
    name: "AddPartitionsToTxn",
    requestSize: v3RequestSize,
    responseSize: v3ResponseSize,
  };

function topicsSize(topics: readonly AddPartitionsToTxnTopic[]): number {
  return arraySize(
    topics,
    ({ name, partitions }) => textSize(name) + uniformSize(partitions, INT32) + NO_TAGS,
  );
}

function resultsSize(topics: readonly AddPartitionsToTxnTopicResult[]): number {
  return arraySize(
    topics,
    ({ name, resultsByPartition }) =>
      textSize(name) + uniformSize(resultsByPartition, INT32 + INT16 + NO_TAGS) + NO_TAGS,
  );
}
