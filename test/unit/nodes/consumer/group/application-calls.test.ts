import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../../src/base/time.ts";
import {
  FETCH,
  HEARTBEAT,
  LIST_OFFSETS,
  METADATA,
} from "../../../../../src/kafka/protocol/apis.ts";
import { ScriptedGroup } from "../../../../support/scripted-group.ts";

const NO_COMMIT = { "enable.auto.commit": false };

function reading(configs: Record<string, unknown> = NO_COMMIT): ScriptedGroup {
  const group = new ScriptedGroup(configs);
  group.ends[0] = 4;
  group.ends[1] = 4;
  return group.begin(SECOND);
}

function upTo(count: number, from = 0): number[] {
  return Array.from({ length: count - from }, (_, i) => from + i);
}

describe("a partition that is paused", () => {
  test("is neither fetched nor handed over, while others are, and its owner stays in the group", () => {
    const group = reading();
    group.consumer.call({ kind: "pause", partition: "orders-0" });
    group.world.run(SECOND);
    const before = group.world.requestsOf(FETCH).length;

    group.ends[0] = 9;
    group.ends[1] = 9;
    group.world.run(60 * SECOND);

    expect(group.polled(0)).toEqual(upTo(4));
    expect(group.polled(1)).toEqual(upTo(9));
    expect(group.ownership).toEqual(["assigned 0 1"]);
    const later = group.world.requestsOf(FETCH).slice(before);
    const fetched = later.flatMap(({ topics }) => topics.flatMap(({ partitions }) => partitions));
    expect(fetched.map(({ partition }) => partition)).not.toContain(0);
  });

  test("goes on where it was when it is resumed", () => {
    const group = reading();
    group.consumer.call({ kind: "pause", partition: undefined });
    group.world.run(SECOND);
    group.ends[0] = 9;
    group.ends[1] = 9;
    group.world.run(SECOND);
    expect([group.polled(0), group.polled(1)]).toEqual([upTo(4), upTo(4)]);

    group.consumer.call({ kind: "resume", partition: undefined });
    group.world.run(SECOND);

    expect([group.polled(0), group.polled(1)]).toEqual([upTo(9), upTo(9)]);
  });

  test("keeps what had been fetched of it already", () => {
    const group = reading({ ...NO_COMMIT, "max.poll.records": 2 });
    group.consumer.call({ kind: "pause", partition: "orders-0" });
    group.consumer.call({ kind: "resume", partition: "orders-0" });
    group.world.run(SECOND);

    expect(group.polled(0)).toEqual(upTo(4));
  });

  test("is paused no more once it has been assigned anew", () => {
    const group = reading();
    group.consumer.call({ kind: "pause", partition: undefined });
    group.world.run(SECOND);

    group.rebalance();
    group.ends[0] = 9;
    group.world.run(5 * SECOND);

    expect(group.ownership).toEqual(["assigned 0 1", "revoked 0 1", "assigned 0 1"]);
    expect(group.polled(0).at(-1)).toBe(8);
  });
});

