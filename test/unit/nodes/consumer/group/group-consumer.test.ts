import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../../src/base/time.ts";
import { decodeAssignment } from "../../../../../src/kafka/group/consumer-protocol.ts";
import {
  FETCH,
  FIND_COORDINATOR,
  HEARTBEAT,
  JOIN_GROUP,
  LEAVE_GROUP,
  OFFSET_COMMIT,
  SYNC_GROUP,
} from "../../../../../src/kafka/protocol/apis.ts";
import { addressOf, TOPIC } from "../../../../support/fake-cluster.ts";
import { ScriptedGroup, saidInJoin } from "../../../../support/scripted-group.ts";

const COOPERATIVE = { "partition.assignment.strategy": "cooperative-sticky" };
const NO_AUTO_COMMIT = { "enable.auto.commit": false };

function upTo(count: number, from = 0): number[] {
  return Array.from({ length: count - from }, (_, i) => from + i);
}

/** Takes as long for each record. */
function work(duration: number) {
  return { pace: { draw: () => duration }, workers: 1 };
}

describe("joining", () => {
  test("a member joins with the id that it is given, and leads a group of one", () => {
    const group = new ScriptedGroup();

    group.begin(SECOND);

    const joins = group.world.requestsOf(JOIN_GROUP);
    expect(joins.map(({ memberId }) => memberId)).toEqual(["", "m1"]);
    expect(joins[0]?.protocols.map(({ name }) => name)).toEqual(["range", "cooperative-sticky"]);
    expect(group.ownership).toEqual(["assigned 0 1"]);
  });

  test("a member that does not lead takes what it is assigned", () => {
    const group = new ScriptedGroup();
    group.others = ["a"];
    group.assigned = [1];

    group.begin(SECOND);

    expect(group.ownership).toEqual(["assigned 1"]);
  });

  test("the leader assigns to everybody", () => {
    const group = new ScriptedGroup({}, {}, 4);
    group.followers = ["z1", "z2"];

    group.begin(SECOND);

    const [sync] = group.world.requestsOf(SYNC_GROUP);
    const shares = sync?.assignments.map(({ memberId, assignment }) => [
      memberId,
      decodeAssignment(assignment)?.partitions.get(TOPIC),
    ]);
    expect(shares).toEqual([
      ["m1", [0, 1]],
      ["z1", [2]],
      ["z2", [3]],
    ]);
  });

  test("a member that is refused for good gives up", () => {
    const group = new ScriptedGroup();
    group.errors.join.push("INCONSISTENT_GROUP_PROTOCOL");

    group.begin(SECOND);

    expect(group.world.exited).toBe("JoinGroup of group g: INCONSISTENT_GROUP_PROTOCOL");
  });

  test("a member whose generation is over before it learns its part joins again", () => {
    const group = new ScriptedGroup();
    group.errors.sync.push("REBALANCE_IN_PROGRESS");

    group.begin(SECOND);

    expect(group.asked.filter((name) => name === "JoinGroup")).toHaveLength(3);
    expect(group.ownership).toEqual(["assigned 0 1"]);
  });

  test("a member subscribes to the topics that its pattern matches", () => {
    const matching = new ScriptedGroup({}, { subscription: { kind: "pattern", pattern: "ord.*" } });
    const other = new ScriptedGroup({}, { subscription: { kind: "pattern", pattern: "ord" } });

    matching.begin(SECOND);
    other.begin(SECOND);

    expect(matching.ownership).toEqual(["assigned 0 1"]);
    expect(other.ownership).toEqual(["assigned"]);
  });
});

describe("where a member begins", () => {
  test("it goes on behind what is committed, and elsewhere as auto.offset.reset says", () => {
    const group = new ScriptedGroup();
    group.ends[0] = 5;
    group.ends[1] = 5;
    group.committed.set(0, 3);

    group.begin(SECOND);

    expect(group.polled(0)).toEqual([3, 4]);
    expect(group.polled(1)).toEqual(upTo(5));
  });

  test("it asks again while offsets are not stable", () => {
    const group = new ScriptedGroup();
    group.ends[0] = 5;
    group.committed.set(0, 3);
    group.errors.fetch.push("UNSTABLE_OFFSET_COMMIT", "COORDINATOR_LOAD_IN_PROGRESS");

    group.begin(2 * SECOND);

    expect(group.polled(0)).toEqual([3, 4]);
  });
});

