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
