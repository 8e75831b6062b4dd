import { describe, expect, test } from "vitest";
import { runsOf } from "../support/campaign-runs.ts";
import { complaintAbout, run, shipped, shippedNames } from "../support/run-scenario.ts";

const OTHER_SEEDS = runsOf(12, 50);
/** Takes seconds, and chance decides nothing in it. */
const LONG = "epoch-exhausted";

describe.each(shippedNames())("%s", (name) => {
  const scenario = shipped(name);

  test("is named after its file and tells what it is about", () => {
    expect(scenario.name).toBe(name);
    expect(scenario.summary.length).toBeGreaterThan(20);
    expect(scenario.lesson?.ask).toBeTruthy();
  });

  test.each([undefined, ...scenario.variants.map(({ variant }) => variant)])(
    "meets its expectations for its own seed and for others (variant %s)",
    (variant) => {
      const story = shipped(name, variant);
      const others = name === LONG ? 0 : OTHER_SEEDS;
      const seeds = [story.seed ?? 1, ...Array.from({ length: others }, (_, i) => i + 1)];

      const complaints = seeds.map((seed) => complaintAbout(run(story, seed))).filter(Boolean);

      expect(complaints).toEqual([]);
    },
  );
});
