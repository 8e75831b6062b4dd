import { describe, expect, test } from "vitest";
import { GROUP, GroupFixture } from "../../../support/group-fixture.ts";

const DAY_MS = 24 * 3_600_000;

describe("an offset commit", () => {
  test("of a member of the present generation is taken", () => {
    const group = new GroupFixture();
    const [leader = ""] = group.stable();

    expect(group.commitOffset(7, { memberId: leader, generation: 1 })).toBe("NONE");

    expect(group.committed).toBe(7);
  });

  test.each([
    ["of another generation", { generation: 0 }, "ILLEGAL_GENERATION"],
    ["of an unknown member", { memberId: "nobody", generation: 1 }, "UNKNOWN_MEMBER_ID"],
    ["without generation", { memberId: "", generation: -1 }, "UNKNOWN_MEMBER_ID"],
    ["of an unknown instance", { groupInstanceId: "i", generation: 1 }, "UNKNOWN_MEMBER_ID"],
    ["of an unknown group", { groupId: "none", generation: 1 }, "GROUP_ID_NOT_FOUND"],
  ])("%s is refused", (_, said, error) => {
    const group = new GroupFixture();
    const [leader = ""] = group.stable();

    expect(group.commitOffset(7, { memberId: leader, ...said })).toBe(error);
    expect(group.committed).toBeUndefined();
  });

  test("is taken while the group is called together, and not while it is being assigned", () => {
    const group = new GroupFixture();
    const [leader = "", other = ""] = group.stable();
    group.join(leader);
    expect(group.state).toBe("PreparingRebalance");
    expect(group.commitOffset(7, { memberId: other, generation: 1 })).toBe("NONE");

    group.join(other);
    expect(group.state).toBe("CompletingRebalance");
    expect(group.commitOffset(8, { memberId: other, generation: 1 })).toBe("ILLEGAL_GENERATION");
    expect(group.commitOffset(8, { memberId: other, generation: 2 })).toBe("REBALANCE_IN_PROGRESS");
    expect(group.committed).toBe(7);
  });

  test("keeps a member in, as a heartbeat does", () => {
    const group = new GroupFixture();
    const [only = ""] = group.stable(1);
    for (let i = 0; i < 5; i++) {
      group.pass(9_000);
      group.commitOffset(i, { memberId: only, generation: 1 });
    }

    expect(group.state).toBe("Stable");
  });

  test("of who is no member is taken if there are none, and makes a group of it", () => {
    const group = new GroupFixture();

    expect(group.commitOffset(7)).toBe("NONE");
    expect(group.state).toBe("Empty");
    expect(group.committed).toBe(7);
  });

  test("with too much metadata is left out", () => {
    const group = new GroupFixture({ maxOffsetMetadata: 3 });

    expect(group.commitOffset(7, {}, "four")).toBe("NONE");
    expect(group.committed).toBeUndefined();
    expect(group.commitOffset(7, {}, "two")).toBe("NONE");
    expect(group.committed).toBe(7);
  });

  test("is known to the next coordinator", () => {
    const group = new GroupFixture();
    const [leader = ""] = group.stable();
    group.commitOffset(7, { memberId: leader, generation: 1 });
    group.commitOffset(9, { memberId: leader, generation: 1 });

    group.reload();

    expect(group.committed).toBe(9);
  });
});

describe("offsets in a transaction", () => {
  test("count when it is committed, and are unstable until then", () => {
    const group = new GroupFixture();
    group.commitOffset(3);
    expect(group.commitTransactional(7, 55)).toBe("NONE");
    expect(group.committed).toBe(3);
    expect(group.groups.offsets.isPending(GROUP, "orders", 0)).toBe(true);

    const ended = group.groups.endTransaction(55, true);

    expect(group.committed).toBe(7);
    expect(group.groups.offsets.isPending(GROUP, "orders", 0)).toBe(false);
    expect(ended).toMatchObject([{ group: GROUP, offsets: [{ topic: "orders", partition: 0 }] }]);
  });

  test("are gone if it is aborted", () => {
    const group = new GroupFixture();
    group.commitTransactional(7, 55);

    expect(group.groups.endTransaction(55, false)).toEqual([]);

    expect(group.committed).toBeUndefined();
  });

  test("yield to what was committed outside of it since", () => {
    const group = new GroupFixture();
    group.commitTransactional(7, 55);
    group.commitOffset(5);

    expect(group.groups.endTransaction(55, true)).toEqual([{ group: GROUP, offsets: [] }]);

    expect(group.committed).toBe(5);
  });

  test("may be committed by who names no member, in a group that has some (KIP-447 asks for more)", () => {
    const group = new GroupFixture();
    const [leader = "", other = ""] = group.stable();

    expect(group.commitTransactional(7, 55)).toBe("NONE");
    expect(group.commitTransactional(7, 55, { memberId: leader, generation: 0 })).toBe(
      "ILLEGAL_GENERATION",
    );
    group.join(leader);
    group.join(other);
    expect(group.state).toBe("CompletingRebalance");
    expect(group.commitTransactional(7, 55, { memberId: leader, generation: 2 })).toBe("NONE");
  });

  test("of an unknown group need no generation", () => {
    const group = new GroupFixture();

    expect(group.commitTransactional(7, 55, { generation: 1 })).toBe("ILLEGAL_GENERATION");
    expect(group.commitTransactional(7, 55)).toBe("NONE");
  });
});

describe("offsets that nobody uses", () => {
  function cleanUp(group: GroupFixture): void {
    group.step((effects) => group.groups.cleanUp(effects));
  }

  test("go offsets.retention.minutes after the last member, and the group with them", () => {
    const group = new GroupFixture();
    const [only = ""] = group.stable(1);
    group.commitOffset(7, { memberId: only, generation: 1 });
    group.pass(10_000);
    expect(group.state).toBe("Empty");

    group.pass(7 * DAY_MS - 20_000);
    cleanUp(group);
    expect(group.committed).toBe(7);

    group.pass(20_000);
    cleanUp(group);
    expect(group.committed).toBeUndefined();
    expect(group.state).toBeUndefined();
    expect(group.notes.at(-1)).toEqual({
      kind: "offsets-removed",
      group: GROUP,
      partitions: ["orders-0"],
    });
    group.reload();
    expect(group.state).toBeUndefined();
  });

  test("stay while their topic is subscribed to, however old", () => {
    const group = new GroupFixture({ offsetsRetentionMs: 1_000 });
    const [only = ""] = group.stable(1);
    group.commitOffset(7, { memberId: only, generation: 1 });
    group.pass(5_000);

    cleanUp(group);

    expect(group.committed).toBe(7);
  });

  test("without any member go so long after their commit", () => {
    const group = new GroupFixture();
    group.commitOffset(7);
    group.pass(6 * DAY_MS);
    group.commitOffset(8);
    group.pass(6 * DAY_MS);
    cleanUp(group);
    expect(group.committed).toBe(8);

    group.pass(DAY_MS);
    cleanUp(group);
    expect(group.committed).toBeUndefined();
  });

  test("stay, and the group, while a transaction is open that has written another", () => {
    const group = new GroupFixture();
    group.commitOffset(7);
    group.commitTransactional(9, 55);
    group.pass(8 * DAY_MS);

    cleanUp(group);

    expect(group.committed).toBe(7);
    expect(group.state).toBe("Empty");
  });
});
