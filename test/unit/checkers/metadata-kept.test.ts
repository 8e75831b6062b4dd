import { expect, test } from "vitest";
import type { Guarantee } from "../../../src/checkers/guarantee.ts";
import { LEADER_IN_ISR } from "../../../src/checkers/leader-in-isr.ts";
import { METADATA_KEPT } from "../../../src/checkers/metadata-kept.ts";
import { MetadataHistory, OBSERVER, VOTERS } from "../../support/metadata-history.ts";

const watch = (): MetadataHistory => new MetadataHistory([METADATA_KEPT]);

/** Written by the first voter, on two of three when it is taken for committed. */
function committed(): MetadataHistory {
  const history = watch();
  const batch = history.write(3001, 1);
  history.append(3002, batch).apply(batch, [3001, 3002]);
  return history;
}

test("what a majority has is committed, and led on by one who has it", () => {
  const history = committed();
  history.write(3002, 2);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]?.state).toBe("held");
});

test("what is taken for committed before a majority has it is caught", () => {
  const history = watch();
  const batch = history.write(3001, 1);
  history.append(OBSERVER, batch).apply(batch, [3001]);

  expect(history.told()).toEqual([
    "controller-1 takes offset 0 of the metadata log for committed, which 1 of 3 voters have.",
  ]);
});

test("a leader of the quorum without what is committed is caught", () => {
  const history = committed();
  history.write(3003, 2);

  expect(history.told()).toEqual([
    "controller-3 leads the quorum in epoch 2 without the committed metadata from offset 0 on.",
  ]);
});

test("a leader whose votes came late need not have what a later epoch has committed", () => {
  const history = watch();
  const old = history.write(3001, 1);
  const next = history.append(3002, old).write(3002, 3);
  history.append(3001, next).apply(old, [3002]).apply(next, [3002]);

  history.write(3003, 2);

  expect(history.violations()).toEqual([]);
});

test("a node that cuts what it took for committed is caught", () => {
  const history = committed().truncate(3001, 0);

  expect(history.told()).toEqual([
    "controller-1 cut its metadata log at offset 0, of which it had taken all below 1 for committed.",
  ]);
});

test("a voter that comes back without it is caught, unless its disk is to blame", () => {
  const bug = committed().load(3002, 0);
  const lesson = committed();
  lesson.note({
    kind: "disk-disturbed",
    node: "controller-2",
    path: "kafka-logs/__cluster_metadata-0/00000000000000000000.log",
    partition: "",
    how: "fsync-lie",
    position: 0,
    bytes: 1,
  });
  lesson.load(3002, 0);

  expect(bug.told()).toEqual([
    "controller-2 came back without committed metadata, from offset 0 on.",
  ]);
  expect(lesson.violations()[0]?.permitted).toMatch(/^damaged disk of controller-2, at /);
});

test("a power cut may take what the leader had not flushed yet, and with it what was committed", () => {
  const lost = { kind: "unflushed-lost", path: "a.log", bytes: 9 } as const;
  const leader = committed()
    .note({ ...lost, node: "controller-1" })
    .load(3001, 0);
  const follower = committed()
    .note({ ...lost, node: "controller-2" })
    .load(3002, 0);
  leader.write(3003, 2);

  const permitted = "power cut of controller-1 while it flushed what it had written as the leader";
  expect(leader.violations().map((one) => one.permitted)).toEqual([permitted, permitted]);
  expect(follower.violations()[0]?.permitted).toBeUndefined();
});

test("a power cut may take what a voter wrote and took for committed in one step: the flush may not be over", () => {
  const unflushed = {
    kind: "unflushed-lost",
    node: "controller-3",
    path: "a.log",
    bytes: 9,
  } as const;
  const sameStep = watch();
  const told = sameStep.write(3001, 1);
  sameStep.append(3002, told).apply(told, [3001, 3002]);
  sameStep.inOneEvent(() => sameStep.append(3003, told).apply(told, [3003]));
  sameStep.note(unflushed).load(3003, 0);
  const nextStep = watch();
  const early = nextStep.write(3001, 1);
  nextStep.append(3002, early).apply(early, [3001, 3002]);
  nextStep.inOneEvent(() => nextStep.append(3003, early).apply(early, [3003]));
  const late = nextStep.write(3001, 1);
  nextStep.append(3003, late).note(unflushed).load(3003, 0);

  expect(sameStep.violations()).toEqual([]);
  expect(nextStep.told()).toEqual([
    "controller-3 came back without committed metadata, from offset 0 on.",
  ]);
});

test("only a power cut takes what is not flushed: a crash is no excuse", () => {
  const history = watch();
  const batch = history.write(3001, 1);
  history.append(3002, batch).apply(batch, [3001, 3002]);
  history.inOneEvent(() => history.append(3003, batch).apply(batch, [3003]));
  history.load(3003, 0);

  expect(history.told()).toEqual([
    "controller-3 came back without committed metadata, from offset 0 on.",
  ]);
});

test("a voter may lose what it has not taken for committed: it may not have flushed it", () => {
  const history = watch();
  const batch = history.write(3001, 1);
  history.append(3002, batch).append(3003, batch).apply(batch, [3001, 3002]).load(3003, 0);

  expect(history.violations()).toEqual([]);
});

test("an observer, and what was never committed, may go", () => {
  const history = watch();
  history.commit([...VOTERS, OBSERVER], 1);
  const tail = history.write(3001, 1);
  history.append(3002, tail).load(OBSERVER, 0).truncate(3002, 1).load(3001, 1);

  expect(history.violations()).toEqual([]);
});

/** What is said of a leader outside its ISR, whom the only voter makes after its log has come back empty. */
function judgedAfterLoss(guarantee: Guarantee, by: "power cut" | "crash"): (string | undefined)[] {
  const history = new MetadataHistory([METADATA_KEPT, guarantee], [3001]);
  history.commit([3001], 1);
  if (by === "power cut") {
    history.note({ kind: "unflushed-lost", node: "controller-1", path: "a.log", bytes: 9 });
  }
  history.load(3001, 0).commit([3001], 2);
  history.note({
    kind: "partition-changed",
    partition: "orders-0",
    replicas: [1, 2],
    isr: [2],
    elr: [],
    leader: 1,
    leaderEpoch: 1,
    partitionEpoch: 1,
    recovering: false,
    election: "none",
    minInsyncReplicas: 1,
  });
  return history
    .violations()
    .filter(({ kind }) => kind === "leader-not-in-isr")
    .map(({ permitted }) => permitted);
}

test("what comes of metadata that a quorum has lost, and may lose, is permitted with that", () => {
  const excuse = "power cut of controller-1 while it flushed what it had written as the leader";

  expect(judgedAfterLoss(LEADER_IN_ISR, "power cut")).toEqual([
    `committed metadata is lost: ${excuse}`,
  ]);
  expect(judgedAfterLoss(LEADER_IN_ISR, "crash")).toEqual([undefined]);
});

test("a guarantee of the caller's own is not excused with what Kafka may lose", () => {
  const own = { ...LEADER_IN_ISR, name: "mine" };

  expect(judgedAfterLoss(own, "power cut")).toEqual([undefined]);
});
