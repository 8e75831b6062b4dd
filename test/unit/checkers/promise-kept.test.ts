import { expect, test } from "vitest";
import { PROMISE_KEPT } from "../../../src/checkers/promise-kept.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History } from "../../support/fact-builders.ts";

/** Broker-1 leads in epoch 0; 2 and 3 have copied two batches of one record. */
function copied(options: HistoryOptions = {}): History {
  const history = new History({ guarantees: [PROMISE_KEPT], ...options });
  history.write([0]);
  history.write([1]);
  return history.copy([2, 3]);
}

const told = (history: History): string[] => history.violations().map(({ text }) => text.join(" "));

test("a follower that cuts off what it has copied from the leader that it still follows is found", () => {
  const history = copied();

  history.truncate(2, 1);

  expect(told(history)).toEqual([
    "broker-2, which follows in epoch 0 and had copied in it, cut off its log from 2 to 1.",
  ]);
});

test("one that does so for a newer leader, in several steps, keeps its word", () => {
  const history = copied();
  history.elect(3, { isr: [2, 3] }).follow(2);

  history.truncate(2, 1).truncate(2, 0);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held" });
});

test("until it copies from that one: then it is bound again, also if it is told of the leader again", () => {
  const history = copied();
  history.elect(3, { isr: [2, 3] }).follow(2);
  history.truncate(2, 1);
  history.write([7]);
  history.copy([2]).follow(2);

  history.truncate(2, 1);

  expect(told(history)).toEqual([
    "broker-2, which follows in epoch 1 and had copied in it, cut off its log from 3 to 1.",
  ]);
});

test("a leader that cuts its log is found", () => {
  const history = copied();

  history.truncate(1, 1);

  expect(told(history)).toEqual(["broker-1, which leads in epoch 0, cut off its log from 2 to 1."]);
});

test("a log that comes back shorter from a crash is found, from a power loss it is not", () => {
  const crashed = copied().stop(2).restart(2, 1);
  const powerless = copied().stop(2, "power-off").restart(2, 1);

  expect(told(crashed)).toEqual([
    "broker-2 came back with a log that ends at 1 instead of 2, though nothing was lost.",
  ]);
  expect(told(powerless)).toEqual([]);
});

test("whoever goes back to an older epoch is found, unless it has started anew", () => {
  const running = copied();
  running.elect(3, { isr: [2, 3] }).follow(2);
  running.epoch = 0;
  running.follow(2);
  const anew = copied();
  anew.elect(3, { isr: [2, 3] }).follow(2);
  anew.stop(2).restart(2);
  anew.epoch = 0;
  anew.follow(2);

  expect(told(running)).toEqual(["broker-2 went from leader epoch 1 back to 0."]);
  expect(told(anew)).toEqual([]);
});

test("where an earlier rule of the protocol had its occasion, it is the lesson", () => {
  const history = copied({ switches: { truncation: "high-watermark" } });
  history.elect(3, { isr: [2, 3] }).follow(2);
  history.write([7]);
  history.copy([2]);

  history.truncate(2, 1, "high-watermark");

  expect(history.violations()).toMatchObject([
    { permitted: "the protocol switch truncation: high-watermark" },
  ]);
});
