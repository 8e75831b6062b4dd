import { describe, expect, test } from "vitest";
import { byNumber } from "../../../../src/base/order.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import {
  decodeAssignment,
  encodeAssignment,
} from "../../../../src/kafka/group/consumer-protocol.ts";
import { HeartbeatClient, JoiningClient } from "../../../support/group-clients.ts";
import {
  errorIn,
  GROUP,
  GroupFixture,
  protocol,
  topicIdOf,
} from "../../../support/group-fixture.ts";

type Client = HeartbeatClient | JoiningClient;
type Consumer = NonNullable<ConstructorParameters<typeof GroupFixture>[0]>["consumer"];

function groupOf(partitions: number, consumer: Consumer = {}, maxSize = 100): GroupFixture {
  const group = new GroupFixture({ consumer, maxSize });
  group.topic("orders", partitions);
  return group;
}

/** Lets all members do what they have to until nothing changes any more; never may two own the same. */
function settle(group: GroupFixture, ...clients: readonly Client[]): void {
  for (let round = 0; round < 12; round++) {
    group.pass(1_000);
    for (const client of clients) {
      client.beat();
      if (client instanceof JoiningClient) client.step();
      else client.obey();
      const owned = clients.flatMap((one) => one.owned);
      expect(new Set(owned).size).toBe(owned.length);
    }
  }
}

function ownedBy(...clients: readonly Client[]): number[] {
  return clients.flatMap(({ owned }) => owned).sort(byNumber);
}

/** A stable classic group of such clients. */
function classicGroup(group: GroupFixture, ...clients: readonly JoiningClient[]): void {
  for (const client of clients) client.step();
  settle(group, ...clients);
  expect(group.classic?.state).toBe("Stable");
}

function membersOf(group: GroupFixture) {
  const known = group.groups.get(GROUP);
  if (known?.kind !== "consumer") throw new Error("it is a classic group");
  return known.members;
}

function typesSince(group: GroupFixture, from: number): string[] {
  return group.log
    .slice(from)
    .map(({ record }) => (record.value === undefined ? `no ${record.type}` : record.type));
}

