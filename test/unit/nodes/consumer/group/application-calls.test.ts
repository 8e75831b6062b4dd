import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../../src/base/time.ts";
import { FETCH } from "../../../../../src/kafka/protocol/apis.ts";
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

  test("only where it is assigned: Kafka throws otherwise", () => {
    const group = reading();

    group.consumer.call({ kind: "seek", partition: "returns-0", to: 2 });
    group.world.run(SECOND);

    expect(group.world.exited).toBe(
      "IllegalStateException: No current assignment for partition returns-0",
    );
  });
});
