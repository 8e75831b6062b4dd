import { setImmediate } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { runsOf } from "../support/campaign-runs.ts";
import { KNOWN_GAPS } from "../support/known-gaps.ts";
import {
  playTransactions,
  TRANSACTION_PROBES,
  TRANSACTION_STORY,
} from "../support/transaction-stories.ts";

const SEEDS = runsOf(25, 3000);
/** Of its seeds a campaign must reach each probe in so many, or it says nothing of it. */
const LEAST_SHARE = 0.01;

describe("transactions under random faults, with transaction.version 2", () => {
  const bugs: string[] = [];
  const unknownGaps: string[] = [];
  const reached = new Map<string, number>();

  beforeAll(async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const run = playTransactions(TRANSACTION_STORY, `campaign ${seed}`);
      bugs.push(...run.bugs.map((text) => `seed ${seed}: ${text}`));
      const unknown = run.permitted.filter(
        (one) => !KNOWN_GAPS.some(({ reason }) => reason.test(one)),
      );
      unknownGaps.push(...unknown.map((text) => `seed ${seed}: ${text}`));
      for (const name of run.reached) reached.set(name, (reached.get(name) ?? 0) + 1);
      // The test runner must hear of us now and then.
      if (seed % 20 === 0) await setImmediate();
    }
  }, 7_200_000);

  test("every guarantee is kept", () => {
    expect(bugs).toEqual([]);
  });

  test("what is permitted is what Kafka is known not to keep", () => {
    expect(unknownGaps).toEqual([]);
  });

  test.each(Object.keys(TRANSACTION_PROBES))("often enough there was: %s", (name) => {
    expect(reached.get(name) ?? 0).toBeGreaterThan(SEEDS * LEAST_SHARE);
  });
});

describe("with transaction.version 1, where many transactions have one epoch", () => {
  const seeds = runsOf(6, 500);
  const version1 = TRANSACTION_STORY.replace(
    "  brokers: 3\n",
    "  features: { transaction.version: 1 }\n  brokers: 3\n",
  );

  test("late requests end the next transaction now and then, and nothing goes wrong that is not permitted", () => {
    let late = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      const { bugs, permitted } = playTransactions(version1, `${seed}`);

      expect(bugs, `seed ${seed}`).toEqual([]);
      if (permitted.some((text) => text.includes("(KIP-890)"))) late++;
    }
    if (seeds >= 500) expect(late).toBeGreaterThan(0);
  }, 3_600_000);
});
