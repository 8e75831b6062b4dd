import { expect, test } from "vitest";
import { HW_NEEDS_MIN_ISR } from "../../../src/checkers/hw-needs-min-isr.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History } from "../../support/fact-builders.ts";

function alone(options: HistoryOptions = {}): History {
  const history = new History({ guarantees: [HW_NEEDS_MIN_ISR], ...options });
  history.commit([0]);
  return history.shrink([1]);
}

test("a high watermark that waits for a second in the ISR holds it", () => {
  const history = alone();
  history.write([1]);
  history.shrink([1, 2]).copy([2]).highWatermark(1, 2);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]?.state).toBe("held");
});

test("a leader that is alone and commits is caught, once an epoch", () => {
  const history = alone();
  history.write([1]);
  history.write([2]);
  history.highWatermark(1, 2).highWatermark(1, 3);

  expect(history.violations().map(({ text }) => text)).toEqual([
    ["broker-1 moved its high watermark to 2 with the ISR {1}, of which 2 are needed."],
  ]);
});

test("where one is enough, or the rule is not yet in force, it may", () => {
  const enough = alone({ minInsyncReplicas: 1 });
  enough.write([1]);
  enough.highWatermark(1, 2);
  const earlier = alone({ switches: { "leader.hw-requires-min-isr": false } });
  earlier.write([1]);
  earlier.highWatermark(1, 2);

  expect(enough.violations()).toEqual([]);
  expect(earlier.violations()).toMatchObject([
    { permitted: "the protocol switch leader.hw-requires-min-isr: false" },
  ]);
});
