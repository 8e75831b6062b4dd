import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../src/base/time.ts";
import { decodeUtf8 } from "../../../src/base/utf8.ts";
import type { ElectionState } from "../../../src/kafka/quorum/election-state.ts";
import { formatElection, parseElection } from "../../../src/kafka/quorum/election-state.ts";
import { KRAFT_RULES } from "../../../src/kafka/quorum/quorum-rules.ts";
import { ZERO_UUID } from "../../../src/kafka/uuid.ts";
import { DiskError } from "../../../src/ports/disk.ts";
import { replaceFile } from "../../../src/storage/text-file.ts";
import type { HarnessOptions, MemberHost, QuorumMember } from "../../support/quorum-harness.ts";
import { DIRECTORY, QuorumHarness } from "../../support/quorum-harness.ts";

function running(voters: number, seed: number, observers = 0): QuorumHarness {
  const harness = new QuorumHarness({ voters, observers, seed });
  expect(harness.commitsMore(10)).toBe(true);
  return harness;
}

function leaderOf(harness: QuorumHarness): MemberHost {
  const { leader } = harness;
  if (leader === undefined) throw new Error("there is no leader");
  return leader;
}

function followerOf(harness: QuorumHarness): MemberHost {
  const leader = leaderOf(harness);
  const follower = harness.voters.find((voter) => voter !== leader && voter.isUp);
  if (follower === undefined) throw new Error("there is no follower");
  return follower;
}

function nodeOf(host: MemberHost): QuorumMember {
  if (host.node === undefined) throw new Error("the member is down");
  return host.node;
}

function electionOnDisk(host: MemberHost): ElectionState | undefined {
  const file = host.disk.open(`${DIRECTORY}/quorum-state`);
  return parseElection(decodeUtf8(file.read(0, file.size)));
}

/** Crashes, losses of power and partitions at random for a minute, then peace. */
function storm(options: HarnessOptions): QuorumHarness {
  const harness = new QuorumHarness(options);
  const { world, hosts } = harness;
  const { random } = world;
  for (let round = 0; round < 60; round++) {
    world.run(random.between(50, 1_500) * MILLISECOND);
    const host = hosts[random.below(hosts.length)] as MemberHost;
    const other = hosts[random.below(hosts.length)] as MemberHost;
    switch (random.below(6)) {
      case 0:
        host.crash();
        break;
      case 1:
        host.powerOff();
        break;
      case 2:
        world.isolate(host.address);
        break;
      case 3:
        if (host !== other) world.cut(host.address, other.address);
        break;
      case 4:
        world.heal();
        break;
      default:
        world.startAll();
    }
  }
  world.heal();
  world.startAll();
  return harness;
}

describe("a metadata quorum", () => {
  test.each([1, 3, 5])("of %d elects one leader and commits what it appends", (voters) => {
    for (let seed = 0; seed < 20; seed++) {
      const harness = running(voters, seed);
      expect(harness.hosts.filter(({ node }) => node?.quorum.isLeader)).toHaveLength(1);
    }
  });

  test("of three survives the loss of any one and stops without a majority", () => {
    for (const victim of [0, 1, 2]) {
      const harness = running(3, victim);
      harness.hosts[victim]?.crash();
      expect(harness.commitsMore(20)).toBe(true);

      followerOf(harness).powerOff();
      const before = harness.committedOffsets;
      // What was on its way may still be committed; nothing is once the leader noticed.
      harness.world.run(4 * SECOND);
      const stopped = harness.committedOffsets;
      expect(stopped - before).toBeLessThan(5);
      harness.world.run(20 * SECOND);
      expect(harness.committedOffsets).toBe(stopped);
      expect(harness.leader).toBeUndefined();

      harness.world.startAll();
      expect(harness.commitsMore(20)).toBe(true);
    }
  });

  test("of five survives the loss of two at once, the leader among them", () => {
    const harness = running(5, 7);
    const follower = followerOf(harness);
    leaderOf(harness).powerOff();
    follower.powerOff();
    expect(harness.commitsMore(20)).toBe(true);
  });

  test.each([1, 3, 5])(
    "of %d keeps its invariants through storms and recovers",
    (voters) => {
      for (let seed = 100; seed < 106; seed++) {
        const harness = storm({ voters, observers: 2, seed });
        expect(harness.commitsMore(10), `seed ${seed}`).toBe(true);
      }
    },
    60_000,
  );

  test("of one goes on after its only member lost power", () => {
    const harness = running(1, 3);
    const before = harness.committedOffsets;
    harness.hosts[0]?.powerOff();
    harness.world.startAll();
    expect(harness.commitsMore(5)).toBe(true);
    expect(harness.committedOffsets).toBeGreaterThan(before);
  });

  test("gives the same run from the same seed", () => {
    const [first, second] = [1, 2].map(() => {
      const { hosts, committedOffsets, world } = storm({ voters: 3, observers: 1, seed: 77 });
      const ends = hosts.map(({ node }) => [node?.quorum.epoch, node?.quorum.logEndOffset]);
      return { committedOffsets, ends, now: world.now, next: world.random.below(1_000_000) };
    });
    expect(second).toEqual(first);
  });
});

