import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MemberSubscription } from "../../../../../src/kafka/group/assignors/member-subscription.ts";
import { assignRange } from "../../../../../src/kafka/group/assignors/range-assignor.ts";
import { assignRoundRobin } from "../../../../../src/kafka/group/assignors/round-robin-assignor.ts";
import {
  assignCooperativeSticky,
  assignSticky,
} from "../../../../../src/kafka/group/assignors/sticky-assignor.ts";
import { encodeStickyUserData } from "../../../../../src/kafka/group/assignors/sticky-user-data.ts";
import type {
  GroupAssignment,
  TopicPartitions,
} from "../../../../../src/kafka/group/assignors/topic-partitions.ts";
import { countPartitions } from "../../../../../src/kafka/group/assignors/topic-partitions.ts";
import {
  assignTargetRange,
  assignUniform,
} from "../../../../../src/kafka/group/assignors/uniform-assignor.ts";
import { numberedUuid } from "../../../../../src/kafka/uuid.ts";

/** A member of a group, for whichever assignor. */
interface Member {
  readonly id: string;
  readonly topics: readonly string[];
  readonly owned: TopicPartitions;
}

interface Group {
  readonly members: readonly Member[];
  readonly counts: ReadonlyMap<string, number>;
}

type Assign = (group: Group) => GroupAssignment;

const ASSIGNORS: Readonly<Record<string, Assign>> = {
  range: ({ members, counts }) => assignRange(members.map(subscription), counts),
  roundrobin: ({ members, counts }) => assignRoundRobin(members.map(subscription), counts),
  sticky: ({ members, counts }) => assignSticky(members.map(subscription), counts),
  "cooperative-sticky": ({ members, counts }) =>
    assignCooperativeSticky(members.map(subscription), counts),
  "server range": ({ members, counts }) => assignTargetRange(members.map(target), counts),
  uniform: ({ members, counts }) => assignUniform(members.map(target), counts),
};
const STICKY = ["sticky", "cooperative-sticky", "uniform"];
/** Those that count partitions over all topics. */
const BALANCED = ["roundrobin", ...STICKY];
const TOPICS = [0, 1, 2, 3].map((number) => numberedUuid(7, number));

function subscription(member: Member): MemberSubscription {
  return {
    memberId: member.id,
    instanceId: undefined,
    topics: member.topics,
    ownedPartitions: member.owned,
    generation: 3,
    userData: encodeStickyUserData(member.owned, 3),
  };
}

function target(member: Member): Parameters<typeof assignUniform>[0][number] {
  const { id: memberId, topics: topicIds, owned } = member;
  return { memberId, instanceId: undefined, topicIds, target: owned };
}

const counts = fc
  .array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 })
  .map((sizes) => new Map(sizes.map((size, topic) => [TOPICS[topic] as string, size])));

/** Groups in which all want all topics, or each some; nobody owns anything yet. */
function groups(isUniform: boolean): fc.Arbitrary<Group> {
  return counts.chain((sizes) =>
    fc
      .array(fc.subarray([...sizes.keys()], { minLength: 1 }), { minLength: 1, maxLength: 8 })
      .map((wanted) => ({
        counts: sizes,
        members: wanted.map((some, number) => {
          const topics = isUniform ? [...sizes.keys()] : some;
          return { id: `m${number}`, topics, owned: new Map() };
        }),
      })),
  );
}

/** The same group once it owns what it was assigned. */
function rejoined(group: Group, assignment: GroupAssignment): Group {
  return {
    counts: group.counts,
    members: group.members.map((member) => ({
      ...member,
      owned: assignment.get(member.id) ?? new Map(),
    })),
  };
}

function owning(
  one: string,
  numbers: readonly number[],
  other = "",
  others: readonly number[] = [],
): TopicPartitions {
  const owned = new Map([[one, numbers]]);
  if (others.length > 0) owned.set(other, others);
  return owned;
}

/** Each partition with its owner. */
function owners(assignment: GroupAssignment): Map<string, string> {
  const owner = new Map<string, string>();
  for (const [id, partitions] of assignment) {
    for (const [topic, numbers] of partitions) {
      for (const number of numbers) {
        const partition = `${topic}-${number}`;
        if (owner.has(partition)) throw new Error(`${partition} is of ${id} and another`);
        owner.set(partition, id);
      }
    }
  }
  return owner;
}

function sizes(assignment: GroupAssignment): number[] {
  return [...assignment.values()].map(countPartitions);
}

function check<T>(arbitrary: fc.Arbitrary<T>, holds: (value: T) => void): void {
  fc.assert(fc.property(arbitrary, holds), { seed: 42, numRuns: 100 });
}

