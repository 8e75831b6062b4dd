import type { TopicPartition } from "../../src/kafka/ids.ts";
import { partitionName } from "../../src/kafka/ids.ts";
import type {
  TransactionPartitions,
  TransactionTransition,
  TransactionVersion,
} from "../../src/kafka/transaction/transaction-metadata.ts";
import { TransactionMetadata } from "../../src/kafka/transaction/transaction-metadata.ts";
import type {
  Decision,
  EndOfTransaction,
  NEEDS_PRODUCER_ID,
} from "../../src/kafka/transaction/transaction-rules.ts";
import {
  decideAddPartitions,
  decideEnd,
  decideInitProducerId,
  decideMarkers,
  isTransition,
} from "../../src/kafka/transaction/transaction-rules.ts";

export const PRODUCER_ID = 2_000;
const TIMEOUT_MS = 60_000;

/** `orders-0`, `orders-1`: as a transaction holds its partitions. */
export function partitionsOf(...partitions: readonly number[]): TransactionPartitions {
  const topic = "orders";
  return new Map<string, TopicPartition>(
    partitions.map((partition) => [partitionName(topic, partition), { topic, partition }]),
  );
}

/** One transactional id, to which things are done, each of which is committed at once. */
export class TransactionStory {
  readonly metadata: TransactionMetadata;
  readonly version: TransactionVersion;
  #now = 1_000;

  constructor(version: TransactionVersion = 2, producerEpoch?: number) {
    this.version = version;
    this.metadata = TransactionMetadata.create("app", PRODUCER_ID, TIMEOUT_MS, this.#now);
    if (producerEpoch !== undefined) this.metadata.producerEpoch = producerEpoch - 1;
    this.init();
  }

  /** Milliseconds; later each time. */
  now(): number {
    return ++this.#now;
  }

  init(expectedEpoch?: number, newProducerId?: number): unknown {
    const { producerId } = this.metadata;
    const expected =
      expectedEpoch === undefined ? undefined : { producerId, producerEpoch: expectedEpoch };
    return this.commit(
      decideInitProducerId(this.metadata, TIMEOUT_MS, expected, this.now(), newProducerId),
    );
  }

  add(...partitions: readonly number[]): unknown {
    const { metadata, version } = this;
    return this.commit(
      decideAddPartitions(metadata, metadata, partitionsOf(...partitions), this.now(), version),
    );
  }

  /** By the client, unless told otherwise, with the epoch that the coordinator knows. */
  end(commit: boolean, more: Partial<EndOfTransaction> = {}, newProducerId?: number): unknown {
    return this.commit(
      decideEnd(this.metadata, this.#end(commit, more), this.now(), newProducerId),
    );
  }

  /** All markers are written. */
  complete(): void {
    for (const name of [...this.metadata.partitions.keys()]) this.metadata.removePartition(name);
    this.commit(this.metadata.prepareComplete(this.now()));
  }

  /** As after the decision: may markers follow? */
  mark(commit: boolean, more: Partial<EndOfTransaction> = {}): Decision {
    return decideMarkers(this.metadata, this.#end(commit, more), this.now());
  }

  /** What is asked for is written and committed; an error is given back by its name. */
  commit(decision: Decision | typeof NEEDS_PRODUCER_ID): TransactionTransition | string {
    if (typeof decision === "string") return decision;
    if (!isTransition(decision)) return decision.name;
    if (decision.state !== "PrepareEpochFence") this.metadata.completeTransition(decision);
    return decision;
  }

  #end(commit: boolean, more: Partial<EndOfTransaction>): EndOfTransaction {
    const { producerId, producerEpoch } = this.metadata;
    return {
      producerId,
      producerEpoch,
      commit,
      isFromClient: true,
      clientTransactionVersion: this.version,
      ...more,
    };
  }
}
