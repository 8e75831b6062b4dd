import { expect, test } from "vitest";
import { NO_DIRTY_READ } from "../../../src/checkers/no-dirty-read.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (): History => new History({ guarantees: [NO_DIRTY_READ] });

// checkers.md 5, 13 and 16: what is not committed is shown.
test("records above the high watermark, given to a consumer, are found", () => {
  const history = watch();
  const committed = history.commit([0, 1]);
  const early = [history.write([2]), history.write([3, 4])];

  history.poll([committed, ...early]);

  expect(history.violations()).toMatchObject([
    {
      kind: "uncommitted-record-read",
      client: "c1",
      offsets: [2, 4],
      count: 3,
      text: [
        "c1 was given offsets 2..4, of which none had ever been below a high watermark (2): 3 records.",
      ],
    },
  ]);
});

test("records below it are given while the log holds more", () => {
  const history = watch();
  const committed = history.commit([0, 1]);
  history.write([2]);

  history.poll([committed]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("a read that was under way when an unclean election gave its records up was none", () => {
  const history = watch();
  history.commit([0]);
  history.shrink([1]);
  const lost = history.write([1]);
  history.highWatermark(1, 2);
  history.elect(3, { isr: [3], election: "unclean" });

  history.poll([lost]);

  expect(history.violations()).toEqual([]);
});

test("other records at a committed offset are found", () => {
  const history = watch();
  history.commit([0]);
  history.write([1]);
  const stale = history.batch([9], { baseOffset: 1 });
  history.append(3, stale);

  history.copy([2]).highWatermark(1, 2).poll([stale]);

  expect(history.violations()).toMatchObject([{ offsets: [1, 1], count: 1 }]);
});

test("a batch that never stood in any log is found", () => {
  const history = watch();
  history.commit([0]);

  history.poll([history.batch([5], { baseOffset: 0 })]);

  expect(history.violations()).toMatchObject([{ offsets: [0, 0] }]);
});
