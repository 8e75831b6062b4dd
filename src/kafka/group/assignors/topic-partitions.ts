import { byNumber, byText } from "../../../base/order.ts";

/** Partitions by topic: as a client owns them, or is assigned them. Server-side topics are ids. */
export type TopicPartitions = ReadonlyMap<string, readonly number[]>;

/** What each member is to have. Every member is in it, in the order of member ids. */
export type GroupAssignment = ReadonlyMap<string, TopicPartitions>;

export const NO_PARTITIONS: TopicPartitions = new Map();

/** How many partitions there are. */
export function countPartitions(partitions: TopicPartitions): number {
  let count = 0;
  for (const numbers of partitions.values()) count += numbers.length;
  return count;
}

/** The same partitions, topics in the order of their names and partitions ascending. */
export function inOrder(partitions: TopicPartitions): TopicPartitions {
  const entries = [...partitions].filter(([, numbers]) => numbers.length > 0);
  entries.sort(([one], [other]) => byText(one, other));
  return new Map(entries.map(([topic, numbers]) => [topic, [...numbers].sort(byNumber)]));
}

/** The partitions of `from` that are not in `without`. */
export function subtract(from: TopicPartitions, without: TopicPartitions): TopicPartitions {
  const rest = new Map<string, readonly number[]>();
  for (const [topic, numbers] of from) {
    const others = without.get(topic);
    const left = others === undefined ? numbers : numbers.filter((each) => !others.includes(each));
    if (left.length > 0) rest.set(topic, left);
  }
  return rest;
}

/** Do both have the same partitions of the same topics, in whatever order? */
export function isSamePartitions(one: TopicPartitions, other: TopicPartitions): boolean {
  if (one.size !== other.size) return false;
  for (const [topic, numbers] of one) {
    const others = other.get(topic);
    if (others?.length !== numbers.length) return false;
    if (!numbers.every((each) => others.includes(each))) return false;
  }
  return true;
}
