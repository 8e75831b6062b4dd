import { expect, test } from "vitest";
import { buildBatch } from "../../../src/kafka/log/record-batch.ts";
import { ClusterView } from "../../../src/trace/cluster-view.ts";
import type { Fact } from "../../../src/trace/fact.ts";
import { FactRecorder } from "../../../src/trace/recorder.ts";
import { appended, moved, sent } from "../../support/story.ts";

/** A view, and the recorder and the time that it goes by. */
const REGISTERED = {
  kind: "partition-changed",
  partition: "orders-0",
  replicas: [1],
  isr: [1],
  elr: [],
  leader: 1,
  leaderEpoch: 0,
  partitionEpoch: 0,
  recovering: false,
  election: "initial",
  minInsyncReplicas: 1,
} as const;

function observed() {
  const clock = { now: 0, event: 1, mixFact: () => undefined };
  const facts = new FactRecorder(clock);
  return { clock, facts, view: new ClusterView(facts) };
}

function batch(baseOffset: number, records: number) {
  return buildBatch(
    Array.from({ length: records }, () => ({ timestamp: 0 })),
    { baseOffset },
  );
}

test("the high watermark and the log end of a partition are its leader's", () => {
  const { facts, view } = observed();
  for (const fact of [appended(1, 9), appended(2, 7), moved(5, 1), moved(4, 2)]) facts.note(fact);
  const register = (leader: number) =>
    facts.note({
      kind: "partition-changed",
      partition: "orders-0",
      replicas: [1, 2, 3],
      isr: [1, 2],
      elr: [],
      leader,
      leaderEpoch: 0,
      partitionEpoch: 0,
      recovering: false,
      election: "none",
      minInsyncReplicas: 1,
    });
  const partition = view.partition("orders-0");

  expect([partition.highWatermark, partition.logEndOffset]).toEqual([0, 0]);
  register(1);
  expect([partition.highWatermark, partition.logEndOffset]).toEqual([5, 10]);
  register(2);
  expect([partition.highWatermark, partition.logEndOffset]).toEqual([4, 8]);
  expect(partition.outOfSync).toEqual([3]);
});

test("a truncation takes the high watermark with it", () => {
  const { facts, view } = observed();
  for (const fact of [appended(1, 9), moved(8, 1)]) facts.note(fact);

  facts.note({
    kind: "truncated",
    broker: 1,
    partition: "orders-0",
    from: 10,
    to: 6,
    reason: "test",
  });

  expect(view.partition("orders-0").log(1)).toMatchObject({ logEndOffset: 6, highWatermark: 6 });
});

test("a stall is time in which sends wait, not time in which there are none", () => {
  const { clock, facts, view } = observed();
  const [, end] = sent("p1", 1);
  const send = (at: number) => {
    clock.now = at;
    facts.note({ kind: "record-sent", client: "p1", partition: "orders-0", value: 0 });
  };
  const ack = (at: number) => {
    clock.now = at;
    if (end !== undefined) facts.note(end);
  };

  send(1_000);
  ack(1_500);
  send(60_000);
  send(61_000);
  ack(63_000);

  expect(view.client("p1").longestStall(64_000)).toBe(3_000);
  expect(view.client("p1").longestStall(90_000)).toBe(27_000);
  ack(91_000);
  expect(view.client("p1").longestStall(500_000)).toBe(28_000);
});

test("records read, read again and not read yet are told apart", () => {
  const { facts, view } = observed();
  const poll = (firstOffset: number, lastOffset: number) =>
    facts.note({
      kind: "polled",
      client: "c1",
      partition: "orders-0",
      firstOffset,
      lastOffset,
      batches: [batch(0, 5), batch(5, 5)],
    });
  facts.note(REGISTERED);
  facts.note(moved(12, 1));

  poll(2, 6);
  facts.note({
    kind: "position-reset",
    client: "c1",
    partition: "orders-0",
    from: 7,
    to: 4,
    reason: "test",
  });
  poll(4, 8);

  expect(view.client("c1")).toMatchObject({ read: 10, again: 3 });
  expect([undefined, "orders-0", "orders-1"].map((of) => view.client("c1").lag(of))).toEqual([
    3, 3, 0,
  ]);
});

