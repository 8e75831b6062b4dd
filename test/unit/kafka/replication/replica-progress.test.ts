import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ReplicaProgress,
  UNKNOWN_OFFSET,
} from "../../../../src/kafka/replication/replica-progress.ts";

const EPOCH = 17;

/** A follower that fetched at `offset` at time `at`, when the leader ended at `leaderEnd`. */
function fetched(replica: ReplicaProgress, offset: number, at: number, leaderEnd: number): void {
  replica.fetched(offset, 0, at, leaderEnd, EPOCH);
}

describe("a follower counts as caught up", () => {
  test("at the time of its fetch, if it asks for the leader's end", () => {
    const replica = new ReplicaProgress(2);

    fetched(replica, 10, 100, 10);

    expect(replica.lastCaughtUpAt).toBe(100);
  });

  test("at the time of its previous fetch, if it asks for what was the end then", () => {
    const replica = new ReplicaProgress(2);
    fetched(replica, 5, 100, 10);

    fetched(replica, 10, 200, 15);

    expect(replica.lastCaughtUpAt).toBe(100);
  });

  test("no later than before, if it lacks even what was there at its previous fetch", () => {
    const replica = new ReplicaProgress(2);
    fetched(replica, 10, 100, 10);
    fetched(replica, 10, 200, 20);

    fetched(replica, 15, 300, 30);

    expect(replica.lastCaughtUpAt).toBe(100);
  });

  test("no earlier than before, when its leader's clock is set back", () => {
    const replica = new ReplicaProgress(2);
    fetched(replica, 10, 500, 10);

    fetched(replica, 10, 300, 10);
    fetched(replica, 10, 310, 12);

    expect(replica.lastCaughtUpAt).toBe(500);
  });

  test("by the highest end that the leader had at any of its fetches", () => {
    const replica = new ReplicaProgress(2);
    fetched(replica, 5, 100, 10);
    fetched(replica, 5, 200, 8);

    fetched(replica, 9, 300, 12);

    expect(replica.lastCaughtUpAt).toBe(0);
  });

  test("by its bookkeeping as by the whole history of its fetches", () => {
    const histories = fc.array(
      fc.record({
        pause: fc.nat({ max: 50 }),
        grown: fc.nat({ max: 5 }),
        offset: fc.nat({ max: 30 }),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(histories, (history) => {
        const replica = new ReplicaProgress(2);
        let at = 1000;
        let leaderEnd = 3;
        const past: { at: number; leaderEnd: number; offset: number }[] = [];
        for (const { pause, grown, offset } of history) {
          at += pause;
          leaderEnd += grown;
          past.push({ at, leaderEnd, offset: Math.min(offset, leaderEnd) });
          fetched(replica, Math.min(offset, leaderEnd), at, leaderEnd);
        }

        expect(replica.lastCaughtUpAt).toBe(caughtUpAt(past));
      }),
      { seed: 42, numRuns: 500 },
    );
  });
});

/** The latest fetch at which, as that fetch or the next one showed, there was nothing it lacked. */
function caughtUpAt(past: readonly { at: number; leaderEnd: number; offset: number }[]): number {
  const shown = past.map(({ at, leaderEnd, offset }, i) => {
    const isProved = offset >= leaderEnd || (past[i + 1]?.offset ?? -1) >= leaderEnd;
    return isProved ? at : 0;
  });
  return Math.max(0, ...shown);
}

test("a fetch tells the follower's end, its log's start and its broker epoch", () => {
  const replica = new ReplicaProgress(2);

  replica.fetched(7, 3, 100, 10, EPOCH);

  expect(replica).toMatchObject({
    logEndOffset: 7,
    logStartOffset: 3,
    lastFetchLeaderEnd: 10,
    lastFetchAt: 100,
    brokerEpoch: EPOCH,
  });
});

describe("caught up enough to stay in the ISR", () => {
  test("is who has all there is, or had within the allowed lag", () => {
    const replica = new ReplicaProgress(2);
    fetched(replica, 10, 100, 10);

    expect(replica.isCaughtUp(10, 1_000, 50)).toBe(true);
    expect(replica.isCaughtUp(11, 150, 50)).toBe(true);
    expect(replica.isCaughtUp(11, 151, 50)).toBe(false);
  });

  test("is not who has not fetched yet", () => {
    const replica = new ReplicaProgress(2);

    expect(replica.isCaughtUp(0, 1_000, 50)).toBe(false);
  });
});

describe("when a leader's epoch begins", () => {
  function known(): ReplicaProgress {
    const replica = new ReplicaProgress(2);
    replica.fetched(10, 4, 100, 10, EPOCH);
    return replica;
  }

  test("a new leader knows nothing of a member of the ISR but gives it credit from now", () => {
    const replica = known();

    replica.reset(900, 30, true, true);

    expect(replica).toMatchObject({
      logEndOffset: UNKNOWN_OFFSET,
      logStartOffset: UNKNOWN_OFFSET,
      lastFetchLeaderEnd: UNKNOWN_OFFSET,
      lastFetchAt: 0,
      lastCaughtUpAt: 900,
      brokerEpoch: undefined,
    });
  });

  test("a new leader gives no credit to who is not in the ISR", () => {
    const replica = known();

    replica.reset(900, 30, true, false);

    expect(replica.lastCaughtUpAt).toBe(0);
  });

  test("a leader elected again keeps what it knows of a member", () => {
    const replica = known();

    replica.reset(900, 30, false, true);

    expect(replica).toMatchObject({
      logEndOffset: 10,
      logStartOffset: 4,
      lastFetchLeaderEnd: 30,
      lastFetchAt: 900,
      lastCaughtUpAt: 900,
      brokerEpoch: EPOCH,
    });
  });

  test("who was not in the ISR gets no credit for its next fetch by the time of an older one", () => {
    const replica = known();
    replica.reset(900, 10, false, false);

    fetched(replica, 10, 950, 20);

    expect(replica.lastCaughtUpAt).toBe(0);
  });
});
