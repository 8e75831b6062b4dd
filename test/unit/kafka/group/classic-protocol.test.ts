import { describe, expect, test } from "vitest";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { errorIn, GROUP, GroupFixture, protocol } from "../../../support/group-fixture.ts";

describe("joining", () => {
  test("a dynamic member is given an id first, and joins with that", () => {
    const group = new GroupFixture();

    const first = group.joined(group.join(""));
    expect(errorIn(first)).toBe("MEMBER_ID_REQUIRED");
    expect(first?.memberId).toMatch(/^client-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/);
    expect(group.groups.get(GROUP)?.members.size).toBe(0);

    const second = group.join(first?.memberId ?? "");
    group.pass(3_000);
    expect(group.joined(second)).toMatchObject({
      errorCode: 0,
      generationId: 1,
      leader: first?.memberId,
      protocolName: "range",
      protocolType: "consumer",
      members: [{ memberId: first?.memberId }],
    });
  });

  test("an id that was given and never used is forgotten after its session", () => {
    const group = new GroupFixture();
    const { memberId = "" } = group.joined(group.join("")) ?? {};

    group.pass(10_000);

    expect(errorIn(group.joined(group.join(memberId)))).toBe("UNKNOWN_MEMBER_ID");
  });

  test("with an id that nobody was given is refused, in a group and in none", () => {
    const group = new GroupFixture();
    expect(errorIn(group.joined(group.join("stranger")))).toBe("UNKNOWN_MEMBER_ID");
    expect(group.log).toEqual([]);

    group.stable();
    expect(errorIn(group.joined(group.join("stranger")))).toBe("UNKNOWN_MEMBER_ID");
  });

  test("brings a group into being, which is written at once", () => {
    const group = new GroupFixture();
    group.join("");

    expect(group.log.map(({ record }) => record)).toMatchObject([
      { type: "GroupMetadata", value: { generation: 0, protocolType: "", members: [] } },
    ]);
  });

  test("the leader alone is told of all", () => {
    const group = new GroupFixture();
    const [one, other] = [group.joinNew(), group.joinNew()];
    group.gather();

    expect(group.joined(one.request)?.members.map(({ memberId }) => memberId)).toEqual([
      one.id,
      other.id,
    ]);
    expect(group.joined(other.request)).toMatchObject({ leader: one.id, members: [] });
  });
});

describe("the delay of an empty group", () => {
  test("is group.initial.rebalance.delay.ms", () => {
    const group = new GroupFixture({ initialRebalanceDelayMs: 3_000 });
    const { request } = group.joinNew();

    group.pass(2_999);
    expect(group.joined(request)).toBeUndefined();
    group.pass(1);
    expect(group.joined(request)?.generationId).toBe(1);
  });

  test("begins anew when somebody has come meanwhile, up to the rebalance timeout", () => {
    const group = new GroupFixture({ initialRebalanceDelayMs: 3_000 });
    const first = group.joinNew({ rebalanceTimeoutMs: 10_000 });
    const late: number[] = [];
    for (let i = 0; i < 3; i++) {
      group.pass(2_000);
      late.push(group.joinNew({ rebalanceTimeoutMs: 10_000 }).request);
      group.pass(1_000);
    }
    // 3 s, then thrice min(3 s, what is left of 10 s).
    expect(group.joined(first.request)).toBeUndefined();

    group.pass(1_000);
    expect(group.joined(first.request)?.generationId).toBe(1);
    expect(late.map((request) => group.joined(request)?.generationId)).toEqual([1, 1, 1]);
  });

  test("of 0 lets the first member begin alone, and the second calls for a rebalance", () => {
    const group = new GroupFixture({ initialRebalanceDelayMs: 0 });
    const first = group.joinNew();
    group.pass(0);
    expect(group.joined(first.request)?.generationId).toBe(1);

    group.joinNew();
    expect(group.state).toBe("PreparingRebalance");
  });
});

