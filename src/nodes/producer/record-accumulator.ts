import type { Duration, Instant } from "../../base/time.ts";
import { ABSENT, singleRecordBatchBound } from "../../kafka/client/record-size.ts";
import type { NewRecord } from "../../kafka/log/record-batch.ts";
import type { TopicLeaders } from "../client-metadata/topic-leaders.ts";
import { PartitionQueue } from "./partition-queue.ts";
import type { Compressor } from "./producer-batch.ts";
import { ProducerBatch } from "./producer-batch.ts";

export interface AccumulatorOptions {
  readonly topic: TopicLeaders;
  readonly batchSize: number;
  readonly compressor: Compressor;
  readonly bufferMemory: number;
  readonly deliveryTimeout: Duration;
  /** Do batches have sequences, in the order of which they come back? */
  readonly isIdempotent: boolean;
  readonly isTransactional: boolean;
}

/** The records that have been sent by the application but not by the producer (`RecordAccumulator`). */
export class RecordAccumulator {
  readonly #options: AccumulatorOptions;
  readonly #queues: PartitionQueue[] = [];
  /** The queues that hold a batch, the one that waited longest first. */
  readonly active: PartitionQueue[] = [];
  /** All batches that the application has not been told about, oldest first, after #oldest done ones. */
  #incomplete: ProducerBatch[] = [];
  #oldest = 0;
  #memoryLeft: number;
  /** Somebody waits for memory: all is sent without lingering. */
  isExhausted = false;
  /** No more will come: all is sent without lingering. */
  isClosed = false;
  /** A transaction waits for its end: all is sent without lingering. */
  isCompleting = false;

  constructor(options: AccumulatorOptions) {
    this.#options = options;
    this.#memoryLeft = options.bufferMemory;
  }

  queue(partition: number): PartitionQueue {
    const queues = this.#queues;
    const { topic } = this.#options;
    while (queues.length <= partition) {
      queues.push(new PartitionQueue(topic.name, topic.partition(queues.length)));
    }
    return queues[partition] as PartitionQueue;
  }