test("a node that is paused is up, but not alive, and a stop ends the pause", () => {
  const { facts, view } = observed();
  const node = view.node("broker-1");
  facts.note({ kind: "node-started", node: "broker-1", incarnation: 0 });
  expect(node.isAlive).toBe(true);

  facts.note({ kind: "node-paused", node: "broker-1" });
  expect([node.isUp, node.isAlive]).toEqual([true, false]);

  facts.note({ kind: "node-stopped", node: "broker-1", how: "power-off", reason: "test" });
  expect([node.isUp, node.isPaused, node.stoppedBy]).toEqual([false, false, "power-off"]);
});

test("the active controller is the one that was elected last and has not resigned", () => {
  const { facts, view } = observed();
  const elect = (controller: number) =>
    facts.note({ kind: "controller-elected", controller, quorumEpoch: 1 });

  elect(3001);
  elect(3002);
  facts.note({ kind: "controller-resigned", controller: 3001, quorumEpoch: 1 });
  expect(view.controller).toBe(3002);

  facts.note({ kind: "controller-resigned", controller: 3002, quorumEpoch: 1 });
  expect(view.controller).toBe(-1);
});

test("a consumer's realtime lag is worst just before something comes, or is not to come any more", () => {
  const { clock, facts, view } = observed();
  const note = (at: number, fact: Fact) => {
    clock.now = at;
    facts.note(fact);
  };
  const client = view.client("c1");
  const [partition, reason] = ["orders-0", "initial"];
  const acked = (baseOffset: number): Fact => ({
    kind: "send-ended",
    client: "p1",
    partition,
    outcome: "acked",
    values: [0, 1],
    baseOffset,
    acks: -1,
    error: "NONE",
    attempts: 1,
  });
  const polled = (firstOffset: number): Fact => {
    const batches = [batch(firstOffset, 2)];
    return {
      kind: "polled",
      client: "c1",
      partition,
      firstOffset,
      lastOffset: firstOffset + 1,
      batches,
    };
  };
  const reset = (from: number, to: number): Fact => {
    return { kind: "position-reset", client: "c1", partition, from, to, reason };
  };

  note(1_000, reset(-1, 0));
  note(2_000, acked(0));
  note(2_300, polled(0));
  expect(client.worstRealtimeLag(9_000)).toBe(300);

  note(10_000, acked(2));
  expect(client.worstRealtimeLag(10_200)).toBe(300);
  expect(client.worstRealtimeLag(14_000)).toBe(4_000);
  note(15_000, reset(2, 4));
  expect(client.worstRealtimeLag(90_000)).toBe(5_000);

  // It was not running: nobody polled.
  note(100_000, acked(4));
  note(150_000, reset(-1, 6));
  expect(client.worstRealtimeLag(150_000)).toBe(5_000);
});

test("who reads committed records is told of no lag behind an open transaction", () => {
  const { facts, view } = observed();
  facts.note(REGISTERED);
  facts.note(moved(12, 1));
  const stable = (lastStableOffset: number): void =>
    facts.note({
      kind: "last-stable-offset-moved",
      broker: 1,
      partition: "orders-0",
      lastStableOffset,
      leaderEpoch: 0,
    });
  const [c1, c2] = [view.client("c1"), view.client("c2")];
  c1.readsCommitted = true;
  for (const client of ["c1", "c2"]) {
    const reset = { kind: "position-reset", client, partition: "orders-0", from: -1 } as const;
    facts.note({ ...reset, to: 4, reason: "initial" });
  }

  stable(7);
  expect([c1.lag(), c1.currentLag(), c2.currentLag("orders-0")]).toEqual([8, 3, 8]);
  facts.note(moved(14, 1));
  expect([c1.lag(), c1.currentLag(), c2.currentLag("orders-0")]).toEqual([10, 3, 10]);
  stable(14);
  facts.note(moved(15, 1));
  expect(c1.currentLag("orders-0")).toBe(11);
});
