import type { ProcessorSetup } from "../../src/checkers/check-setup.ts";
import type { CheckerSet } from "../../src/checkers/checker-set.ts";
import { createCheckers } from "../../src/checkers/checker-set.ts";
import type { Guarantee, Violation } from "../../src/checkers/guarantee.ts";
import { encodePayload } from "../../src/kafka/client/payload.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../src/kafka/config/consumer-configs.ts";
import { PRODUCER_CONFIGS } from "../../src/kafka/config/producer-configs.ts";
import { encodeGroupRecord } from "../../src/kafka/group/group-record-bytes.ts";
import type { PartitionName, TopicPartition } from "../../src/kafka/ids.ts";
import { controlKey, encodeEndTransaction } from "../../src/kafka/log/control-record.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import {
  encodeTransactionKey,
  encodeTransactionValue,
} from "../../src/kafka/transaction/transaction-log.ts";
import type { TransactionState } from "../../src/kafka/transaction/transaction-state.ts";
import { ZERO_UUID } from "../../src/kafka/uuid.ts";
import type { Fact } from "../../src/trace/fact.ts";
import { FactRecorder } from "../../src/trace/recorder.ts";
import { setupOf } from "./fact-builders.ts";

export const STATES = "__transaction_state-0";
export const OFFSETS = "__consumer_offsets-0";
export const INPUTS = "inputs-0";

interface Options {
  /** transaction.version */
  readonly version?: number;
  /** transaction.partition.verification.enable */
  readonly isVerified?: boolean;
  /** p1 reads `inputs` as a member of the group `g`, and writes to orders. */
  readonly processor?: Pick<ProcessorSetup, "guarantee" | "store">;
}

interface Identity {
  readonly producerId?: number;
  readonly producerEpoch?: number;
  readonly partition?: PartitionName;
}

interface StateMore extends Identity {
  readonly transactionalId?: string;
  readonly partitions?: readonly PartitionName[];
  /** Only in the log of the leader: nobody tells of it, and it is not committed. */
  readonly isSilent?: boolean;
  /** Of the coordinator that tells; 1 by default. */
  readonly broker?: number;
}

/**
 * A history of transactions, written by hand: p1 and p2 have the transactional id `app`, whose producer id is
 * 7; c1 reads committed records of orders-0 and orders-1. Broker 1 leads everything, and commits at once.
 * Each fact is an event of its own, a second after the one before.
 */
export class TransactionFacts {
  readonly checkers: CheckerSet;
  now = 0;
  event = 0;
  /** What was appended, in order. */
  readonly batches: RecordBatch[] = [];
  readonly #facts: FactRecorder;
  readonly #ends = new Map<PartitionName, number>();
  readonly #sequences = new Map<string, number>();

