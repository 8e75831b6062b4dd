import { setImmediate } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { runsOf } from "../support/campaign-runs.ts";
import { KNOWN_GAPS } from "../support/known-gaps.ts";
import { PIPELINE_PROBES, PIPELINE_STORY, playPipelines } from "../support/pipeline-stories.ts";

const SEEDS = runsOf(8, 3000);
/** Of its seeds a campaign must reach each probe in so many, or it says nothing of it. */
const LEAST_SHARE = 0.01;
/** In fewer seeds the rarest, which one in thirty reaches, may well be missing. */
const ENOUGH_SEEDS = 500;

describe("pipelines under random faults, with transaction.version 2", () => {
  const bugs: string[] = [];
  const unknownGaps: string[] = [];
  const reached = new Map<string, number>();

  beforeAll(async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const run = playPipelines(PIPELINE_STORY, `campaign ${seed}`);
      bugs.push(...run.bugs.map((text) => `seed ${seed}: ${text}`));
      const unknown = run.permitted.filter(
        (one) => !KNOWN_GAPS.some(({ reason }) => reason.test(one)),
      );
      unknownGaps.push(...unknown.map((text) => `seed ${seed}: ${text}`));
      for (const name of run.reached) reached.set(name, (reached.get(name) ?? 0) + 1);
      // The test runner must hear of us now and then.
      if (seed % 20 === 0) await setImmediate();
    }
  }, 14_400_000);

  test("every guarantee is kept", () => {
    expect(bugs).toEqual([]);
  });

  test("what is permitted is what Kafka is known not to keep", () => {
    expect(unknownGaps).toEqual([]);
  });

  test.runIf(SEEDS >= ENOUGH_SEEDS).each(Object.keys(PIPELINE_PROBES))(
    "often enough there was: %s",
    (name) => {
      expect(reached.get(name) ?? 0).toBeGreaterThan(SEEDS * LEAST_SHARE);
    },
  );
});
