import { describe, expect, test } from "vitest";
import { byNumber } from "../../../../src/base/order.ts";
import { HeartbeatClient as Member } from "../../../support/group-clients.ts";
import { GROUP, GroupFixture, topicIdOf } from "../../../support/group-fixture.ts";

const ORDERS = topicIdOf("orders");

function groupOf(partitions: number): GroupFixture {
  const group = new GroupFixture();
  group.topic("orders", partitions);
  return group;
}

/** Lets all members send heartbeats until nothing changes any more; never may two own the same. */
function settle(group: GroupFixture, members: readonly Member[]): void {
  for (let round = 0; round < 10; round++) {
    group.pass(1_000);
    for (const member of members) {
      expect(member.beat()).toBe("NONE");
      member.obey();
      const owned = members.flatMap((one) => one.owned);
      expect(new Set(owned).size).toBe(owned.length);
    }
  }
}

describe("a group of KIP-848", () => {
  test("gives its first member everything at once, in epoch 1", () => {
    const group = groupOf(3);
    const one = new Member(group, "m1");

    expect(one.join()).toBe("NONE");

    expect(one).toMatchObject({ epoch: 1, assigned: [0, 1, 2] });
    expect(group.state).toBe("Stable");
    expect(group.log.map(({ record }) => record.type)).toEqual([
      "ConsumerGroupMemberMetadata",
      "ConsumerGroupMetadata",
      "ConsumerGroupTargetAssignmentMember",
      "ConsumerGroupTargetAssignmentMetadata",
      "ConsumerGroupCurrentMemberAssignment",
    ]);
  });

  test("gives a second member a partition only when the first has given it up", () => {
    const group = groupOf(2);
    const [one, other] = [new Member(group, "m1"), new Member(group, "m2")];
    one.join();
    one.obey();
    group.pass(1_000);

    other.join();
    expect(other).toMatchObject({ epoch: 2, assigned: [] });
    expect(group.state).toBe("Reconciling");
    other.beat();
    expect(other.assigned).toEqual([]);

    one.beat();
    expect(one).toMatchObject({ epoch: 1 });
    expect(one.assigned).toHaveLength(1);
    other.beat();
    expect(other.assigned).toEqual([]);

    one.obey();
    one.beat();
    expect(one.epoch).toBe(2);
    other.beat();
    expect(other.assigned).toHaveLength(1);
    expect(group.state).toBe("Stable");
  });

  test("comes to rest with every partition owned once, however many come and go", () => {
    const group = groupOf(7);
    const members = ["m1", "m2", "m3", "m4"].map((id) => new Member(group, id));
    for (const [i, member] of members.entries()) {
      member.join();
      settle(group, members.slice(0, i + 1));
    }
    expect(members.map(({ owned }) => owned.length).sort(byNumber)).toEqual([1, 2, 2, 2]);

    members[1]?.beat({ memberEpoch: -1 });
    const rest = members.filter(({ id }) => id !== "m2");
    settle(group, rest);

    expect(rest.flatMap(({ owned }) => owned).sort(byNumber)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(group.state).toBe("Stable");
  });

  test("assigns new partitions when their topic has got them", () => {
    const group = groupOf(1);
    const one = new Member(group, "m1");
    one.join();
    one.obey();
    group.topic("orders", 3);

    settle(group, [one]);

    expect(one).toMatchObject({ epoch: 2, owned: [0, 1, 2] });
  });

  test("makes no new target before group.consumer.assignment.interval.ms is over", () => {
    const group = groupOf(2);
    const [one, other] = [new Member(group, "m1"), new Member(group, "m2")];
    one.join();
    group.pass(999);
    other.join();
    expect(group.state).toBe("Assigning");
    expect(other.epoch).toBe(1);

    group.pass(1);
    other.beat();
    expect(group.state).toBe("Reconciling");
    expect(other.epoch).toBe(2);
  });

  test("assigns by range if most members ask for it", () => {
    const group = groupOf(4);
    group.topic("more", 4);
    const topics = { subscribedTopicNames: ["orders", "more"], serverAssignor: "range" };
    const [one, other] = [new Member(group, "m1"), new Member(group, "m2")];
    one.join(topics);
    group.pass(1_000);
    other.join(topics);

    const assigned = group.notes.filter((note) => note.kind === "group-assigned").at(-1);
    expect(assigned).toMatchObject({
      assignments: [
        { member: "m1", partitions: ["more-0", "more-1", "orders-0", "orders-1"] },
        { member: "m2", partitions: ["more-2", "more-3", "orders-2", "orders-3"] },
      ],
    });
  });
});

describe("a heartbeat is refused", () => {
  test.each([
    ["without a member id", { memberId: "" }, "INVALID_REQUEST"],
    ["of a first one without a rebalance timeout", { rebalanceTimeoutMs: -1 }, "INVALID_REQUEST"],
    ["of a first one that owns something", { topicPartitions: undefined }, "INVALID_REQUEST"],
    ["of a first one without topics", { subscribedTopicNames: undefined }, "INVALID_REQUEST"],
    ["with an epoch below -2", { memberEpoch: -3 }, "INVALID_REQUEST"],
    ["of a dynamic member that will be back", { memberEpoch: -2 }, "INVALID_REQUEST"],
    ["with an unknown assignor", { serverAssignor: "sticky" }, "UNSUPPORTED_ASSIGNOR"],
    ["to a group that is not there", { memberEpoch: 3 }, "GROUP_ID_NOT_FOUND"],
    ["by who leaves a group that is not there", { memberEpoch: -1 }, "GROUP_ID_NOT_FOUND"],
  ])("%s", (_, said, error) => {
    const group = groupOf(1);

    expect(new Member(group, "m1").join(said)).toBe(error);
    expect(group.log).toEqual([]);
  });

  test("by a group that is full", () => {
    const group = new GroupFixture({
      consumer: {
        sessionTimeoutMs: 45_000,
        heartbeatIntervalMs: 5_000,
        maxSize: 1,
        assignmentIntervalMs: 0,
      },
    });
    group.topic("orders", 1);
    new Member(group, "m1").join();

    expect(new Member(group, "m2").join()).toBe("GROUP_MAX_SIZE_REACHED");
  });

  test("of an unknown member, and with an epoch that the member is not in", () => {
    const group = groupOf(1);
    const one = new Member(group, "m1");
    one.join();
    one.obey();

    expect(new Member(group, "m2").beat({ memberEpoch: 1 })).toBe("UNKNOWN_MEMBER_ID");
    expect(one.beat({ memberEpoch: 2 })).toBe("FENCED_MEMBER_EPOCH");
    expect(one.beat({ memberEpoch: 1 })).toBe("NONE");
  });

  test("with the epoch before, unless the member owns no more than it has been assigned", () => {
    const group = groupOf(2);
    const one = new Member(group, "m1");
    one.join();
    one.obey();
    group.topic("orders", 3);
    group.pass(1_000);
    one.beat();
    expect(one.epoch).toBe(2);
    const owning = (partitions: number[]) => [{ topicId: ORDERS, partitions }];

    expect(one.beat({ memberEpoch: 1, topicPartitions: undefined })).toBe("FENCED_MEMBER_EPOCH");
    expect(one.beat({ memberEpoch: 1, topicPartitions: owning([7]) })).toBe("FENCED_MEMBER_EPOCH");
    expect(one.beat({ memberEpoch: 1, topicPartitions: owning([0, 1]) })).toBe("NONE");
  });
});

describe("a member is fenced", () => {
  test("when nothing was heard of it for a session", () => {
    const group = groupOf(2);
    const [one, other] = [new Member(group, "m1"), new Member(group, "m2")];
    one.join();
    one.obey();
    group.pass(1_000);
    other.join();
    settle(group, [one, other]);
    for (let i = 0; i < 10; i++) {
      group.pass(5_000);
      other.beat();
      other.obey();
    }

    expect(group.notes).toContainEqual(
      expect.objectContaining({ member: "m1", reason: "session-expired" }),
    );
    settle(group, [other]);
    expect([...other.owned].sort(byNumber)).toEqual([0, 1]);
    expect(one.beat()).toBe("UNKNOWN_MEMBER_ID");
  });

  test("when it does not give up in time what it must", () => {
    const group = groupOf(2);
    const [one, other] = [new Member(group, "m1"), new Member(group, "m2")];
    one.join();
    one.obey();
    group.pass(1_000);
    other.join();
    for (let i = 0; i < 13; i++) {
      one.beat();
      other.beat();
      group.pass(5_000);
    }

    expect(group.notes).toContainEqual(
      expect.objectContaining({ member: "m1", reason: "rebalance-timeout" }),
    );
    other.beat();
    expect([...other.assigned].sort(byNumber)).toEqual([0, 1]);
  });
});

describe("a static member of KIP-848", () => {
  test("that leaves for a while comes back, under another id, to what it had", () => {
    const group = groupOf(2);
    const [one, other] = [new Member(group, "m1", "i1"), new Member(group, "m2")];
    one.join();
    one.obey();
    group.pass(1_000);
    other.join();
    settle(group, [one, other]);
    const had = one.owned;
    expect(one.beat({ memberEpoch: -2 })).toBe("NONE");

    const back = new Member(group, "m3", "i1");
    expect(back.join()).toBe("NONE");

    expect(back.assigned).toEqual(had);
    expect(group.notes).toContainEqual(
      expect.objectContaining({ kind: "group-member-left", member: "m1", reason: "replaced" }),
    );
    settle(group, [back, other]);
    expect(one.beat({ memberEpoch: 2 })).toBe("FENCED_INSTANCE_ID");
  });

  test("keeps others off its instance id while it is there", () => {
    const group = groupOf(1);
    new Member(group, "m1", "i1").join();

    expect(new Member(group, "m2", "i1").join()).toBe("UNRELEASED_INSTANCE_ID");
    expect(new Member(group, "m2", "i2").beat({ memberEpoch: 1 })).toBe("UNKNOWN_MEMBER_ID");
  });
});

describe("offsets of a KIP-848 group", () => {
  test("are taken with the member's epoch, and with an older one for what it has had since", () => {
    const group = groupOf(2);
    const one = new Member(group, "m1");
    one.join();
    one.obey();
    expect(group.commitOffset(5, { memberId: "m1", generation: 1 })).toBe("NONE");
    group.topic("orders", 3);
    group.pass(1_000);
    one.beat();
    expect(one.epoch).toBe(2);

    expect(group.commitOffset(6, { memberId: "m1", generation: 2 })).toBe("NONE");
    expect(group.commitOffset(7, { memberId: "m1", generation: 1 })).toBe("NONE");
    expect(group.commitOffset(8, { memberId: "m1", generation: 0 })).toBe("STALE_MEMBER_EPOCH");
    expect(group.commitOffset(8, { memberId: "m1", generation: 3 })).toBe("STALE_MEMBER_EPOCH");
    expect(group.commitOffset(8, { memberId: "m2", generation: 2 })).toBe("UNKNOWN_MEMBER_ID");
    expect(group.committed).toBe(7);
    expect(group.commitTransactional(9, 55, { memberId: "m1", generation: 3 })).toBe(
      "ILLEGAL_GENERATION",
    );
  });

  test("are told to a member that is in its epoch, and to who names none", () => {
    const group = groupOf(1);
    new Member(group, "m1").join();
    const check = (memberId: string | undefined, epoch: number) =>
      group.groups.checkOffsetFetch(GROUP, memberId, epoch).name;

    expect(check("m1", 1)).toBe("NONE");
    expect(check("m1", 0)).toBe("STALE_MEMBER_EPOCH");
    expect(check("m2", 1)).toBe("UNKNOWN_MEMBER_ID");
    expect(check(undefined, -1)).toBe("NONE");
  });
});

describe("the other protocol", () => {
  test("takes over a group without members, either way", () => {
    const group = groupOf(1);
    const [only = ""] = group.stable(1);
    group.leave({ memberId: only, groupInstanceId: undefined, reason: undefined });

    const one = new Member(group, "m1");
    expect(one.join()).toBe("NONE");
    one.beat({ memberEpoch: -1 });
    expect(group.state).toBe("Empty");
    expect(group.joined(group.join(""))?.errorCode).toBe(79);
    group.reload();
    expect(group.classic?.state).toBe("Empty");
  });
});

test("the next coordinator knows a KIP-848 group from the log", () => {
  const group = groupOf(3);
  const [one, other] = [new Member(group, "m1", "i1"), new Member(group, "m2")];
  one.join();
  one.obey();
  group.pass(1_000);
  other.join();
  settle(group, [one, other]);

  group.reload();

  expect(group.state).toBe("Stable");
  settle(group, [one, other]);
  expect([...one.owned, ...other.owned].sort(byNumber)).toEqual([0, 1, 2]);
  expect(group.log.length).toBeLessThan(30);
});
