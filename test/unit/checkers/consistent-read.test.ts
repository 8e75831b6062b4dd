import { expect, test } from "vitest";
import { CONSISTENT_READ } from "../../../src/checkers/consistent-read.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History } from "../../support/fact-builders.ts";

const watch = (options: HistoryOptions = {}): History =>
  new History({ guarantees: [CONSISTENT_READ], ...options });

test("records that were read and are not in a later leader's log are found", () => {
  const history = watch({ topic: { uncleanLeaderElection: true } });
  const kept = history.commit([0]);
  history.shrink([1]);
  const lost = [history.commit([1, 2]), history.commit([3])];
  history.poll([kept, ...lost]);

  history.elect(3, { isr: [3], election: "unclean" });

  expect(history.violations()).toMatchObject([
    {
      kind: "consumed-record-lost",
      client: "c1",
      offsets: [1, 3],
      count: 3,
      permitted: expect.stringContaining("unclean election of broker-3"),
      text: [
        "c1 was given offsets 1..3: 3 records.",
        "The elected leader broker-3 does not have them.",
      ],
    },
  ]);
});

test("records that nobody read may go", () => {
  const history = watch({ topic: { uncleanLeaderElection: true } });
  const kept = history.commit([0]);
  history.poll([kept]).shrink([1]);
  history.commit([1, 2]);

  history.elect(3, { isr: [3], election: "unclean" });
  history.poll([history.commit([11])]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held" });
});

test("without an unclean election the loss is a bug", () => {
  const history = watch();
  history.write([0]);
  history.copy([2]).highWatermark(1, 1);
  history.poll(history.logs.get(1) ?? []);

  history.elect(3, { isr: [2, 3] });

  expect(history.violations()).toMatchObject([{ count: 1, permitted: undefined }]);
});

test("a reader that began late has lost only what it was given", () => {
  const history = watch();
  history.commit([0]);
  history.write([1, 2]);
  const late = history.write([3]);
  history.copy([2]).highWatermark(1, 4).poll([late]);

  history.elect(3, { isr: [2, 3] });

  expect(history.violations()).toMatchObject([{ offsets: [3, 3], count: 1 }]);
});

test("a read answered by a leader already replaced joins the finding of the election", () => {
  const history = watch({ topic: { uncleanLeaderElection: true } });
  history.shrink([1]);
  const lost = [history.commit([1]), history.commit([2])];
  history.poll(lost.slice(0, 1));
  history.elect(3, { isr: [3], election: "unclean" });

  history.poll(lost.slice(1), "c2");

  expect(history.violations()).toMatchObject([
    {
      offsets: [0, 1],
      count: 2,
      text: ["c1 and c2 were given offsets 0..1: 2 records.", expect.anything()],
    },
  ]);
});

test("reading again gives the same, or is found", () => {
  const history = watch();
  const first = history.commit([0]);
  history.poll([first]);
  history.poll([first], "c2");
  expect(history.violations()).toEqual([]);

  history.stop(1);
  const other = history.batch([9], { baseOffset: 0 });
  history.append(3, other).poll([other], "c2");

  expect(history.violations()).toMatchObject([
    { offsets: [0, 0], permitted: undefined, client: "c2" },
  ]);
});
