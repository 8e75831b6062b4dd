import { fail } from "../../../base/invariant.ts";
import { byNumber } from "../../../base/order.ts";
import { fromMillis, MILLISECOND } from "../../../base/time.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../../kafka/error-code.ts";
import type { BrokerId, TopicPartition } from "../../../kafka/ids.ts";
import { NO_LEADER, partitionName } from "../../../kafka/ids.ts";
import { WRITE_TXN_MARKERS } from "../../../kafka/protocol/apis.ts";
import type {
  WritableTxnMarker,
  WriteTxnMarkersResponse,
} from "../../../kafka/protocol/write-txn-markers.ts";
import type {
  TransactionMetadata,
  TransactionTransition,
  TransactionVersion,
} from "../../../kafka/transaction/transaction-metadata.ts";
import type { TimerHandle } from "../../../ports/node.ts";
import { NO_TIMER } from "../../../ports/node.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import type { BrokerContext } from "../broker-context.ts";
import { BROKER_TIMER } from "../broker-timers.ts";
import type { TransactionShard } from "./transaction-shard.ts";

/** A broker's `request.timeout.ms`. */
const REQUEST_TIMEOUT_MS = 30_000;
/**
 * Simplified: Kafka sends markers that failed again as soon as it hears so, and looks for leaders that it
 * misses with whatever wakes its thread.
 */
const RETRY_PAUSE = 50 * MILLISECOND;

/** A decided transaction whose markers are being written (`PendingCompleteTxn`). */
class Completion {
  readonly shard: TransactionShard;
  readonly metadata: TransactionMetadata;
  /** What is to be noted when all are. */
  readonly transition: TransactionTransition;
  /** As decided: the metadata's may change only afterwards. */
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly commit: boolean;
  readonly transactionVersion: TransactionVersion;
  /** All markers are written, or nobody cares any more. */
  isOver = false;

  constructor(
    shard: TransactionShard,
    metadata: TransactionMetadata,
    transition: TransactionTransition,
  ) {
    this.shard = shard;
    this.metadata = metadata;
    this.transition = transition;
    this.producerId = metadata.producerId;
    this.producerEpoch = metadata.producerEpoch;
    this.commit = metadata.state === "PrepareCommit";
    this.transactionVersion = metadata.clientTransactionVersion;
  }
}

/** Markers of one transaction for partitions that one broker leads. */
interface Errand {
  readonly completion: Completion;
  readonly partitions: readonly TopicPartition[];
}

class Destination {
  readonly broker: BrokerId;
  waiting: Errand[] = [];
  isBusy = false;

  constructor(broker: BrokerId) {
    this.broker = broker;
  }
}

/**
 * Has the leaders of a transaction's partitions write how it ended, again and again until all have
 * (`TransactionMarkerChannelManager`). One request a broker is on its way at a time; what comes meanwhile
 * goes together with the next.
 */
export class MarkerChannel implements ResponseHandler<WriteTxnMarkersResponse, Destination> {
  readonly #context: BrokerContext;
  readonly #destinations = new Map<BrokerId, Destination>();
  readonly #inFlight = new Map<Destination, readonly Errand[]>();
  /** Partitions without a leader, and markers that were refused. */
  #later: Errand[] = [];
  /** Whose last record the log did not take. */
  #unwritten: Completion[] = [];
  #timer: TimerHandle = NO_TIMER;

  constructor(context: BrokerContext) {
    this.#context = context;
  }

  /** `transition` is what `metadata.prepareComplete` has told. */
  complete(
    shard: TransactionShard,
    metadata: TransactionMetadata,
    transition: TransactionTransition,
  ): void {
    const completion = new Completion(shard, metadata, transition);
    this.#send(completion, [...metadata.partitions.values()]);
    this.#completeIfDone(completion);
  }

  /** The broker coordinates by this shard no more: its successor writes the markers. */
  forget(shard: TransactionShard): void {
    const isOthers = ({ completion }: Errand): boolean => completion.shard !== shard;
    for (const destination of this.#destinations.values()) {
      destination.waiting = destination.waiting.filter(isOthers);
    }
    for (const errands of this.#inFlight.values()) {
      for (const errand of errands) if (!isOthers(errand)) errand.completion.isOver = true;
    }
    this.#later = this.#later.filter(isOthers);
    this.#unwritten = this.#unwritten.filter((completion) => completion.shard !== shard);
  }

  /** The retry timer came due. */
  retry(): void {
    this.#timer = NO_TIMER;
    for (const { completion, partitions } of this.#later.splice(0)) {
      this.#send(completion, partitions);
      this.#completeIfDone(completion);
    }
    for (const completion of this.#unwritten.splice(0)) this.#writeCompletion(completion);
  }

  onResponse(response: WriteTxnMarkersResponse, destination: Destination): void {
    for (const errand of this.#arrived(destination)) {
      if (!errand.completion.isOver) this.#judge(errand, response);
    }
    this.#flush(destination);
  }

  onDisconnect(destination: Destination): void {
    for (const errand of this.#arrived(destination)) {
      if (!errand.completion.isOver) this.#again(errand);
    }
    this.#flush(destination);
  }

  #arrived(destination: Destination): readonly Errand[] {
    const errands = this.#inFlight.get(destination) ?? [];
    this.#inFlight.delete(destination);
    destination.isBusy = false;
    return errands;
  }