  /**
   * Adds a record to the partition's last batch, or to a new one. Returns the bytes that it took,
   * a new batch's header included, estimated if it is compressed; -1 if there is no memory for a new
   * batch. `bound` is the most that a batch of this record alone can take.
   */
  append(
    queue: PartitionQueue,
    record: NewRecord,
    value: number,
    bound: number,
    now: Instant,
  ): number {
    const { last } = queue;
    if (last !== undefined) {
      const bytes = last.tryAppend(record, value);
      if (bytes >= 0) return bytes;
    }
    const size = Math.max(this.#options.batchSize, bound);
    if (size > this.#memoryLeft) {
      this.isExhausted = true;
      return -1;
    }
    this.#memoryLeft -= size;
    const { compressor, isTransactional } = this.#options;
    const batch = new ProducerBatch(queue, now, size, compressor, false, isTransactional);
    batch.tryAppend(record, value);
    queue.push(batch);
    this.#incomplete.push(batch);
    this.#activate(queue);
    return batch.size;
  }

  /** A batch of the queue has been taken. The queue goes behind those that waited as long. */
  taken(queue: PartitionQueue): void {
    this.#deactivate(queue);
    if (queue.length > 0) this.#activate(queue);
  }

  /** Takes a batch that has expired, or is given up, out of its queue, if it waits there. */
  removeExpired(batch: ProducerBatch): void {
    const { queue } = batch;
    if (queue.remove(batch) && queue.length === 0) this.#deactivate(queue);
  }

  /** Takes out all batches that wait, of those without a sequence only if `undrainedOnly`; oldest first. */
  takeOut(undrainedOnly: boolean): ProducerBatch[] {
    const taken: ProducerBatch[] = [];
    for (let i = this.#oldest; i < this.#incomplete.length; i++) {
      const batch = this.#incomplete[i] as ProducerBatch;
      if (batch.isDone || (undrainedOnly && batch.hasSequence)) continue;
      this.removeExpired(batch);
      taken.push(batch);
    }
    return taken;
  }

  /** Puts a batch back to be sent again. */
  putBack(batch: ProducerBatch): void {
    const { queue } = batch;
    if (this.#options.isIdempotent) queue.insertInSequenceOrder(batch);
    else queue.pushFront(batch);
    this.#activate(queue);
  }

  /**
   * Replaces a batch that was too large for the broker by smaller ones, as if they had never been
   * tried. They keep its age and its place; with idempotence they share out its sequences.
   */
  split(batch: ProducerBatch): void {
    const { queue, compressor } = batch;
    compressor.ratio.reset(batch.compressionRatio);
    // The first time by batch.size; if that did not help, by halves (KAFKA-8350).
    const target = batch.isSplit
      ? Math.max(batch.maxRecordSize, Math.floor(batch.size / 2))
      : this.#options.batchSize;
    const parts = splitRecords(batch, target);
    this.#incomplete.splice(this.#incomplete.indexOf(batch, this.#oldest), 1, ...parts);
    let sequence = batch.baseSequence;
    for (const part of parts) {
      this.#memoryLeft -= part.bufferSize;
      part.close();
      part.sends = batch.sends;
      part.isUncertain = batch.isUncertain;
      if (!this.#options.isIdempotent) continue;
      part.setProducerState(batch.producerId, batch.producerEpoch, sequence);
      sequence += part.recordCount;
      queue.sequences.add(part);
    }
    for (const part of parts.reverse()) this.putBack(part);
    this.#release(batch);
  }

  /** The application has been told how the batch ended. */
  finish(batch: ProducerBatch): void {
    this.#release(batch);
    const incomplete = this.#incomplete;
    while (incomplete[this.#oldest]?.isDone === true) this.#oldest++;
    // The done ones are dropped now and then: shifting each would move all others each time.
    if (this.#oldest === incomplete.length) {
      while (incomplete.length > 0) incomplete.pop();
      this.#oldest = 0;
    } else if (this.#oldest >= 1024) {
      this.#incomplete = incomplete.slice(this.#oldest);
      this.#oldest = 0;
    }
  }

  /** The oldest batch that the application has not been told about. */
  get oldest(): ProducerBatch | undefined {
    return this.#incomplete[this.#oldest];
  }

  /** When the oldest batch must have ended; undefined if there is none. */
  get nextExpiry(): Instant | undefined {
    const { oldest } = this;
    return oldest === undefined ? undefined : oldest.createdAt + this.#options.deliveryTimeout;
  }

  hasReachedDeliveryTimeout(batch: ProducerBatch, now: Instant): boolean {
    return now - batch.createdAt >= this.#options.deliveryTimeout;
  }

  #activate(queue: PartitionQueue): void {
    if (queue.isActive) return;
    queue.isActive = true;
    this.active.push(queue);
  }

  #deactivate(queue: PartitionQueue): void {
    if (!queue.isActive) return;
    queue.isActive = false;
    const { active } = this;
    let at = 0;
    while (active[at] !== queue) at++;
    // Mostly the first of few: moving them by hand is cheaper than a call of splice.
    for (; at + 1 < active.length; at++) active[at] = active[at + 1] as PartitionQueue;
    active.pop();
  }

  #release(batch: ProducerBatch): void {
    this.#memoryLeft += batch.bufferSize;
    batch.finish();
  }
}

function splitRecords(batch: ProducerBatch, target: number): ProducerBatch[] {
  const parts: ProducerBatch[] = [];
  let part: ProducerBatch | undefined;
  for (let i = 0; i < batch.records.length; i++) {
    const record = batch.records[i] as NewRecord;
    const value = batch.values[i] as number;
    if (part !== undefined && part.tryAppend(record, value) >= 0) continue;
    const bound = singleRecordBatchBound(
      record.key?.length ?? ABSENT,
      record.value?.length ?? ABSENT,
    );
    const { queue, createdAt, compressor } = batch;
    const size = Math.max(bound, target);
    part = new ProducerBatch(queue, createdAt, size, compressor, true, batch.isTransactional);
    part.tryAppend(record, value);
    parts.push(part);
  }
  return parts;
}
