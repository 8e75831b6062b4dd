import { expect, test } from "vitest";
import type { PartitionGhost } from "../../../src/checkers/partition-ghost.ts";
import { History, ORDERS } from "../../support/fact-builders.ts";

const ghostOf = (history: History): PartitionGhost => history.checkers.logs.partition(ORDERS);

test("the committed prefix follows the highest high watermark of any leader", () => {
  const history = new History({ guarantees: [] });
  history.commit([0, 1]);
  history.commit([2]);

  history.elect(2, { isr: [2, 3] }).highWatermark(2, 2);

  expect(ghostOf(history).trueHighWatermark).toBe(3);
  expect(ghostOf(history).canon.end).toBe(3);
});

test("a high watermark inside a batch commits the batch, and says how far", () => {
  const history = new History({ guarantees: [] });
  history.write([0, 1, 2]);

  history.highWatermark(1, 2);

  expect(ghostOf(history).trueHighWatermark).toBe(2);
  expect(ghostOf(history).canon.end).toBe(3);
});

test("a load cuts to the end that was found, and does not add what it does not know", () => {
  const history = new History({ guarantees: [] });
  history.commit([0]);
  history.commit([1]);

  history.stop(3, "power-off").restart(3, 1);
  history.note(loaded(2, 9, -1));

  expect(ghostOf(history).log(3).end).toBe(1);
  expect(ghostOf(history).log(2).end).toBe(2);
});

test("a power-off that undoes a truncation brings the old tail back, by the epoch of the last batch", () => {
  const history = new History({ guarantees: [] });
  history.commit([0]);
  history.write([1]);
  history.copy([3]).elect(2, { isr: [2, 3] });
  history.truncate(3, 1).write([11]);
  history.copy([3]).stop(3, "power-off");
  const ghost = ghostOf(history);
  expect(ghost.log(3).contains(ghost.log(2).tip)).toBe(true);

  history.note(loaded(3, 2, 0));

  expect(ghost.log(3).end).toBe(2);
  expect(ghost.log(3).contains(ghost.log(1).tip)).toBe(true);
  expect(ghost.log(3).contains(ghost.log(2).tip)).toBe(false);
});

test("a leader is in office until it stops or follows", () => {
  const history = new History({ guarantees: [] });
  const ghost = ghostOf(history);
  expect(ghost.leading).toBe(true);

  history.stop(1);
  expect(ghost.leading).toBe(false);
  history.elect(2, { isr: [2, 3] });
  expect(ghost.leading).toBe(true);
  history.note({
    kind: "became-follower",
    broker: 2,
    partition: ORDERS,
    leader: 3,
    leaderEpoch: 2,
    logEndOffset: 0,
  });

  expect(ghost.leading).toBe(false);
});

function loaded(broker: number, logEndOffset: number, lastEpoch: number) {
  return {
    kind: "log-loaded",
    broker,
    partition: ORDERS,
    logStartOffset: 0,
    logEndOffset,
    lastEpoch,
    highWatermark: 0,
    cleanShutdown: false,
    truncatedBytes: 0,
  } as const;
}

test("what retention took stays in a log's history: it was there, and was not cut off", () => {
  const history = new History({ guarantees: [] });
  history.commit([0]);
  const expired = ghostOf(history).log(1).tip;
  history.commit([1]);

  history.moveStart(1, 1, "retention-time");

  const log = ghostOf(history).log(1);
  expect(log.start).toBe(1);
  expect(log.end).toBe(2);
  expect(log.contains(expired)).toBe(true);
});

test("a log that was emptied to begin above all it held has the history that its next batch tells", () => {
  const history = new History({ guarantees: [] });
  for (const value of [0, 1, 2, 3]) history.commit([value]);
  history.moveStart(1, 2, "retention-time");

  history.load(3, 0);
  history.emptyTo(3, 2);
  const ghost = ghostOf(history);
  expect(ghost.log(3).end).toBe(2);
  history.copy([3]);

  expect(ghost.log(3).start).toBe(2);
  expect(ghost.log(3).contains(ghost.log(1).tip)).toBe(true);
});

test("an emptied log whose next batch is of another history than its leader's has that history", () => {
  const history = new History({ guarantees: [] });
  history.commit([0]);
  history.commit([1]);
  history.elect(2, { isr: [2, 3] });
  history.write([2]);
  // The old leader goes on, and a follower that has not heard copies from it.
  const zombie = history.batch([12], { baseOffset: 2, partitionLeaderEpoch: 0 });
  history.append(1, zombie);

  history.load(3, 0);
  history.emptyTo(3, 2);
  history.append(3, zombie);

  const ghost = ghostOf(history);
  expect(ghost.log(3).contains(ghost.log(1).tip)).toBe(true);
  expect(ghost.log(3).contains(ghost.log(2).tip)).toBe(false);
});

