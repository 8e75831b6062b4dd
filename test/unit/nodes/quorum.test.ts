import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../src/base/time.ts";
import { decodeUtf8 } from "../../../src/base/utf8.ts";
import type { ElectionState } from "../../../src/kafka/quorum/election-state.ts";
import { parseElection } from "../../../src/kafka/quorum/election-state.ts";
import { KRAFT_RULES } from "../../../src/kafka/quorum/quorum-rules.ts";
import { DiskError } from "../../../src/ports/disk.ts";
import type { HarnessOptions, Member } from "../../support/quorum-harness.ts";
import { QuorumHarness } from "../../support/quorum-harness.ts";

function running(voters: number, seed: number, observers = 0): QuorumHarness {
  const harness = new QuorumHarness({ voters, observers, seed });
  harness.startAll();
  expect(harness.commitsMore(10)).toBe(true);
  return harness;
}

function leaderOf(harness: QuorumHarness): Member {
  const { leader } = harness;
  if (leader === undefined) throw new Error("there is no leader");
  return leader;
}

function followersOf(harness: QuorumHarness): readonly Member[] {
  const leader = leaderOf(harness);
  return harness.voters.filter((member) => member !== leader && member.isUp);
}

function electionOnDisk(member: Member): ElectionState | undefined {
  const file = member.disk.open("__cluster_metadata-0/quorum-state");
  return parseElection(decodeUtf8(file.read(0, file.size)));
}

/** Crashes, losses of power and partitions at random for a minute, then peace. */
function storm(options: HarnessOptions): QuorumHarness {
  const harness = new QuorumHarness(options);
  const { random, members } = harness;
  harness.startAll();
  for (let round = 0; round < 60; round++) {
    harness.run(random.between(50, 1_500) * MILLISECOND);
    const member = members[random.below(members.length)] as Member;
    const other = members[random.below(members.length)] as Member;
    switch (random.below(6)) {
      case 0:
        member.crash();
        break;
      case 1:
        member.powerOff();
        break;
      case 2:
        harness.isolate(member);
        break;
      case 3:
        if (member !== other) harness.cut(member.address, other.address);
        break;
      case 4:
        harness.heal();
        break;
      default:
        harness.startAll();
    }
  }
  harness.heal();
  harness.startAll();
  return harness;
}

describe("a metadata quorum", () => {
  test.each([1, 3, 5])("of %d elects one leader and commits what it appends", (voters) => {
    for (let seed = 0; seed < 20; seed++) {
      const harness = running(voters, seed);
      expect(harness.members.filter((member) => member.quorum?.isLeader)).toHaveLength(1);
    }
  });

  test("of three survives the loss of any one and stops without a majority", () => {
    for (const victim of [0, 1, 2]) {
      const harness = running(3, victim);
      harness.members[victim]?.crash();
      expect(harness.commitsMore(20)).toBe(true);

      followersOf(harness)[0]?.powerOff();
      const before = harness.committedOffsets;
      // What was on its way may still be committed; nothing is after the leader noticed.
      harness.run(4 * SECOND);
      const stopped = harness.committedOffsets;
      expect(stopped - before).toBeLessThan(5);
      harness.run(20 * SECOND);
      expect(harness.committedOffsets).toBe(stopped);
      expect(harness.leader).toBeUndefined();

      harness.startAll();
      expect(harness.commitsMore(20)).toBe(true);
    }
  });

  test("of five survives the loss of two at once, the leader among them", () => {
    const harness = running(5, 7);
    const [follower] = followersOf(harness);
    leaderOf(harness).powerOff();
    follower?.powerOff();
    expect(harness.commitsMore(20)).toBe(true);
  });

  test.each([1, 3, 5])("of %d keeps its invariants through storms and recovers", (voters) => {
    for (let seed = 100; seed < 108; seed++) {
      const harness = storm({ voters, observers: 2, seed });
      expect(harness.commitsMore(10), `seed ${seed}`).toBe(true);
    }
  });

  test("of one goes on after its only member lost power", () => {
    const harness = running(1, 3);
    const before = harness.committedOffsets;
    harness.members[0]?.powerOff();
    harness.startAll();
    expect(harness.commitsMore(5)).toBe(true);
    expect(harness.committedOffsets).toBeGreaterThan(before);
  });
});

describe("a voter", () => {
  test("keeps its vote when it loses power", () => {
    const harness = running(3, 11);
    const leader = leaderOf(harness);
    for (const follower of followersOf(harness)) {
      follower.powerOff();
      const election = electionOnDisk(follower);
      expect(election?.leaderEpoch).toBe(leader.quorum?.epoch);
      expect(election?.leaderId).toBe(leader.address);
    }
    // At least one of them voted for the leader.
    const votes = harness.voters.map((voter) => electionOnDisk(voter)?.votedId);
    expect(votes).toContain(leader.address);
  });

  test("that was cut off does not disturb the epoch when it comes back (KIP-996)", () => {
    const harness = running(3, 5);
    const epoch = leaderOf(harness).quorum?.epoch;
    const [follower] = followersOf(harness);
    if (follower === undefined) throw new Error("there is no follower");
    harness.isolate(follower);
    harness.run(30 * SECOND);
    expect(["prospective", "follower"]).toContain(follower.quorum?.role);
    harness.heal();
    expect(harness.commitsMore(50)).toBe(true);
    expect(leaderOf(harness).quorum?.epoch).toBe(epoch);
  });

  test("whose disk fails ends its process rather than break its promises", () => {
    const harness = running(3, 6);
    const [follower] = followersOf(harness);
    if (follower === undefined) throw new Error("there is no follower");
    follower.disk.failure = new DiskError("EIO", "quorum-state");
    harness.run(2 * SECOND);
    expect(follower.exited).toContain("EIO");
    expect(harness.commitsMore(20)).toBe(true);
  });
});

