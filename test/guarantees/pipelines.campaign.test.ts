import { beforeAll, describe, expect, test } from "vitest";
import { runsOf } from "../support/campaign-runs.ts";
import type { Seeds } from "../support/campaign-tally.ts";
import { CampaignTally, playSeeds } from "../support/campaign-tally.ts";
import type { Gap } from "../support/known-gaps.ts";
import { EARLIER_TRANSACTION_GAPS, isGap, TRANSACTION_GAPS } from "../support/known-gaps.ts";
import {
  EARLIER_PIPELINE_STORY,
  PIPELINE_PROBES,
  PIPELINE_STORY,
  playPipelines,
  UNVERIFIED_PIPELINE_STORY,
} from "../support/pipeline-stories.ts";

/** Of its seeds a campaign must reach each probe in so many, or it says nothing of it. */
const LEAST_SHARE = 0.01;
/** In fewer seeds the rarest may well be missing. */
const ENOUGH_SEEDS = 500;

/** What pipelines must have put to the test, again and again; processed-as-promised, whenever records are worked on again. */
const GUARANTEES = [
  "transactions-whole",
  "no-aborted-read",
  "last-stable-offset",
  "told-as-decided",
  "records-in-own-transaction",
  "markers-follow-decision",
  "transactions-end",
];

/** Plays a story, and asks what must hold of it in any version. */
function campaign(story: string, seeds: Seeds, gaps: readonly Gap[]): CampaignTally {
  const tally = new CampaignTally((text) => isGap(text, gaps));
  const count = typeof seeds === "number" ? seeds : seeds.length;

  beforeAll(async () => {
    await playSeeds(seeds, (seed) => {
      tally.add(`seed ${seed}`, playPipelines(story, `campaign ${seed}`));
    });
  }, 14_400_000);

  test("every guarantee is kept", () => {
    expect(tally.bugs).toEqual([]);
  });

  test("what is permitted is what Kafka is known not to keep", () => {
    expect(tally.unknownGaps).toEqual([]);
  });

  test.each(GUARANTEES)("in most of them %s is put to the test", (name) => {
    expect(tally.tested.get(name) ?? 0).toBeGreaterThan(count / 2);
  });

  test.runIf(count >= ENOUGH_SEEDS).each(Object.keys(PIPELINE_PROBES))(
    "often enough there was: %s",
    (name) => {
      expect(tally.reached.get(name) ?? 0).toBeGreaterThanOrEqual(count * LEAST_SHARE);
    },
  );
  return tally;
}

describe("pipelines under random faults, with transaction.version 2", () => {
  // In the last a member hears where a partition begins when it has given it up, and been given it again.
  campaign(PIPELINE_STORY, runsOf<Seeds>([1, 2, 3, 4, 5, 6, 7, 2257], 3000), TRANSACTION_GAPS);
});

describe("with transaction.version 1, where many transactions have one epoch", () => {
  const tally = campaign(EARLIER_PIPELINE_STORY, runsOf<Seeds>([6], 500), EARLIER_TRANSACTION_GAPS);

  test("a late EndTxn ends the next transaction, and it is told why that is permitted", () => {
    const late = /told-otherwise: .* a late request is taken for one of the next transaction/;

    expect(tally.knownGaps).toContainEqual(expect.stringMatching(late));
  });
});

describe("without verification, too, where leaders take what no coordinator knows of", () => {
  const tally = campaign(UNVERIFIED_PIPELINE_STORY, runsOf<Seeds>([13], 500), [
    ...EARLIER_TRANSACTION_GAPS,
    "unverified",
  ]);

  test("a transaction hangs, and it is told why that is permitted", () => {
    const hanging = /transaction-hangs: transaction.partition.verification.enable is false/;

    expect(tally.knownGaps).toContainEqual(expect.stringMatching(hanging));
  });
});
