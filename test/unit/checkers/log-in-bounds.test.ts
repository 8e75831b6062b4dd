import { expect, test } from "vitest";
import { LOG_IN_BOUNDS } from "../../../src/checkers/log-in-bounds.ts";
import { History } from "../../support/fact-builders.ts";

test("high watermarks between start and end, and rising epochs, hold it", () => {
  const history = new History({ guarantees: [LOG_IN_BOUNDS] });
  history.commit([0]);
  history.elect(2, { isr: [2, 3] });
  history.commit([1]);
  history.moveStart(2, 2, "retention-time").highWatermark(2, 2);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]?.state).toBe("held");
});

test("a high watermark beyond the end is caught, once", () => {
  const history = new History({ guarantees: [LOG_IN_BOUNDS] });
  history.commit([0]);

  history.highWatermark(3, 2).highWatermark(3, 3);

  expect(history.violations().map(({ text }) => text)).toEqual([
    ["broker-3's high watermark is 2, but its log ends at 1."],
  ]);
});

test("a high watermark below the start is caught", () => {
  const history = new History({ guarantees: [LOG_IN_BOUNDS] });
  history.commit([0]);
  history.commit([1]);

  history.moveStart(3, 2, "leader").highWatermark(3, 1);

  expect(history.violations().map(({ text }) => text)).toEqual([
    ["broker-3's high watermark is 1, but its log begins at 2."],
  ]);
});

test("a batch of an older epoch on top of a newer is caught", () => {
  const history = new History({ guarantees: [LOG_IN_BOUNDS] });
  history.commit([0]);
  history.elect(2, { isr: [2, 3] });
  history.write([1]);

  history.write([2], { partitionLeaderEpoch: 0 });

  expect(history.violations()).toHaveLength(1);
});