describe("a leader", () => {
  test("cut from the voters resigns, and its unseen records are replaced", () => {
    for (let seed = 0; seed < 10; seed++) {
      const harness = running(3, seed);
      const old = leaderOf(harness);
      const epoch = old.quorum?.epoch ?? 0;
      harness.isolate(old);
      // 1.5 fetch timeouts, and as long as the last fetches were parked.
      harness.run(3 * SECOND + 600 * MILLISECOND);
      expect(old.quorum?.isLeader).toBe(false);
      expect(old.leaderHeard).toBe(-1);
      const unseen = old.quorum?.logEndOffset ?? 0;
      expect(unseen).toBeGreaterThan(old.quorum?.highWatermark ?? 0);

      expect(harness.runUntil(() => harness.leader !== undefined)).toBe(true);
      expect(leaderOf(harness)).not.toBe(old);
      expect(leaderOf(harness).quorum?.epoch).toBeGreaterThan(epoch);
      harness.heal();
      expect(harness.commitsMore(100)).toBe(true);
    }
  });

  test("that restarts does not lead its epoch again (KAFKA-10527)", () => {
    const harness = running(3, 21);
    const leader = leaderOf(harness);
    const epoch = leader.quorum?.epoch;
    leader.powerOff();
    leader.start();
    expect(leader.quorum?.role).toBe("resigned");
    expect(leader.quorum?.epoch).toBe(epoch);
    expect(harness.commitsMore(20)).toBe(true);
    expect(leaderOf(harness).quorum?.epoch).toBeGreaterThan(epoch ?? 0);
  });

  test("that resigns is followed at once by the voter it names", () => {
    const harness = running(3, 22);
    const leader = leaderOf(harness);
    leader.quorum?.resign();
    expect(leader.quorum?.isLeader).toBe(false);
    expect(leader.leaderHeard).toBe(-1);
    const elected = harness.runUntil(() => harness.leader !== undefined, SECOND);
    expect(elected).toBe(true);
    expect(leaderOf(harness)).not.toBe(leader);
  });

  test("is told of its own leadership only when it has all that was committed before", () => {
    for (let seed = 0; seed < 10; seed++) {
      const harness = running(3, seed);
      const committed = harness.committedOffsets;
      leaderOf(harness).crash();
      const heard = harness.runUntil(() =>
        harness.voters.some((voter) => voter.isUp && voter.leaderHeard === voter.address),
      );
      expect(heard).toBe(true);
      expect(leaderOf(harness).quorum?.highWatermark).toBeGreaterThan(committed);
    }
  });
});

describe("an observer", () => {
  test("follows without a vote, and finds the next leader by asking any voter", () => {
    const harness = running(3, 31, 3);
    const old = leaderOf(harness);
    old.crash();
    expect(harness.commitsMore(30)).toBe(true);
    for (const observer of harness.members.filter((member) => !member.isVoter)) {
      expect(observer.leaderHeard).toBe(leaderOf(harness).address);
      expect(observer.quorum?.role).toBe("follower");
    }
  });

  test("does not make a majority", () => {
    const harness = running(3, 32, 4);
    for (const follower of followersOf(harness)) follower.crash();
    harness.run(4 * SECOND);
    const stopped = harness.committedOffsets;
    harness.run(20 * SECOND);
    expect(harness.committedOffsets).toBe(stopped);
  });
});

describe("a broken rule is found:", () => {
  function findsIn(rules: HarnessOptions["rules"]): string {
    for (let seed = 0; seed < 15; seed++) {
      try {
        storm({ voters: 3, seed, ...(rules === undefined ? {} : { rules }) });
      } catch (error) {
        return String(error);
      }
    }
    return "nothing";
  }

  test("votes for whoever asks", () => {
    const found = findsIn({ ...KRAFT_RULES, mayGrantVote: (role) => role.role !== "leader" });
    expect(found).toMatch(/SingleLeader|quorum epoch \d+ is led by/);
  });

  test("votes for logs that are behind", () => {
    const mayGrantVote: typeof KRAFT_RULES.mayGrantVote = (role, _end, question) =>
      KRAFT_RULES.mayGrantVote(role, { epoch: 0, offset: 0 }, question);
    const found = findsIn({ ...KRAFT_RULES, mayGrantVote });
    expect(found).toMatch(/below \d+ that is committed|ConsistentCommittedData|MajorityReached/);
  });

  test("commitment by a minority", () => {
    const found = findsIn({ ...KRAFT_RULES, committedOffset: (ends) => Math.max(...ends) });
    expect(found).toMatch(/MajorityReachedHighWatermark/);
  });

  test("the present rules hold in the same storms", () => {
    expect(findsIn(undefined)).toBe("nothing");
  });
});
