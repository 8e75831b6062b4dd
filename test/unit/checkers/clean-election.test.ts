import { expect, test } from "vitest";
import { CLEAN_ELECTION } from "../../../src/checkers/clean-election.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (topic: HistoryOptions["topic"] = {}): History =>
  new History({ guarantees: [CLEAN_ELECTION], topic });
const told = (history: History): string[] => history.violations().map(({ text }) => text.join(" "));

test("leaders from the ISR, and from the ELR when the ISR is empty, hold it", () => {
  const history = watch();
  history.elect(2, { isr: [2], elr: [3] });
  history.elect(3, { isr: [3], elr: [2], election: "elr" });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 2 });
});

test("a leader from neither is caught, unless unclean elections are enabled", () => {
  const bug = watch();
  bug.shrink([1, 2]).elect(3, { isr: [3], election: "unclean" });
  const lesson = watch({ uncleanLeaderElection: true });
  lesson.shrink([1, 2]).elect(3, { isr: [3], election: "unclean" });

  expect(told(bug)).toEqual([
    "The controller made broker-3 leader in epoch 1; the ISR was {1,2}, the ELR {}.",
  ]);
  expect(lesson.violations()).toEqual([]);
});

test("a leader from the ELR while one of the ISR remains is caught", () => {
  const history = watch();
  history.elect(2, { isr: [2], elr: [3] });

  history.elect(3, { isr: [2, 3], election: "elr" });

  expect(told(history)).toHaveLength(1);
});

test("an unclean leader must be alone in the ISR, and marked as recovering", () => {
  const notAlone = watch({ uncleanLeaderElection: true });
  notAlone.shrink([1, 2]).elect(3, { isr: [3, 2], election: "unclean" });
  const unmarked = watch({ uncleanLeaderElection: true });
  unmarked.shrink([1, 2]);
  unmarked.leader = 3;
  unmarked.epoch = 1;
  unmarked.registered("unclean", { isr: [3], recovering: false });

  expect(told(notAlone)[0]).toMatch(/unclean, with the ISR \{3,2\}/);
  expect(told(unmarked)[0]).toMatch(/unclean, but not as one that recovers/);
});

test("the last known leader needs no permission", () => {
  const history = watch();
  history.registered("none", { isr: [], leader: -1, leaderEpoch: 1 });
  history.epoch = 1;

  history.elect(1, { isr: [1], election: "last-known" });

  expect(history.violations()).toEqual([]);
});
