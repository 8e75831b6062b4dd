import type { MemberSubscription } from "./member-subscription.ts";
import type { PartitionCounts } from "./partition-table.ts";
import { assignRange } from "./range-assignor.ts";
import { assignRoundRobin } from "./round-robin-assignor.ts";
import { assignCooperativeSticky, assignSticky } from "./sticky-assignor.ts";
import { encodeCooperativeUserData, encodeStickyUserData } from "./sticky-user-data.ts";
import type { GroupAssignment, TopicPartitions } from "./topic-partitions.ts";

/** What a member was assigned last, as its assignor remembers it. */
export interface LastAssignment {
  readonly partitions: TopicPartitions;
  readonly generation: number;
}

/** An assignor that clients have on board (`ConsumerPartitionAssignor`). */
export interface ClientAssignor {
  readonly name: string;
  /** As `partition.assignment.strategy` has it. */
  readonly className: string;
  /** Can its members keep what they have while the group rebalances (KIP-429)? */
  readonly isCooperative: boolean;
  assign(members: readonly MemberSubscription[], counts: PartitionCounts): GroupAssignment;
  /** What it tells the assignor of the group's leader. */
  userData(last: LastAssignment | undefined): Uint8Array | undefined;
}

const PACKAGE = "org.apache.kafka.clients.consumer";

export const CLIENT_ASSIGNORS: readonly ClientAssignor[] = [
  {
    name: "range",
    className: `${PACKAGE}.RangeAssignor`,
    isCooperative: false,
    assign: assignRange,
    userData: () => undefined,
  },
  {
    name: "roundrobin",
    className: `${PACKAGE}.RoundRobinAssignor`,
    isCooperative: false,
    assign: assignRoundRobin,
    userData: () => undefined,
  },
  {
    name: "sticky",
    className: `${PACKAGE}.StickyAssignor`,
    isCooperative: false,
    assign: assignSticky,
    userData: (last) => last && encodeStickyUserData(last.partitions, last.generation),
  },
  {
    name: "cooperative-sticky",
    className: `${PACKAGE}.CooperativeStickyAssignor`,
    isCooperative: true,
    assign: assignCooperativeSticky,
    userData: (last) => encodeCooperativeUserData(last?.generation ?? -1),
  },
];

/** So that a group can go over from the first to the second, member by member. */
export const DEFAULT_ASSIGNORS: string = `${PACKAGE}.RangeAssignor,${PACKAGE}.CooperativeStickyAssignor`;

/** How an assignor may be called: by its class, as in Kafka, or by its name. */
export const CLIENT_ASSIGNOR_NAMES: readonly string[] = CLIENT_ASSIGNORS.flatMap(
  ({ name, className }) => [name, className],
);

/** The assignors of `partition.assignment.strategy`, the preferred first. All names are known ones. */
export function clientAssignors(strategy: string): readonly ClientAssignor[] {
  return strategy
    .split(",")
    .map((each) => each.trim())
    .flatMap((wanted) =>
      CLIENT_ASSIGNORS.filter(({ name, className }) => name === wanted || className === wanted),
    );
}