describe("protocols", () => {
  test("the one with most votes wins, of those that all know", () => {
    const group = new GroupFixture();
    const members = [
      group.joinNew({ protocols: [protocol("range"), protocol("sticky")] }),
      group.joinNew({ protocols: [protocol("sticky"), protocol("range")] }),
      group.joinNew({
        protocols: [protocol("cooperative"), protocol("sticky"), protocol("range")],
      }),
    ];
    group.gather();

    expect(group.joined(members[0]?.request ?? -1)?.protocolName).toBe("sticky");
  });

  test("of which none is common are refused", () => {
    const group = new GroupFixture();
    group.stable();

    const refused = [
      group.join("", { protocols: [protocol("sticky")] }),
      group.join("", { protocolType: "connect" }),
    ];
    expect(refused.map((request) => errorIn(group.joined(request)))).toEqual([
      "INCONSISTENT_GROUP_PROTOCOL",
      "INCONSISTENT_GROUP_PROTOCOL",
    ]);
  });

  test("none at all are refused also by an empty group", () => {
    const group = new GroupFixture();

    expect(errorIn(group.joined(group.join("", { protocols: [] })))).toBe(
      "INCONSISTENT_GROUP_PROTOCOL",
    );
    expect(errorIn(group.joined(group.join("", { protocolType: "" })))).toBe(
      "INCONSISTENT_GROUP_PROTOCOL",
    );
  });
});

describe("group.max.size", () => {
  test("refuses one more", () => {
    const group = new GroupFixture({ maxSize: 2 });
    group.stable(2);

    expect(errorIn(group.joined(group.join("")))).toBe("GROUP_MAX_SIZE_REACHED");
  });

  test("during a rebalance counts those who wait, so that the last to come is left out", () => {
    const group = new GroupFixture({ maxSize: 2 });
    const [leader = "", other = ""] = group.stable(2);
    group.join(leader);
    const third = group.joinNew();
    expect(group.joined(third.request)).toBeUndefined();

    expect(errorIn(group.joined(group.join(other)))).toBe("GROUP_MAX_SIZE_REACHED");
  });
});

describe("the assignment", () => {
  test("comes into force, and to all who ask, when it is committed", () => {
    const group = new GroupFixture();
    const [one, other] = [group.joinNew(), group.joinNew()];
    group.gather();
    group.commitsAtOnce = false;

    const early = group.sync(other.id);
    const leaders = group.sync(one.id, { [other.id]: new Map([["orders", [1]]]) });
    expect(group.synced(early)).toBeUndefined();
    expect(group.state).toBe("CompletingRebalance");

    group.commit();
    expect(group.state).toBe("Stable");
    expect(group.synced(early)?.assignment.length).toBeGreaterThan(0);
    // Whom the leader forgot gets nothing.
    expect(group.synced(leaders)).toMatchObject({ errorCode: 0, assignment: new Uint8Array(0) });
    expect(group.notes.at(-2)).toMatchObject({
      kind: "group-assigned",
      generation: 1,
      assignments: [
        { member: one.id, topics: ["orders"], partitions: [] },
        { member: other.id, topics: ["orders"], partitions: ["orders-1"] },
      ],
    });
    expect(group.synced(group.sync(other.id))?.errorCode).toBe(0);
  });

  test("that could not be stored lets all join again", () => {
    const group = new GroupFixture();
    const { id } = group.joinNew();
    group.gather();
    group.commitsAtOnce = false;
    const sync = group.sync(id);

    group.commit(ERRORS.COORDINATOR_NOT_AVAILABLE);

    expect(errorIn(group.synced(sync))).toBe("COORDINATOR_NOT_AVAILABLE");
    expect(group.state).toBe("PreparingRebalance");
  });

  test("of a generation that is over has no effect", () => {
    const group = new GroupFixture();
    const { id } = group.joinNew();
    group.gather();
    group.commitsAtOnce = false;
    const sync = group.sync(id);
    group.joinNew();
    expect(errorIn(group.synced(sync))).toBe("REBALANCE_IN_PROGRESS");

    group.commit();

    expect(group.state).toBe("PreparingRebalance");
  });

  test("must be asked for in time", () => {
    const group = new GroupFixture();
    const members = [group.joinNew(), group.joinNew()];
    group.pass(6_000);
    const [one, other] = members.map(({ id }) => id);
    for (let i = 0; i < 12; i++) {
      group.heartbeat(one ?? "");
      group.heartbeat(other ?? "");
      if (i === 0) group.sync(one ?? "");
      group.pass(5_000);
    }

    expect(group.notes).toContainEqual({
      kind: "group-member-left",
      group: GROUP,
      member: other,
      instance: "",
      reason: "sync-timeout",
    });
    expect(group.groups.get(GROUP)?.members.has(other ?? "")).toBe(false);
  });
});

