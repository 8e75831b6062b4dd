import { expect, test } from "vitest";
import { OFFSETS_NEVER_CHANGE } from "../../../src/checkers/offsets-never-change.ts";
import { History } from "../../support/fact-builders.ts";

const OPTIONS = { guarantees: [OFFSETS_NEVER_CHANGE], topic: { isCompacted: true } };

function written(): History {
  const history = new History(OPTIONS);
  history.isr = [1, 2];
  history.commit([0, 1], { keys: ["a", "b"] });
  history.commit([2], { keys: ["a"] });
  history.commit([3], { keys: ["b"] });
  return history;
}

function told(history: History): string[] {
  return history.violations().map(({ text }) => text.join(" "));
}

test("cleaning and copying what is left changes no offset", () => {
  const history = written();
  history.clean(1, 0, 3, [2]);
  history.copy([3]);
  history.clean(2, 0, 3, [1, 2]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 3 });
});

test("a cleaner that moves a record to another offset is caught", () => {
  const history = written();
  const moved = history.batch([2], { baseOffset: 0, partitionLeaderEpoch: 0, keys: ["a"] });

  history.cleaned(1, 0, 3, [moved]);

  expect(told(history)).toEqual([
    "broker-1 cleaned its log, and holds at offset 0 what it did not hold there before.",
  ]);
});

test("one that gives a record another value, or another leader epoch, is caught", () => {
  const value = written();
  value.cleaned(1, 2, 3, [value.batch([9], { baseOffset: 2, keys: ["a"], baseSequence: 2 })]);
  const epoch = written();
  const later = { baseOffset: 2, keys: ["a"], partitionLeaderEpoch: 1 };
  epoch.cleaned(1, 2, 3, [epoch.batch([2], later)]);

  expect(told(value)).toHaveLength(1);
  expect(told(epoch)).toHaveLength(1);
});

test("a follower that skips what no cleaning took is caught", () => {
  const history = written();
  const [first, , third] = history.logs.get(1) ?? [];
  if (first === undefined || third === undefined) throw new Error("no batches");

  history.append(3, first).append(3, third);

  expect(told(history)).toEqual([
    "broker-3 appended offsets 3..3, but lacks offset 2, which no cleaning took.",
  ]);
});

test("a leader that leaves a hole, or goes back, is caught", () => {
  const hole = new History({ ...OPTIONS, topic: {} });
  hole.write([0]);
  hole.write([1], { baseOffset: 3 });
  const back = new History({ ...OPTIONS, topic: {} });
  back.write([0]);
  back.write([1], { baseOffset: 0 });

  expect(told(hole)).toHaveLength(1);
  expect(told(back)).toHaveLength(1);
});

test("what a cleaning keeps below the log's start is nobody's, and no finding", () => {
  const history = written();
  const batches = (history.logs.get(1) ?? []).slice(0, 2);
  history.moveStart(1, 3, "leader");

  history.cleaned(1, 0, 3, batches);

  expect(history.violations()).toEqual([]);
});
