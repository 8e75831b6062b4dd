import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../../kafka/error-code.ts";
import type { LeaderEpoch, Offset, PartitionName, TopicPartition } from "../../../kafka/ids.ts";
import { partitionName } from "../../../kafka/ids.ts";
import { ADD_OFFSETS_TO_TXN, TXN_OFFSET_COMMIT } from "../../../kafka/protocol/apis.ts";
import type { AddOffsetsToTxnResponse } from "../../../kafka/protocol/end-txn.ts";
import type {
  OffsetCommitPartition,
  TxnOffsetCommitResponse,
  TxnOffsetCommitTopic,
} from "../../../kafka/protocol/group-offsets.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import type { TransactionManager } from "./transaction-manager.ts";
import { PRIORITY, TransactionRequest } from "./transaction-request.ts";

export interface OffsetToCommit extends TopicPartition {
  readonly offset: Offset;
  /** Of the last record before it; -1 if it is not known. */
  readonly leaderEpoch: LeaderEpoch;
}

/** By partition. */
export type OffsetsToCommit = ReadonlyMap<PartitionName, OffsetToCommit>;

/** Who commits, as the group knows it (`ConsumerGroupMetadata`): zombies of the group are told by it. */
export interface GroupMetadata {
  readonly groupId: string;
  readonly generationId: number;
  readonly memberId: string;
  readonly groupInstanceId: string | undefined;
}

/** Tells the transaction's coordinator that offsets of a group will be part of it, below transaction.version 2. */
export class AddOffsets
  extends TransactionRequest
  implements ResponseHandler<AddOffsetsToTxnResponse, undefined>
{
  readonly #manager: TransactionManager;
  readonly #offsets: OffsetsToCommit;
  readonly #group: GroupMetadata;

  constructor(manager: TransactionManager, offsets: OffsetsToCommit, group: GroupMetadata) {
    const { name } = ADD_OFFSETS_TO_TXN;
    super(name, PRIORITY.addPartitionsOrOffsets, manager.coordination, manager.parts.backoff);
    this.#manager = manager;
    this.#offsets = offsets;
    this.#group = group;
  }

  override sendTo(address: NodeAddress): void {
    const { transactionalId, sequences } = this.#manager.parts;
    const { producerId, producerEpoch } = sequences;
    const { groupId } = this.#group;
    const body = { transactionalId, producerId, producerEpoch, groupId };
    this.#manager.send(address, ADD_OFFSETS_TO_TXN, body, this);
  }

  onResponse(response: AddOffsetsToTxnResponse, _: undefined, from: NodeAddress): void {
    const manager = this.#manager;
    manager.arrived();
    const error = errorOf(response.errorCode);
    if (error === ERRORS.NONE) manager.offsetsAdded(this.#offsets, this.#group);
    else if (error.retriable) manager.askAgain(this, error, from);
    else {
      manager.refused(this, error, from);
      judge(manager, error);
    }
  }

  onDisconnect(_: undefined, from: NodeAddress): void {
    this.#manager.broken(this, from);
  }
}

/** Brings the offsets to the group's coordinator, which keeps them until the transaction ends. */
export class CommitOffsets
  extends TransactionRequest
  implements ResponseHandler<TxnOffsetCommitResponse, undefined>
{
  readonly #manager: TransactionManager;
  readonly #group: GroupMetadata;
  /** What was not taken yet. */
  readonly #left: Map<PartitionName, OffsetToCommit>;

  constructor(manager: TransactionManager, offsets: OffsetsToCommit, group: GroupMetadata) {
    const coordination = { kind: "group", key: group.groupId } as const;
    const { name } = TXN_OFFSET_COMMIT;
    super(name, PRIORITY.addPartitionsOrOffsets, coordination, manager.parts.backoff);
    this.#manager = manager;
    this.#group = group;
    this.#left = new Map(offsets);
  }

  override sendTo(address: NodeAddress): void {
    const { transactionalId, sequences } = this.#manager.parts;
    const { producerId, producerEpoch } = sequences;
    const topics = byTopic(this.#left.values());
    const body = { transactionalId, producerId, producerEpoch, ...this.#group, topics };
    this.#manager.send(address, TXN_OFFSET_COMMIT, body, this);
  }

  onResponse({ topics }: TxnOffsetCommitResponse, _: undefined, from: NodeAddress): void {
    const manager = this.#manager;
    manager.arrived();
    let again: ErrorCode | undefined;
    for (const { name, partitions } of topics) {
      for (const { partitionIndex, errorCode } of partitions) {
        const error = errorOf(errorCode);
        if (error === ERRORS.NONE) this.#left.delete(partitionName(name, partitionIndex));
        else if (error.retriable) {
          // The rest waits for the coordinator, if that is what is missing.
          if (again === undefined || MOVED.has(error)) again = error;
        } else {
          manager.refused(this, error, from);
          judge(manager, error);
          return;
        }
      }
    }
    if (this.#left.size === 0) manager.offsetsCommitted();
    else manager.askAgain(this, again ?? ERRORS.UNKNOWN_SERVER_ERROR, from);
  }

  onDisconnect(_: undefined, from: NodeAddress): void {
    this.#manager.broken(this, from);
  }
}

const MOVED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ERRORS.COORDINATOR_NOT_AVAILABLE,
  ERRORS.NOT_COORDINATOR,
  ERRORS.REQUEST_TIMED_OUT,
]);

function judge(manager: TransactionManager, error: ErrorCode): void {
  switch (error) {
    case ERRORS.INVALID_PRODUCER_EPOCH:
    case ERRORS.PRODUCER_FENCED:
      manager.fatal(ERRORS.PRODUCER_FENCED);
      break;
    case ERRORS.UNKNOWN_PRODUCER_ID:
      manager.abortableWithBump(error);
      break;
    case ERRORS.FENCED_INSTANCE_ID:
    case ERRORS.TRANSACTION_ABORTABLE:
    case ERRORS.UNKNOWN_MEMBER_ID:
    case ERRORS.ILLEGAL_GENERATION:
    case ERRORS.STALE_MEMBER_EPOCH:
      manager.abortable(error);
      break;
    default:
      manager.fatal(error);
  }
}

function byTopic(offsets: Iterable<OffsetToCommit>): TxnOffsetCommitTopic[] {
  const topics: { name: string; partitions: OffsetCommitPartition[] }[] = [];
  for (const { topic, partition, offset, leaderEpoch } of offsets) {
    const one: OffsetCommitPartition = {
      partitionIndex: partition,
      committedOffset: offset,
      committedLeaderEpoch: leaderEpoch,
      committedMetadata: "",
    };
    const known = topics.find(({ name }) => name === topic);
    if (known === undefined) topics.push({ name: topic, partitions: [one] });
    else known.partitions.push(one);
  }
  return topics;
}
