import { expect, test } from "vitest";
import { COMMITTED_PREFIX_KEPT } from "../../../src/checkers/committed-prefix-kept.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (options: HistoryOptions = {}): History =>
  new History({ guarantees: [COMMITTED_PREFIX_KEPT], ...options });

test("an elected leader that lacks committed records is found, acknowledged or not", () => {
  const history = watch();
  history.commit([0]);
  history.write([1, 2]);
  history.copy([2]).highWatermark(1, 3);

  history.elect(3, { isr: [2, 3] });

  expect(history.violations()).toMatchObject([
    {
      kind: "committed-record-truncated",
      offsets: [1, 2],
      count: 2,
      permitted: undefined,
      text: [
        "The elected leader broker-3 does not have offsets 1..2, which were below the high watermark: 2 offsets.",
      ],
    },
  ]);
});

test("an elected leader whose own high watermark is behind keeps everything", () => {
  const history = watch();
  history.write([0, 1]);
  history.copy([2, 3]).highWatermark(1, 2);

  history.elect(2, { isr: [2, 3] });
  history.highWatermark(2, 1).highWatermark(2, 2);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

// KIP-101's case (checkers.md 5, 29).
test("a follower that cuts off committed records is found", () => {
  const history = watch();
  history.commit([0, 1]);
  history.write([2]);
  history.copy([2]);

  history.truncate(2, 0, "high-watermark");

  expect(history.violations()).toMatchObject([
    {
      offsets: [0, 1],
      text: [
        "broker-2 cut off its log offsets 0..1 (high-watermark), which were below the high watermark: 2 offsets.",
      ],
    },
  ]);
});

test("a follower may cut off what was not committed", () => {
  const history = watch();
  history.commit([0, 1]);
  history.write([2]);
  history.elect(2, { isr: [2, 3] });

  history.truncate(1, 2);

  expect(history.violations()).toEqual([]);
});

test("a log that comes back shorter from a power loss is no violation, from a crash it is", () => {
  const comeBack = (how: "crash" | "power-off"): History => {
    const history = watch();
    history.commit([0]);
    history.commit([1]);
    return history.stop(3, how).restart(3, 1);
  };

  expect(comeBack("power-off").violations()).toEqual([]);
  expect(comeBack("crash").violations()).toMatchObject([{ offsets: [1, 1], permitted: undefined }]);
});

test("after an unclean election the promise starts anew, with what is left", () => {
  const history = watch({ topic: { uncleanLeaderElection: true } });
  history.commit([0]);
  history.shrink([1]).write([1]);
  history.highWatermark(1, 2);
  history.elect(3, { isr: [3], election: "unclean" });
  history.write([11]);
  history.highWatermark(3, 2);
  history.copy([2]).shrink([2, 3]);

  history.truncate(1, 1);
  history.truncate(2, 0);

  expect(history.violations()).toMatchObject([
    { offsets: [1, 1], permitted: expect.stringContaining("unclean election of broker-3") },
    { offsets: [0, 1], permitted: undefined },
  ]);
});

test("a leader that was replaced must not commit what the leader in office does not have", () => {
  const history = watch();
  history.commit([0]);
  history.write([1]);
  history.elect(2, { isr: [2, 3] });

  history.moved(1, 2, 0, true);

  expect(history.violations()).toMatchObject([
    {
      offsets: [1, 1],
      text: [
        "The leader in office, broker-2, does not have offset 1, which was below the high watermark: 1 offset.",
      ],
    },
  ]);
});

test("a log that comes back shorter by what had been cleaned away has lost nothing", () => {
  const history = new History({
    guarantees: [COMMITTED_PREFIX_KEPT],
    topic: { isCompacted: true },
  });
  for (const value of [0, 1, 2]) history.commit([value], { keys: ["a"] });
  history.clean(3, 0, 2, []).truncate(3, 2);
  const cuts = history.violations().length;

  history.stop(3, "exit").restart(3, 0);

  expect(history.violations()).toHaveLength(cuts);
});

test("what a replica cuts off is nobody's if it has expired elsewhere", () => {
  const history = new History({ guarantees: [COMMITTED_PREFIX_KEPT], topic: { retentionMs: 0 } });
  for (const value of [0, 1]) history.commit([value]);
  history.moveStart(1, 2, "retention-time");

  history.truncate(3, 0, "high-watermark");

  expect(history.violations()).toEqual([]);
});