  constructor(guarantee: Guarantee, options: Options = {}) {
    const { version = 2, isVerified = true, processor } = options;
    const history = this;
    this.#facts = new FactRecorder({
      get now() {
        return history.now;
      },
      get event() {
        return history.event;
      },
      mixFact: () => undefined,
    });
    const configs = resolveConfigs(PRODUCER_CONFIGS, { "transactional.id": "app" });
    const setup = setupOf({
      isolation: "read_committed",
      clients: { p1: { configs }, p2: { configs } },
    });
    const processors = new Map<string, ProcessorSetup>();
    if (processor !== undefined) {
      const consumerConfigs = resolveConfigs(CONSUMER_CONFIGS, {
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
      });
      processors.set("p1", { group: "g", to: "orders", consumerConfigs, ...processor });
    }
    const brokers = setup.brokers.map((one) => ({
      ...one,
      "transaction.partition.verification.enable": isVerified,
    }));
    const features = { ...setup.features, "transaction.version": version };
    const all = { ...setup, brokers, features, processors };
    this.checkers = createCheckers(this.#facts, all, [guarantee]);
    for (const partition of [STATES, "orders-0", "orders-1"]) this.#lead(partition);
    if (processor !== undefined) for (const partition of [INPUTS, OFFSETS]) this.#lead(partition);
  }

  note(fact: Fact): this {
    this.event++;
    this.now += 1_000_000;
    this.#facts.note(fact);
    return this;
  }

  // The coordinator.

  /** Its record is committed, and it has told so. */
  state(state: TransactionState, more: StateMore = {}): this {
    this.record(state, more);
    if (more.isSilent === true) return this;
    return this.commit(STATES).told(state, "Ongoing", more);
  }

  /** Its record is in the log. */
  record(state: TransactionState, more: StateMore = {}): this {
    const { transactionalId = "app", producerId = 7, producerEpoch = 0 } = more;
    const isDead = state === "Dead";
    const value = isDead
      ? undefined
      : encodeTransactionValue(
          {
            state,
            producerId,
            producerEpoch,
            previousProducerId: -1,
            nextProducerId: -1,
            lastProducerEpoch: -1,
            timeoutMs: 60_000,
            partitions: named(more.partitions ?? ["orders-0"], state),
            startTimestamp: 1,
            lastUpdateTimestamp: 1,
            clientTransactionVersion: 2,
          },
          1,
        );
    const key = encodeTransactionKey(transactionalId);
    this.#append(STATES, [{ timestamp: 0, key, value }], {});
    return this;
  }

  /** `from`: empty if it has just read it. */
  told(state: TransactionState, from: string, more: StateMore = {}): this {
    const { transactionalId = "app", producerId = 7, producerEpoch = 0 } = more;
    const partitions = [...named(more.partitions ?? ["orders-0"], state).keys()];
    return this.note({
      kind: "transaction-state-changed",
      broker: more.broker ?? 1,
      coordinatorEpoch: 0,
      transactionalId,
      producerId,
      producerEpoch,
      from,
      to: state,
      partitions,
      reason: "test",
    });
  }

  /** Its last record is gone from its log. */
  lose(): this {
    const from = this.end(STATES);
    const to = from - 1;
    this.#ends.set(STATES, to);
    return this.note({ kind: "truncated", broker: 1, partition: STATES, from, to, reason: "test" });
  }

  /** It has read its log. */
  loaded(): this {
    return this.note({
      kind: "coordinator-loaded",
      broker: 1,
      partition: STATES,
      leaderEpoch: 0,
    });
  }

  // Leaders.

  /** Two records of p1's or p2's, committed. */
  write(values: readonly number[], more: Identity & { readonly client?: 1 | 2 } = {}): RecordBatch {
    const { partition = "orders-0", producerId = 7, producerEpoch = 0, client = 1 } = more;
    const key = `${partition} ${producerId} ${producerEpoch}`;
    const baseSequence = this.#sequences.get(key) ?? 0;
    this.#sequences.set(key, baseSequence + values.length);
    const records = values.map((value) => ({
      timestamp: 0,
      value: encodePayload(client, value, 12),
    }));
    const producer = { producerId, producerEpoch, baseSequence, isTransactional: true };
    const batch = this.#append(partition, records, producer);
    this.commit(partition);
    return batch;
  }

  /** A marker, committed. */
  mark(type: "COMMIT" | "ABORT", more: Identity = {}): RecordBatch {
    const { partition = "orders-0", producerId = 7, producerEpoch = 1 } = more;
    const record = { timestamp: 0, key: controlKey(type), value: encodeEndTransaction(0) };
    const producer = { producerId, producerEpoch, isTransactional: true, isControl: true };
    const batch = this.#append(partition, [record], producer);
    this.commit(partition);
    return batch;
  }

  /** All that is in the leader's log is below its high watermark. */
  commit(partition: PartitionName): this {
    return this.note({
      kind: "high-watermark-moved",
      broker: 1,
      partition,
      highWatermark: this.end(partition),
      leaderEpoch: 0,
      asLeader: true,
    });
  }

  end(partition: PartitionName): number {
    return this.#ends.get(partition) ?? 0;
  }

  /** Another broker copies batches of orders-0 in one fetch, and leads from then on. */
  copyAndLead(broker: number, batches: readonly RecordBatch[]): this {
    const partition = "orders-0";
    this.event++;
    for (const batch of batches) {
      this.#facts.note({ kind: "appended", broker, partition, batch, asLeader: false });
    }
    return this.note({
      kind: "became-leader",
      broker,
      partition,
      leaderEpoch: 1,
      partitionEpoch: 1,
      logEndOffset: this.end(partition),
      highWatermark: 0,
      isr: [broker],
    });
  }

  // Applications.

  /** So many records, of nobody in particular, to be worked on. */
  inputs(count: number): this {
    const value = encodePayload(9, 0, 12);
    this.#append(
      INPUTS,
      Array.from({ length: count }, () => ({ timestamp: 0, value })),
      {},
    );
    return this.commit(INPUTS);
  }

  /** p1 made a record of the one at the offset. */
  derive(offset: number, value: number): this {
    const made = { client: "p1", group: "g", partition: INPUTS, offset, value };
    return this.note({ kind: "record-derived", ...made });
  }

  row(offset: number, isNew = true): this {
    const row = { client: "p1", group: "g", store: "ledger", partition: INPUTS, offset, isNew };
    return this.note({ kind: "row-stored", ...row });
  }

  /** The group has come so far, as a member committed; with `more`, in a transaction. */
  progress(offset: number, more?: Identity): this {
    const value = { offset, leaderEpoch: 0, metadata: "", commitTimestamp: 0, topicId: ZERO_UUID };
    const record = {
      type: "OffsetCommit",
      group: "g",
      topic: "inputs",
      partition: 0,
      value,
    } as const;
    const { producerId = 7, producerEpoch = 0 } = more ?? {};
    const producer = { producerId, producerEpoch, isTransactional: true };
    this.#append(
      OFFSETS,
      [{ timestamp: 0, ...encodeGroupRecord(record) }],
      more === undefined ? {} : producer,
    );
    return this.commit(OFFSETS);
  }

  begin(
    client: string,
    transaction: number,
    { producerId = 7, producerEpoch = 0 }: Identity = {},
  ): this {
    const transactionalId = "app";
    const identity = { producerId, producerEpoch };
    return this.note({
      kind: "transaction-begun",
      client,
      transactionalId,
      transaction,
      ...identity,
    });
  }

  send(client: string, values: readonly number[], partition: PartitionName = "orders-0"): this {
    for (const value of values) this.note({ kind: "record-sent", client, partition, value });
    return this;
  }

  acked(client: string, values: readonly number[], baseOffset: number): this {
    return this.note({
      kind: "send-ended",
      client,
      partition: "orders-0",
      outcome: "acked",
      values,
      baseOffset,
      acks: -1,
      error: "NONE",
      attempts: 1,
    });
  }

  ended(client: string, transaction: number, outcome: "committed" | "aborted" | "unknown"): this {
    const transactionalId = "app";
    return this.note({
      kind: "transaction-ended",
      client,
      transactionalId,
      transaction,
      outcome,
      error: "NONE",
    });
  }

  read(...batches: readonly RecordBatch[]): this {
    const firstOffset = batches[0]?.baseOffset ?? 0;
    const lastOffset = batches.at(-1)?.lastOffset ?? 0;
    const where = { client: "c1", partition: "orders-0", firstOffset, lastOffset };
    return this.note({ kind: "polled", ...where, batches });
  }

  violations(): readonly Violation[] {
    this.checkers.atEnd(this.now, this.event);
    return this.checkers.violations();
  }

  #append(
    partition: PartitionName,
    records: Parameters<typeof buildBatch>[0],
    more: Parameters<typeof buildBatch>[1],
  ): RecordBatch {
    const baseOffset = this.end(partition);
    const batch = buildBatch(records, {
      ...more,
      baseOffset,
      partitionLeaderEpoch: 0,
    });
    this.#ends.set(partition, batch.nextOffset);
    this.batches.push(batch);
    this.note({ kind: "appended", broker: 1, partition, batch, asLeader: true });
    return batch;
  }

  #lead(partition: PartitionName): void {
    const isr = [1];
    this.note({
      kind: "partition-changed",
      partition,
      replicas: isr,
      isr,
      elr: [],
      leader: 1,
      leaderEpoch: 0,
      partitionEpoch: 0,
      recovering: false,
      election: "initial",
      minInsyncReplicas: 1,
    });
    this.note({
      kind: "became-leader",
      broker: 1,
      partition,
      leaderEpoch: 0,
      partitionEpoch: 0,
      logEndOffset: 0,
      highWatermark: 0,
      isr,
    });
  }
}

function named(
  partitions: readonly PartitionName[],
  state: TransactionState,
): Map<PartitionName, TopicPartition> {
  const isOpen = state === "Ongoing" || state.startsWith("Prepare");
  const all = new Map<PartitionName, TopicPartition>();
  for (const name of isOpen ? partitions : []) {
    const cut = name.lastIndexOf("-");
    const topic = name.slice(0, cut);
    all.set(name, { topic, partition: Number(name.slice(cut + 1)) });
  }
  return all;
}