test("a log emptied within a batch takes that batch whole", () => {
  const history = new History({ guarantees: [] });
  history.commit([0, 1, 2]);
  history.moveStart(1, 1, "delete-records");

  history.load(3, 0);
  history.emptyTo(3, 1);
  history.copy([3]);
  history.append(3, history.logs.get(1)?.[0] ?? history.batch([9]));

  const ghost = ghostOf(history);
  expect(ghost.log(3).tip).toBe(ghost.log(1).tip);
  expect(ghost.log(3).end).toBe(3);
});

test("what was cut off when a log was emptied is told as cut off, what its leader had too is not", () => {
  const history = new History({ guarantees: [] });
  history.commit([0]);
  history.write([1]);
  history.copy([3]);
  history.elect(2, { isr: [2] });
  for (const value of [11, 12, 13]) history.write([value]);
  history.moveStart(2, 3, "retention-time");

  history.emptyTo(3, 3);

  const cuts = ghostOf(history).cuts.map(({ log, to }) => [log.broker, to]);
  expect(cuts).toEqual([[3, 1]]);
});

const COMPACTED = { guarantees: [], topic: { isCompacted: true } };

test("what compaction leaves of a batch is the batch, for whoever copies it", () => {
  const history = new History(COMPACTED);
  history.isr = [1, 2];
  history.commit([0, 1], { keys: ["a", "b"] });
  history.commit([2], { keys: ["c"] });
  history.commit([3], { keys: ["a"] });
  history.commit([4], { keys: ["c"] });
  history.clean(1, 0, 4, [1, 3]);

  history.copy([3]);

  const ghost = ghostOf(history);
  const log = ghost.log(3);
  expect(history.logs.get(3)?.length).toBe(3);
  expect(log.contains(ghost.log(2).tip)).toBe(true);
  const node = log.nodeAt(0);
  const places = [0, 1, 2, 3].map((offset) => {
    const at = log.nodeAt(offset);
    return log.hasRecord(ghost.tree.placeOf(at, offset));
  });
  expect(places).toEqual([false, true, false, true]);
  expect(ghost.log(2).hasRecord(ghost.tree.placeOf(node, 0))).toBe(true);
  expect(ghost.tree.conflict).toBe(-1);
});

test("a record that is fetched again after its cleaned copy was cut off is there again", () => {
  const history = new History(COMPACTED);
  history.commit([0], { keys: ["a"] });
  history.commit([1], { keys: ["a"] });
  history.clean(3, 0, 1, []);
  const log = ghostOf(history).log(3);
  const place = ghostOf(history).tree.placeOf(log.nodeAt(0), 0);
  expect(log.hasRecord(place)).toBe(false);

  history.truncate(3, 0);
  history.copy([3], 2);

  expect(log.hasRecord(place)).toBe(true);
});

test("a hole that no cleaning made is no copy of the leader's log", () => {
  const history = new History(COMPACTED);
  history.isr = [1, 2];
  for (const value of [0, 1, 2]) history.commit([value], { keys: ["a"] });

  const [first, , third] = history.logs.get(1) ?? [];
  if (first === undefined || third === undefined) throw new Error("no batches");
  history.append(3, first).append(3, third);

  const ghost = ghostOf(history);
  expect(ghost.log(3).contains(ghost.log(1).tip)).toBe(false);
});

test("a follower that parted from its leader below the start of the leader's log is taken to follow it", () => {
  const history = new History({});
  history.commit([0]);
  // Broker 3 goes on by itself, and what it wrote is cut off only down to where the new leader begins.
  history.append(3, history.batch([11], { baseOffset: 1 }));
  history.append(3, history.batch([12], { baseOffset: 2 }));
  history.elect(2, { isr: [1, 2] });
  for (const value of [1, 2, 3]) history.commit([value]);
  history.moveStart(2, 2, "delete-records");

  history.follow(3).truncate(3, 2).copy([3]).highWatermark(3, 4).moveStart(3, 2, "leader");

  expect(history.violations()).toEqual([]);
  expect(ghostOf(history).log(3).contains(ghostOf(history).log(2).tip)).toBe(true);
});

test("but not one whose leader could have told", () => {
  const history = new History({});
  history.commit([0]);
  history.append(3, history.batch([11], { baseOffset: 1 }));
  history.elect(2, { isr: [1, 2] });
  for (const value of [1, 2, 3]) history.commit([value]);
  history.moveStart(2, 1, "delete-records");

  history.copy([3]);

  expect(history.violations().map(({ guarantee }) => guarantee)).toContain("no-divergence");
});

test("nor does it matter if what the leader's log begins with has been cleaned away", () => {
  const history = new History({ topic: { isCompacted: true } });
  history.commit([0], { keys: ["a"] });
  history.append(3, history.batch([11], { baseOffset: 1, keys: ["a"] }));
  history.elect(2, { isr: [1, 2] });
  for (const value of [1, 2, 3]) history.commit([value], { keys: ["a"] });
  history.moveStart(2, 2, "delete-records").clean(2, 2, 3, []);

  history.follow(3).truncate(3, 2).copy([3]).highWatermark(3, 4).moveStart(3, 2, "leader");

  expect(history.violations()).toEqual([]);
  expect(ghostOf(history).log(3).contains(ghostOf(history).log(2).tip)).toBe(true);
});
