import { toMillis } from "../../../base/time.ts";
import { GROUP_METADATA_TOPIC } from "../../../kafka/coordinator/internal-topics.ts";
import { partitionFor } from "../../../kafka/coordinator/partition-for.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type { PartitionName, TopicPartition } from "../../../kafka/ids.ts";
import { NO_EPOCH, NO_PRODUCER_ID, partitionName } from "../../../kafka/ids.ts";
import type {
  AddPartitionsToTxnRequest,
  AddPartitionsToTxnResult,
  AddPartitionsToTxnTransaction,
} from "../../../kafka/protocol/add-partitions-to-txn.ts";
import { ADD_PARTITIONS_TO_TXN_V3 } from "../../../kafka/protocol/add-partitions-to-txn.ts";
import {
  ADD_OFFSETS_TO_TXN,
  ADD_PARTITIONS_TO_TXN,
  DESCRIBE_TRANSACTIONS,
  END_TXN,
  INIT_PRODUCER_ID,
  LIST_TRANSACTIONS,
} from "../../../kafka/protocol/apis.ts";
import type {
  DescribedTransaction,
  DescribeTransactionsRequest,
  ListTransactionsRequest,
} from "../../../kafka/protocol/describe-transactions.ts";
import type { AddOffsetsToTxnRequest, EndTxnRequest } from "../../../kafka/protocol/end-txn.ts";
import { END_TXN_V4 } from "../../../kafka/protocol/end-txn.ts";
import type { InitProducerIdRequest } from "../../../kafka/protocol/init-producer-id.ts";
import { partitionsByTopic } from "../../../kafka/transaction/transaction-log.ts";
import type { TransactionPartitions } from "../../../kafka/transaction/transaction-metadata.ts";
import { TRANSACTION_STATES } from "../../../kafka/transaction/transaction-state.ts";
import type { IncomingRequest } from "../../rpc/rpc-server.ts";
import type { BrokerContext } from "../broker-context.ts";
import type { TransactionCoordinator } from "./transaction-coordinator.ts";

/** What is asked of a transaction coordinator over the network, and how it is answered (`KafkaApis`). */
export class TransactionRequests {
  readonly #context: BrokerContext;
  readonly #coordinator: TransactionCoordinator;

  constructor(context: BrokerContext, coordinator: TransactionCoordinator) {
    this.#context = context;
    this.#coordinator = coordinator;
  }

  /** Of a producer that has a transactional id. */
  initProducerId(request: IncomingRequest, body: InitProducerIdRequest, id: string): void {
    const { producerId, producerEpoch, transactionTimeoutMs } = body;
    const reply = (error: ErrorCode, id: number, epoch: number): void =>
      request.reply(INIT_PRODUCER_ID, {
        throttleTimeMs: 0,
        errorCode: error.code,
        producerId: id,
        producerEpoch: epoch,
      });
    const isNew = producerId === NO_PRODUCER_ID;
    if (isNew !== (producerEpoch === NO_EPOCH)) {
      reply(ERRORS.INVALID_REQUEST, NO_PRODUCER_ID, NO_EPOCH);
      return;
    }
    const expected = isNew ? undefined : { producerId, producerEpoch };
    this.#coordinator.initProducerId(id, transactionTimeoutMs, expected, reply);
  }

  /** From clients, in v3, and from brokers. Each transaction is answered for itself, all together. */
  addPartitions(request: IncomingRequest, { transactions }: AddPartitionsToTxnRequest): void {
    const isFromClient = request.frame.apiVersion <= ADD_PARTITIONS_TO_TXN_V3.version;
    const results: AddPartitionsToTxnResult[] = [];
    let left = transactions.length;
    const answer = (at: number, result: AddPartitionsToTxnResult): void => {
      results[at] = result;
      left--;
      if (left > 0) return;
      const body = { throttleTimeMs: 0, errorCode: 0, resultsByTransaction: results };
      request.reply(isFromClient ? ADD_PARTITIONS_TO_TXN_V3 : ADD_PARTITIONS_TO_TXN, body);
    };
    for (const [at, transaction] of transactions.entries()) {
      this.#addOne(transaction, isFromClient, (result) => answer(at, result));
    }
  }

