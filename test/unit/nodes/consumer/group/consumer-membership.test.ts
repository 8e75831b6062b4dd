import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../../src/base/time.ts";
import {
  CONSUMER_GROUP_HEARTBEAT,
  OFFSET_COMMIT,
  OFFSET_FETCH,
} from "../../../../../src/kafka/protocol/apis.ts";
import type { GroupConsumerOptions } from "../../../../../src/nodes/consumer/group/group-options.ts";
import { addressOf } from "../../../../support/fake-cluster.ts";
import { ScriptedGroup } from "../../../../support/scripted-group.ts";

const CONSUMER = { "group.protocol": "consumer" };
const BY_HAND = { ...CONSUMER, "enable.auto.commit": false };

function member(
  configs: Record<string, unknown> = CONSUMER,
  options: Partial<GroupConsumerOptions> = {},
): ScriptedGroup {
  return new ScriptedGroup(configs, options);
}

/** All its heartbeats: its epoch, and what it says that it owns, if it says so. */
function beats({ world }: ScriptedGroup): string[] {
  return world.requestsOf(CONSUMER_GROUP_HEARTBEAT).map(({ memberEpoch, topicPartitions }) => {
    const owned = topicPartitions?.flatMap(({ partitions }) => partitions);
    return owned === undefined ? `${memberEpoch}` : `${memberEpoch} owns ${owned.join(" ")}`.trim();
  });
}

/** Takes as long for each record. */
function work(duration: number) {
  return { pace: { draw: () => duration }, workers: 1 };
}

describe("joining (KIP-848)", () => {
  test("a member joins in epoch 0 with an id of its own, and says all that it is", () => {
    const group = member({ ...CONSUMER, "group.remote.assignor": "range" });

    group.begin(SECOND);

    const [first] = group.world.requestsOf(CONSUMER_GROUP_HEARTBEAT);
    expect(first).toMatchObject({
      memberEpoch: 0,
      rebalanceTimeoutMs: 300_000,
      subscribedTopicNames: ["orders"],
      serverAssignor: "range",
      topicPartitions: [],
    });
    expect(first?.memberId).toHaveLength(22);
  });

  test("it takes what it is assigned, says so at once, and reads on from what is committed", () => {
    const group = member();
    group.ends[0] = 5;
    group.committed.set(0, 3);

    group.begin(500 * MILLISECOND);

    expect(beats(group)).toEqual(["0 owns", "1 owns 0 1"]);
    expect(group.ownership).toEqual(["assigned 0 1"]);
    expect(group.polled(0)).toEqual([3, 4]);
    const [asked] = group.world.requestsOf(OFFSET_FETCH);
    expect(asked?.groups[0]).toMatchObject({ memberEpoch: 1 });
  });

  test("it is heard of as often as the coordinator wants, and says nothing twice", () => {
    const group = member();
    group.heartbeatIntervalMs = 2_000;

    group.begin(7 * SECOND);

    expect(beats(group)).toEqual(["0 owns", "1 owns 0 1", "1", "1", "1"]);
    const last = group.world.requestsOf(CONSUMER_GROUP_HEARTBEAT).at(-1);
    expect(last).toMatchObject({ rebalanceTimeoutMs: -1, subscribedTopicNames: undefined });
  });

  test.each(["UNRELEASED_INSTANCE_ID", "UNSUPPORTED_ASSIGNOR", "GROUP_MAX_SIZE_REACHED"] as const)(
    "it gives up when it is refused with %s",
    (error) => {
      const group = member({ ...CONSUMER, "group.instance.id": "i" });
      group.errors.beat.push(error);

      group.begin(SECOND);

      expect(group.world.exited).toBe(`no place in group g as group.instance.id i: ${error}`);
    },
  );

  test("it says everything again to a coordinator that it has just found", () => {
    const group = member().begin(1_500 * MILLISECOND);

    group.coordinator = 1;
    group.world.run(SECOND);

    const last = group.world.requestsOf(CONSUMER_GROUP_HEARTBEAT).at(-1);
    expect(last).toMatchObject({ memberEpoch: 1, subscribedTopicNames: ["orders"] });
    expect(last?.topicPartitions?.[0]?.partitions).toEqual([0, 1]);
    expect(group.ownership).toEqual(["assigned 0 1"]);
  });
});

