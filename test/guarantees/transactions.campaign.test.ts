import { beforeAll, describe, expect, test } from "vitest";
import { runsOf } from "../support/campaign-runs.ts";
import { CampaignTally, playSeeds } from "../support/campaign-tally.ts";
import { isGap, TRANSACTION_GAPS } from "../support/known-gaps.ts";
import {
  playTransactions,
  TRANSACTION_PROBES,
  TRANSACTION_STORY,
} from "../support/transaction-stories.ts";

const SEEDS = runsOf(25, 3000);
/** Of its seeds a campaign must reach each probe in so many, or it says nothing of it. */
const LEAST_SHARE = 0.01;

describe("transactions under random faults, with transaction.version 2", () => {
  const tally = new CampaignTally((text) => isGap(text, TRANSACTION_GAPS));

  beforeAll(async () => {
    await playSeeds(SEEDS, (seed) => {
      tally.add(`seed ${seed}`, playTransactions(TRANSACTION_STORY, `campaign ${seed}`));
    });
  }, 7_200_000);

  test("every guarantee is kept", () => {
    expect(tally.bugs).toEqual([]);
  });

  test("what is permitted is what Kafka is known not to keep", () => {
    expect(tally.unknownGaps).toEqual([]);
  });

  test.each(Object.keys(TRANSACTION_PROBES))("often enough there was: %s", (name) => {
    expect(tally.reached.get(name) ?? 0).toBeGreaterThan(SEEDS * LEAST_SHARE);
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
