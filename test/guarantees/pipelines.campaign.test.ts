import { beforeAll, describe, expect, test } from "vitest";
import { runsOf } from "../support/campaign-runs.ts";
import { CampaignTally, playSeeds } from "../support/campaign-tally.ts";
import { isGap, TRANSACTION_GAPS } from "../support/known-gaps.ts";
import { PIPELINE_PROBES, PIPELINE_STORY, playPipelines } from "../support/pipeline-stories.ts";

const SEEDS = runsOf(8, 3000);
/** Of its seeds a campaign must reach each probe in so many, or it says nothing of it. */
const LEAST_SHARE = 0.01;
/** In fewer seeds the rarest, which one in thirty reaches, may well be missing. */
const ENOUGH_SEEDS = 500;

describe("pipelines under random faults, with transaction.version 2", () => {
  const tally = new CampaignTally((text) => isGap(text, TRANSACTION_GAPS));

  beforeAll(async () => {
    await playSeeds(SEEDS, (seed) => {
      tally.add(`seed ${seed}`, playPipelines(PIPELINE_STORY, `campaign ${seed}`));
    });
  }, 14_400_000);

  test("every guarantee is kept", () => {
    expect(tally.bugs).toEqual([]);
  });

  test("what is permitted is what Kafka is known not to keep", () => {
    expect(tally.unknownGaps).toEqual([]);
  });

  test.runIf(SEEDS >= ENOUGH_SEEDS).each(Object.keys(PIPELINE_PROBES))(
    "often enough there was: %s",
    (name) => {
      expect(tally.reached.get(name) ?? 0).toBeGreaterThan(SEEDS * LEAST_SHARE);
    },
  );
});