describe("an application that seeks", () => {
  test("reads on from that offset, and then commits what it has read", () => {
    const group = reading({ "auto.commit.interval.ms": 1000 });

    group.consumer.call({ kind: "seek", partition: "orders-1", to: 2 });
    group.world.run(3 * SECOND);

    expect(group.polled(1)).toEqual([0, 1, 2, 3, 2, 3]);
    expect(group.world.factsOf("position-reset").at(-1)).toMatchObject({
      partition: "orders-1",
      from: 4,
      to: 2,
      reason: "seek",
    });
    expect(group.committed.get(1)).toBe(4);
  });

  test("to the beginning or the end asks the leader where that is", () => {
    const group = reading();
    group.consumer.call({ kind: "seek", partition: "orders-0", to: "beginning" });
    group.world.run(SECOND);
    expect(group.polled(0)).toEqual([...upTo(4), ...upTo(4)]);

    // What is written between the pause and the leap is leapt over.
    group.consumer.call({ kind: "pause", partition: "orders-0" });
    group.world.run(SECOND);
    group.ends[0] = 9;
    group.consumer.call({ kind: "seek", partition: "orders-0", to: "end" });
    group.consumer.call({ kind: "resume", partition: "orders-0" });
    group.world.run(SECOND);
    group.ends[0] = 10;
    group.world.run(SECOND);

    expect(group.polled(0)).toEqual([...upTo(4), ...upTo(4), 9]);
  });

  test("waits until it is done with its work", () => {
    const group = new ScriptedGroup(NO_COMMIT, {
      work: { pace: { draw: () => 100 * MILLISECOND }, workers: 1 },
    });
    group.ends[0] = 4;
    group.begin(200 * MILLISECOND);

    group.consumer.call({ kind: "seek", partition: "orders-0", to: 0 });
    group.world.run(100 * MILLISECOND);
    expect(group.polled(0)).toEqual(upTo(4));

    group.world.run(SECOND);
    expect(group.polled(0)).toEqual([...upTo(4), ...upTo(4)]);
  });

  test("only where it is assigned: Kafka throws otherwise, and it goes on", () => {
    const group = reading();

    group.consumer.call({ kind: "seek", partition: "returns-0", to: 2 });
    group.consumer.call({ kind: "pause", partition: "returns-0" });
    group.ends[0] = 9;
    group.world.run(SECOND);

    expect(
      group.world.factsOf("call-failed").map(({ call, error }) => `${call}: ${error}`),
    ).toEqual([
      "seek: IllegalStateException: No current assignment for partition returns-0",
      "pause: IllegalStateException: No current assignment for partition returns-0",
    ]);
    expect(group.world.exited).toBeUndefined();
    expect(group.polled(0)).toEqual(upTo(9));
  });

  test("in all that it has, before it has anything, is told so", () => {
    const group = new ScriptedGroup(NO_COMMIT).begin();

    group.consumer.call({ kind: "seek", partition: undefined, to: "beginning" });
    group.world.run(SECOND);

    expect(group.world.factsOf("call-failed")).toMatchObject([
      { call: "seekToBeginning", partition: "", error: "it is assigned nothing" },
    ]);
  });

  test("by timestamp goes to the first record that is as late, and to the end if none is", () => {
    const group = reading();
    group.ends[0] = 9;
    group.world.run(SECOND);
    const asked = group.world.requestsOf(LIST_OFFSETS).length;

    group.consumer.call({ kind: "seek", partition: undefined, to: { timestamp: 6 } });
    group.world.run(SECOND);
    group.ends[1] = 5;
    group.world.run(SECOND);

    expect(group.polled(0)).toEqual([...upTo(9), 6, 7, 8]);
    expect(group.polled(1)).toEqual(upTo(5));
    expect(group.told).toEqual(["offsetsForTimes 0: 6", "offsetsForTimes 1: none"]);
    const resets = group.world.factsOf("position-reset").slice(-2);
    expect(resets).toMatchObject([
      { partition: "orders-0", from: 9, to: 6, reason: "seek" },
      { partition: "orders-1", from: 4, to: 4, reason: "seek-to-end" },
    ]);
    // One question to the leader of both, and one about the end.
    const questions = group.world.requestsOf(LIST_OFFSETS).slice(asked);
    expect(
      questions.map(({ topics }) => topics[0]?.partitions.map((one) => one.timestamp)),
    ).toEqual([[6, 6], [-1]]);
  });
});

