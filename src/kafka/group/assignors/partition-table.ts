import { byNumber } from "../../../base/order.ts";
import type { TopicPartitions } from "./topic-partitions.ts";

/** How many partitions each topic has. */
export type PartitionCounts = ReadonlyMap<string, number>;

/**
 * All partitions that an assignor deals out, numbered from 0, topic after topic: what follows works
 * on small integers instead of names.
 */
export class PartitionTable {
  readonly topics: readonly string[];
  /** By topic: how many partitions it has. */
  readonly sizes: readonly number[];
  /** By topic: the number of its partition 0. */
  readonly starts: readonly number[];
  /** By partition: its topic. */
  readonly topicOf: Int32Array;
  readonly total: number;
  readonly #topicNumbers = new Map<string, number>();

  /** `topics` in the order in which they shall be numbered; those without partitions are left out. */
  constructor(topics: readonly string[], counts: PartitionCounts) {
    this.topics = topics.filter((topic) => (counts.get(topic) ?? 0) > 0);
    const starts: number[] = [];
    let total = 0;
    this.sizes = this.topics.map((topic, number) => {
      const size = counts.get(topic) ?? 0;
      this.#topicNumbers.set(topic, number);
      starts.push(total);
      total += size;
      return size;
    });
    this.starts = starts;
    this.total = total;
    this.topicOf = new Int32Array(total);
    for (const [number, start] of starts.entries()) this.topicOf.fill(number, start);
  }

  /** The number of a topic, or -1. */
  topicNumber(topic: string): number {
    return this.#topicNumbers.get(topic) ?? -1;
  }

  /** The number of a partition, or -1 if there is no such partition. */
  numberOf(topic: string, partition: number): number {
    const number = this.topicNumber(topic);
    if (number < 0 || partition >= (this.sizes[number] as number)) return -1;
    return (this.starts[number] as number) + partition;
  }

  /** Which partition of its topic it is. */
  partitionOf(number: number): number {
    return number - (this.starts[this.topicOf[number] as number] as number);
  }

  /** The numbers of those partitions that exist, in the order given. */
  numbersOf(partitions: TopicPartitions): number[] {
    const numbers: number[] = [];
    for (const [topic, ofTopic] of partitions) {
      for (const partition of ofTopic) {
        const number = this.numberOf(topic, partition);
        if (number >= 0) numbers.push(number);
      }
    }
    return numbers;
  }

  /** The partitions with these numbers, in the order of the table. */
  partitionsOf(numbers: readonly number[]): TopicPartitions {
    const byTopic = new Map<string, number[]>();
    for (const number of [...numbers].sort(byNumber)) {
      const topic = this.topics[this.topicOf[number] as number] as string;
      const partition = this.partitionOf(number);
      const ofTopic = byTopic.get(topic);
      if (ofTopic === undefined) byTopic.set(topic, [partition]);
      else ofTopic.push(partition);
    }
    return byTopic;
  }
}
