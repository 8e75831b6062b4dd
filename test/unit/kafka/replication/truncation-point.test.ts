import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EpochEnd } from "../../../../src/kafka/log/leader-epoch-cache.ts";
import { LeaderEpochCache } from "../../../../src/kafka/log/leader-epoch-cache.ts";
import { PRESENT_RULES } from "../../../../src/kafka/protocol-switches.ts";
import type { FollowerLog } from "../../../../src/kafka/replication/replication-rules.ts";
import { replicationRules } from "../../../../src/kafka/replication/replication-rules.ts";

const rules = replicationRules(PRESENT_RULES);

/** A log as the leader epoch of each record: the records of one epoch come from one leader. */
class EpochLog implements FollowerLog {
  records: readonly number[];
  /** What a leader notes of its own term before it has written anything. */
  readonly term: number | undefined;

  constructor(records: readonly number[], term?: number) {
    this.records = records;
    this.term = term;
  }

  get logEndOffset(): number {
    return this.records.length;
  }

  get epochs(): LeaderEpochCache {
    const cache = new LeaderEpochCache();
    for (const [offset, epoch] of this.records.entries()) cache.assign(epoch, offset);
    if (this.term !== undefined) cache.assign(this.term, this.records.length);
    return cache;
  }

  endOffsetForEpoch(epoch: number): EpochEnd {
    return this.epochs.endOffsetFor(epoch, this.logEndOffset);
  }
}

describe("a follower cuts", () => {
  test("where its own records of the shared epoch end, if it has fewer than the leader", () => {
    const follower = new EpochLog([1, 1, 2, 2]);

    expect(rules.truncationPoint(follower, 4, 1, 9)).toEqual({ offset: 2, settled: true });
  });

  test("where the leader's records of the shared epoch end, if it has more", () => {
    const follower = new EpochLog([1, 1, 1, 1]);

    expect(rules.truncationPoint(follower, 4, 1, 3)).toEqual({ offset: 3, settled: true });
  });

  test("never beyond its own end", () => {
    const follower = new EpochLog([1, 1]);

    expect(rules.truncationPoint(follower, 2, 1, 50)).toEqual({ offset: 2, settled: true });
  });

  test("back to its next older epoch and asks again, if it never saw the one the leader names", () => {
    const follower = new EpochLog([1, 1, 3, 3]);

    expect(rules.truncationPoint(follower, 4, 2, 4)).toEqual({ offset: 2, settled: false });
  });

  test("where the leader says, if it knows no epoch as old", () => {
    const follower = new EpochLog([]);

    expect(rules.truncationPoint(follower, 0, 2, 0)).toEqual({ offset: 0, settled: true });
  });

  test("where the leader says, if the leader cannot name the epoch", () => {
    const follower = new EpochLog([1, 1, 2, 2]);

    expect(rules.truncationPoint(follower, 4, -1, 3)).toEqual({ offset: 3, settled: true });
    expect(rules.truncationPoint(follower, 4, -1, 50)).toEqual({ offset: 4, settled: true });
  });

  test("where it stands, its high watermark at first, if the leader cannot tell at all", () => {
    const follower = new EpochLog([1, 1, 2, 2]);

    expect(rules.truncationPoint(follower, 3, -1, -1)).toEqual({ offset: 3, settled: true });
  });
});

type Answer = (leader: EpochLog, epoch: number) => EpochEnd;

const kip279: Answer = (leader, epoch) => leader.endOffsetForEpoch(epoch);
const kip101: Answer = (leader, epoch) => leader.epochs.kip101EndOffset(epoch, leader.logEndOffset);

/** Asks, cuts and asks again until it is settled; what the follower keeps. */
function walk(follower: EpochLog, leader: EpochLog, answer: Answer): readonly number[] {
  for (let rounds = 0; rounds < 20; rounds++) {
    const latest = follower.epochs.latestEpoch;
    if (latest === undefined) return follower.records;
    const end = answer(leader, latest);
    const point = rules.truncationPoint(follower, follower.logEndOffset, end.epoch, end.endOffset);
    follower.records = follower.records.slice(0, point.offset);
    if (point.settled) return follower.records;
  }
  throw new Error("the walk does not end");
}

function commonPrefix(one: readonly number[], other: readonly number[]): readonly number[] {
  const end = one.findIndex((epoch, offset) => other[offset] !== epoch);
  return end < 0 ? one : one.slice(0, end);
}

/**
 * Terms one after the other: each leader goes on from a prefix of an earlier log. The follower is
 * anyone who copied a prefix of one of these logs.
 */
const terms = fc.array(
  fc.record({ from: fc.nat(), keeps: fc.nat({ max: 12 }), writes: fc.nat({ max: 4 }) }),
  { minLength: 1, maxLength: 7 },
);

/** The last leader of such a story, and a copy that somebody made. */
const situations = fc.tuple(terms, fc.nat(), fc.nat({ max: 20 })).map(([history, pick, copies]) => {
  const logs: (readonly number[])[] = [[]];
  for (const [i, { from, keeps, writes }] of history.entries()) {
    const base = (logs[from % logs.length] ?? []).slice(0, keeps);
    logs.push([...base, ...new Array<number>(writes).fill(i + 1)]);
  }
  const leader = new EpochLog(logs.at(-1) ?? [], history.length);
  return { leader, copied: (logs[pick % logs.length] ?? []).slice(0, copies) };
});

test("epoch by epoch a follower finds just what it shares with the leader (KIP-279)", () => {
  fc.assert(
    fc.property(situations, ({ leader, copied }) => {
      const kept = walk(new EpochLog(copied), leader, kip279);

      expect(kept).toEqual(commonPrefix(copied, leader.records));
    }),
    { seed: 42, numRuns: 1000 },
  );
});

/** Fetches from its end, and cuts as long as the leader says that the histories part there. */
function fetchUntilServed(follower: EpochLog, leader: EpochLog): readonly number[] {
  for (let rounds = 0; rounds < 20; rounds++) {
    const { logEndOffset } = follower;
    const latest = follower.epochs.latestEpoch;
    if (latest === undefined) return follower.records;
    const end = leader.endOffsetForEpoch(latest);
    if (!rules.historiesPart(end, latest, logEndOffset)) return follower.records;
    const point = rules.truncationPoint(follower, logEndOffset, end.epoch, end.endOffset);
    follower.records = follower.records.slice(0, point.offset);
  }
  throw new Error("the leader never serves it");
}

test("fetch by fetch it finds the same (KIP-595)", () => {
  fc.assert(
    fc.property(situations, ({ leader, copied }) => {
      const kept = fetchUntilServed(new EpochLog(copied), leader);

      expect(kept).toEqual(commonPrefix(copied, leader.records));
    }),
    { seed: 42, numRuns: 1000 },
  );
});

describe("the one question of KIP-101", () => {
  test("finds the shared records if the leader saw the follower's epoch", () => {
    const leader = new EpochLog([1, 1, 2, 3], 4);

    expect(walk(new EpochLog([1, 1, 2, 2, 2]), leader, kip101)).toEqual([1, 1, 2]);
  });

  test("lets a follower keep what the leader never had, after two fast leader changes", () => {
    // The follower led in epochs 2 and 4, the leader in 3 and 5, neither copied the other.
    const follower = [1, 1, 2, 4];
    const leader = new EpochLog([1, 1, 3, 3, 5], 6);

    expect(walk(new EpochLog(follower), leader, kip101)).toEqual([1, 1, 2, 4]);
    expect(walk(new EpochLog(follower), leader, kip279)).toEqual([1, 1]);
  });
});
