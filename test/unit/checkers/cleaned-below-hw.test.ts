import { expect, test } from "vitest";
import { CLEANED_BELOW_HW } from "../../../src/checkers/cleaned-below-hw.ts";
import { History } from "../../support/fact-builders.ts";

function written(): History {
  const history = new History({ guarantees: [CLEANED_BELOW_HW], topic: { isCompacted: true } });
  history.commit([0], { keys: ["a"] });
  history.commit([1], { keys: ["a"] });
  history.write([2], { keys: ["a"] });
  return history;
}

test("cleaning up to the high watermark holds it", () => {
  const history = written();

  history.clean(1, 0, 2, [1]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]?.state).toBe("held");
});

test("a cleaner that runs over records that may yet be cut off is caught", () => {
  const history = written();

  history.clean(1, 0, 3, [2]);

  const [violation] = history.violations();
  expect(violation?.text).toEqual([
    "broker-1 cleaned offsets 0..2, but its high watermark is 2: 1 offset.",
  ]);
  expect(violation?.offsets).toEqual([2, 2]);
});

test("it is the replica's own high watermark that counts, also after a restart", () => {
  const history = written();
  history.stop(2).restart(2);

  history.clean(2, 0, 2, [1]);

  expect(history.violations()).toHaveLength(1);
});

test("a high watermark that has fallen since does not count, unless the log was cut there", () => {
  const fallen = written();
  fallen.highWatermark(2, 1).clean(2, 0, 2, [1]);
  const cut = written();
  cut.truncate(2, 1).copy([2]).clean(2, 0, 2, [1]);

  expect(fallen.violations()).toEqual([]);
  expect(cut.violations()).toHaveLength(1);
});
