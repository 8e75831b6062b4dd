import { beforeAll, describe, expect, test } from "vitest";
import { runsOf } from "../support/campaign-runs.ts";
import { CampaignTally, playSeeds } from "../support/campaign-tally.ts";
import { EARLIER_TRANSACTION_GAPS, isGap, TRANSACTION_GAPS } from "../support/known-gaps.ts";
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
    expect(tally.reached.get(name) ?? 0).toBeGreaterThanOrEqual(SEEDS * LEAST_SHARE);
  });
});

describe("with transaction.version 1, where many transactions have one epoch", () => {
  const story = TRANSACTION_STORY.replace(
    "  brokers: 3\n",
    "  features: { transaction.version: 1 }\n  brokers: 3\n",
  );
  const tally = new CampaignTally((text) => isGap(text, EARLIER_TRANSACTION_GAPS));

  beforeAll(async () => {
    await playSeeds(runsOf(6, 500), (seed) => {
      tally.add(`seed ${seed}`, playTransactions(story, `${seed}`));
    });
  }, 3_600_000);

  test("every guarantee is kept", () => {
    expect(tally.bugs).toEqual([]);
  });

  test("what is permitted is what Kafka is known not to keep", () => {
    expect(tally.unknownGaps).toEqual([]);
  });
});
