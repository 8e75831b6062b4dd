import { expect, test } from "vitest";
import { ISR_KNOWN_TO_LEADER } from "../../../src/checkers/isr-known-to-leader.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (): History => new History({ guarantees: [ISR_KNOWN_TO_LEADER] });

test("a leader that counts in who is about to join, and who has not left yet, holds it", () => {
  const history = watch();
  history.shrink([1, 2]).shrink([1, 2, 3]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 4 });
});

test("a leader that took back a request which is then granted is caught", () => {
  const history = watch();
  history.shrink([1, 2]);
  const asked = { broker: 1, partition: "orders-0", leaderEpoch: 0, partitionEpoch: 2 };
  history.note({ kind: "isr-proposed", ...asked, isr: [1, 2, 3] });
  history.note({ kind: "isr-adopted", ...asked, isr: [1, 2], by: "refusal" });

  history.isr = [1, 2, 3];
  history.registered("none");

  expect(history.violations().map(({ text }) => text)).toEqual([
    [
      "The controller has committed the ISR {1,2,3}, but broker-1, which leads in epoch 0, goes by {1,2}, without broker-3.",
    ],
  ]);
});

test("a leader that takes back a request which was granted before is caught", () => {
  const history = watch();
  history.shrink([1, 2]);
  const asked = { broker: 1, partition: "orders-0", leaderEpoch: 0, partitionEpoch: 2 };
  history.note({ kind: "isr-proposed", ...asked, isr: [1, 2, 3] });
  history.isr = [1, 2, 3];
  history.registered("none");

  history.note({ kind: "isr-adopted", ...asked, isr: [1, 2], by: "refusal" });

  expect(history.violations()).toHaveLength(1);
});

test("metadata that come later than the answer may undo a request, as in Kafka", () => {
  const history = watch();
  history.shrink([1, 2]);
  const asked = { broker: 1, partition: "orders-0", leaderEpoch: 0, partitionEpoch: 2 };
  history.note({ kind: "isr-proposed", ...asked, isr: [1, 2, 3] });
  history.note({ kind: "isr-adopted", ...asked, isr: [1, 2], by: "metadata" });

  history.isr = [1, 2, 3];
  history.registered("none");

  expect(history.violations()).toEqual([]);
});

test("a leader that is down, or has been replaced, need not know", () => {
  const history = watch();
  history.shrink([1, 2]).stop(1);
  history.isr = [1, 2, 3];

  history.registered("none");

  expect(history.violations()).toEqual([]);
});
