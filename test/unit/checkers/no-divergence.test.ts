import { expect, test } from "vitest";
import { NO_DIVERGENCE } from "../../../src/checkers/no-divergence.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History, ORDERS } from "../../support/fact-builders.ts";

const watch = (options: HistoryOptions = {}): History =>
  new History({ guarantees: [NO_DIVERGENCE], ...options });

test("two batches at one offset of one leader epoch are found when the second is appended", () => {
  const history = watch();
  history.commit([0, 1]);
  history.write([2]);

  history.append(3, history.batch([7], { baseOffset: 2 }));

  expect(history.violations()).toMatchObject([
    {
      kind: "log-divergence",
      partition: ORDERS,
      offsets: [2, 2],
      permitted: undefined,
      text: [
        "broker-1 and broker-3 both hold offset 2 of leader epoch 0, over different logs.",
        "They part at offset 2.",
      ],
    },
  ]);
});

test("other batches of other epochs at the same offset are nothing unusual", () => {
  const history = watch();
  history.commit([0, 1]);
  history.write([2]);
  history.elect(2, { isr: [2, 3] });

  history.commit([7]);
  history.truncate(1, 2).copy([1]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held" });
});

// KAFKA-6361 (checkers.md 5, 30): after fast leader changes a follower keeps a divergent tail.
test("the same batch over a divergent tail is found, and where the logs part", () => {
  const history = watch();
  history.commit([0]);
  history.write([1, 2]);
  history.elect(2, { isr: [2, 3] });
  history.write([11, 12]);

  const next = history.write([13]);
  history.append(1, next);

  expect(history.violations()).toMatchObject([
    {
      text: [
        "broker-2 and broker-1 both hold offset 3 of leader epoch 1, over different logs.",
        "They part at offset 1.",
      ],
      offsets: [1, 3],
    },
  ]);
});

test("a high watermark over records that are not the committed ones is found", () => {
  const history = watch();
  history.commit([0]);
  history.write([1]);
  history.elect(2, { isr: [2, 3] });
  history.write([11]);
  history.copy([3]).highWatermark(2, 2);

  history.moved(1, 2, 1, false);

  expect(history.violations()).toMatchObject([
    {
      offsets: [1, 1],
      text: [
        "broker-1 has its high watermark at 2, but what it holds from offset 1 on is not what was committed: 1 offset.",
      ],
    },
  ]);
});

test("a follower with a divergent tail above its high watermark is nothing unusual", () => {
  const history = watch();
  history.commit([0]);
  history.write([1]);
  history.elect(2, { isr: [2, 3] });
  history.write([11]);
  history.copy([3]).highWatermark(2, 2);

  history.moved(1, 1, 1, false);

  expect(history.violations()).toEqual([]);
});

test("who follows a leader given up by an unclean election commits nothing", () => {
  const history = watch({ topic: { uncleanLeaderElection: true } });
  history.commit([0]);
  history.shrink([1]).write([1]);
  history.elect(3, { isr: [3], election: "unclean" });
  history.write([11]);
  history.highWatermark(3, 2);

  history.moved(1, 2, 0, true).moved(2, 1, 0, false);

  expect(history.violations()).toEqual([]);
});

test("a broker that starts may move its high watermark before it tells that it leads, by an unclean election", () => {
  const started = (election: "clean" | "unclean"): History => {
    const history = watch({ topic: { uncleanLeaderElection: true } });
    history.commit([0]);
    history.write([1]);
    history.elect(2, { isr: [2] });
    history.commit([11]);
    history.registered(election, { leader: 1, leaderEpoch: 2, isr: [1] });
    return history.moved(1, 2, 2, true);
  };

  expect(started("unclean").violations()).toEqual([]);
  expect(started("clean").violations()).toMatchObject([{ kind: "log-divergence" }]);
});

test("one epoch's divergence is told once, and is permitted under an earlier rule of truncation", () => {
  const history = watch({ switches: { truncation: "kip-101" } });
  history.commit([0]);
  history.write([1]);
  history.elect(2, { isr: [2, 3] });
  history.write([11]);

  for (const value of [12, 13, 14]) history.append(1, history.write([value]));

  expect(history.violations()).toMatchObject([
    { permitted: "the protocol switch truncation: kip-101" },
  ]);
});
