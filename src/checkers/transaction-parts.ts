import type { Instant } from "../base/time.ts";
import type { BrokerId, LeaderEpoch, Offset } from "../kafka/ids.ts";
import { decodeEndTransaction } from "../kafka/log/control-record.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import type { Appended } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { BatchNode } from "./batch-tree.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import type { ReplicaLogs } from "./replica-logs.ts";

/** A batch of a transaction, or the marker that ends one, as a leader appended it. */
export interface TransactionPart {
  readonly partition: PartitionGhost;
  readonly node: BatchNode;
  readonly producerId: number;
  readonly producerEpoch: number;
  /** Of a marker. */
  readonly marker: "COMMIT" | "ABORT" | undefined;
  readonly baseOffset: Offset;
  readonly lastOffset: Offset;
  readonly at: Instant;
  readonly event: number;
}

/** What is open in one log, from its beginning to somewhere. */
export class OpenParts {
  /** By producer id: the batches since its last marker. */
  readonly #open = new Map<number, TransactionPart[]>();
  /** Ended transactions: where they begin, and where their markers stand; only what may not be replicated. */
  readonly #ended: { readonly first: Offset; readonly marker: Offset }[] = [];
  /** Log entries that were looked at. */
  count = 0;

  of(producerId: number): readonly TransactionPart[] {
    return this.#open.get(producerId) ?? NONE;
  }

  all(): IterableIterator<readonly TransactionPart[]> {
    return this.#open.values();
  }

  /** Takes the log's next; returns what a marker ends, and for others what was open before them. */
  take(part: TransactionPart): readonly TransactionPart[] {
    const { producerId } = part;
    const open = this.#open.get(producerId);
    if (part.marker === undefined) {
      if (open === undefined) this.#open.set(producerId, [part]);
      else open.push(part);
      return open ?? NONE;
    }
    const first = open?.[0];
    if (open === undefined || first === undefined) return NONE;
    this.#open.delete(producerId);
    this.#ended.push({ first: first.baseOffset, marker: part.baseOffset });
    return open;
  }

  /** Where the first transaction begins that is open, or whose marker is not below `highWatermark`; infinite if none does. */
  firstUnstable(highWatermark: Offset): Offset {
    let first: Offset = Number.POSITIVE_INFINITY;
    for (const [part] of this.#open.values()) {
      if (part !== undefined && part.baseOffset < first) first = part.baseOffset;
    }
    let kept = 0;
    for (const ended of this.#ended) {
      if (ended.marker < highWatermark) continue;
      if (ended.first < first) first = ended.first;
      this.#ended[kept++] = ended;
    }
    this.#ended.length = kept;
    return first;
  }
}

/** Told of each when a leader appends it; `others`: what was open before it, which a marker ends. */
export type PartListener = (part: TransactionPart, others: readonly TransactionPart[]) => void;
/** The same when it is committed, in the order of the committed log. */
export type CommittedPartListener = (
  part: TransactionPart,
  others: readonly TransactionPart[],
  at: Instant,
  event: number,
) => void;

class PartitionParts {
  readonly parts = new Map<BatchNode, TransactionPart>();
  /** Batches of transactions that a leader has ended with an abort. */
  readonly aborted = new Set<BatchNode>();
  /** Of the newest leader that wrote, as of its last batch of a transaction. */
  leader = new OpenParts();
  leaderLog: ReplicaLog | undefined = undefined;
  leaderEpoch: LeaderEpoch = -1;
  committed = new OpenParts();
  generation = 0;
  /** By broker: in which event it copied the marker at an offset. */
  readonly copied = new Map<BrokerId, Map<Offset, number>>();
}

/**
 * What transactions wrote, partition by partition: batches and markers, what is open in the leader's log,
 * and in the committed one.
 */
export class TransactionParts {
  readonly #logs: ReplicaLogs;
  readonly #partitions: PartitionParts[] = [];
  readonly #appended: PartListener[] = [];
  readonly #committed: CommittedPartListener[] = [];

