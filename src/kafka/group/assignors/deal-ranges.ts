import { byInstanceId } from "./member-subscription.ts";
import type { PartitionTable } from "./partition-table.ts";
import type { GroupAssignment } from "./topic-partitions.ts";

/** Who takes part in a deal of ranges, and in which topics. */
export interface RangeTaker {
  readonly memberId: string;
  readonly instanceId: string | undefined;
  readonly topics: readonly string[];
}

/**
 * Topic by topic, a range of its partitions to each subscriber in turn; if the division leaves a rest, the
 * first subscribers take one more. The turn is that of instance ids, then of member ids.
 */
export function dealRanges(takers: readonly RangeTaker[], table: PartitionTable): GroupAssignment {
  const numbers = new Map<string, number[]>(takers.map(({ memberId }) => [memberId, []]));
  const inTurn = [...takers].sort(byInstanceId);
  for (const [topicNumber, topic] of table.topics.entries()) {
    const subscribers = inTurn.filter((taker) => taker.topics.includes(topic));
    const size = table.sizes[topicNumber] as number;
    const quota = Math.floor(size / subscribers.length);
    const rest = size % subscribers.length;
    let next = table.starts[topicNumber] as number;
    for (const [turn, { memberId }] of subscribers.entries()) {
      const end = next + quota + (turn < rest ? 1 : 0);
      while (next < end) numbers.get(memberId)?.push(next++);
    }
  }
  return new Map([...numbers].map(([memberId, own]) => [memberId, table.partitionsOf(own)]));
}