describe("an upgrade", () => {
  test("keeps the members with what they have, and makes the generation the epoch", () => {
    const group = groupOf(4);
    const [one, two] = [new JoiningClient(group), new JoiningClient(group)];
    classicGroup(group, one, two);
    const { generation } = group;
    const before = group.log.length;

    const first = new HeartbeatClient(group, "m1");
    expect(first.join()).toBe("NONE");

    expect(first.epoch).toBe(generation + 1);
    const { metadata, current } = membersOf(group).get(two.id) ?? {};
    expect(metadata?.classicMemberMetadata).toMatchObject({
      sessionTimeoutMs: 10_000,
      supportedProtocols: [{ name: "range" }],
    });
    expect(current).toMatchObject({ memberEpoch: generation, state: 1 });
    expect([...(current?.assigned.get(topicIdOf("orders"))?.keys() ?? [])]).toEqual(two.owned);
    expect(typesSince(group, before).slice(0, 9)).toEqual([
      "no GroupMetadata",
      "ConsumerGroupMemberMetadata",
      "ConsumerGroupMemberMetadata",
      "ConsumerGroupMetadata",
      "ConsumerGroupTargetAssignmentMember",
      "ConsumerGroupTargetAssignmentMember",
      "ConsumerGroupTargetAssignmentMetadata",
      "ConsumerGroupCurrentMemberAssignment",
      "ConsumerGroupCurrentMemberAssignment",
    ]);
  });

  test.each([true, false])(
    "hands partitions over only when they are given up (eager: %s)",
    (eager) => {
      const group = groupOf(6);
      const [one, two] = [new JoiningClient(group, eager), new JoiningClient(group, eager)];
      classicGroup(group, one, two);
      const first = new HeartbeatClient(group, "m1");
      first.join();

      expect(first.assigned).toEqual([]);
      expect(one.beat()).toBe("REBALANCE_IN_PROGRESS");
      settle(group, one, two, first);

      expect(group.state).toBe("Stable");
      expect(ownedBy(one, two, first)).toEqual([0, 1, 2, 3, 4, 5]);
      expect(first.owned).toHaveLength(2);
    },
  );

  test("tells those who wait for the next generation to join again", () => {
    const group = groupOf(2);
    const [one, two] = [new JoiningClient(group), new JoiningClient(group)];
    classicGroup(group, one);
    two.step();
    expect(two.told).toBe("none yet");

    const first = new HeartbeatClient(group, "m1");
    expect(first.join()).toBe("NONE");

    expect(membersOf(group).has(two.id)).toBe(true);
    two.step();
    expect(two.told).toBe("NONE");
    settle(group, one, two, first);
    expect(ownedBy(one, two, first)).toEqual([0, 1]);
  });

  test("gives a static member's place to who comes with its instance id", () => {
    const group = groupOf(4);
    const [one, two] = [new JoiningClient(group, true, "i1"), new JoiningClient(group)];
    classicGroup(group, one, two);
    const had = one.owned;

    const next = new HeartbeatClient(group, "m1", "i1");
    expect(next.join()).toBe("NONE");

    expect(next.assigned).toEqual(had);
    expect(one.beat()).toBe("FENCED_INSTANCE_ID");
    expect(membersOf(group).get("m1")?.metadata.classicMemberMetadata).toBeUndefined();
  });

  test.each<[string, Consumer, string]>([
    ["group.consumer.migration.policy is disabled", { migrationPolicy: "disabled" }, "consumer"],
    ["it is downgrade", { migrationPolicy: "downgrade" }, "consumer"],
    ["there are more than group.consumer.max.size", { maxSize: 1 }, "consumer"],
    ["it is not a group of consumers", {}, "connect"],
  ])("is refused, and changes nothing, if %s", (_, consumer, protocolType) => {
    const group = groupOf(2, consumer);
    group.stable(2, { protocolType });
    const { state } = group;
    const { length } = group.log;

    expect(new HeartbeatClient(group, "m1").join()).toBe("GROUP_ID_NOT_FOUND");

    expect(group.classic?.state).toBe(state);
    expect(group.log).toHaveLength(length);
  });

  test("is refused if what the assignor had to say besides would be lost with it", () => {
    const group = groupOf(1);
    const [only = ""] = group.stable(1);
    const member = group.classic?.member(only);
    const partitions = new Map([["orders", [0]]]);
    if (member !== undefined)
      member.assignment = encodeAssignment({ partitions, userData: Uint8Array.of(1) });

    expect(new HeartbeatClient(group, "m1").join()).toBe("GROUP_ID_NOT_FOUND");
  });

  test("is refused if what a member said when it joined makes no sense", () => {
    const group = groupOf(1);
    group.stable(1, { protocols: [{ name: "range", metadata: Uint8Array.of(0, 3, 9) }] });

    expect(new HeartbeatClient(group, "m1").join()).toBe("GROUP_ID_NOT_FOUND");
  });

  test("fails while a group has not chosen a protocol yet, as Kafka 4.3 does", () => {
    const group = groupOf(1);
    const { request } = group.joinNew();

    expect(new HeartbeatClient(group, "m1").join()).toBe("UNKNOWN_SERVER_ERROR");

    expect(errorIn(group.joined(request))).toBe("REBALANCE_IN_PROGRESS");
    expect(group.classic?.state).toBe("PreparingRebalance");
  });
});

/** A group of KIP-848 with one member of each protocol, at rest. */
function mixedGroup(
  partitions: number,
  consumer: Consumer = {},
): { group: GroupFixture; classic: JoiningClient; first: HeartbeatClient } {
  const group = groupOf(partitions, consumer);
  const classic = new JoiningClient(group, false);
  classicGroup(group, classic);
  const first = new HeartbeatClient(group, "m1");
  first.join();
  settle(group, classic, first);
  expect(group.state).toBe("Stable");
  return { group, classic, first };
}