describe("an application that asks for offsets", () => {
  test("is told where a partition begins and ends, assigned to it or not", () => {
    const group = reading();
    group.assigned = [0];
    group.rebalance();
    group.world.run(5 * SECOND);
    expect(group.ownership.at(-1)).toBe("assigned 0");

    group.consumer.call({ kind: "ask-offsets", partition: undefined, which: "end" });
    group.consumer.call({ kind: "ask-offsets", partition: "orders-1", which: "beginning" });
    group.world.run(SECOND);

    expect(group.told).toEqual(["endOffsets 0: 4", "beginningOffsets 1: 0"]);
  });

  test("asks each leader once", () => {
    const group = new ScriptedGroup(NO_COMMIT, {}, 4);
    for (const [partition, leader] of [1, 2, 1, 2].entries()) {
      if (leader === 2) group.cluster.elect(partition, leader);
    }
    group.begin(SECOND);
    const before = group.world.requestsOf(LIST_OFFSETS).length;

    group.consumer.call({ kind: "ask-offsets", partition: undefined, which: "end" });
    group.world.run(SECOND);

    const asked = group.world.requestsOf(LIST_OFFSETS).slice(before);
    expect(
      asked.map(({ topics }) => topics[0]?.partitions.map((one) => one.partitionIndex)),
    ).toEqual([
      [0, 2],
      [1, 3],
    ]);
    expect(group.told).toHaveLength(4);
  });

  test("asks again, and after a look at the metadata, when a leader refuses", () => {
    const group = reading();
    const refreshed = group.world.requestsOf(METADATA).length;
    group.errors.list.push("NOT_LEADER_OR_FOLLOWER", "OFFSET_NOT_AVAILABLE");

    group.consumer.call({ kind: "ask-offsets", partition: "orders-0", which: "end" });
    group.world.run(2 * SECOND);

    expect(group.told).toEqual(["endOffsets 0: 4"]);
    expect(group.world.requestsOf(METADATA).length).toBeGreaterThan(refreshed);
    const failures = group.world
      .factsOf("request-failed")
      .map(({ api, error }) => `${api} ${error}`);
    expect(failures).toEqual([
      "ListOffsets NOT_LEADER_OR_FOLLOWER",
      "ListOffsets OFFSET_NOT_AVAILABLE",
    ]);
  });

  test("does not poll meanwhile, but stays in its group, and loses nothing", () => {
    const group = reading();
    group.silent.add("list");

    group.consumer.call({ kind: "ask-offsets", partition: "orders-0", which: "end" });
    group.world.run(SECOND);
    group.ends[0] = 9;
    group.world.run(9 * SECOND);
    expect(group.polled(0)).toEqual(upTo(4));
    expect(group.world.requestsOf(HEARTBEAT).length).toBeGreaterThan(2);

    group.silent.delete("list");
    group.world.run(30 * SECOND);
    expect(group.told).toEqual(["endOffsets 0: 9"]);
    expect(group.polled(0)).toEqual(upTo(9));
    expect(group.ownership).toEqual(["assigned 0 1"]);
  });

  test("gives up after default.api.timeout.ms: Kafka throws, and it goes on", () => {
    const group = reading({ ...NO_COMMIT, "default.api.timeout.ms": 5_000 });
    group.silent.add("list");

    group.consumer.call({ kind: "seek", partition: undefined, to: { timestamp: 2 } });
    group.world.run(4_999 * MILLISECOND);
    expect(group.world.factsOf("call-failed")).toEqual([]);
    group.world.run(2 * MILLISECOND);
    group.ends[0] = 9;
    group.world.run(SECOND);

    expect(group.world.factsOf("call-failed")).toMatchObject([
      {
        call: "offsetsForTimes",
        error: "TimeoutException: Failed to get offsets by times in 5000ms",
      },
    ]);
    expect(group.polled(0)).toEqual(upTo(9));
  });

  test("longer than max.poll.interval.ms loses its place in the group", () => {
    const group = reading({ ...NO_COMMIT, "max.poll.interval.ms": 20_000 });
    group.silent.add("list");

    group.consumer.call({ kind: "ask-offsets", partition: "orders-0", which: "end" });
    group.world.run(30 * SECOND);

    expect(group.asked.at(-1)).toBe("LeaveGroup");
  });
});
