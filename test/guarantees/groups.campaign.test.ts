import { beforeAll, describe, expect, test } from "vitest";
import { runsOf } from "../support/campaign-runs.ts";
import { CampaignTally, playSeeds } from "../support/campaign-tally.ts";
import { GROUP_PROBES, PROTOCOL_NAMES, playGroup } from "../support/group-stories.ts";
import { isGap, TRANSACTION_GAPS } from "../support/known-gaps.ts";

const SEEDS = runsOf(21, 2000);
/** Of its seeds a campaign must reach each probe in so many, or it says nothing of it. */
const LEAST_SHARE = 0.01;

/** What a campaign of groups must have put to the test, again and again. */
const GUARANTEES = [
  "one-owner",
  "commits-what-was-read",
  "commits-kept",
  "worked-on-once",
  "group-settles",
  "groups-catch-up",
];
/** And those of which only coordinators tell: ZooKeeper gives nobody a generation. */
const OF_COORDINATORS = ["assignment-disjoint", "group-epochs-rise", "commits-by-members"];

/** What Kafka itself does not keep. */
const KNOWN_GAPS = [
  /a coordinator does not ask a member whether a partition is its own/,
  // Without transactions a group works at least once.
  /^record-worked-on-again: /,
  // It is told what it has, has nothing to give up, and calls for no rebalance (KIP-345, KIP-429).
  /came back at .* as a static member, without a rebalance, before it had given .* up/,
  /in ZooKeeper's groups a rebalance commits what is at work/,
  // Whoever outlives his session with ZooKeeper owns, reads and commits until he hears of it.
  /had lost its session with ZooKeeper/,
];

describe("groups whose members and coordinators fail, by every protocol", () => {
  const tally = new CampaignTally(
    (text) => KNOWN_GAPS.some((gap) => gap.test(text)) || isGap(text, TRANSACTION_GAPS),
  );
  const lowered: string[] = [];

  beforeAll(async () => {
    await playSeeds(SEEDS, (seed) => {
      const protocol = PROTOCOL_NAMES[seed % PROTOCOL_NAMES.length] as string;
      const run = playGroup(protocol, seed);
      const name = `${protocol} ${seed}`;
      tally.add(name, run);
      lowered.push(...run.lowered.map((text) => `${name}: ${text}`));
    });
  }, 7_200_000);

  test("every guarantee is kept", () => {
    expect(tally.bugs).toEqual([]);
  });

  test("what is permitted is what Kafka is known not to keep", () => {
    expect(tally.unknownGaps).toEqual([]);
  });

  test("no committed offset is lowered, as nobody begins before what is committed", () => {
    expect(lowered).toEqual([]);
  });

  test.each(GUARANTEES)("in most of them %s is put to the test", (name) => {
    expect(tally.tested.get(name) ?? 0).toBeGreaterThan(SEEDS / 2);
  });

  test.each(OF_COORDINATORS)("in most that have a coordinator, %s", (name) => {
    const coordinated = SEEDS * (1 - 1 / PROTOCOL_NAMES.length);
    expect(tally.tested.get(name) ?? 0).toBeGreaterThan(coordinated / 2);
  });

  test.each(Object.keys(GROUP_PROBES))("often enough there was: %s", (name) => {
    const least = SEEDS * LEAST_SHARE;
    // Few seeds need not come upon what is rare.
    if (SEEDS >= 1 / LEAST_SHARE)
      expect(tally.reached.get(name) ?? 0).toBeGreaterThanOrEqual(least);
  });
});