describe("another assignment (KIP-848)", () => {
  test("a member commits, gives up what is not its own any more, and only then takes the rest", () => {
    const group = member();
    group.assigned = [0];
    group.ends[0] = 4;
    group.begin(500 * MILLISECOND);

    group.target(1);
    group.world.run(SECOND);

    expect(group.ownership).toEqual(["assigned 0", "revoked 0", "assigned 1"]);
    expect(group.committed.get(0)).toBe(4);
    expect(beats(group)).toEqual(["0 owns", "1 owns 0", "1", "2 owns 1"]);
  });

  test("it keeps what it owns still, and reads on there", () => {
    const group = member();
    group.begin(500 * MILLISECOND);

    group.target(1);
    group.world.run(SECOND);
    group.ends[1] = 3;
    group.world.run(SECOND);

    expect(group.ownership).toEqual(["assigned 0 1", "revoked 0", "assigned"]);
    expect(group.polled(1)).toEqual([0, 1, 2]);
  });

  test("nothing of a partition that is to go is handed over while the commit lasts", () => {
    const group = member();
    group.begin(500 * MILLISECOND);
    group.silent.add("commit");

    group.target(1);
    group.world.run(SECOND);
    group.ends[0] = 3;
    group.ends[1] = 3;
    group.world.run(SECOND);

    expect(group.polled(0)).toEqual([]);
    expect(group.polled(1)).toEqual([0, 1, 2]);
    expect(group.ownership).toEqual(["assigned 0 1"]);
  });

  test("it gives up nothing while the application works, but takes more at once if it commits by hand", () => {
    const group = member(BY_HAND, { work: work(5 * SECOND) });
    group.assigned = [0];
    group.ends[0] = 1;
    group.begin(500 * MILLISECOND);

    group.target(0, 1);
    group.world.run(SECOND);
    const whileWorking = [...group.ownership];
    group.target(1);
    group.world.run(SECOND);

    expect(whileWorking).toEqual(["assigned 0", "assigned 1"]);
    expect(group.ownership).toEqual(whileWorking);
    group.world.run(4 * SECOND);
    expect(group.ownership).toEqual([...whileWorking, "revoked 0", "assigned"]);
  });

  test("with auto commit it changes nothing while the application works", () => {
    const group = member(CONSUMER, { work: work(5 * SECOND) });
    group.assigned = [0];
    group.ends[0] = 1;
    group.begin(500 * MILLISECOND);

    group.target(0, 1);
    group.world.run(SECOND);

    expect(group.ownership).toEqual(["assigned 0"]);
  });

  test("what is committed before partitions go is committed again in the epoch of then", () => {
    const group = member();
    group.ends[0] = 4;
    group.begin(500 * MILLISECOND);
    group.errors.commit.push("STALE_MEMBER_EPOCH");

    group.target(1);
    group.world.run(2 * SECOND);

    const commits = group.world.requestsOf(OFFSET_COMMIT);
    expect(commits.map((commit) => commit.generationIdOrMemberEpoch)).toEqual([2, 2]);
    expect(group.committed.get(0)).toBe(4);
  });

  test.each(["classic", "consumer"])(
    "no auto commit is begun behind one that lasts (%s)",
    (protocol) => {
      const group = member({ "group.protocol": protocol, "auto.commit.interval.ms": 500 });
      group.ends[0] = 4;
      group.silent.add("commit");

      group.begin(3 * SECOND);
      group.ends[0] = 6;
      group.world.run(2 * SECOND);

      expect(group.world.requestsOf(OFFSET_COMMIT)).toHaveLength(1);
    },
  );

  test("a commitSync in an epoch that is over fails, and the application goes on", () => {
    const group = member(BY_HAND, { commit: { mode: "sync", when: "after" } });
    group.errors.commit.push("STALE_MEMBER_EPOCH");
    group.ends[0] = 4;

    group.begin(500 * MILLISECOND);
    group.ends[0] = 6;
    group.world.run(SECOND);

    const outcomes = group.world.factsOf("commit-ended").map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["failed", "committed"]);
    expect(group.committed.get(0)).toBe(6);
  });
});

