import { expect, test } from "vitest";
import { APPENDS_IN_ROLE } from "../../../src/checkers/appends-in-role.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (): History => new History({ guarantees: [APPENDS_IN_ROLE] });
const told = (history: History): string[] => history.violations().map(({ text }) => text.join(" "));

test("leaders that write and followers that copy hold it, also one that has not heard it is replaced", () => {
  const history = watch();
  history.commit([0]);
  history.elect(2, { isr: [2, 3] });
  history.append(1, history.batch([10], { partitionLeaderEpoch: 0 }), true);
  history.commit([1]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]?.state).toBe("held");
});

test("a leader that copies is caught", () => {
  const history = watch();
  const batch = history.batch([0]);

  history.append(1, batch, false);

  expect(told(history)).toEqual([
    "broker-1 leads in epoch 0, but copied offset 0 of leader epoch 0.",
  ]);
});

test("a follower that writes, or a leader that writes in another epoch, is caught", () => {
  const follower = watch();
  follower.append(2, follower.batch([0]), true);
  const leader = watch();
  leader.write([0], { partitionLeaderEpoch: 3 });

  expect(told(follower)).toEqual([
    "broker-2 follows in epoch 0, but wrote offset 0 of leader epoch 0.",
  ]);
  expect(told(leader)).toEqual([
    "broker-1 leads in epoch 0, but wrote offset 0 of leader epoch 3.",
  ]);
});

test("a follower that copies what is of a newer epoch than it follows in is caught", () => {
  const history = watch();
  history.elect(2, { isr: [2, 3] });
  const batch = history.write([0]);
  history.follow(3);
  history.elect(1, { isr: [1] });
  history.elect(2, { isr: [2] });
  const newer = history.write([1]);

  // Without having heard of the last two elections.
  for (const one of [batch, newer]) {
    const fact = { kind: "appended", broker: 3, partition: "orders-0", asLeader: false } as const;
    history.note({ ...fact, batch: one });
  }

  expect(told(history)).toEqual([
    "broker-3 follows in epoch 1, but copied offset 1 of leader epoch 3.",
  ]);
});

test("a broker that coordinates writes to its own topic before it is let in, as Kafka's does", () => {
  const history = watch();
  const partition = "__transaction_state-0";
  history.stop(2).note({ kind: "node-started", node: "broker-2", incarnation: 1 }).load(2, 0);
  history.note({
    kind: "became-follower",
    broker: 2,
    partition,
    leader: 1,
    leaderEpoch: 1,
    logEndOffset: 0,
  });
  const batch = history.batch([0], { partitionLeaderEpoch: 1 });

  history.note({ kind: "appended", broker: 2, partition, batch, asLeader: true });

  expect(history.violations()).toMatchObject([
    { permitted: expect.stringMatching(/^broker-2 wrote to it as a coordinator at .*, before/) },
  ]);
});

test("but nobody writes to an application's topic before that", () => {
  const history = watch();
  history.stop(2).note({ kind: "node-started", node: "broker-2", incarnation: 1 }).load(2, 0);
  history.follow(2);

  history.append(2, history.batch([0], { partitionLeaderEpoch: 1 }), true);

  expect(history.violations()).toMatchObject([{ permitted: undefined }]);
});