describe("a member of the classic protocol in a group of KIP-848", () => {
  test("that is new is given an id, and then what the coordinator assigns, and leads nobody", () => {
    const { group, classic, first } = mixedGroup(6);
    const third = new JoiningClient(group, false);

    const request = group.join("", { protocols: [protocol("cooperative-sticky")] });
    expect(errorIn(group.joined(request))).toBe("MEMBER_ID_REQUIRED");
    third.step();

    expect(third.told).toBe("NONE");
    expect(membersOf(group).size).toBe(3);
    settle(group, classic, first, third);
    expect(ownedBy(classic, first, third)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(third.owned).toHaveLength(2);
    const again = group.join(third.id, { protocols: [protocol("cooperative-sticky")] });
    expect(group.joined(again)).toMatchObject({
      leader: "",
      members: [],
      protocolType: "consumer",
      protocolName: "cooperative-sticky",
    });
  });

  test("is answered only when what it has changed is committed", () => {
    const { group, classic } = mixedGroup(2);
    group.commitsAtOnce = false;

    const lost = group.join(classic.id, { protocols: [protocol("cooperative-sticky", ["a"])] });
    expect(group.joined(lost)).toBeUndefined();
    group.commit(ERRORS.NOT_COORDINATOR);
    expect(errorIn(group.joined(lost))).toBe("NOT_COORDINATOR");

    const request = group.join(classic.id, { protocols: [protocol("cooperative-sticky")] });
    expect(group.joined(request)).toBeUndefined();
    group.commit();
    expect(errorIn(group.joined(request))).toBe("NONE");
    const { generationId = -1 } = group.joined(request) ?? {};
    const sync = group.sync(classic.id, {}, { generationId, protocolName: "cooperative-sticky" });
    expect(group.synced(sync)).toBeUndefined();
    group.commit();
    expect(errorIn(group.synced(sync))).toBe("NONE");
  });

  test.each<[string, Consumer, Parameters<GroupFixture["join"]>[1], string]>([
    ["the policy is disabled", { migrationPolicy: "disabled" }, {}, "INCONSISTENT_GROUP_PROTOCOL"],
    ["the group is full", { maxSize: 2 }, {}, "GROUP_MAX_SIZE_REACHED"],
    ["it is no consumer", {}, { protocolType: "connect" }, "INCONSISTENT_GROUP_PROTOCOL"],
    [
      "it shares no protocol with the others",
      {},
      { protocols: [protocol("range")] },
      "INCONSISTENT_GROUP_PROTOCOL",
    ],
    [
      "what it says makes no sense",
      {},
      {
        groupInstanceId: "i9",
        protocols: [{ name: "cooperative-sticky", metadata: Uint8Array.of(0) }],
      },
      "UNKNOWN_SERVER_ERROR",
    ],
  ])("is not let in if %s", (_, consumer, body, error) => {
    const { group } = mixedGroup(2);
    const strict = groupOf(2, consumer);
    const { length } = group.log;
    for (const { record } of group.log) strict.log.push({ record, producerId: -1 });
    strict.reload();

    const request = strict.join("", { protocols: [protocol("cooperative-sticky")], ...body });

    expect(errorIn(strict.joined(request))).toBe(error);
    expect(strict.log).toHaveLength(length);
  });

  test.each<[string, number, string]>([
    ["session-expired", 10_000, "is not heard of"],
    ["rebalance-timeout", 60_000, "does not join again when it is told to"],
    ["sync-timeout", 60_000, "does not ask what it is assigned"],
  ])("is out (%s) if for %i ms it %s", (reason, ms, what) => {
    const { group, classic, first } = mixedGroup(2);
    if (what.includes("join")) {
      new HeartbeatClient(group, "m2").join();
      group.pass(1_000);
      first.beat();
      expect(classic.beat()).toBe("REBALANCE_IN_PROGRESS");
    } else if (what.includes("assigned")) {
      const request = group.join(classic.id, { protocols: [protocol("cooperative-sticky")] });
      expect(errorIn(group.joined(request))).toBe("NONE");
    }

    for (let passed = 0; passed < ms; passed += 1_000) {
      expect(membersOf(group).has(classic.id)).toBe(true);
      group.pass(1_000);
      first.beat();
      const { current } = membersOf(group).get(classic.id) ?? {};
      if (what.includes("heard") || current === undefined) continue;
      group.heartbeat(classic.id, { generationId: current.memberEpoch });
    }

    expect(membersOf(group).has(classic.id)).toBe(false);
    expect(group.notes).toContainEqual(
      expect.objectContaining({ kind: "group-member-left", member: classic.id, reason }),
    );
  });

  test("is told in Kafka's order what is wrong with a sync", () => {
    const { group, classic, first } = mixedGroup(2);
    const { id, generation: generationId } = classic;
    const sync = (memberId: string, more: Parameters<GroupFixture["sync"]>[2]) =>
      errorIn(
        group.synced(group.sync(memberId, {}, { generationId, protocolName: "range", ...more })),
      );

    expect(sync("m9", {})).toBe("UNKNOWN_MEMBER_ID");
    expect(sync(id, { groupInstanceId: "i1" })).toBe("UNKNOWN_MEMBER_ID");
    expect(sync(first.id, {})).toBe("UNKNOWN_MEMBER_ID");
    expect(sync(id, { generationId: 1 })).toBe("ILLEGAL_GENERATION");
    expect(sync(id, { protocolType: "connect" })).toBe("INCONSISTENT_GROUP_PROTOCOL");
    expect(sync(id, {})).toBe("INCONSISTENT_GROUP_PROTOCOL");
    new HeartbeatClient(group, "m2").join();
    expect(sync(id, { protocolName: "cooperative-sticky" })).toBe("REBALANCE_IN_PROGRESS");
  });

  test("is told by heartbeats to join only when there is something to join for (KAFKA-20272)", () => {
    const { group, classic, first } = mixedGroup(2);
    const beat = (more = {}) =>
      group.heartbeat(classic.id, { generationId: classic.generation, ...more });
    expect(beat()).toBe("NONE");
    expect(beat({ generationId: 1 })).toBe("ILLEGAL_GENERATION");
    expect(group.heartbeat(first.id, { generationId: first.epoch })).toBe("UNKNOWN_MEMBER_ID");

    // The group epoch rises at once, what is assigned only when the last target is a second old.
    new HeartbeatClient(group, "m2").join();
    group.pass(100);
    new HeartbeatClient(group, "m3").join();
    expect(beat()).toBe("REBALANCE_IN_PROGRESS");
    classic.beat();
    classic.step();
    expect(beat({ generationId: classic.generation })).toBe("NONE");
    group.pass(1_000);
    first.beat();
    expect(beat()).toBe("REBALANCE_IN_PROGRESS");
  });

  test("leaves by LeaveGroup, one by one or several at once", () => {
    const { group, classic, first } = mixedGroup(2);
    const other = new JoiningClient(group, false, "i1");
    other.step();
    const epoch = group.log.length;

    const { members } = group.leave(
      { memberId: "m9", groupInstanceId: undefined, reason: undefined },
      { memberId: first.id, groupInstanceId: undefined, reason: undefined },
      { memberId: "m9", groupInstanceId: "i1", reason: undefined },
      { memberId: "", groupInstanceId: "i1", reason: undefined },
      { memberId: classic.id, groupInstanceId: undefined, reason: undefined },
    );

    expect(members.map(errorIn)).toEqual([
      "UNKNOWN_MEMBER_ID",
      "UNKNOWN_MEMBER_ID",
      "FENCED_INSTANCE_ID",
      "NONE",
      "NONE",
    ]);
    expect([...membersOf(group).keys()]).toEqual([first.id]);
    const written = typesSince(group, epoch).filter((type) => type === "ConsumerGroupMetadata");
    expect(written).toHaveLength(1);
    settle(group, first);
    expect(first.owned).toEqual([0, 1]);
  });

  test("commits by its generation, also by an older one what it has had since", () => {
    const { group, classic, first } = mixedGroup(1);
    const owner = classic.owned.length > 0 ? classic.id : first.id;
    const late = owner === classic.id ? "ILLEGAL_GENERATION" : "STALE_MEMBER_EPOCH";
    const commit = (generation: number) => group.commitOffset(5, { memberId: owner, generation });

    const { memberEpoch = 0, assigned } = membersOf(group).get(owner)?.current ?? {};
    const since = assigned?.get(topicIdOf("orders"))?.get(0) ?? 0;
    expect(commit(memberEpoch)).toBe("NONE");
    expect(commit(since)).toBe("NONE");
    expect(commit(since - 1)).toBe(late);
    expect(commit(memberEpoch + 1)).toBe(late);
    const check = (id: string, epoch: number) =>
      group.groups.checkOffsetFetch(GROUP, id, epoch).name;
    expect(check(classic.id, classic.generation - 1)).toBe("ILLEGAL_GENERATION");
    expect(check(first.id, first.epoch - 1)).toBe("STALE_MEMBER_EPOCH");
  });
});

describe("a downgrade", () => {
  test.each(["leaves", "is missed"])("follows when the last of the other protocol %s", (how) => {
    const { group, classic, first } = mixedGroup(4);
    const { generation } = classic;
    const before = group.log.length;

    if (how === "leaves") first.beat({ memberEpoch: -1 });
    else
      for (let passed = 0; passed < 45_000; passed += 3_000) {
        group.pass(3_000);
        classic.beat();
      }

    expect(group.classic).toMatchObject({ state: "PreparingRebalance", generation });
    expect(typesSince(group, before)).toEqual([
      "no ConsumerGroupCurrentMemberAssignment",
      "no ConsumerGroupCurrentMemberAssignment",
      "no ConsumerGroupTargetAssignmentMember",
      "no ConsumerGroupTargetAssignmentMember",
      "no ConsumerGroupTargetAssignmentMetadata",
      "no ConsumerGroupMemberMetadata",
      "no ConsumerGroupMemberMetadata",
      "no ConsumerGroupMetadata",
      "GroupMetadata",
    ]);
    settle(group, classic);
    expect(group.classic).toMatchObject({ state: "Stable", generation: generation + 1 });
    expect(ownedBy(classic)).toEqual([0, 1, 2, 3]);
    expect(first.beat()).toBe("GROUP_ID_NOT_FOUND");
  });

  test.each<[string, Consumer, number]>([
    ["group.consumer.migration.policy is disabled", { migrationPolicy: "disabled" }, 100],
    ["it is upgrade", { migrationPolicy: "upgrade" }, 100],
    ["more would stay than group.max.size", {}, 0],
  ])("does not follow if %s, and then nobody is told of what is free", (_, consumer, maxSize) => {
    const { group, classic, first } = mixedGroup(4);
    const strict = groupOf(4, consumer, maxSize);
    for (const { record } of group.log) strict.log.push({ record, producerId: -1 });
    strict.reload();

    strict.beat({ memberId: first.id, memberEpoch: -1 });

    expect(strict.classic).toBeUndefined();
    for (let round = 0; round < 5; round++) {
      strict.pass(2_000);
      const { generation: generationId } = classic;
      expect(strict.heartbeat(classic.id, { generationId })).toBe("NONE");
    }
    expect(strict.state).toBe("Assigning");
  });

  test("does not follow while another of that protocol is there, nor for a static one that will be back", () => {
    const { group, classic, first } = mixedGroup(4);
    const second = new HeartbeatClient(group, "m2", "i2");
    second.join();
    settle(group, classic, first, second);

    first.beat({ memberEpoch: -1 });
    second.beat({ memberEpoch: -2 });

    expect(group.classic).toBeUndefined();
  });

  test("follows without a rebalance when a static member is back by the classic protocol", () => {
    const group = groupOf(4);
    const [one, two] = [new JoiningClient(group, true, "i1"), new JoiningClient(group)];
    classicGroup(group, one, two);
    const next = new HeartbeatClient(group, "m1", "i1");
    next.join();
    settle(group, two, next);
    const had = next.owned;

    const back = new JoiningClient(group, true, "i1");
    back.step();

    expect(group.classic).toMatchObject({ state: "Stable", generation: back.generation });
    expect(back.owned).toEqual(had);
    expect(two.beat()).toBe("NONE");
    expect(next.beat()).toBe("GROUP_ID_NOT_FOUND");
    const leader = group.classic?.leaderId ?? "";
    const stored = decodeAssignment(group.classic?.member(leader).assignment ?? new Uint8Array());
    expect(stored?.partitions.size).toBe(1);
  });

  test("rebalances then if what was assigned last is out of date (KAFKA-20273)", () => {
    const group = groupOf(4);
    const [one, two] = [new JoiningClient(group, true, "i1"), new JoiningClient(group)];
    classicGroup(group, one, two);
    const next = new HeartbeatClient(group, "m1", "i1");
    next.join();
    settle(group, two, next);
    group.topic("orders", 6);

    const back = new JoiningClient(group, true, "i1");
    back.step();

    expect(group.classic?.state).toBe("PreparingRebalance");
    settle(group, back, two);
    expect(ownedBy(back, two)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

test.each([false, true])(
  "a fail-over in the middle changes nothing (compacted: %s)",
  (compacted) => {
    const group = groupOf(6);
    const [one, two] = [new JoiningClient(group, false), new JoiningClient(group, false)];
    classicGroup(group, one, two);
    const first = new HeartbeatClient(group, "m1");
    first.join();
    group.reload(compacted);
    one.beat();
    one.step();
    group.reload(compacted);
    settle(group, one, two, first);
    expect(ownedBy(one, two, first)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(first.owned).toHaveLength(2);

    first.beat({ memberEpoch: -1 });
    group.reload(compacted);

    expect(group.classic?.state).toBe("Stable");
    expect(group.classic?.members.has(one.id) && group.classic.members.has(two.id)).toBe(true);
    expect(one.beat()).toBe("NONE");
  },
);
