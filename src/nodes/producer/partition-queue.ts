import { invariant } from "../../base/invariant.ts";
import { PartitionSequences } from "../../kafka/client/partition-sequences.ts";
import type { PartitionName } from "../../kafka/ids.ts";
import { partitionName } from "../../kafka/ids.ts";
import type { PartitionLeader } from "../client-metadata/topic-leaders.ts";
import type { ProducerBatch } from "./producer-batch.ts";

/** The batches that wait to be sent to one partition, and what the producer remembers of it. */
export class PartitionQueue {
  readonly partition: number;
  readonly name: PartitionName;
  readonly leader: PartitionLeader;
  readonly sequences: PartitionSequences = new PartitionSequences();
  /** With one request in flight at most: one of this partition is, and nothing may overtake it. */
  isMuted = false;
  /** Among the accumulator's active ones. */
  isActive = false;
  readonly #batches: ProducerBatch[] = [];

  constructor(topic: string, leader: PartitionLeader) {
    this.partition = leader.partition;
    this.name = partitionName(topic, leader.partition);
    this.leader = leader;
  }

  get length(): number {
    return this.#batches.length;
  }

  get first(): ProducerBatch | undefined {
    return this.#batches[0];
  }

  get last(): ProducerBatch | undefined {
    const { length } = this.#batches;
    // An index of -1 would be looked up as a name.
    return length === 0 ? undefined : this.#batches[length - 1];
  }

  push(batch: ProducerBatch): void {
    this.#batches.push(batch);
  }

  shift(): void {
    this.#batches.shift();
  }

  /** Puts a batch back in front of all others: so batches overtake each other without idempotence. */
  pushFront(batch: ProducerBatch): void {
    this.#batches.unshift(batch);
  }

  /** Puts a batch back among those that have a sequence. All of them are under one identity. */
  insertInSequenceOrder(batch: ProducerBatch): void {
    invariant(batch.hasSequence, () => `a batch of ${this.name} comes back without a sequence`);
    let at = 0;
    for (const other of this.#batches) {
      if (!other.hasSequence || other.baseSequence >= batch.baseSequence) break;
      at++;
    }
    this.#batches.splice(at, 0, batch);
  }

  /** Takes a batch out, wherever it is. False if it is not here. */
  remove(batch: ProducerBatch): boolean {
    const at = this.#batches.indexOf(batch);
    if (at < 0) return false;
    this.#batches.splice(at, 1);
    return true;
  }
}