describe("SyncGroup, in the order of the checks", () => {
  const [leader, other] = ["leader", "other"] as const;

  function stable(): { group: GroupFixture; leader: string; other: string } {
    const group = new GroupFixture();
    const [one = "", two = ""] = group.stable(2);
    return { group, leader: one, other: two };
  }

  test.each([
    ["an unknown member", { memberId: "nobody" }, "UNKNOWN_MEMBER_ID"],
    ["an unknown instance", { memberId: leader, groupInstanceId: "i" }, "UNKNOWN_MEMBER_ID"],
    ["an older generation", { memberId: other, generationId: 0 }, "ILLEGAL_GENERATION"],
    ["another type", { memberId: other, protocolType: "x" }, "INCONSISTENT_GROUP_PROTOCOL"],
    ["another protocol", { memberId: other, protocolName: "x" }, "INCONSISTENT_GROUP_PROTOCOL"],
    [
      "an older generation with another protocol",
      { memberId: other, generationId: 0, protocolName: "x" },
      "ILLEGAL_GENERATION",
    ],
    ["all in order", { memberId: other }, "NONE"],
  ])("%s", (_, said, error) => {
    const known = stable();
    const { memberId, ...more } = said;
    const id = memberId === leader ? known.leader : memberId === other ? known.other : memberId;

    expect(errorIn(known.group.synced(known.group.sync(id, {}, more)))).toBe(error);
  });

  test("during a rebalance", () => {
    const { group, leader: one, other: two } = stable();
    group.join(one);

    expect(errorIn(group.synced(group.sync(two)))).toBe("REBALANCE_IN_PROGRESS");
  });

  test("of no group, and of one without members", () => {
    const group = new GroupFixture();
    expect(errorIn(group.synced(group.sync("m")))).toBe("UNKNOWN_MEMBER_ID");
    group.join("");
    expect(errorIn(group.synced(group.sync("m")))).toBe("UNKNOWN_MEMBER_ID");
  });
});

describe("heartbeats", () => {
  test("say in which state the group is", () => {
    const group = new GroupFixture();
    const { id } = group.joinNew();
    expect(group.heartbeat(id)).toBe("REBALANCE_IN_PROGRESS");
    group.gather();
    expect(group.state).toBe("CompletingRebalance");
    expect(group.heartbeat(id)).toBe("NONE");
    group.sync(id);
    expect(group.heartbeat(id)).toBe("NONE");
    expect(group.heartbeat(id, { generationId: 0 })).toBe("ILLEGAL_GENERATION");
    expect(group.heartbeat(id, { groupInstanceId: "i" })).toBe("UNKNOWN_MEMBER_ID");
    expect(group.heartbeat("nobody", { generationId: 0 })).toBe("UNKNOWN_MEMBER_ID");
    expect(group.heartbeat(id, { groupId: "none" })).toBe("UNKNOWN_MEMBER_ID");
  });

  test("keep a member in; without them it is out after its session, and the others rebalance", () => {
    const group = new GroupFixture();
    const [leader = "", other = ""] = group.stable(2);
    for (let i = 0; i < 4; i++) {
      group.pass(9_000);
      expect(group.heartbeat(leader)).toBe(i < 1 ? "NONE" : "REBALANCE_IN_PROGRESS");
    }
    expect(group.notes).toContainEqual(
      expect.objectContaining({
        kind: "group-member-left",
        member: other,
        reason: "session-expired",
      }),
    );

    group.join(leader);
    expect(group.generation).toBe(2);
    expect(group.groups.get(GROUP)?.members.size).toBe(1);
  });

  test("are not asked of who waits for an answer", () => {
    const group = new GroupFixture();
    const [leader = "", other = ""] = group.stable(2, { rebalanceTimeoutMs: 40_000 });
    const parked = group.join(leader, { rebalanceTimeoutMs: 40_000 });
    for (let i = 0; i < 4; i++) {
      group.pass(9_000);
      group.heartbeat(other);
    }
    expect(group.joined(parked)).toBeUndefined();

    group.pass(9_000);
    expect(group.joined(parked)?.generationId).toBe(2);
  });
});