describe("an eager rebalance", () => {
  test("takes everything from the member before it joins, and commits it before that", () => {
    const group = new ScriptedGroup();
    group.ends[0] = 4;
    group.begin(SECOND);

    group.rebalance();
    group.assigned = [1];
    group.world.run(4 * SECOND);

    expect(group.ownership).toEqual(["assigned 0 1", "revoked 0 1", "assigned 1"]);
    expect(group.asked.slice(-4)).toEqual([
      "OffsetCommit",
      "JoinGroup",
      "SyncGroup",
      "OffsetFetch",
    ]);
    expect(group.committed.get(0)).toBe(4);
    expect(saidInJoin(group.world.requestsOf(JOIN_GROUP).at(-1)?.protocols[0]?.metadata)).toEqual(
      expect.objectContaining({ ownedPartitions: new Map(), generation: 1 }),
    );
  });

  test("gives the application nothing while it waits for the others", () => {
    const group = new ScriptedGroup(NO_AUTO_COMMIT);
    group.begin(SECOND);
    group.silent.add("join");

    group.rebalance();
    group.world.run(4 * SECOND);
    group.ends[0] = 4;
    group.world.run(10 * SECOND);

    expect(group.polled(0)).toEqual([]);
  });
});

describe("a cooperative rebalance", () => {
  test("lets the member read on while it waits for the others", () => {
    const group = new ScriptedGroup({ ...COOPERATIVE, ...NO_AUTO_COMMIT });
    group.begin(SECOND);
    group.silent.add("join");

    group.rebalance();
    group.world.run(4 * SECOND);
    group.ends[0] = 4;
    group.world.run(SECOND);

    expect(group.ownership).toEqual(["assigned 0 1"]);
    expect(group.polled(0)).toEqual(upTo(4));
  });

  test("takes only what goes elsewhere, and another follows in which that is free", () => {
    const group = new ScriptedGroup(COOPERATIVE);
    group.begin(SECOND);

    group.rebalance();
    group.assigned = [1];
    group.world.run(4 * SECOND);

    expect(group.ownership).toEqual(["assigned 0 1", "revoked 0", "assigned", "assigned"]);
    const owned = group.world
      .requestsOf(JOIN_GROUP)
      .map(({ protocols }) => saidInJoin(protocols[0]?.metadata)?.ownedPartitions.get(TOPIC));
    expect(owned).toEqual([undefined, undefined, [0, 1], [1]]);
  });
});

describe("a member that the coordinator does not know so", () => {
  test("loses its partitions and joins as a new one if its id is unknown", () => {
    const group = new ScriptedGroup();
    group.begin(SECOND);
    group.errors.beat.push("UNKNOWN_MEMBER_ID");

    group.world.run(4 * SECOND);

    expect(group.ownership).toEqual(["assigned 0 1", "lost 0 1", "assigned 0 1"]);
    expect(group.world.requestsOf(JOIN_GROUP).map(({ memberId }) => memberId)).toEqual([
      "",
      "m1",
      "",
      "m2",
    ]);
  });

  test("keeps its id if its generation is over", () => {
    const group = new ScriptedGroup();
    group.begin(SECOND);
    group.errors.beat.push("ILLEGAL_GENERATION");

    group.world.run(4 * SECOND);

    expect(group.ownership).toEqual(["assigned 0 1", "lost 0 1", "assigned 0 1"]);
    expect(group.world.requestsOf(JOIN_GROUP).map(({ memberId }) => memberId)).toEqual([
      "",
      "m1",
      "m1",
    ]);
  });

  test("ends if another has its instance id", () => {
    const group = new ScriptedGroup({ "group.instance.id": "i1" });
    group.begin(SECOND);
    group.errors.beat.push("FENCED_INSTANCE_ID");

    group.world.run(4 * SECOND);

    expect(group.world.exited).toBe("another has group.instance.id i1");
  });
});

