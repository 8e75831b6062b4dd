import { expect, test } from "vitest";
import { MARKERS_OUTLIVE_DATA } from "../../../src/checkers/markers-outlive-data.ts";
import { resolveConfigs } from "../../../src/kafka/config/config-table.ts";
import { PRODUCER_CONFIGS } from "../../../src/kafka/config/producer-configs.ts";
import { History } from "../../support/fact-builders.ts";

/** A transaction at offsets 0 and 1, its marker at 2, and later records of both its keys at 3 and 4. */
function marked(): History {
  const transactional = resolveConfigs(PRODUCER_CONFIGS, { "transactional.id": "t" });
  const history = new History({
    guarantees: [MARKERS_OUTLIVE_DATA],
    topic: { isCompacted: true },
    clients: { p1: { configs: transactional } },
  });
  history.write([0, 1], { isTransactional: true, keys: ["a", "b"] });
  history.endTransaction("COMMIT");
  history.write([2, 3], { keys: ["a", "b"] });
  history.copy([2, 3]);
  return history;
}

test("a marker that is cleaned away after its transaction is no violation", () => {
  const history = marked().clean(2, 0, 3, [2]).clean(2, 0, 3, []);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("one that goes before it is found", () => {
  const history = marked().clean(2, 0, 3, [1]);

  expect(history.violations()).toMatchObject([
    {
      offsets: [0, 2],
      text: [
        "broker-2 cleaned away the marker at offset 2 of producer 1000, but holds offsets 0..1 of that transaction.",
      ],
    },
  ]);
});

test("so is one that goes before it on one replica, though another has cleaned all", () => {
  const history = marked().clean(2, 0, 3, []).clean(3, 0, 3, [0]);

  expect(history.violations()).toHaveLength(1);
});

test("a cleaning that leaves the markers does not test it", () => {
  const history = marked().clean(2, 0, 3, [0, 1, 2]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "untested", interesting: 0 });
});
