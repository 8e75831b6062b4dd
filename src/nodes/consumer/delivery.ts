import { AbortedBatches } from "../../kafka/client/aborted-batches.ts";
import type { Offset } from "../../kafka/ids.ts";
import { NO_EPOCH } from "../../kafka/ids.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import { RecordCursor } from "../../kafka/log/record-cursor.ts";
import type { FetchedAbort } from "../../kafka/protocol/fetch.ts";
import type { World } from "../../ports/node.ts";
import type { AssignedPartition } from "./assigned-partition.ts";
import type { RecordTaker } from "./record-taker.ts";

/**
 * The application's side of `poll`: it takes what was fetched at once, at most max.poll.records a
 * time, and the position moves on (`FetchCollector`, `CompletedFetch`).
 *
 * Simplified: the application takes no time and so polls again at the same instant.
 */
export class Delivery implements RecordTaker {
  /** It takes all at once. */
  readonly isHolding = false;
  readonly keeps = false;
  readonly #world: World;
  readonly #client: string;
  readonly #maxPollRecords: number;
  /** The part of the present poll that has not been noted. */
  #batches: RecordBatch[] = [];
  #first: Offset = -1;
  #last: Offset = -1;
  #left: number;

  constructor(world: World, client: string, maxPollRecords: number) {
    this.#world = world;
    this.#client = client;
    this.#maxPollRecords = maxPollRecords;
    this.#left = maxPollRecords;
  }

  /**
   * Hands over the partition's records from its position on, without those of the transactions that the
   * answer calls `aborted`. False if a batch is damaged.
   */
  deliver(
    partition: AssignedPartition,
    batches: readonly RecordBatch[],
    aborted: readonly FetchedAbort[] = NONE_ABORTED,
  ): boolean {
    const areAllWanted = aborted.length === 0;
    if (areAllWanted && this.#deliverWhole(partition, batches)) return true;
    const unwanted = areAllWanted ? undefined : new AbortedBatches(aborted);
    for (const batch of batches) {
      if (unwanted?.has(batch) === true && batch.isValid()) {
        this.#passOver(partition, batch);
        continue;
      }
      // The log may give whole batches only, of which the first begins before the position.
      if (batch.nextOffset <= partition.position.offset) continue;
      if (!isSound(batch)) {
        this.#flush(partition);
        return false;
      }
      if (!batch.isControl) this.#take(partition, batch);
      partition.position.advance(batch.nextOffset, batch.partitionLeaderEpoch);
    }
    this.#flush(partition);
    return true;
  }

  #passOver({ position }: AssignedPartition, batch: RecordBatch): void {
    if (batch.nextOffset <= position.offset) return;
    position.advance(batch.nextOffset, batch.partitionLeaderEpoch);
  }

  /** The fetch response has been worked off: the next poll begins. */
  endPoll(): void {
    this.#left = this.#maxPollRecords;
  }

  /** The usual case, in which all of it is one poll, and nothing is copied. */
  #deliverWhole(partition: AssignedPartition, batches: readonly RecordBatch[]): boolean {
    const { position } = partition;
    let expected = position.offset;
    let epoch = NO_EPOCH;
    for (const batch of batches) {
      if (batch.baseOffset !== expected || batch.isControl || !isDense(batch)) return false;
      if (!isSound(batch)) return false;
      expected = batch.nextOffset;
      epoch = batch.partitionLeaderEpoch;
    }
    const count = expected - position.offset;
    if (count === 0 || count > this.#left) return false;
    this.#note(partition, position.offset, expected - 1, batches);
    this.#left -= count;
    position.advance(expected, epoch);
    return true;
  }

  #take(partition: AssignedPartition, batch: RecordBatch): void {
    if (isDense(batch)) {
      let from = Math.max(batch.baseOffset, partition.position.offset);
      while (from <= batch.lastOffset) {
        const count = Math.min(batch.nextOffset - from, this.#left);
        this.#add(partition, batch, from, from + count - 1, count);
        from += count;
      }
      return;
    }
    // Compaction took records out of it.
    const from = partition.position.offset;
    const cursor = new RecordCursor(batch);
    while (cursor.next()) {
      if (cursor.offset >= from) this.#add(partition, batch, cursor.offset, cursor.offset, 1);
    }
  }

  #add(
    partition: AssignedPartition,
    batch: RecordBatch,
    first: Offset,
    last: Offset,
    count: number,
  ): void {
    if (this.#first < 0) this.#first = first;
    this.#last = last;
    if (this.#batches[this.#batches.length - 1] !== batch) this.#batches.push(batch);
    this.#left -= count;
    partition.position.advance(last + 1, batch.partitionLeaderEpoch);
    if (this.#left > 0) return;
    this.#flush(partition);
    this.#left = this.#maxPollRecords;
  }

  #flush(partition: AssignedPartition): void {
    if (this.#first < 0) return;
    this.#note(partition, this.#first, this.#last, this.#batches);
    this.#batches = [];
    this.#first = -1;
  }

  #note(
    partition: AssignedPartition,
    firstOffset: Offset,
    lastOffset: Offset,
    batches: readonly RecordBatch[],
  ): void {
    this.#world.facts.note({
      kind: "polled",
      client: this.#client,
      partition: partition.name,
      firstOffset,
      lastOffset,
      batches,
    });
  }
}

/** Can its records be read? What is compressed shows only then. */
function isSound(batch: RecordBatch): boolean {
  return batch.isValid() && (batch.compression === 0 || batch.isReadable());
}

/** Does it hold a record for each of its offsets? */
function isDense(batch: RecordBatch): boolean {
  return batch.recordCount === batch.nextOffset - batch.baseOffset;
}

const NONE_ABORTED: readonly FetchedAbort[] = [];
