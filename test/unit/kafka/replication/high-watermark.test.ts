import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SECOND } from "../../../../src/base/time.ts";
import type { ProtocolSwitches } from "../../../../src/kafka/protocol-switches.ts";
import { PRESENT_RULES } from "../../../../src/kafka/protocol-switches.ts";
import type { IsrState } from "../../../../src/kafka/replication/isr-state.ts";
import {
  committedIsr,
  pendingExpand,
  pendingShrink,
} from "../../../../src/kafka/replication/isr-state.ts";
import { UNKNOWN_OFFSET } from "../../../../src/kafka/replication/replica-progress.ts";
import { replicationRules } from "../../../../src/kafka/replication/replication-rules.ts";
import { FakeLeader } from "../../../support/leader-replica.ts";

const NOW = 1_000_000 * SECOND;
const MAX_LAG = 30 * SECOND;
const LONG_AGO = NOW - MAX_LAG - 1;

function highWatermark(leader: FakeLeader, switches: Partial<ProtocolSwitches> = {}): number {
  const rules = replicationRules({ ...PRESENT_RULES, ...switches });
  return rules.leaderHighWatermark(leader, NOW, MAX_LAG);
}

describe("the high watermark", () => {
  test("goes as far as the slowest member of the ISR", () => {
    const leader = new FakeLeader({ logEndOffset: 10 });
    leader.follower(2, 7, LONG_AGO);
    leader.follower(3, 9, LONG_AGO);

    expect(highWatermark(leader)).toBe(7);
  });

  test("goes to the leader's end if the ISR is the leader alone", () => {
    const leader = new FakeLeader({ isr: committedIsr([1]) });
    leader.follower(2, 3, LONG_AGO);

    expect(highWatermark(leader)).toBe(10);
  });

  test("waits for a member that has not fetched in this term", () => {
    const leader = new FakeLeader({ highWatermark: 4 });
    leader.follower(2, 10);
    leader.follower(3, UNKNOWN_OFFSET);

    expect(highWatermark(leader)).toBe(4);
  });

  test("never goes back", () => {
    const leader = new FakeLeader({ highWatermark: 8 });
    leader.follower(2, 5);
    leader.follower(3, 5);

    expect(highWatermark(leader)).toBe(8);
  });

  test("counts a joining follower from the moment that it is proposed", () => {
    const isr = pendingExpand(committedIsr([1, 2]), 3);
    const leader = new FakeLeader({ isr });
    leader.follower(2, 10);
    leader.follower(3, 6, LONG_AGO);
    leader.ineligible.add(3);

    expect(highWatermark(leader)).toBe(6);
    expect(highWatermark(leader, { "isr.hw-set": "committed" })).toBe(10);
  });

  test("still counts a member that is proposed to leave", () => {
    const isr = pendingShrink(committedIsr([1, 2, 3]), [3]);
    const leader = new FakeLeader({ isr });
    leader.follower(2, 10);
    leader.follower(3, 6, LONG_AGO);

    expect(highWatermark(leader)).toBe(6);
  });

  test("waits for a follower that is about to join: caught up lately, and eligible", () => {
    const leader = new FakeLeader({ isr: committedIsr([1]) });
    leader.follower(2, 6, NOW - MAX_LAG);

    expect(highWatermark(leader)).toBe(6);
  });

  test("does not wait for one that was caught up too long ago", () => {
    const leader = new FakeLeader({ isr: committedIsr([1]) });
    leader.follower(2, 6, LONG_AGO);

    expect(highWatermark(leader)).toBe(10);
  });

  test("does not wait for one that is fenced, leaving or of another life", () => {
    const leader = new FakeLeader({ isr: committedIsr([1]) });
    leader.follower(2, 6, NOW);
    leader.ineligible.add(2);

    expect(highWatermark(leader)).toBe(10);
  });

  test("stands still while the committed ISR is below the minimum", () => {
    const isr = pendingExpand(committedIsr([1]), 2);
    const leader = new FakeLeader({ isr, effectiveMinIsr: 2, highWatermark: 4 });
    leader.follower(2, 9);

    expect(highWatermark(leader)).toBe(4);
    expect(highWatermark(leader, { "leader.hw-requires-min-isr": false })).toBe(9);
  });

  test("moves again once the ISR has the minimum", () => {
    const leader = new FakeLeader({ effectiveMinIsr: 2, isr: committedIsr([1, 2]) });
    leader.follower(2, 9);

    expect(highWatermark(leader)).toBe(9);
  });
});

