import { fromMillis } from "../../base/time.ts";
import { TRANSACTION_STATE_TOPIC } from "../../kafka/coordinator/internal-topics.ts";
import { partitionFor } from "../../kafka/coordinator/partition-for.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { PartitionName } from "../../kafka/ids.ts";
import { partitionName } from "../../kafka/ids.ts";
import type {
  AddPartitionsToTxnResponse,
  AddPartitionsToTxnResult,
  AddPartitionsToTxnTransaction,
} from "../../kafka/protocol/add-partitions-to-txn.ts";
import { ADD_PARTITIONS_TO_TXN } from "../../kafka/protocol/apis.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import type { BrokerContext } from "./broker-context.ts";

/** What a coordinator finds wrong with the partitions of a transaction; those that are sound are not in it. */
export type PartitionErrors = ReadonlyMap<PartitionName, ErrorCode>;

/** A broker's `request.timeout.ms`. */
const REQUEST_TIMEOUT_MS = 30_000;

/** A transaction, and who wants to know of it. */
interface Question {
  readonly transaction: AddPartitionsToTxnTransaction;
  readonly done: (errors: PartitionErrors) => void;
}

/** By transactional id: one question of each at a time. */
type Questions = Map<string, Question>;

class Coordinator {
  readonly address: NodeAddress;
  waiting: Questions = new Map();
  isBusy = false;

  constructor(address: NodeAddress) {
    this.address = address;
  }
}

interface Batch {
  readonly coordinator: Coordinator;
  readonly questions: Questions;
}

/**
 * Asks transaction coordinators on behalf of the partitions that this broker leads: are they part of a
 * transaction, or shall they become it (KIP-890)? One request at a time to each, with all that has come
 * together since the last (Kafka's `AddPartitionsToTxnManager`).
 */
export class AddPartitionsToTxnManager
  implements ResponseHandler<AddPartitionsToTxnResponse, Batch>
{
  readonly #context: BrokerContext;
  readonly #coordinators: Coordinator[] = [];

  constructor(context: BrokerContext) {
    this.#context = context;
  }

  /** `done` may be called at once, and is called with a broker's own word for what the coordinator says. */
  addOrVerify(
    transaction: AddPartitionsToTxnTransaction,
    done: (errors: PartitionErrors) => void,
  ): void {
    const address = this.#coordinatorOf(transaction.transactionalId);
    if (address === undefined) {
      done(all(transaction, ERRORS.COORDINATOR_NOT_AVAILABLE));
      return;
    }
    const coordinator = this.#coordinator(address);
    if (!queue(coordinator.waiting, { transaction, done })) return;
    this.#send(coordinator);
  }

  onResponse(response: AddPartitionsToTxnResponse, { coordinator, questions }: Batch): void {
    coordinator.isBusy = false;
    if (response.errorCode !== 0) {
      tellAll(questions, errorOf(response.errorCode));
    } else {
      for (const result of response.resultsByTransaction) {
        questions.get(result.transactionalId)?.done(errorsOf(result));
      }
    }
    this.#send(coordinator);
  }

  onDisconnect({ coordinator, questions }: Batch): void {
    coordinator.isBusy = false;
    tellAll(questions, ERRORS.NETWORK_EXCEPTION);
    this.#send(coordinator);
  }

  #send(coordinator: Coordinator): void {
    if (coordinator.isBusy || coordinator.waiting.size === 0) return;
    const questions = coordinator.waiting;
    coordinator.waiting = new Map();
    coordinator.isBusy = true;
    const transactions = Array.from(questions.values(), ({ transaction }) => transaction);
    this.#context.rpc.send(
      coordinator.address,
      "transactions",
      ADD_PARTITIONS_TO_TXN,
      { transactions },
      fromMillis(REQUEST_TIMEOUT_MS),
      this,
      { coordinator, questions },
    );
  }

  /** Undefined if there is none, or it is fenced. */
  #coordinatorOf(transactionalId: string): NodeAddress | undefined {
    const { image } = this.#context;
    const topic = image.topicByName(TRANSACTION_STATE_TOPIC);
    if (topic === undefined) return undefined;
    const index = partitionFor(transactionalId, topic.partitions.length);
    const leader = image.brokers.get(topic.partitions[index]?.leader ?? -1);
    return leader?.fenced === false ? leader.address : undefined;
  }

  #coordinator(address: NodeAddress): Coordinator {
    for (const known of this.#coordinators) if (known.address === address) return known;
    const coordinator = new Coordinator(address);
    this.#coordinators.push(coordinator);
    return coordinator;
  }
}

/**
 * A later question about the same transaction takes the place of one that is not sent yet: its producer
 * has asked again. False if it is the later one that is fenced.
 */
function queue(waiting: Questions, question: Question): boolean {
  const { transaction, done } = question;
  const { transactionalId, producerEpoch } = transaction;
  const known = waiting.get(transactionalId);
  if (known !== undefined) {
    const knownEpoch = known.transaction.producerEpoch;
    if (knownEpoch > producerEpoch) {
      done(all(transaction, ERRORS.INVALID_PRODUCER_EPOCH));
      return false;
    }
    const isFenced = knownEpoch < producerEpoch;
    const error = isFenced ? ERRORS.INVALID_PRODUCER_EPOCH : ERRORS.NETWORK_EXCEPTION;
    waiting.delete(transactionalId);
    known.done(all(known.transaction, error));
  }
  waiting.set(transactionalId, question);
  return true;
}

function tellAll(questions: Questions, error: ErrorCode): void {
  for (const { transaction, done } of questions.values()) done(all(transaction, error));
}

function all({ topics }: AddPartitionsToTxnTransaction, error: ErrorCode): PartitionErrors {
  const errors = new Map<PartitionName, ErrorCode>();
  for (const { name, partitions } of topics) {
    for (const partition of partitions) errors.set(partitionName(name, partition), error);
  }
  return errors;
}

function errorsOf({ topicResults }: AddPartitionsToTxnResult): PartitionErrors {
  const errors = new Map<PartitionName, ErrorCode>();
  for (const { name, resultsByPartition } of topicResults) {
    for (const { partitionIndex, partitionErrorCode } of resultsByPartition) {
      const error = errorOf(partitionErrorCode);
      if (error === ERRORS.NONE) continue;
      // Producers know only this word for it from a partition's leader.
      const isFenced = error === ERRORS.PRODUCER_FENCED;
      const told = isFenced ? ERRORS.INVALID_PRODUCER_EPOCH : error;
      errors.set(partitionName(name, partitionIndex), told);
    }
  }
  return errors;
}
