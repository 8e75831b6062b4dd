import { expect, test } from "vitest";
import { ONE_LEADER_PER_EPOCH } from "../../../src/checkers/one-leader-per-epoch.ts";
import { History, ORDERS } from "../../support/fact-builders.ts";

const watch = (): History => new History({ guarantees: [ONE_LEADER_PER_EPOCH] });

test("a broker that takes the lead in another's epoch is found", () => {
  const history = watch();
  history.elect(2, { isr: [2, 3] });

  history.note({
    kind: "became-leader",
    broker: 3,
    partition: ORDERS,
    leaderEpoch: 1,
    partitionEpoch: 2,
    logEndOffset: 0,
    highWatermark: 0,
    isr: [2, 3],
  });

  expect(history.violations()).toMatchObject([
    {
      kind: "two-leaders-in-epoch",
      text: ["broker-3 took the lead in leader epoch 1, which broker-2 has had since 8.000s."],
    },
  ]);
});

test("a controller that gives one epoch to two leaders is found", () => {
  const history = watch();

  history.registered("clean", { leader: 3, leaderEpoch: 0 });

  expect(history.violations()).toMatchObject([
    { text: [expect.stringContaining("broker-3 was given the lead in leader epoch 0")] },
  ]);
});

test("two leaders in different epochs, none, or one leader twice, are nothing unusual", () => {
  const history = watch();
  history.registered("clean", { leader: -1, leaderEpoch: 1 });

  history.elect(2, { isr: [2, 3], epoch: 2 });
  history.registered("none", { isr: [1, 2, 3] });
  history.elect(1, { isr: [1, 2, 3], epoch: 3 });

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 2 });
});