interface Follower {
  readonly logEndOffset: number;
  readonly lastCaughtUpAt: number;
  readonly eligible: boolean;
}

/** The sentence of the rule, by trial: the highest offset that nobody who is waited for lacks. */
function twin(leader: FakeLeader, switches: ProtocolSwitches): number {
  const { isr, maximalIsr } = leader.isr;
  if (switches["leader.hw-requires-min-isr"] && isr.length < leader.effectiveMinIsr) {
    return leader.highWatermark;
  }
  const members = switches["isr.hw-set"] === "maximal" ? maximalIsr : isr;
  const waitedFor = leader.remotes.filter((replica) => {
    const isAtEnd = replica.logEndOffset === leader.logEndOffset;
    const wasLately = NOW - replica.lastCaughtUpAt <= MAX_LAG;
    const joinsSoon = (isAtEnd || wasLately) && leader.isEligibleForIsr(replica);
    return members.includes(replica.brokerId) || joinsSoon;
  });
  for (let offset = leader.logEndOffset; offset > leader.highWatermark; offset--) {
    if (waitedFor.every(({ logEndOffset }) => logEndOffset >= offset)) return offset;
  }
  return leader.highWatermark;
}

const followers: fc.Arbitrary<Follower[]> = fc.array(
  fc.record({
    logEndOffset: fc.integer({ min: -1, max: 12 }),
    lastCaughtUpAt: fc.constantFrom(0, LONG_AGO, NOW - MAX_LAG, NOW),
    eligible: fc.boolean(),
  }),
  { maxLength: 4 },
);

const switchSets: fc.Arbitrary<ProtocolSwitches> = fc
  .record({
    "leader.hw-requires-min-isr": fc.boolean(),
    "isr.hw-set": fc.constantFrom("committed" as const, "maximal" as const),
  })
  .map((some) => ({ ...PRESENT_RULES, ...some }));

test("the high watermark agrees with a naive twin in every state", () => {
  const situations = fc.record({
    followers,
    logEndOffset: fc.integer({ min: 0, max: 12 }),
    highWatermark: fc.integer({ min: 0, max: 12 }),
    effectiveMinIsr: fc.integer({ min: 1, max: 3 }),
    members: fc.nat({ max: 31 }),
    change: fc.constantFrom("none", "expand", "shrink"),
    changed: fc.integer({ min: 2, max: 5 }),
    switches: switchSets,
  });
  fc.assert(
    fc.property(situations, (one) => {
      const committed = committedIsr(
        [1, 2, 3, 4, 5].filter((id) => id === 1 || (one.members & (1 << (id - 1))) !== 0),
      );
      const leader = new FakeLeader({
        logEndOffset: one.logEndOffset,
        highWatermark: Math.min(one.highWatermark, one.logEndOffset),
        effectiveMinIsr: one.effectiveMinIsr,
        isr: isrOf(committed, one.change, one.changed),
      });
      for (const [i, { logEndOffset, lastCaughtUpAt, eligible }] of one.followers.entries()) {
        leader.follower(i + 2, Math.min(logEndOffset, one.logEndOffset), lastCaughtUpAt);
        if (!eligible) leader.ineligible.add(i + 2);
      }

      const offset = highWatermark(leader, one.switches);

      expect(offset).toBe(twin(leader, one.switches));
    }),
    { seed: 42, numRuns: 2000 },
  );
});

function isrOf(
  committed: ReturnType<typeof committedIsr>,
  change: string,
  broker: number,
): IsrState {
  const isMember = committed.isr.includes(broker);
  if (change === "expand" && !isMember) return pendingExpand(committed, broker);
  if (change === "shrink" && isMember) return pendingShrink(committed, [broker]);
  return committed;
}