describe("heartbeats", () => {
  test("go on while the application works", () => {
    const group = new ScriptedGroup({}, { work: work(20 * SECOND) });
    group.ends[0] = 1;
    group.begin(SECOND);

    group.world.run(19 * SECOND);

    expect(group.world.factsOf("records-processed")).toHaveLength(0);
    expect(group.world.requestsOf(HEARTBEAT).length).toBeGreaterThanOrEqual(6);
  });

  test("end with max.poll.interval.ms: the member leaves, and joins anew when it polls", () => {
    const group = new ScriptedGroup(
      { "max.poll.interval.ms": 5_000 },
      { work: work(8 * SECOND), commit: { mode: "sync", when: "after" } },
    );
    group.ends[0] = 1;
    group.begin(SECOND);

    group.world.run(6 * SECOND);
    const leaves = group.world.requestsOf(LEAVE_GROUP);
    group.world.run(3 * SECOND);

    expect(leaves.map(({ members }) => members[0]?.memberId)).toEqual(["m1"]);
    expect(group.ownership.slice(0, 3)).toEqual(["assigned 0 1", "lost 0 1", "assigned 0 1"]);
    const [commit] = group.world.factsOf("commit-ended");
    expect(commit).toMatchObject({ outcome: "failed", error: "CommitFailedException" });
  });

  test("look for another coordinator when none is answered for session.timeout.ms", () => {
    const group = new ScriptedGroup({ "session.timeout.ms": 10_000, "request.timeout.ms": 60_000 });
    group.begin(SECOND);
    group.silent.add("beat");

    group.world.run(12 * SECOND);

    // Once more, as the connection that it closed may not be opened again at once.
    expect(group.world.requestsOf(FIND_COORDINATOR).length).toBeLessThanOrEqual(3);
    expect(group.world.requestsOf(FIND_COORDINATOR).length).toBeGreaterThan(1);
    expect(group.ownership).toEqual(["assigned 0 1"]);
  });

  test("go to the new coordinator once the old one says that it is not it", () => {
    const group = new ScriptedGroup(NO_AUTO_COMMIT);
    group.begin(SECOND);
    group.coordinator = 1;

    group.world.run(10 * SECOND);

    const last = group.world.requests.filter((one) => one.is(HEARTBEAT)).at(-1);
    expect(last?.to).toBe(addressOf(1));
    expect(group.ownership).toEqual(["assigned 0 1"]);
  });
});

describe("polling", () => {
  test("gives at most max.poll.records, and the next only when those are done", () => {
    const group = new ScriptedGroup({ "max.poll.records": 3 }, { work: work(100 * MILLISECOND) });
    group.ends[0] = 7;
    group.begin(5 * SECOND);

    const polls = group.world.factsOf("polled").map((fact) => [fact.firstOffset, fact.lastOffset]);
    const done = group.world.factsOf("records-processed").map((fact) => fact.firstOffset);
    expect(polls).toEqual([
      [0, 2],
      [3, 5],
      [6, 6],
    ]);
    expect(done).toEqual(upTo(7));
  });

  test("asks for what comes next while the application works", () => {
    const group = new ScriptedGroup({}, { work: work(SECOND) });
    group.ends[0] = 2;
    group.begin(500 * MILLISECOND);
    group.ends[0] = 3;

    group.world.run(SECOND);

    const offsets = group.world
      .requestsOf(FETCH)
      .flatMap(({ topics }) => topics.flatMap(({ partitions }) => partitions))
      .filter(({ partition }) => partition === 0)
      .map(({ fetchOffset }) => fetchOffset);
    expect(offsets).toContain(2);
  });
});