  #addOne(
    transaction: AddPartitionsToTxnTransaction,
    isFromClient: boolean,
    answer: (result: AddPartitionsToTxnResult) => void,
  ): void {
    const { transactionalId, verifyOnly } = transaction;
    const { image } = this.#context;
    const partitions = partitionsOf(transaction);
    const isKnown = ({ topic, partition }: TopicPartition): boolean =>
      image.topicByName(topic)?.partitions[partition] !== undefined;
    if ([...partitions.values()].some((one) => !isKnown(one))) {
      answer(
        resultOf(transaction, (one) =>
          isKnown(one) ? ERRORS.OPERATION_NOT_ATTEMPTED : ERRORS.UNKNOWN_TOPIC_OR_PARTITION,
        ),
      );
      return;
    }
    if (verifyOnly) {
      const found = this.#coordinator.verify(transactionalId, transaction);
      answer(
        resultOf(transaction, ({ topic, partition }) => {
          if ("code" in found) return found;
          const isIn = found.has(partitionName(topic, partition));
          return isIn ? ERRORS.NONE : ERRORS.TRANSACTION_ABORTABLE;
        }),
      );
      return;
    }
    const version = isFromClient ? 0 : 2;
    this.#coordinator.addPartitions(transactionalId, transaction, partitions, version, (error) =>
      answer(resultOf(transaction, () => error)),
    );
  }

  /** The group's offsets become part of the transaction, as the partition that keeps them. */
  addOffsets(request: IncomingRequest, body: AddOffsetsToTxnRequest): void {
    const { image, configs } = this.#context;
    const topic = GROUP_METADATA_TOPIC;
    const count =
      image.topicByName(topic)?.partitions.length ?? configs["offsets.topic.num.partitions"];
    const partition = partitionFor(body.groupId, count);
    const partitions = new Map([[partitionName(topic, partition), { topic, partition }]]);
    this.#coordinator.addPartitions(body.transactionalId, body, partitions, 0, (error) =>
      request.reply(ADD_OFFSETS_TO_TXN, { throttleTimeMs: 0, errorCode: error.code }),
    );
  }

  endTransaction(request: IncomingRequest, body: EndTxnRequest): void {
    const isV4 = request.frame.apiVersion <= END_TXN_V4.version;
    this.#coordinator.endTransaction(
      body.transactionalId,
      body,
      body.committed,
      isV4 ? 0 : 2,
      (error, producerId, producerEpoch) =>
        request.reply(isV4 ? END_TXN_V4 : END_TXN, {
          throttleTimeMs: 0,
          errorCode: error.code,
          producerId,
          producerEpoch,
        }),
    );
  }

  list(request: IncomingRequest, body: ListTransactionsRequest): void {
    const { stateFilters, producerIdFilters, durationFilter } = body;
    const listed = this.#coordinator.list();
    const now = toMillis(this.#context.now());
    const states: readonly string[] = TRANSACTION_STATES;
    request.reply(LIST_TRANSACTIONS, {
      throttleTimeMs: 0,
      errorCode: "code" in listed ? listed.code : 0,
      unknownStateFilters: stateFilters.filter((name) => !states.includes(name)),
      transactionStates: ("code" in listed ? [] : listed)
        .filter(
          ({ producerId, state, startTimestamp }) =>
            passes(producerIdFilters, producerId) &&
            passes<string>(stateFilters, state) &&
            (durationFilter < 0 || now - startTimestamp > durationFilter),
        )
        .map(({ transactionalId, producerId, state: transactionState }) => ({
          transactionalId,
          producerId,
          transactionState,
        })),
    });
  }

  describe(request: IncomingRequest, { transactionalIds }: DescribeTransactionsRequest): void {
    const transactionStates = transactionalIds.map((id) => this.#describeOne(id));
    request.reply(DESCRIBE_TRANSACTIONS, { throttleTimeMs: 0, transactionStates });
  }

  #describeOne(transactionalId: string): DescribedTransaction {
    const found = this.#coordinator.describe(transactionalId);
    if ("code" in found) return { ...UNDESCRIBED, errorCode: found.code, transactionalId };
    return {
      errorCode: 0,
      transactionalId,
      transactionState: found.state,
      transactionTimeoutMs: found.timeoutMs,
      transactionStartTimeMs: found.startTimestamp,
      producerId: found.producerId,
      producerEpoch: found.producerEpoch,
      topics: partitionsByTopic(found.partitions),
    };
  }
}

/** The defaults of the fields of an answer without one. */
const UNDESCRIBED = {
  transactionState: "",
  transactionTimeoutMs: 0,
  transactionStartTimeMs: 0,
  producerId: 0,
  producerEpoch: 0,
  topics: [],
} as const;

/** Has a filter let it pass? An empty one lets all. */
function passes<Value>(filter: readonly Value[], value: Value): boolean {
  return filter.length === 0 || filter.includes(value);
}

function partitionsOf({ topics }: AddPartitionsToTxnTransaction): TransactionPartitions {
  const all = new Map<PartitionName, TopicPartition>();
  for (const { name: topic, partitions } of topics) {
    for (const partition of partitions) {
      all.set(partitionName(topic, partition), { topic, partition });
    }
  }
  return all;
}

function resultOf(
  { transactionalId, topics }: AddPartitionsToTxnTransaction,
  errorOf: (partition: TopicPartition) => ErrorCode,
): AddPartitionsToTxnResult {
  return {
    transactionalId,
    topicResults: topics.map(({ name: topic, partitions }) => ({
      name: topic,
      resultsByPartition: partitions.map((partition) => ({
        partitionIndex: partition,
        partitionErrorCode: errorOf({ topic, partition }).code,
      })),
    })),
  };
}