  #judge({ completion, partitions }: Errand, response: WriteTxnMarkersResponse): void {
    const result = response.markers.find(({ producerId }) => producerId === completion.producerId);
    const again: TopicPartition[] = [];
    for (const one of partitions) {
      const topic = result?.topics.find(({ name }) => name === one.topic);
      const told = topic?.partitions.find(({ partitionIndex }) => partitionIndex === one.partition);
      const error = told === undefined ? ERRORS.UNKNOWN_SERVER_ERROR : errorOf(told.errorCode);
      if (RETRIED.has(error)) again.push(one);
      else if (error === ERRORS.NONE) this.#written(completion, one);
      else if (OBSOLETE.has(error)) {
        // As in Kafka the transaction stays as it is until another coordinator comes.
        completion.isOver = true;
        return;
      } else fail(`a marker was refused with ${error.name}`);
    }
    if (again.length > 0) this.#again({ completion, partitions: again });
    else this.#completeIfDone(completion);
  }

  #written({ metadata }: Completion, { topic, partition }: TopicPartition): void {
    metadata.removePartition(partitionName(topic, partition));
  }

  #again(errand: Errand): void {
    this.#later.push(errand);
    this.#startTimer();
  }

  /** Puts the markers on their way to whoever leads now. Of a partition that is gone none is needed. */
  #send(completion: Completion, partitions: readonly TopicPartition[]): void {
    const byLeader = new Map<BrokerId, TopicPartition[]>();
    for (const one of partitions) {
      const leader = this.#leaderOf(one);
      if (leader === undefined) {
        this.#written(completion, one);
        continue;
      }
      const known = byLeader.get(leader);
      if (known === undefined) byLeader.set(leader, [one]);
      else known.push(one);
    }
    for (const leader of [...byLeader.keys()].sort(byNumber)) {
      const errand = { completion, partitions: byLeader.get(leader) ?? [] };
      if (leader === NO_LEADER) {
        this.#again(errand);
        continue;
      }
      const destination = this.#destination(leader);
      destination.waiting.push(errand);
      this.#flush(destination);
    }
  }

  /** NO_LEADER if it has none, or is not registered; undefined if there is no such partition. */
  #leaderOf({ topic, partition }: TopicPartition): BrokerId | undefined {
    const leader = this.#context.image.topicByName(topic)?.partitions[partition]?.leader;
    if (leader === undefined) return undefined;
    return this.#context.addressOf(leader) === undefined ? NO_LEADER : leader;
  }

  #destination(broker: BrokerId): Destination {
    let destination = this.#destinations.get(broker);
    if (destination === undefined) {
      destination = new Destination(broker);
      this.#destinations.set(broker, destination);
    }
    return destination;
  }

  #flush(destination: Destination): void {
    if (destination.isBusy || destination.waiting.length === 0) return;
    const errands = destination.waiting;
    destination.waiting = [];
    const address = this.#context.addressOf(destination.broker);
    if (address === undefined) {
      for (const errand of errands) this.#again(errand);
      return;
    }
    destination.isBusy = true;
    this.#inFlight.set(destination, errands);
    this.#context.rpc.send(
      address,
      "markers",
      WRITE_TXN_MARKERS,
      { markers: errands.map(markerOf) },
      fromMillis(REQUEST_TIMEOUT_MS),
      this,
      destination,
    );
  }

  #completeIfDone(completion: Completion): void {
    if (completion.isOver || completion.metadata.partitions.size > 0) return;
    completion.isOver = true;
    this.#writeCompletion(completion);
  }

  #writeCompletion(completion: Completion): void {
    const { shard, metadata, transition } = completion;
    shard.write(
      metadata,
      transition,
      "all markers are written",
      (error) => {
        if (error !== ERRORS.COORDINATOR_NOT_AVAILABLE) return;
        this.#unwritten.push(completion);
        this.#startTimer();
      },
      true,
    );
  }

  #startTimer(): void {
    if (this.#timer !== NO_TIMER) return;
    this.#timer = this.#context.world.timers.start(RETRY_PAUSE, BROKER_TIMER.markerRetry);
  }
}

function markerOf({ completion, partitions }: Errand): WritableTxnMarker {
  const topics: { name: string; partitionIndexes: number[] }[] = [];
  for (const { topic, partition } of partitions) {
    const known = topics.find(({ name }) => name === topic);
    if (known === undefined) topics.push({ name: topic, partitionIndexes: [partition] });
    else known.partitionIndexes.push(partition);
  }
  return {
    producerId: completion.producerId,
    producerEpoch: completion.producerEpoch,
    transactionResult: completion.commit,
    topics,
    coordinatorEpoch: completion.shard.coordinatorEpoch,
    transactionVersion: completion.transactionVersion,
  };
}

const RETRIED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ERRORS.UNKNOWN_TOPIC_OR_PARTITION,
  ERRORS.NOT_LEADER_OR_FOLLOWER,
  ERRORS.NOT_ENOUGH_REPLICAS,
  ERRORS.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
  ERRORS.REQUEST_TIMED_OUT,
  ERRORS.KAFKA_STORAGE_ERROR,
]);

/** Another coordinator, or a later producer, has been there. */
const OBSOLETE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ERRORS.INVALID_PRODUCER_EPOCH,
  ERRORS.TRANSACTION_COORDINATOR_FENCED,
]);