describe("a rebalance", () => {
  test("ends when all have joined again", () => {
    const group = new GroupFixture();
    const [leader = "", other = ""] = group.stable(2);
    const first = group.join(leader);
    expect(group.heartbeat(other)).toBe("REBALANCE_IN_PROGRESS");
    expect(group.joined(first)).toBeUndefined();

    group.join(other);

    expect(group.joined(first)).toMatchObject({ generationId: 2, leader });
  });

  test("ends without those who have not joined when the longest rebalance timeout is over", () => {
    const group = new GroupFixture();
    const [leader = "", other = ""] = group.stable(2, { rebalanceTimeoutMs: 20_000 });
    group.join(other, { rebalanceTimeoutMs: 20_000, protocols: [protocol("range", ["more"])] });
    for (let i = 0; i < 4; i++) {
      group.pass(5_000);
      group.heartbeat(leader);
    }

    expect(group.generation).toBe(2);
    expect(group.notes).toContainEqual(
      expect.objectContaining({ member: leader, reason: "rebalance-timeout" }),
    );
    // Another leads now.
    expect(group.classic?.leaderId).toBe(other);
  });

  test("is called for by the leader that joins again, not by another that has nothing new to say", () => {
    const group = new GroupFixture();
    const [leader = "", other = ""] = group.stable(2);

    expect(group.joined(group.join(other))).toMatchObject({ errorCode: 0, generationId: 1 });
    expect(group.state).toBe("Stable");
    group.join(leader);
    expect(group.state).toBe("PreparingRebalance");
  });

  test("who has lost the answer to its join is told again", () => {
    const group = new GroupFixture();
    const [one, other] = [group.joinNew(), group.joinNew()];
    group.gather();

    expect(group.joined(group.join(one.id))?.members).toHaveLength(2);
    expect(group.joined(group.join(other.id))).toMatchObject({ generationId: 1, members: [] });
    expect(group.state).toBe("CompletingRebalance");
  });
});

describe("leaving", () => {
  test("lets the others rebalance at once", () => {
    const group = new GroupFixture();
    const [leader = "", other = ""] = group.stable(2);

    const answer = group.leave({ memberId: other, groupInstanceId: undefined, reason: undefined });

    expect(answer.members).toEqual([{ memberId: other, groupInstanceId: undefined, errorCode: 0 }]);
    expect(group.state).toBe("PreparingRebalance");
    expect(group.heartbeat(leader)).toBe("REBALANCE_IN_PROGRESS");
  });

  test("by the last leaves an empty group, which is written", () => {
    const group = new GroupFixture();
    const [only = ""] = group.stable(1);

    group.leave({ memberId: only, groupInstanceId: undefined, reason: undefined });

    expect(group.state).toBe("Empty");
    expect(group.log.at(-1)?.record).toMatchObject({ value: { generation: 2, members: [] } });
  });

  test("is told member by member", () => {
    const group = new GroupFixture();
    const [only = ""] = group.stable(1);
    const pending = group.joined(group.join(""))?.memberId ?? "";
    const member = (memberId: string, groupInstanceId?: string) => {
      return { memberId, groupInstanceId, reason: undefined };
    };

    const { members } = group.leave(
      member("nobody"),
      member(pending),
      member("", "no-instance"),
      member(only, "no-instance"),
      member(only),
    );

    expect(members.map(errorIn)).toEqual([
      "UNKNOWN_MEMBER_ID",
      "NONE",
      "UNKNOWN_MEMBER_ID",
      "UNKNOWN_MEMBER_ID",
      "NONE",
    ]);
  });

  test("of no group is told of each", () => {
    const group = new GroupFixture();

    const { errorCode, members } = group.leave({
      memberId: "m",
      groupInstanceId: undefined,
      reason: undefined,
    });

    expect(errorCode).toBe(0);
    expect(members.map(errorIn)).toEqual(["UNKNOWN_MEMBER_ID"]);
  });
});

