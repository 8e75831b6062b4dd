import { beforeAll, expect, test } from "vitest";
import type { Violation } from "../../src/checkers/guarantee.ts";
import { runsOf } from "../support/campaign-runs.ts";
import { playSeeds } from "../support/campaign-tally.ts";
import type { Gap } from "../support/known-gaps.ts";
import { isGap } from "../support/known-gaps.ts";
import type { Probe } from "../support/probes.ts";
import { PROBE_NAMES } from "../support/probes.ts";
import type { StoryRun } from "../support/story-run.ts";
import { playStory } from "../support/story-run.ts";

const SEEDS = runsOf(100, 5000);

/** Of its seeds a campaign must reach each probe in so many, or it says nothing of it. */
const LEAST_SHARE = 0.01;

/** What these stories must not reach: Kafka promises that it does not come to that. */
const FORBIDDEN: readonly Probe[] = ["unclean election", "failed send"];

/** More events in a simulated second than all that the busiest of these stories have to do. */
const STORM = 30_000;

const KNOWN_GAPS: readonly Gap[] = [
  "producerSnapshots",
  "firstSequence",
  "timeIndex",
  "unregisteredFollower",
  "unflushedMetadata",
];

/** What is wrong, by seed: nothing, it is to be hoped. Runs are not kept, as there are thousands. */
const violations: string[] = [];
const broken: string[] = [];
const unanswered: string[] = [];
const storms: string[] = [];
const reached = new Map<Probe, number>(PROBE_NAMES.map((name) => [name, 0]));

beforeAll(async () => {
  await playSeeds(SEEDS, (seed) => note(playStory("safe", seed)));
}, 7_200_000);

function note({
  seed,
  result,
  exception,
  unanswered: sends,
  reached: times,
  busiestSecond,
}: StoryRun): void {
  if (exception !== undefined) broken.push(`${seed}: ${exception}`);
  for (const reason of result?.reasons ?? []) broken.push(`${seed}: ${reason}`);
  for (const violation of result?.violations ?? []) {
    if (!isGap(violation.permitted ?? "", KNOWN_GAPS))
      violations.push(`${seed}: ${worded(violation)}`);
  }
  for (const send of sends) if (!isGap(send, KNOWN_GAPS)) unanswered.push(`${seed}: ${send}`);
  if (busiestSecond > STORM) storms.push(`${seed}: ${busiestSecond} events in a second`);
  for (const [probe, count] of times) {
    if (count > 0) reached.set(probe, (reached.get(probe) ?? 0) + 1);
  }
}

function worded({ kind, partition, text, permitted }: Violation): string {
  return `${kind} ${partition} ${text.join(" ")} ${permitted ?? "NOT PERMITTED"}`;
}

test("within what Kafka promises to survive every guarantee is kept, also that the cluster recovers", () => {
  expect(violations).toEqual([]);
});

test("every send has its end", () => {
  expect(unanswered).toEqual([]);
});

test("no part of the simulator gives up, and no run ends early", () => {
  expect(broken).toEqual([]);
});

test("no second holds a storm of events", () => {
  expect(storms).toEqual([]);
});

test("the stories put to the test what they are about", () => {
  const wanted = PROBE_NAMES.filter((probe) => !FORBIDDEN.includes(probe));
  const rare = wanted.filter((probe) => (reached.get(probe) ?? 0) < LEAST_SHARE * SEEDS);

  expect(rare).toEqual([]);
  expect(FORBIDDEN.filter((probe) => reached.get(probe) !== 0)).toEqual([]);
});
