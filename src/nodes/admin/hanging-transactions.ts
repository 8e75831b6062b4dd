import type { Duration } from "../../base/time.ts";
import { toMillis } from "../../base/time.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { TopicPartition } from "../../kafka/ids.ts";
import { partitionName } from "../../kafka/ids.ts";
import {
  DESCRIBE_PRODUCERS,
  DESCRIBE_TRANSACTIONS,
  LIST_TRANSACTIONS,
  METADATA,
  WRITE_TXN_MARKERS,
} from "../../kafka/protocol/apis.ts";
import type {
  ActiveProducer,
  DescribedTransaction,
} from "../../kafka/protocol/describe-transactions.ts";
import type { AdminPeer, AdminPorts, AdminRequest } from "./admin-call.ts";
import { AdminCall } from "./admin-call.ts";

/** `AbortTransactionHandler` looks for the leader again after these. */
const MAY_PASS: readonly ErrorCode[] = [
  ERRORS.NOT_LEADER_OR_FOLLOWER,
  ERRORS.REPLICA_NOT_AVAILABLE,
  ERRORS.UNKNOWN_TOPIC_OR_PARTITION,
];

/**
 * Finds the transactions of one partition that nobody will ever end, and aborts them, as
 * `kafka-transactions.sh find-hanging` and `abort` do (KIP-664): what has been open for longer than any
 * transaction may take, and belongs to a producer of no transactional id, or of one whose coordinator
 * has no marker to write there.
 */
export class HangingTransactions {
  readonly #ports: AdminPorts;
  readonly #partition: TopicPartition;
  /** `--max-transaction-timeout` */
  readonly #maxTimeout: Duration;
  /** Open for longer than that, by producer id. */
  readonly #candidates = new Map<number, ActiveProducer>();
  /** Those of producers of which a coordinator knows. */
  readonly #transactionalIds = new Map<number, string>();

  constructor(ports: AdminPorts, partition: TopicPartition, maxTimeout: Duration) {
    this.#ports = ports;
    this.#partition = partition;
    this.#maxTimeout = maxTimeout;
  }

  start(): void {
    const { topic: name, partition } = this.#partition;
    this.#call({
      target: { kind: "leader", ...this.#partition },
      api: DESCRIBE_PRODUCERS,
      body: { topics: [{ name, partitionIndexes: [partition] }] },
      errorOf: ({ topics }) => errorOf(topics[0]?.partitions[0]?.errorCode ?? -1),
      done: ({ topics }) => this.#choose(topics[0]?.partitions[0]?.activeProducers ?? []),
    });
  }

  #choose(producers: readonly ActiveProducer[]): void {
    const now = toMillis(this.#ports.world.clock.now());
    for (const producer of producers) {
      const { producerId, currentTxnStartOffset, lastTimestamp } = producer;
      if (currentTxnStartOffset < 0 || now - lastTimestamp <= toMillis(this.#maxTimeout)) continue;
      this.#candidates.set(producerId, producer);
    }
    if (this.#candidates.size === 0) return;
    this.#call({
      target: { kind: "any" },
      api: METADATA,
      body: { topics: [], allowAutoTopicCreation: false },
      errorOf: () => ERRORS.NONE,
      done: ({ brokers }) => this.#listAll(brokers),
    });
  }

  /** Which transactional ids have these producers? Any broker may coordinate them. */
  #listAll(brokers: readonly AdminPeer[]): void {
    let left = brokers.length;
    for (const broker of brokers) {
      this.#call({
        target: { kind: "broker", ...broker },
        api: LIST_TRANSACTIONS,
        body: {
          stateFilters: [],
          producerIdFilters: [...this.#candidates.keys()],
          durationFilter: -1,
        },
        errorOf: ({ errorCode }) => errorOf(errorCode),
        done: ({ transactionStates }) => {
          for (const { producerId, transactionalId } of transactionStates) {
            this.#transactionalIds.set(producerId, transactionalId);
          }
          left--;
          if (left === 0) this.#judge();
        },
      });
    }
  }

  #judge(): void {
    for (const producer of this.#candidates.values()) {
      const transactionalId = this.#transactionalIds.get(producer.producerId);
      if (transactionalId === undefined) this.#abort(producer);
      else this.#describe(producer, transactionalId);
    }
  }

  #describe(producer: ActiveProducer, transactionalId: string): void {
    this.#call({
      target: { kind: "coordinator", transactionalId },
      api: DESCRIBE_TRANSACTIONS,
      body: { transactionalIds: [transactionalId] },
      errorOf: ({ transactionStates: [state] }) => {
        const error = errorOf(state?.errorCode ?? -1);
        return error === ERRORS.TRANSACTIONAL_ID_NOT_FOUND ? ERRORS.NONE : error;
      },
      done: ({ transactionStates: [state] }) => {
        if (!isListed(state, this.#partition)) this.#abort(producer);
      },
    });
  }

  #abort(producer: ActiveProducer): void {
    const { topic: name, partition } = this.#partition;
    const { producerId, producerEpoch, coordinatorEpoch, currentTxnStartOffset } = producer;
    this.#ports.world.facts.note({
      kind: "hanging-transaction-found",
      client: "admin",
      partition: partitionName(name, partition),
      producerId,
      producerEpoch,
      firstOffset: currentTxnStartOffset,
    });
    this.#call({
      target: { kind: "leader", ...this.#partition },
      api: WRITE_TXN_MARKERS,
      body: {
        markers: [
          {
            producerId,
            producerEpoch,
            transactionResult: false,
            topics: [{ name, partitionIndexes: [partition] }],
            // Of a producer none of whose transactions ever ended, one that no coordinator can be behind.
            coordinatorEpoch: Math.max(coordinatorEpoch, 0),
            // The admin client says none, so that the epoch need not be a new one (KIP-1228).
            transactionVersion: 0,
          },
        ],
      },
      errorOf: ({ markers }) => errorOf(markers[0]?.topics[0]?.partitions[0]?.errorCode ?? -1),
      mayPass: (error) => MAY_PASS.includes(error),
      done: () => undefined,
    });
  }

  #call<Request, Response>(request: AdminRequest<Request, Response>): void {
    new AdminCall(this.#ports, { ...request, partition: this.#partition }).start();
  }
}

/** Will its coordinator write a marker there? */
function isListed(
  state: DescribedTransaction | undefined,
  { topic, partition }: TopicPartition,
): boolean {
  return (
    state?.topics.some((one) => one.topic === topic && one.partitions.includes(partition)) ?? false
  );
}