describe("a static member", () => {
  function withStatic(): { group: GroupFixture; id: string } {
    const group = new GroupFixture();
    const request = group.join("", { groupInstanceId: "i1" });
    group.gather();
    const id = group.joined(request)?.memberId ?? "";
    group.sync(id, { [id]: new Map([["orders", [0]]]) }, { groupInstanceId: "i1" });
    return { group, id };
  }

  test("joins without being asked to come again", () => {
    const { group, id } = withStatic();

    expect(id).toMatch(/^i1-/);
    expect(group.state).toBe("Stable");
  });

  test("comes back in a stable group without a rebalance, under another id", () => {
    const { group, id } = withStatic();

    const answer = group.joined(group.join("", { groupInstanceId: "i1" }));

    expect(group.state).toBe("Stable");
    expect(answer).toMatchObject({ errorCode: 0, generationId: 1, skipAssignment: true });
    expect(answer?.memberId).not.toBe(id);
    expect(answer?.leader).toBe(answer?.memberId);
    expect(answer?.members).toHaveLength(1);
    // What it had it has still.
    const sync = group.sync(answer?.memberId ?? "", {}, { groupInstanceId: "i1" });
    expect(group.synced(sync)?.assignment.length).toBeGreaterThan(0);
  });

  test("that comes back before it has asked for its assignment is not waited for under its old id", () => {
    const group = new GroupFixture();
    const [first, second] = ["a", "b"].map((groupInstanceId) =>
      group.join("", { groupInstanceId }),
    );
    group.gather();
    const [leader, other] = [first, second].map((request) => group.joined(request ?? -1)?.memberId);
    group.sync(leader ?? "", {}, { groupInstanceId: "a" });
    expect(group.state).toBe("Stable");

    group.join("", { groupInstanceId: "b" });
    for (let i = 0; i < 13; i++) {
      group.heartbeat(leader ?? "", { groupInstanceId: "a" });
      group.pass(5_000);
    }

    expect(group.notes.map((note) => ("reason" in note ? note.reason : ""))).not.toContain(
      "sync-timeout",
    );
    expect(group.notes).toContainEqual(
      expect.objectContaining({ kind: "group-member-left", member: other, reason: "replaced" }),
    );
  });

  test("fences who has its instance id under an older member id", () => {
    const { group, id } = withStatic();
    group.join("", { groupInstanceId: "i1" });
    const instance = { groupInstanceId: "i1" };

    expect(group.heartbeat(id, instance)).toBe("FENCED_INSTANCE_ID");
    expect(errorIn(group.synced(group.sync(id, {}, instance)))).toBe("FENCED_INSTANCE_ID");
    expect(errorIn(group.joined(group.join(id, instance)))).toBe("FENCED_INSTANCE_ID");
    expect(group.commitOffset(1, { memberId: id, generation: 1, ...instance })).toBe(
      "FENCED_INSTANCE_ID",
    );
  });

  test("that comes back while its join waits has the older one fenced", () => {
    const group = new GroupFixture();
    const first = group.join("", { groupInstanceId: "i1" });

    group.join("", { groupInstanceId: "i1" });

    expect(errorIn(group.joined(first))).toBe("FENCED_INSTANCE_ID");
  });

  test("that comes back with other protocols calls for a rebalance if the choice changes", () => {
    const { group } = withStatic();

    group.join("", { groupInstanceId: "i1", protocols: [protocol("sticky"), protocol("range")] });

    expect(group.state).toBe("CompletingRebalance");
    expect(group.generation).toBe(2);
  });

  test("that does not join again stays in the group, until its session is over", () => {
    const group = new GroupFixture();
    const [one, other] = ["i1", "i2"].map((instance) =>
      group.join("", { groupInstanceId: instance, rebalanceTimeoutMs: 5_000 }),
    );
    group.gather();
    const leader = group.joined(one ?? -1)?.memberId ?? "";
    const silent = group.joined(other ?? -1)?.memberId ?? "";
    group.sync(silent, {}, { groupInstanceId: "i2" });
    group.sync(leader, {}, { groupInstanceId: "i1" });

    group.join(leader, { groupInstanceId: "i1", rebalanceTimeoutMs: 5_000 });
    group.pass(5_000);
    expect(group.generation).toBe(2);
    expect(group.groups.get(GROUP)?.members.has(silent)).toBe(true);

    group.pass(5_000);
    expect(group.groups.get(GROUP)?.members.has(silent)).toBe(false);
  });

  test("can be removed by its instance id alone", () => {
    const { group } = withStatic();

    const { members } = group.leave({ memberId: "", groupInstanceId: "i1", reason: undefined });

    expect(members.map(errorIn)).toEqual(["NONE"]);
    expect(group.state).toBe("Empty");
  });
});

describe("another coordinator", () => {
  test("knows the group from the log, and its members go on in it", () => {
    const group = new GroupFixture();
    const [leader = "", other = ""] = group.stable(2);
    group.reload();

    expect(group.state).toBe("Stable");
    expect(group.generation).toBe(1);
    expect([leader, other].map((id) => group.heartbeat(id))).toEqual(["NONE", "NONE"]);
    const sync = group.synced(group.sync(leader));
    expect(sync?.assignment.length).toBeGreaterThan(0);
  });

  test("waits for a session of each member before it takes one for gone", () => {
    const group = new GroupFixture();
    const [leader = ""] = group.stable(2);
    group.reload();

    group.pass(9_999);
    expect(group.state).toBe("Stable");
    group.heartbeat(leader);
    group.pass(1);
    expect(group.state).toBe("PreparingRebalance");
  });

  test("is looked for by those who wait at the old one", () => {
    const group = new GroupFixture();
    const { request } = group.joinNew();

    group.step((effects) => group.groups.onUnloaded(effects));

    expect(errorIn(group.joined(request))).toBe("NOT_COORDINATOR");
  });
});
