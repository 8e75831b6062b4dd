import type { Instant } from "../base/time.ts";
import { TRANSACTION_STATE_TOPIC } from "../kafka/coordinator/internal-topics.ts";
import type { BrokerId, PartitionName } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import {
  decodeTransactionKey,
  decodeTransactionValue,
} from "../kafka/transaction/transaction-log.ts";
import type { TransactionState } from "../kafka/transaction/transaction-state.ts";
import { isPrepared } from "../kafka/transaction/transaction-state.ts";
import type { Appended, TransactionStateChanged } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { BatchNode } from "./batch-tree.ts";
import { topicOf } from "./check-setup.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import type { ReplicaLogs } from "./replica-logs.ts";

/** What one record of `__transaction_state` says of a transactional id. */
export interface TransactionRecord {
  readonly transactionalId: string;
  /** `Dead`: a tombstone, which says nothing else. */
  readonly state: TransactionState;
  readonly producerId: number;
  readonly producerEpoch: number;
  /** What takes part; by the time of the end, what took part. */
  readonly partitions: readonly PartitionName[];
  readonly timeoutMs: number;
}

/** How a transaction ends, from the moment at which that is committed. */
export interface Decision {
  readonly producerId: number;
  /** Of the markers. */
  readonly producerEpoch: number;
  readonly isCommit: boolean;
  readonly partitions: readonly PartitionName[];
  readonly at: Instant;
  readonly event: number;
}

/** How a coordinator said that a transaction ends. */
export interface ToldDecision {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly isCommit: boolean;
  readonly broker: BrokerId;
  readonly at: Instant;
}

/** What is committed of a transactional id, and what coordinators say of it. */
export class KnownTransactionalId {
  readonly name: string;
  /** Committed last. */
  record: TransactionRecord | undefined = undefined;
  readonly decisions: Decision[] = [];
  /** What a coordinator said last; it may have read what is not committed yet. */
  told: TransactionStateChanged | undefined = undefined;
  /** The same of each: one may not have heard yet that another has taken its place. */
  readonly toldBy = new Map<BrokerId, TransactionStateChanged>();
  /** Whose records it is in; undefined while there is none. */
  partition: PartitionGhost | undefined = undefined;
  /** Has the log that all this is in lost anything? Then nothing is known for certain any more. */
  isUncertain = false;

  constructor(name: string) {
    this.name = name;
  }

  get lastDecision(): Decision | undefined {
    return this.decisions[this.decisions.length - 1];
  }
}

/** Told of each record when it is committed: `id.record` is it already. */
export type StateListener = (
  id: KnownTransactionalId,
  before: TransactionRecord | undefined,
  record: TransactionRecord,
  at: Instant,
  event: number,
) => void;

/**
 * What the logs of transaction coordinators say: each transactional id as the fold of the committed records
 * of `__transaction_state`.
 */
export class TransactionStates {
  readonly #logs: ReplicaLogs;
  readonly #ids = new Map<string, KnownTransactionalId>();
  readonly #byProducer = new Map<number, KnownTransactionalId>();
  /** By the partition's index: what the batches say. */
  readonly #records: Map<BatchNode, readonly TransactionRecord[]>[] = [];
  readonly #generations: number[] = [];
  /** How a coordinator said that a transaction ends, the first that did. */
  readonly #toldDecisions = new Map<string, ToldDecision>();
  readonly #listeners: StateListener[] = [];