describe("a voter", () => {
  test("keeps its vote when it loses power", () => {
    const harness = running(3, 11);
    const leader = leaderOf(harness);
    const epoch = nodeOf(leader).quorum.epoch;
    // What each remembers on its disk alone, once the power is gone.
    for (const voter of harness.voters) voter.powerOff();
    const elections = harness.voters.map(electionOnDisk);
    expect(elections.map((election) => election?.leaderEpoch)).toEqual([epoch, epoch, epoch]);
    expect(elections.map((election) => election?.votedId)).toContain(leader.address);
  });

  test("that was cut off does not disturb the epoch when it comes back (KIP-996)", () => {
    const harness = running(3, 5);
    const { epoch } = nodeOf(leaderOf(harness)).quorum;
    const follower = followerOf(harness);
    harness.world.isolate(follower.address);
    harness.world.run(30 * SECOND);
    expect(["prospective", "follower"]).toContain(nodeOf(follower).quorum.role);
    harness.world.heal();
    expect(harness.commitsMore(50)).toBe(true);
    expect(nodeOf(leaderOf(harness)).quorum.epoch).toBe(epoch);
  });

  test("that lost, followed and starts anew asks in vain to lead the same epoch, and then another", () => {
    const harness = running(3, 8);
    const leader = leaderOf(harness);
    const { epoch } = nodeOf(leader).quorum;
    const follower = followerOf(harness);
    for (const voter of harness.voters) voter.crash();
    const remember = (host: MemberHost, leaderId: number, votedId: number): void => {
      const election = { leaderId, leaderEpoch: epoch, votedId };
      replaceFile(host.disk, `${DIRECTORY}/quorum-state`, formatElection(election, ZERO_UUID));
    };
    for (const voter of harness.voters) {
      if (voter === leader) continue;
      if (voter === follower) remember(voter, leader.address, voter.address);
      // The other has voted, and not heard who won.
      else remember(voter, -1, leader.address);
      voter.start();
    }
    expect(nodeOf(follower).quorum).toMatchObject({ role: "candidate", epoch });

    expect(harness.commitsMore(20)).toBe(true);

    expect(nodeOf(leaderOf(harness)).quorum.epoch).toBeGreaterThan(epoch);
  });

  test("whose disk fails ends its process rather than break its promises", () => {
    const harness = running(3, 6);
    const follower = followerOf(harness);
    follower.disk.failure = new DiskError("EIO", "quorum-state");
    harness.world.run(2 * SECOND);
    expect(follower.exited).toContain("EIO");
    expect(harness.commitsMore(20)).toBe(true);
  });
});

describe("a leader", () => {
  test("cut from the voters resigns, and its unseen records are replaced", () => {
    for (let seed = 0; seed < 10; seed++) {
      const harness = running(3, seed);
      const old = leaderOf(harness);
      const { quorum } = nodeOf(old);
      const { epoch } = quorum;
      harness.world.isolate(old.address);
      // 1.5 fetch timeouts, and as long as the last fetches were under way.
      harness.world.run(3 * SECOND + 600 * MILLISECOND);
      expect(quorum.isLeader).toBe(false);
      expect(nodeOf(old).leaderHeard).toBe(-1);
      expect(quorum.logEndOffset).toBeGreaterThan(quorum.highWatermark);

      expect(harness.world.runUntil(() => harness.leader !== undefined)).toBe(true);
      expect(leaderOf(harness)).not.toBe(old);
      expect(nodeOf(leaderOf(harness)).quorum.epoch).toBeGreaterThan(epoch);
      harness.world.heal();
      // The harness compares what each member takes for committed.
      expect(harness.commitsMore(100)).toBe(true);
    }
  });

  test("that restarts does not lead its epoch again (KAFKA-10527)", () => {
    const harness = running(3, 21);
    const leader = leaderOf(harness);
    const { epoch } = nodeOf(leader).quorum;
    leader.powerOff();
    leader.start();
    expect(nodeOf(leader).quorum.role).toBe("resigned");
    expect(nodeOf(leader).quorum.epoch).toBe(epoch);
    expect(harness.commitsMore(20)).toBe(true);
    expect(nodeOf(leaderOf(harness)).quorum.epoch).toBeGreaterThan(epoch);
  });

  test("that resigns is followed at once by the voter it names", () => {
    const harness = running(3, 22);
    const leader = leaderOf(harness);
    nodeOf(leader).quorum.resign();
    expect(nodeOf(leader).quorum.isLeader).toBe(false);
    expect(nodeOf(leader).leaderHeard).toBe(-1);
    expect(harness.world.runUntil(() => harness.leader !== undefined, SECOND)).toBe(true);
    expect(leaderOf(harness)).not.toBe(leader);
  });

  test("is told of its own leadership only when it has all that was committed before", () => {
    for (let seed = 0; seed < 10; seed++) {
      const harness = running(3, seed);
      const committed = harness.committedOffsets;
      leaderOf(harness).crash();
      const heard = harness.world.runUntil(() =>
        harness.voters.some(({ address, node }) => node?.leaderHeard === address),
      );
      expect(heard).toBe(true);
      expect(nodeOf(leaderOf(harness)).quorum.highWatermark).toBeGreaterThan(committed);
    }
  });
});

describe("an observer", () => {
  test("follows without a vote, and finds the next leader by asking any voter", () => {
    const harness = running(3, 31, 3);
    leaderOf(harness).crash();
    expect(harness.commitsMore(30)).toBe(true);
    for (const observer of harness.hosts.slice(3)) {
      expect(nodeOf(observer).leaderHeard).toBe(leaderOf(harness).address);
      expect(nodeOf(observer).quorum.role).toBe("follower");
    }
  });

  test("does not make a majority", () => {
    const harness = running(3, 32, 4);
    const leader = leaderOf(harness);
    for (const voter of harness.voters) if (voter !== leader) voter.crash();
    harness.world.run(4 * SECOND);
    const stopped = harness.committedOffsets;
    harness.world.run(20 * SECOND);
    expect(harness.committedOffsets).toBe(stopped);
  });
});

describe("a broken rule is found:", () => {
  function findsIn(rules: HarnessOptions["rules"]): string {
    for (let seed = 0; seed < 10; seed++) {
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
  }, 60_000);
});
