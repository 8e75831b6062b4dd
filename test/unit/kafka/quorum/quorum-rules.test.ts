import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ElectionState } from "../../../../src/kafka/quorum/election-state.ts";
import {
  formatElection,
  parseElection,
  roleAtStart,
} from "../../../../src/kafka/quorum/election-state.ts";
import { directoryIdOf, leaderChangeBatch } from "../../../../src/kafka/quorum/leader-change.ts";
import { LeaderProgress } from "../../../../src/kafka/quorum/leader-progress.ts";
import { isUpToDate, KRAFT_RULES } from "../../../../src/kafka/quorum/quorum-rules.ts";
import type { Role } from "../../../../src/kafka/quorum/role.ts";
import { leaderOf, voteOf } from "../../../../src/kafka/quorum/role.ts";
import { successionDelayMs } from "../../../../src/kafka/quorum/succession.ts";
import { VoteTally } from "../../../../src/kafka/quorum/vote-tally.ts";

const VOTERS = [1, 2, 3];

describe("what is committed", () => {
  /** The definition, without a sort: the largest end that more than half of the voters reached. */
  function simpleTwin(ends: readonly number[], epochStart: number): number {
    let best = -1;
    for (const end of ends) {
      const reached = ends.filter((other) => other >= end).length;
      if (reached * 2 > ends.length && end > best) best = end;
    }
    return best > epochStart ? best : -1;
  }

  test("is what a majority has, if that covers a record of the leader's epoch (KAFKA-12619)", () => {
    const offset = fc.integer({ min: -1, max: 12 });
    fc.assert(
      fc.property(fc.array(offset, { minLength: 1, maxLength: 7 }), offset, (ends, start) => {
        expect(KRAFT_RULES.committedOffset(ends, start)).toBe(simpleTwin(ends, start));
      }),
      { seed: 42, numRuns: 1_000 },
    );
  });

  test("does not include an earlier epoch's records that merely reached a majority", () => {
    const progress = new LeaderProgress(1, VOTERS, 10, KRAFT_RULES);
    expect(progress.flushedTo(11)).toBe(false);
    // Voter 2 has all of earlier epochs, but nothing of this one.
    expect(progress.fetchedTo(2, 10)).toBe(false);
    expect(progress.highWatermark).toBe(-1);
    expect(progress.fetchedTo(2, 11)).toBe(true);
    expect(progress.highWatermark).toBe(11);
  });

  test("is not moved by observers, nor back by a voter that lost its log", () => {
    const progress = new LeaderProgress(1, VOTERS, 0, KRAFT_RULES);
    progress.flushedTo(20);
    expect(progress.fetchedTo(9, 20)).toBe(false);
    expect(progress.fetchedTo(3, 15)).toBe(true);
    expect(progress.fetchedTo(3, 2)).toBe(false);
    expect(progress.highWatermark).toBe(15);
  });
});

describe("a leader", () => {
  test("counts itself for the quorum that must fetch, and begins anew each time (KAFKA-15489)", () => {
    const progress = new LeaderProgress(1, [1, 2, 3, 4, 5], 0, KRAFT_RULES);
    expect(progress.countFetch(2)).toBe(false);
    expect(progress.countFetch(2)).toBe(false);
    expect(progress.countFetch(9)).toBe(false);
    expect(progress.countFetch(5)).toBe(true);
    expect(progress.countFetch(2)).toBe(false);
    expect(progress.countFetch(3)).toBe(true);
  });

  test("tells anew those that have not fetched since it told them last", () => {
    const progress = new LeaderProgress(1, VOTERS, 0, KRAFT_RULES);
    expect(progress.takeSilent()).toEqual([2, 3]);
    progress.fetchedTo(3, 1);
    expect(progress.takeSilent()).toEqual([2]);
    expect(progress.takeSilent()).toEqual([2, 3]);
  });

  test("names as successors those with most of the log first", () => {
    const progress = new LeaderProgress(1, [1, 2, 3, 4], 0, KRAFT_RULES);
    progress.flushedTo(30);
    progress.fetchedTo(2, 10);
    progress.fetchedTo(4, 20);
    expect(progress.successors).toEqual([4, 2, 3]);
  });

  test("begins its epoch with a control batch that names voters and who voted", () => {
    const change = { leaderId: 3001, voters: [3001, 3002], grantingVoters: [3001] };
    const batch = leaderChangeBatch(change, 7, 4, 1_000);
    expect([batch.baseOffset, batch.lastOffset, batch.partitionLeaderEpoch]).toEqual([7, 7, 4]);
    expect(batch.isControl).toBe(true);
    expect(batch.isValid()).toBe(true);
    const [record] = batch.records();
    expect([...(record?.key ?? [])]).toEqual([0, 0, 0, 2]);
    // Version 0, leader, 2 voters and 1 granting voter of an id each, no tags.
    expect(record?.value?.length).toBe(2 + 4 + 1 + 2 * 5 + 1 + 5 + 1);
    expect([...(record?.value ?? [])].slice(0, 2)).toEqual([0, 0]);
    expect(directoryIdOf(3001)).not.toBe(directoryIdOf(3002));
  });
});