describe.each(Object.entries(ASSIGNORS))("%s", (name, assign) => {
  test("gives each partition that somebody wants to exactly one of those who want it", () => {
    check(fc.oneof(groups(true), groups(false)), (group) => {
      const assignment = assign(group);

      const owner = owners(assignment);

      expect([...assignment.keys()]).toEqual(group.members.map((member) => member.id));
      for (const [topic, count] of group.counts) {
        const takers = group.members.filter((member) => member.topics.includes(topic));
        for (let partition = 0; partition < count; partition++) {
          const id = owner.get(`${topic}-${partition}`);
          const isRight =
            takers.length === 0 ? id === undefined : takers.some((each) => each.id === id);
          if (!isRight) throw new Error(`${topic}-${partition} went to ${id}`);
        }
      }
    });
  });

  test.runIf(BALANCED.includes(name))(
    "lets no two members differ by more than one partition if all want the same",
    () => {
      check(groups(true), (group) => {
        const all = sizes(assign(group));

        expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(1);
      });
    },
  );

  test.runIf(STICKY.includes(name))("moves nothing if nothing changed", () => {
    check(fc.oneof(groups(true), groups(false)), (group) => {
      const first = assign(group);

      const second = assign(rejoined(group, first));

      expect(owners(second)).toEqual(owners(first));
    });
  });

  test.runIf(STICKY.includes(name))(
    "moves only what is over the quota when a member joins a group in which all want the same",
    () => {
      check(groups(true), (group) => {
        const before = assign(group);
        const topics = [...group.counts.keys()];
        const held = rejoined(group, before);
        const joined = { id: "n", topics, owned: new Map() };

        const moved = assign({ ...held, members: [...held.members, joined] });

        const former = owners(before);
        const strays = [...owners(moved)].filter(
          ([partition, id]) => id !== "n" && former.get(partition) !== id,
        );
        expect(strays).toEqual([]);
        const withheld = name === "cooperative-sticky";
        expect(countPartitions(moved.get("n") ?? new Map())).toBe(
          withheld ? 0 : Math.floor(former.size / (group.members.length + 1)),
        );
      });
    },
  );

  test.runIf(STICKY.includes(name))("leaves everybody what he has when a member leaves", () => {
    check(groups(true), (group) => {
      const before = assign(group);
      const held = rejoined(group, before);
      const left = { ...held, members: held.members.slice(1) };

      const now = owners(left.members.length === 0 ? new Map() : assign(left));

      const strays = [...owners(before)].filter(
        ([partition, id]) => id !== "m0" && now.get(partition) !== id,
      );
      expect(strays).toEqual([]);
    });
  });

  test("deals out 1,000 partitions to 100 members, whether they want the same or not", () => {
    const topics = Array.from({ length: 10 }, (_, number) => numberedUuid(9, number));
    const wants = (number: number, isUniform: boolean) =>
      topics.filter((_, topic) => isUniform || topic % 5 !== number % 5);
    for (const isUniform of [true, false]) {
      const group: Group = {
        counts: new Map(topics.map((topic) => [topic, 100])),
        members: Array.from({ length: 100 }, (_, number) => ({
          id: `m${100 + number}`,
          topics: wants(number, isUniform),
          owned: new Map(),
        })),
      };
      const held = rejoined(group, assign(group));
      const grown = {
        ...held,
        members: [...held.members.slice(10), ...group.members.slice(0, 5)],
      };

      const assignment = assign(grown);

      const expected = name === "cooperative-sticky" ? 900 : 1000;
      expect(owners(assignment).size).toBeGreaterThanOrEqual(expected);
    }
  });
});

describe("the sticky assignors", () => {
  test("come to an end where those of Kafka 4.3.1 go round for ever", () => {
    const [a, b, c] = TOPICS as [string, string, string];
    const member = (id: string, topics: readonly string[], owned: TopicPartitions) =>
      subscription({ id, topics, owned });
    const members = [
      member("m0", [b, c], owning(b, [4, 6, 8], c, [5, 7, 9])),
      member("m1", [c], owning(c, [0, 1, 2, 3, 4, 6, 8])),
      member("m2", [b], owning(b, [0, 1, 2, 3, 5, 7])),
      member("m3", [], new Map()),
      member("m4", [a], owning(a, [0, 2, 4, 6])),
      member("m5", [a], owning(a, [1, 3, 5])),
      member("n", [a, b, c], new Map()),
    ];
    const sizes = [7, 9, 10];
    const counts = new Map(sizes.map((size, topic) => [TOPICS[topic] as string, size]));

    const assignment = assignSticky(members, counts);

    expect(owners(assignment).size).toBe(26);
  });

  test("give partitions to a first member that wants nothing, as Kafka's do", () => {
    const [topic] = TOPICS as [string];
    const wantsNothing = subscription({ id: "m0", topics: [], owned: new Map() });
    const wantsIt = subscription({ id: "m1", topics: [topic], owned: new Map() });

    const assignment = assignSticky([wantsNothing, wantsIt], new Map([[topic, 2]]));

    expect(sizes(assignment)).toEqual([1, 1]);
  });
});

describe("cooperative-sticky", () => {
  test("gives to nobody else what its owner has yet to give up", () => {
    check(groups(false), (group) => {
      const held = rejoined(
        group,
        assignCooperativeSticky(group.members.map(subscription), group.counts),
      );
      const joined = { id: "n", topics: [...group.counts.keys()], owned: new Map() };
      const members = [...held.members, joined];

      const assignment = assignCooperativeSticky(members.map(subscription), group.counts);

      const holder = owners(new Map(members.map((member) => [member.id, member.owned])));
      const strays = [...owners(assignment)].filter(
        ([partition, id]) => (holder.get(partition) ?? id) !== id,
      );
      expect(strays).toEqual([]);
    });
  });

  test("comes to rest with the rebalance after the one in which a partition was given up", () => {
    check(groups(true), (group) => {
      const assign = ASSIGNORS["cooperative-sticky"] as Assign;
      const held = rejoined(group, assign(group));
      const joined = { id: "n", topics: [...group.counts.keys()], owned: new Map() };
      const grown = { ...held, members: [...held.members, joined] };

      const second = rejoined(grown, assign(grown));
      const third = assign(second);

      const all = [...group.counts.values()].reduce((sum, count) => sum + count, 0);
      expect(owners(third).size).toBe(all);
      expect(owners(assign(rejoined(second, third)))).toEqual(owners(third));
    });
  });
});