describe("commits", () => {
  test("by auto commit come in poll, after auto.commit.interval.ms, of what was polled", () => {
    const group = new ScriptedGroup();
    group.ends[0] = 4;
    group.begin(4 * SECOND);
    expect(group.committed.size).toBe(0);

    group.world.run(2 * SECOND);

    expect(group.committed.get(0)).toBe(4);
    expect(group.world.factsOf("commit-ended")[0]).toMatchObject({
      how: "auto",
      outcome: "committed",
    });
  });

  test("by commitSync are made before the work if that is wanted", () => {
    const group = new ScriptedGroup(NO_AUTO_COMMIT, {
      work: work(SECOND),
      commit: { mode: "sync", when: "before" },
    });
    group.ends[0] = 3;

    group.begin(SECOND);

    expect(group.committed.get(0)).toBe(3);
    expect(group.world.factsOf("records-processed")).toHaveLength(0);
  });

  test("by commitSync are made after the work otherwise", () => {
    const group = new ScriptedGroup(NO_AUTO_COMMIT, {
      work: work(100 * MILLISECOND),
      commit: { mode: "sync", when: "after" },
    });
    group.ends[0] = 3;

    group.begin(250 * MILLISECOND);
    expect(group.committed.size).toBe(0);
    group.world.run(SECOND);

    expect(group.committed.get(0)).toBe(3);
  });

  test("by commitSync are tried again, at whoever coordinates then", () => {
    const group = new ScriptedGroup(NO_AUTO_COMMIT, { commit: { mode: "sync", when: "after" } });
    group.begin(SECOND);
    group.coordinator = 1;
    group.ends[0] = 3;

    group.world.run(2 * SECOND);

    expect(group.committed.get(0)).toBe(3);
    expect(group.world.factsOf("commit-ended")).toHaveLength(1);
  });

  test("by commitAsync are not", () => {
    const group = new ScriptedGroup(NO_AUTO_COMMIT, { commit: { mode: "async", when: "after" } });
    group.begin(SECOND);
    group.errors.commit.push("COORDINATOR_LOAD_IN_PROGRESS");
    group.ends[0] = 3;

    group.world.run(2 * SECOND);

    expect(group.committed.size).toBe(0);
    const [commit] = group.world.factsOf("commit-ended");
    expect(commit).toMatchObject({ outcome: "failed", error: "COORDINATOR_LOAD_IN_PROGRESS" });
  });

  test("of a member that is out of the group fail, and it joins again", () => {
    const group = new ScriptedGroup(NO_AUTO_COMMIT, { commit: { mode: "sync", when: "after" } });
    group.begin(SECOND);
    group.errors.commit.push("UNKNOWN_MEMBER_ID");
    group.ends[0] = 3;

    group.world.run(2 * SECOND);

    expect(group.ownership.slice(0, 3)).toEqual(["assigned 0 1", "lost 0 1", "assigned 0 1"]);
    expect(group.polled(0)).toEqual([...upTo(3), ...upTo(3)]);
  });

  test("in the midst of a rebalance send the member into it", () => {
    const group = new ScriptedGroup(NO_AUTO_COMMIT, { commit: { mode: "sync", when: "after" } });
    group.begin(SECOND);
    group.errors.commit.push("REBALANCE_IN_PROGRESS");
    group.ends[0] = 3;

    group.world.run(SECOND);

    expect(group.ownership.slice(0, 3)).toEqual(["assigned 0 1", "revoked 0 1", "assigned 0 1"]);
  });
});

describe("the end", () => {
  test("a member that is closed commits what it polled, gives all up, and leaves", () => {
    const group = new ScriptedGroup();
    group.ends[0] = 4;
    group.begin(SECOND);

    group.consumer.onShutdown();
    group.world.run(SECOND);

    expect(group.committed.get(0)).toBe(4);
    expect(group.ownership).toEqual(["assigned 0 1", "revoked 0 1"]);
    expect(group.asked.slice(-2)).toEqual(["OffsetCommit", "LeaveGroup"]);
    expect(group.world.exited).toBe("closed");
  });

  test("a static member does not leave", () => {
    const group = new ScriptedGroup({ "group.instance.id": "i1" });
    group.begin(SECOND);

    group.consumer.onShutdown();
    group.world.run(SECOND);

    expect(group.world.requestsOf(LEAVE_GROUP)).toEqual([]);
    expect(group.world.exited).toBe("closed");
  });

  test("what the last poll gave is worked on first", () => {
    const group = new ScriptedGroup({}, { work: work(400 * MILLISECOND) });
    group.ends[0] = 3;
    group.begin(500 * MILLISECOND);

    group.consumer.onShutdown();
    group.world.run(2 * SECOND);

    expect(group.world.factsOf("records-processed")).toHaveLength(3);
    expect(group.world.exited).toBe("closed");
  });

  test("no answer keeps a member from its end for longer than half a minute", () => {
    const group = new ScriptedGroup({ "request.timeout.ms": 60_000 });
    group.ends[0] = 3;
    group.begin(SECOND);
    group.silent.add("commit");

    group.consumer.onShutdown();
    group.world.run(31 * SECOND);

    expect(group.world.exited).toBe("closed");
    expect(group.world.requestsOf(OFFSET_COMMIT)).toHaveLength(1);
  });
});