describe("a vote", () => {
  const ownEnd = { epoch: 4, offset: 100 };
  const behind = { epoch: 4, offset: 99 };
  const unattached: Role = { role: "unattached", epoch: 5, leaderId: -1, votedId: -1 };
  const tally = new VoteTally(VOTERS);
  const prospective: Role = { role: "prospective", epoch: 5, leaderId: -1, votedId: -1, tally };
  const roles: readonly (readonly [string, Role, boolean, boolean])[] = [
    // Name, role, grants a pre-vote, grants a vote.
    ["unattached", unattached, true, true],
    ["unattached that voted for it", { ...unattached, votedId: 2 }, true, true],
    ["unattached that voted for another", { ...unattached, votedId: 3 }, true, false],
    ["unattached that knows a leader", { ...unattached, leaderId: 3 }, true, false],
    ["prospective", prospective, true, true],
    ["prospective that voted for another", { ...prospective, votedId: 3 }, true, false],
    ["prospective that knows a leader", { ...prospective, leaderId: 3 }, true, false],
    ["candidate", { role: "candidate", epoch: 5, tally }, true, false],
    [
      "follower that has not fetched yet",
      { role: "follower", epoch: 5, leaderId: 3, votedId: -1, hasFetched: false },
      true,
      false,
    ],
    [
      "follower that fetches",
      { role: "follower", epoch: 5, leaderId: 3, votedId: -1, hasFetched: true },
      false,
      false,
    ],
    [
      "resigned",
      { role: "resigned", epoch: 5, successors: [], unacknowledged: new Set() },
      true,
      false,
    ],
    [
      "leader",
      {
        role: "leader",
        epoch: 5,
        epochStart: 0,
        progress: new LeaderProgress(1, VOTERS, 0, KRAFT_RULES),
      },
      false,
      false,
    ],
  ];

  test.each(roles)("is asked of a member that is %s (KIP-996)", (_, role, preVote, vote) => {
    const ask = (isPre: boolean, candidateEnd = ownEnd): boolean =>
      KRAFT_RULES.mayGrantVote(role, ownEnd, { candidateId: 2, preVote: isPre, candidateEnd });
    expect(ask(true)).toBe(preVote);
    expect(ask(false)).toBe(vote);
    expect(ask(true, behind)).toBe(false);
  });

  test("once given is repeated for the same candidate, whatever its log", () => {
    const voted: Role = { ...unattached, votedId: 2 };
    const question = { candidateId: 2, preVote: false, candidateEnd: behind };
    expect(KRAFT_RULES.mayGrantVote(voted, ownEnd, question)).toBe(true);
  });

  test("compares the epoch of the last record before the offset", () => {
    expect(isUpToDate({ epoch: 5, offset: 1 }, ownEnd)).toBe(true);
    expect(isUpToDate({ epoch: 3, offset: 1_000 }, ownEnd)).toBe(false);
    expect(isUpToDate(ownEnd, ownEnd)).toBe(true);
  });

  test("decides when a majority agrees, and when none can any more", () => {
    const five = new VoteTally([1, 2, 3, 4, 5]);
    five.record(1, true);
    five.record(2, true);
    five.record(3, false);
    five.record(4, false);
    expect([five.isGranted, five.isRejected]).toEqual([false, false]);
    expect(five.unanswered).toEqual([5]);
    five.record(5, false);
    expect([five.isGranted, five.isRejected]).toEqual([false, true]);
    // A vote is not taken back by a later answer.
    five.record(2, false);
    expect(five.granting).toEqual([1, 2]);
  });
});

describe("a member that starts again", () => {
  const election: ElectionState = { leaderId: -1, leaderEpoch: 5, votedId: -1 };
  const end = { epoch: 5, offset: 10 };
  const starts: readonly (readonly [string, ElectionState, Partial<Role>])[] = [
    ["knew nobody", election, { role: "unattached", epoch: 5 }],
    ["voted for another", { ...election, votedId: 2 }, { role: "unattached", votedId: 2 }],
    ["voted for itself", { ...election, votedId: 1 }, { role: "candidate", epoch: 5 }],
    ["followed", { ...election, leaderId: 2 }, { role: "follower", leaderId: 2 }],
    ["led (KAFKA-10527)", { ...election, leaderId: 1 }, { role: "resigned", epoch: 5 }],
    [
      "had a newer log than it remembers",
      { leaderId: 1, leaderEpoch: 4, votedId: -1 },
      { role: "unattached", epoch: 5, leaderId: -1 },
    ],
  ];

  test.each(starts)("and %s takes up the right role", (_, remembered, expected) => {
    const role = roleAtStart(remembered, end, 1, VOTERS);
    expect(role).toMatchObject(expected);
    if (remembered.leaderEpoch === 5) {
      expect(leaderOf(role, 1)).toBe(remembered.leaderId);
      expect(voteOf(role, 1)).toBe(remembered.votedId);
    }
  });

  test("reads what it wrote, in Kafka's form", () => {
    const text = formatElection(
      { leaderId: 3001, leaderEpoch: 7, votedId: 3002 },
      directoryIdOf(3002),
    );
    expect(text).toBe(
      `{"leaderId":3001,"leaderEpoch":7,"votedId":3002,"votedDirectoryId":"${directoryIdOf(3002)}","data_version":1}`,
    );
    expect(parseElection(text)).toEqual({ leaderId: 3001, leaderEpoch: 7, votedId: 3002 });
    expect(parseElection("")).toBeUndefined();
    expect(parseElection(text.slice(0, -1))).toBeUndefined();
  });
});

test("successors wait longer the further back they stand", () => {
  const delays = [2, 3, 4, 5, 9].map((id) => successionDelayMs(id, [2, 3, 4, 5], 1_000));
  expect(delays).toEqual([0, 125, 250, 500, 1_000]);
  expect(successionDelayMs(3, [2, 3], 1_000)).toBe(500);
});