describe("the end of a membership (KIP-848)", () => {
  test.each(["FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"] as const)(
    "a member that hears %s has lost what it owned, and joins again as the same",
    (error) => {
      const group = member().begin(500 * MILLISECOND);
      group.errors.beat.push(error);

      group.world.run(SECOND);

      expect(group.ownership).toEqual(["assigned 0 1", "lost 0 1", "assigned 0 1"]);
      expect(beats(group)).toEqual(["0 owns", "1 owns 0 1", "1", "0 owns", "1 owns 0 1"]);
      const ids = group.world.requestsOf(CONSUMER_GROUP_HEARTBEAT).map(({ memberId }) => memberId);
      expect(new Set(ids).size).toBe(1);
    },
  );

  test("a member that does not poll in time leaves, and is back when it polls", () => {
    const configs = { ...BY_HAND, "max.poll.interval.ms": 3_000 };
    const group = member(configs, { work: work(5 * SECOND) });
    group.ends[0] = 1;

    group.begin(4 * SECOND);

    expect(group.ownership).toEqual(["assigned 0 1", "lost 0 1"]);
    expect(beats(group).at(-1)).toBe("-1 owns");
    group.world.run(2 * SECOND);
    expect(group.ownership).toEqual(["assigned 0 1", "lost 0 1", "assigned 0 1"]);
  });

  test.each([
    ["", "-1 owns"],
    ["i", "-2 owns"],
  ])("a member that is closed gives up what it owns and leaves; instance id '%s'", (id, last) => {
    const group = member({ ...CONSUMER, "group.instance.id": id }).begin(500 * MILLISECOND);

    group.consumer.onShutdown();
    group.world.run(SECOND);

    expect(group.ownership).toEqual(["assigned 0 1", "revoked 0 1"]);
    expect(beats(group).at(-1)).toBe(last);
    expect(group.world.exited).toBe("closed");
  });

  test("a commit that comes to nothing once the member is out lets the application poll, and it is back", () => {
    const configs = { "enable.auto.commit": false, "max.poll.interval.ms": 3_000 };
    const group = member(configs, { commit: { mode: "sync", when: "after" } });
    group.ends[0] = 1;
    group.silent.add("commit");

    group.begin(5 * SECOND);
    group.world.disconnect(addressOf(2));
    group.silent.delete("commit");
    group.world.run(3 * SECOND);

    expect(group.world.factsOf("commit-ended").map(({ error }) => error)).toEqual([
      "CommitFailedException",
      "NONE",
    ]);
    expect(group.ownership).toEqual(["assigned 0 1", "lost 0 1", "assigned 0 1"]);
  });

  test("an answer to a heartbeat from before it left tells it nothing", () => {
    const configs = { ...BY_HAND, "max.poll.interval.ms": 3_000 };
    const group = member(configs, { work: work(4 * SECOND) });
    group.ends[0] = 1;
    group.begin(2_500 * MILLISECOND);

    group.silent.add("beat");
    group.world.run(2 * SECOND);
    group.silent.delete("beat");
    group.world.disconnect(addressOf(2));
    group.world.run(2 * SECOND);

    expect(group.ownership).toEqual(["assigned 0 1", "lost 0 1", "assigned 0 1"]);
  });
});
