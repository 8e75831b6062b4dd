import { MILLISECOND } from "../../../base/time.ts";
import { ERRORS, errorOf } from "../../../kafka/error-code.ts";
import type { PartitionName, TopicPartition } from "../../../kafka/ids.ts";
import type {
  AddPartitionsToTxnResponse,
  AddPartitionsToTxnTopic,
} from "../../../kafka/protocol/add-partitions-to-txn.ts";
import { ADD_PARTITIONS_TO_TXN_V3 } from "../../../kafka/protocol/add-partitions-to-txn.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import type { TransactionManager } from "./transaction-manager.ts";
import { PRIORITY, TransactionRequest } from "./transaction-request.ts";

/** How soon it is sent again while the coordinator is still busy with the transaction before. */
const FIRST_BACKOFF = 20 * MILLISECOND;

/** Adds partitions to the transaction before anything is sent to them, below transaction.version 2. */
export class AddPartitions
  extends TransactionRequest
  implements ResponseHandler<AddPartitionsToTxnResponse, undefined>
{
  readonly #manager: TransactionManager;
  readonly #partitions: ReadonlyMap<PartitionName, TopicPartition>;

  constructor(manager: TransactionManager, partitions: ReadonlyMap<PartitionName, TopicPartition>) {
    const { name } = ADD_PARTITIONS_TO_TXN_V3;
    super(name, PRIORITY.addPartitionsOrOffsets, manager.coordination, manager.parts.backoff);
    this.#manager = manager;
    this.#partitions = partitions;
  }

  override sendTo(address: NodeAddress): void {
    const { transactionalId, sequences } = this.#manager.parts;
    const { producerId, producerEpoch } = sequences;
    const topics = byTopic(this.#partitions.values());
    const transaction = { transactionalId, producerId, producerEpoch, verifyOnly: false, topics };
    this.#manager.send(address, ADD_PARTITIONS_TO_TXN_V3, { transactions: [transaction] }, this);
  }

  onResponse(response: AddPartitionsToTxnResponse, _: undefined, from: NodeAddress): void {
    const manager = this.#manager;
    manager.arrived();
    const errors = (response.resultsByTransaction[0]?.topicResults ?? []).flatMap((topic) =>
      topic.resultsByPartition.map((one) => errorOf(one.partitionErrorCode)),
    );
    const error = errors.find((one) => one !== ERRORS.NONE);
    if (error === undefined) {
      manager.partitionsAdded([...this.#partitions.keys()]);
      return;
    }
    this.backoff = manager.parts.backoff;
    if (error.retriable && error !== ERRORS.UNKNOWN_TOPIC_OR_PARTITION) {
      const isFirst = error === ERRORS.CONCURRENT_TRANSACTIONS && manager.hasNoPartition;
      if (isFirst) this.backoff = Math.min(FIRST_BACKOFF, this.backoff);
      manager.askAgain(this, error, from);
      return;
    }
    manager.refused(this, error, from);
    switch (error) {
      case ERRORS.INVALID_PRODUCER_EPOCH:
      case ERRORS.PRODUCER_FENCED:
        manager.fatal(ERRORS.PRODUCER_FENCED);
        break;
      case ERRORS.INVALID_TXN_STATE:
      case ERRORS.INVALID_PRODUCER_ID_MAPPING:
      case ERRORS.TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        manager.fatal(error);
        break;
      case ERRORS.UNKNOWN_PRODUCER_ID:
        manager.abortableWithBump(error);
        break;
      default:
        // Also OPERATION_NOT_ATTEMPTED, if another partition was at fault.
        manager.abortable(error);
    }
  }

  onDisconnect(_: undefined, from: NodeAddress): void {
    this.#manager.broken(this, from);
  }
}

function byTopic(partitions: Iterable<TopicPartition>): AddPartitionsToTxnTopic[] {
  const topics: { name: string; partitions: number[] }[] = [];
  for (const { topic, partition } of partitions) {
    const known = topics.find(({ name }) => name === topic);
    if (known === undefined) topics.push({ name: topic, partitions: [partition] });
    else known.partitions.push(partition);
  }
  return topics;
}
