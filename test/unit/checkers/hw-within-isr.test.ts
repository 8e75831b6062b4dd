import { expect, test } from "vitest";
import { HW_WITHIN_ISR } from "../../../src/checkers/hw-within-isr.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (options: HistoryOptions = {}): History =>
  new History({ guarantees: [HW_WITHIN_ISR], ...options });

test("a high watermark beyond a member of the ISR is found, once for each epoch", () => {
  const history = watch();
  history.commit([0]);
  history.write([1, 2]);
  history.copy([2]).highWatermark(1, 3);
  history.write([3]);
  history.copy([2]).highWatermark(1, 4);

  expect(history.violations()).toMatchObject([
    {
      kind: "hw-beyond-isr",
      offsets: [1, 3],
      permitted: undefined,
      text: [
        "broker-1 leads in epoch 0 and moved its high watermark to 3; broker-3, of the ISR {1,2,3}, has the log only up to 1: 2 offsets short.",
      ],
    },
  ]);
});

test("a replica outside the ISR may be anywhere", () => {
  const history = watch();
  history.shrink([1, 2]);

  history.commit([0, 1]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("a member with as many records, but others, is found", () => {
  const history = watch();
  history.write([0]);
  history.append(2, history.batch([7], { baseOffset: 0 })).copy([3]);

  history.highWatermark(1, 1);

  expect(history.violations()).toMatchObject([{ offsets: [0, 0] }]);
});

test("a leader whose epoch is over is not measured against the ISR of the next", () => {
  const history = watch();
  history.write([0]);
  history.copy([2]).shrink([1, 2]);
  history.registered("clean", { leader: 2, leaderEpoch: 1, isr: [2, 3] });

  history.moved(1, 1, 0, true);

  expect(history.violations()).toEqual([]);
});

test("a member that is down, or came back shorter, is not counted until it joins again", () => {
  const history = watch();
  history.commit([0]);
  history.write([1]);
  history.copy([2, 3]).stop(3, "power-off").highWatermark(1, 2);
  history.restart(3, 0).write([2]);
  history.copy([2]).highWatermark(1, 3);
  expect(history.violations()).toEqual([]);

  history.shrink([1, 2]).shrink([1, 2, 3]);
  history.write([3]);
  history.copy([2]).highWatermark(1, 4);

  expect(history.violations()).toMatchObject([{ offsets: [0, 3] }]);
});

test("a high watermark beyond the leader's own log is found", () => {
  const history = watch();
  history.commit([0]);

  history.highWatermark(1, 5);

  expect(history.violations()).toMatchObject([{ offsets: [1, 4] }]);
});

test("over the committed instead of the maximal ISR it is the lesson of the switch, once that ISR was to grow", () => {
  const history = watch({ switches: { "isr.hw-set": "committed" } });
  history.shrink([1, 2]).commit([0]);
  history.copy([3]);
  history.note({
    kind: "isr-proposed",
    broker: 1,
    partition: "orders-0",
    isr: [1, 2, 3],
    leaderEpoch: 0,
    partitionEpoch: 2,
  });
  history.shrink([1, 2, 3]).write([1]);

  history.copy([2]).highWatermark(1, 2);

  expect(history.violations()).toMatchObject([
    { permitted: "the protocol switch isr.hw-set: committed" },
  ]);
});
