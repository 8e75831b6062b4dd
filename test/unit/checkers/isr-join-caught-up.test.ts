import { expect, test } from "vitest";
import { CANDIDATES_COMPLETE } from "../../../src/checkers/candidates-complete.ts";
import { ISR_JOIN_CAUGHT_UP } from "../../../src/checkers/isr-join-caught-up.ts";
import { History } from "../../support/fact-builders.ts";

/** Broker 3 is out of the ISR, with one record of three. */
function behind(): History {
  const history = new History({ guarantees: [ISR_JOIN_CAUGHT_UP] });
  history.commit([0]);
  history.shrink([1, 2]);
  history.commit([1]);
  history.commit([2]);
  return history;
}

test("a replica that has all below the high watermark may join", () => {
  const history = behind();
  history.write([3]);
  history.copy([3], 2).shrink([1, 2, 3]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("one that has not is caught", () => {
  const history = behind().shrink([1, 2, 3]);

  expect(history.violations().map(({ text }) => text)).toEqual([
    ["broker-1 asked for the ISR {1,2,3}, but broker-3 has its log only up to 1 of 3."],
  ]);
});

test("so is one that lacks what the leader had when its epoch began, though nothing tells it is committed", () => {
  const history = behind();
  history.elect(2, { isr: [2, 1] });
  history.copy([3]).truncate(3, 2);

  history.shrink([2, 1, 3]);

  expect(history.violations()).toMatchObject([{ offsets: [2, 2], count: 1 }]);
});

test("a leader that another has replaced may ask for what it likes", () => {
  const history = behind();
  history.leader = 2;
  history.epoch = 1;
  history.registered("clean", { isr: [2] });
  history.note({
    kind: "isr-proposed",
    broker: 1,
    partition: "orders-0",
    isr: [1, 2, 3],
    leaderEpoch: 0,
    partitionEpoch: 2,
  });

  expect(history.violations()).toEqual([]);
});

test("a replica that has died since it fetched is not to blame", () => {
  const history = behind().stop(3).shrink([1, 2, 3]);

  expect(history.violations()).toEqual([]);
});

test("what has expired at the leader nobody needs, though a follower that was cut there keeps its own", () => {
  for (const [start, kinds] of [
    [4, []],
    [0, ["joined-behind", "candidate-incomplete"]],
  ] as const) {
    const history = new History({ guarantees: [ISR_JOIN_CAUGHT_UP, CANDIDATES_COMPLETE] });
    history.commit([0]);
    history.write([10, 11, 12, 13, 14, 15]);
    history.elect(2, { isr: [2, 3] });
    history.commit([1, 2, 3]);
    for (const broker of [2, 3]) history.moveStart(broker, start, "retention-time");

    history.follow(1).truncate(1, 4).shrink([2, 3, 1]);

    expect(history.violations().map(({ kind }) => kind)).toEqual(kinds);
  }
});