  constructor(recorder: FactRecorder, logs: ReplicaLogs) {
    this.#logs = logs;
    recorder.on("appended", (fact, at, event) => this.#append(fact, at, event));
    logs.onCommitted((partition, from, to, at, event) =>
      this.#commit(partition, from, to, at, event),
    );
  }

  onAppended(listener: PartListener): void {
    this.#appended.push(listener);
  }

  onCommitted(listener: CommittedPartListener): void {
    this.#committed.push(listener);
  }

  /** What is open in the committed log. */
  openIn(partition: PartitionGhost): OpenParts | undefined {
    return this.#partitions[partition.index]?.committed;
  }

  /** What is open in the log of a leader that is in office. */
  openAtLeader(partition: PartitionGhost, log: ReplicaLog): OpenParts | undefined {
    const known = this.#partitions[partition.index];
    return known === undefined ? undefined : folded(known, log);
  }

  /** In which event a broker copied the marker at an offset from its leader; undefined if it did not. */
  copiedIn(partition: PartitionGhost, broker: BrokerId, offset: Offset): number | undefined {
    return this.#partitions[partition.index]?.copied.get(broker)?.get(offset);
  }

  /** Is nothing of the batch handed over: is it a marker, or, for who reads committed records only, aborted? */
  isHidden({ index }: PartitionGhost, node: BatchNode, readsCommitted: boolean): boolean {
    const known = this.#partitions[index];
    if (known === undefined) return false;
    const isAborted = readsCommitted && known.aborted.has(node);
    return isAborted || known.parts.get(node)?.marker !== undefined;
  }

  /** All that was ever appended, in order. */
  partsOf(partition: PartitionGhost): Iterable<TransactionPart> {
    return this.#partitions[partition.index]?.parts.values() ?? NONE;
  }

  #append(fact: Appended, at: Instant, event: number): void {
    const { batch, broker, asLeader } = fact;
    if (!batch.isTransactional) return;
    const partition = this.#logs.partition(fact.partition);
    let known = this.#partitions[partition.index];
    if (known === undefined) {
      known = new PartitionParts();
      this.#partitions[partition.index] = known;
    }
    const log = partition.log(broker);
    if (!asLeader) {
      if (batch.isControl) copy(known, broker, batch.baseOffset, event);
      // Unless what stands before it differs from what the leader has: then it is another node of the tree.
      if (known.parts.has(log.tip)) return;
    }
    const part = partOf(partition, log.tip, batch, at, event);
    if (part === undefined) return;
    const open = folded(known, log, log.count - 1);
    known.parts.set(part.node, part);
    const others = open.take(part);
    open.count = log.count;
    if (part.marker === "ABORT") for (const { node } of others) known.aborted.add(node);
    if (asLeader) for (const listener of this.#appended) listener(part, others);
  }

  #commit(partition: PartitionGhost, from: number, to: number, at: Instant, event: number): void {
    const known = this.#partitions[partition.index];
    if (known === undefined) return;
    const { canon } = partition;
    if (known.generation !== partition.canonGeneration) {
      known.generation = partition.canonGeneration;
      known.committed = new OpenParts();
      for (let i = 0; i < from; i++) {
        const part = known.parts.get(canon.nodes[i] as number);
        if (part !== undefined) known.committed.take(part);
      }
    }
    for (let i = from; i < to; i++) {
      const part = known.parts.get(canon.nodes[i] as number);
      if (part === undefined) continue;
      const others = known.committed.take(part);
      for (const listener of this.#committed) listener(part, others, at, event);
    }
  }
}

const NONE: readonly TransactionPart[] = [];

/** What is open in a leader's log, up to its entry `count`. O(log) after a change of leader. */
function folded(known: PartitionParts, log: ReplicaLog, count: number = log.count): OpenParts {
  const isKnown =
    known.leaderLog === log &&
    known.leaderEpoch === log.roleEpoch &&
    known.leader.count <= log.count;
  if (!isKnown) {
    known.leader = new OpenParts();
    known.leaderLog = log;
    known.leaderEpoch = log.roleEpoch;
  }
  const { leader, parts } = known;
  for (let i = leader.count; i < count; i++) {
    const part = parts.get(log.nodes[i] as number);
    if (part !== undefined) leader.take(part);
  }
  leader.count = count;
  return leader;
}

function copy(known: PartitionParts, broker: BrokerId, offset: Offset, event: number): void {
  let copied = known.copied.get(broker);
  if (copied === undefined) {
    copied = new Map();
    known.copied.set(broker, copied);
  }
  copied.set(offset, event);
}

/** Undefined for control batches that end no transaction. */
function partOf(
  partition: PartitionGhost,
  node: BatchNode,
  batch: RecordBatch,
  at: Instant,
  event: number,
): TransactionPart | undefined {
  const { producerId, producerEpoch, baseOffset, lastOffset } = batch;
  let marker: TransactionPart["marker"];
  if (batch.isControl) {
    const [record] = batch.records();
    marker = decodeEndTransaction(record?.key, record?.value)?.type;
    if (marker === undefined) return undefined;
  }
  return {
    partition,
    node,
    producerId,
    producerEpoch,
    marker,
    baseOffset,
    lastOffset,
    at,
    event,
  };
}
