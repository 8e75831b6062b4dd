import type { MemberSubscription } from "./member-subscription.ts";
import { byInstanceId, byMemberId, subscribedPartitions } from "./member-subscription.ts";
import type { PartitionCounts } from "./partition-table.ts";
import type { GroupAssignment } from "./topic-partitions.ts";

/**
 * All partitions of all topics one after another, each to the next member that subscribes to its topic
 * (`RoundRobinAssignor`).
 */
export function assignRoundRobin(
  members: readonly MemberSubscription[],
  counts: PartitionCounts,
): GroupAssignment {
  const table = subscribedPartitions(members, counts);
  const numbers = new Map<string, number[]>();
  for (const member of byMemberId(members)) numbers.set(member.memberId, []);
  const circle = [...members].sort(byInstanceId);
  const wants = circle.map((member) => new Set(member.topics));
  let turn = 0;
  for (let number = 0; number < table.total; number++) {
    const topic = table.topics[table.topicOf[number] as number] as string;
    // Somebody wants it: the table has only topics that are subscribed to.
    while (wants[turn]?.has(topic) === false) turn = (turn + 1) % circle.length;
    numbers.get(circle[turn]?.memberId ?? "")?.push(number);
    turn = (turn + 1) % circle.length;
  }
  return new Map([...numbers].map(([memberId, own]) => [memberId, table.partitionsOf(own)]));
}