  constructor(recorder: FactRecorder, logs: ReplicaLogs) {
    this.#logs = logs;
    recorder.on("appended", (fact) => this.#append(fact));
    recorder.on("transaction-state-changed", (fact, at) => this.#tell(fact, at));
    logs.onCommitted((partition, from, to, at, event) =>
      this.#commit(partition, from, to, at, event),
    );
  }

  onCommitted(listener: StateListener): void {
    this.#listeners.push(listener);
  }

  all(): Iterable<KnownTransactionalId> {
    return this.#ids.values();
  }

  /** Whose transactions have, or had, this producer id. */
  ofProducer(producerId: number): KnownTransactionalId | undefined {
    return this.#byProducer.get(producerId);
  }

  of(transactionalId: string): KnownTransactionalId {
    let id = this.#ids.get(transactionalId);
    if (id === undefined) {
      id = new KnownTransactionalId(transactionalId);
      this.#ids.set(transactionalId, id);
    }
    return id;
  }

  /** Has a coordinator said that a transaction ends so, be it committed or just read from its log? */
  wasTold(producerId: number, producerEpoch: number, isCommit: boolean): boolean {
    return this.#toldDecisions.has(decisionKey(producerId, producerEpoch, isCommit));
  }

  /**
   * The ends of transactions that a coordinator had read from its log and carried out, and that were never
   * committed: the next one knows nothing of them.
   */
  *unfounded(transactionalId: string): IterableIterator<ToldDecision> {
    const { decisions } = this.of(transactionalId);
    for (const told of this.#toldDecisions.values()) {
      if (told.transactionalId !== transactionalId) continue;
      const isFounded = decisions.some(
        (one) =>
          one.producerId === told.producerId &&
          one.producerEpoch === told.producerEpoch &&
          one.isCommit === told.isCommit,
      );
      if (!isFounded) yield told;
    }
  }

  /** The last record of each transactional id in one replica's log; the dead are left out. O(log). */
  fold(partition: PartitionGhost, log: ReplicaLog): Map<string, TransactionRecord> {
    const folded = new Map<string, TransactionRecord>();
    const records = this.#records[partition.index];
    for (let i = 0; i < log.count; i++) {
      for (const record of records?.get(log.nodes[i] as number) ?? []) {
        if (record.state === "Dead") folded.delete(record.transactionalId);
        else folded.set(record.transactionalId, record);
      }
    }
    return folded;
  }

  /** The last record that one replica's log has of a transactional id. O(batches behind it). */
  lastIn(
    partition: PartitionGhost,
    log: ReplicaLog,
    transactionalId: string,
  ): TransactionRecord | undefined {
    const records = this.#records[partition.index];
    for (let i = log.count - 1; i >= 0; i--) {
      const found = records
        ?.get(log.nodes[i] as number)
        ?.findLast((record) => record.transactionalId === transactionalId);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #append({ partition: name, broker, batch }: Appended): void {
    if (batch.isControl || topicOf(name) !== TRANSACTION_STATE_TOPIC) return;
    const partition = this.#logs.partition(name);
    const { tip } = partition.log(broker);
    // A copy, unless what stands before it differs: then it is another node of the tree.
    if (this.#records[partition.index]?.has(tip) === true) return;
    let records = this.#records[partition.index];
    if (records === undefined) {
      records = new Map();
      this.#records[partition.index] = records;
    }
    const made = recordsOf(batch);
    for (const { transactionalId } of made) this.of(transactionalId).partition = partition;
    records.set(tip, made);
  }

  #tell(fact: TransactionStateChanged, at: Instant): void {
    const { transactionalId, producerId, producerEpoch, to } = fact;
    const id = this.of(transactionalId);
    id.told = fact;
    id.toldBy.set(fact.broker, fact);
    this.#byProducer.set(producerId, id);
    const isDecided = to === "PrepareCommit" || to === "PrepareAbort";
    if (!isDecided) return;
    const key = decisionKey(producerId, producerEpoch, to === "PrepareCommit");
    if (this.#toldDecisions.has(key)) return;
    const { broker } = fact;
    const isCommit = to === "PrepareCommit";
    const told = { transactionalId, producerId, producerEpoch, isCommit, broker, at };
    this.#toldDecisions.set(key, told);
  }

  #commit(partition: PartitionGhost, from: number, to: number, at: Instant, event: number): void {
    const records = this.#records[partition.index];
    if (records === undefined) return;
    const isCut = (this.#generations[partition.index] ?? 0) !== partition.canonGeneration;
    this.#generations[partition.index] = partition.canonGeneration;
    if (isCut) this.#doubt(records);
    for (let i = from; i < to; i++) {
      for (const record of records.get(partition.canon.nodes[i] as number) ?? []) {
        this.#take(record, at, event);
      }
    }
  }

  #doubt(records: Map<BatchNode, readonly TransactionRecord[]>): void {
    for (const some of records.values()) {
      for (const { transactionalId } of some) this.of(transactionalId).isUncertain = true;
    }
  }

  #take(record: TransactionRecord, at: Instant, event: number): void {
    const id = this.of(record.transactionalId);
    const before = id.record;
    const { state, producerId, producerEpoch, partitions } = record;
    id.record = record;
    if (producerId >= 0) this.#byProducer.set(producerId, id);
    if (isPrepared(state)) {
      const isCommit = state === "PrepareCommit";
      id.decisions.push({ producerId, producerEpoch, isCommit, partitions, at, event });
    }
    for (const listener of this.#listeners) listener(id, before, record, at, event);
  }
}

function recordsOf(batch: RecordBatch): TransactionRecord[] {
  const records: TransactionRecord[] = [];
  for (const { key, value } of batch.records()) {
    const transactionalId = key === undefined ? undefined : decodeTransactionKey(key);
    if (transactionalId === undefined) continue;
    if (value === undefined) {
      records.push({ transactionalId, ...DEAD });
      continue;
    }
    const { state, producerId, producerEpoch, partitions, timeoutMs } = decodeTransactionValue(
      transactionalId,
      value,
    );
    const names = [...partitions.keys()];
    records.push({
      transactionalId,
      state,
      producerId,
      producerEpoch,
      partitions: names,
      timeoutMs,
    });
  }
  return records;
}

const DEAD = {
  state: "Dead",
  producerId: -1,
  producerEpoch: -1,
  partitions: [],
  timeoutMs: 0,
} as const;

function decisionKey(producerId: number, producerEpoch: number, isCommit: boolean): string {
  return `${producerId}/${producerEpoch}/${isCommit}`;
}
