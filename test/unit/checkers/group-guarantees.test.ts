import { describe, expect, test } from "vitest";
import { ASSIGNMENT_DISJOINT } from "../../../src/checkers/assignment-disjoint.ts";
import { COMMITS_BY_MEMBERS } from "../../../src/checkers/commits-by-members.ts";
import { COMMITS_KEPT } from "../../../src/checkers/commits-kept.ts";
import { COMMITS_WHAT_WAS_READ } from "../../../src/checkers/commits-what-was-read.ts";
import { GROUP_EPOCHS_RISE } from "../../../src/checkers/group-epochs-rise.ts";
import { GROUP_SETTLES } from "../../../src/checkers/group-settles.ts";
import { GROUPS_CATCH_UP } from "../../../src/checkers/groups-catch-up.ts";
import { ONE_OWNER } from "../../../src/checkers/one-owner.ts";
import { GroupFacts } from "../../support/group-facts.ts";

/** Longer than any group may stand still, with Kafka's defaults. */
const LONG = 200;

describe("assignments", () => {
  test("of one partition to two are found", () => {
    const facts = new GroupFacts(ASSIGNMENT_DISJOINT).assigned(4, { m1: [0, 1, 2], m2: [2, 3] });

    expect(facts.found()).toEqual([
      "assigned-twice queue-2: Generation 4 of workers assigns queue-2 to m1 and to m2.",
    ]);
  });

  test("of what nobody asked for are found, and what is left out", () => {
    const unwanted = new GroupFacts(ASSIGNMENT_DISJOINT);
    const partial = new GroupFacts(ASSIGNMENT_DISJOINT);

    unwanted.assigned(1, { m1: [0, 1], m2: [2, 3] }, ["orders"]);
    partial.assigned(1, { m1: [0, 1], m2: [3] });

    expect(unwanted.found()).toHaveLength(4);
    expect(unwanted.found()[0]).toContain("who subscribes to orders");
    expect(partial.found()).toEqual([
      "left-out queue-2: Generation 1 of workers assigns queue-2 to nobody.",
    ]);
  });

  test("of all to all are as they should be", () => {
    const facts = new GroupFacts(ASSIGNMENT_DISJOINT).assigned(1, { m1: [0, 1], m2: [2, 3] });

    expect(facts.found()).toEqual([]);
    expect(facts.verdict).toBe("held");
  });
});

describe("owners", () => {
  test("of one generation who both have a partition are found", () => {
    const facts = new GroupFacts(ONE_OWNER).takes("c1", 4, [0, 1]).takes("c2", 4, [1, 2]);

    expect(facts.found()).toEqual([
      expect.stringMatching(
        /^two-owners queue-1: c2 takes queue-1 in generation 4 of workers, and c1 has had it since/,
      ),
    ]);
  });

  test("who were behind when their group went over to KIP-848 may be mistaken, others not", () => {
    const upgraded = (): GroupFacts =>
      new GroupFacts(ONE_OWNER)
        .takes("c1", 3, [0, 1])
        .state("Reconciling", 4, "Stable")
        .migrated("consumer", 4)
        .given("m1", 4, [0])
        .given("m2", 5, [1]);

    expect(upgraded().takes("c2", 5, [1]).found()).toEqual([]);
    expect(upgraded().takes("c1", 4, [0, 1]).takes("c2", 5, [1]).found()).toHaveLength(1);
  });

  test("who have not heard of the generation yet, who are out, or are dead, may be mistaken", () => {
    const zombie = new GroupFacts(ONE_OWNER).takes("c1", 3, [0, 1]).takes("c2", 4, [1, 2]);
    const expelled = new GroupFacts(ONE_OWNER).takes("c1", 4, [0, 1]).left("m1");
    const dead = new GroupFacts(ONE_OWNER).takes("c1", 4, [0, 1]);
    dead.note({ kind: "node-stopped", node: "c1", how: "crash", reason: "" });
    const late = new GroupFacts(ONE_OWNER).takes("c1", 3, [0, 1]).given("m2", 4, [1]).left("m1");
    late.takes("c2", 4, [1]).takes("c1", 3, []);

    expect(late.found()).toEqual([]);
    expect(zombie.found()).toEqual([]);
    expect(expelled.takes("c2", 4, [1]).found()).toEqual([]);
    expect(dead.takes("c2", 4, [1]).found()).toEqual([]);
  });

  test("who are in a KIP-848 group again after they have been out may be mistaken until they have heard of it", () => {
    const back = (): GroupFacts =>
      new GroupFacts(ONE_OWNER)
        .given("m1", 3, [0, 1])
        .takes("c1", 3, [0, 1])
        .left("m1")
        .given("m2", 4, [1])
        .joined("m1")
        .given("m1", 5, [0]);

    expect(back().takes("c2", 4, [1]).found()).toEqual([]);
    expect(back().takes("c1", 5, [0, 1]).takes("c2", 5, [1]).found()).toHaveLength(1);
  });

  test("of a KIP-848 group are not excused by another epoch, while they are members", () => {
    const facts = new GroupFacts(ONE_OWNER).given("m1", 3, [0, 1]).takes("c1", 3, [0, 1]);
    facts.given("m1", 4, [0]).given("m2", 4, [1]).takes("c2", 4, [1]);

    expect(facts.found()).toEqual([expect.stringContaining("two-owners queue-1")]);
  });

  test("who are given what another has to give back still are found", () => {
    const facts = new GroupFacts(ONE_OWNER).given("m1", 3, [0], [1]).given("m2", 4, [1]);

    expect(facts.found()).toEqual([
      "given-while-owned queue-1: m2 is given queue-1 in epoch 4 of workers, and m1 has it still, in epoch 3.",
    ]);
  });

  test("who were out before it was committed what they had do not have it", () => {
    const facts = new GroupFacts(ONE_OWNER).given("m1", 3, [0, 1]).left("m1").given("m1", 3, [1]);

    expect(facts.given("m2", 4, [1]).found()).toEqual([]);
  });

  test("who take what another has given up, as a new coordinator has read untold, are right", () => {
    const read = (): GroupFacts =>
      new GroupFacts(ONE_OWNER)
        .given("m1", 3, [0, 1])
        .takes("c1", 3, [0, 1])
        .given("m1", 3, [0], [1]);

    const told = read().givesUp("c1", 3, [1]);
    expect(told.given("m2", 4, [1]).found()).toHaveLength(1);
    expect(read().givesUp("c1", 3, [1]).loaded().given("m2", 4, [1]).found()).toEqual([]);
    expect(read().loaded().given("m2", 4, [1]).found()).toHaveLength(1);
  });

  test("of a generation are given what others have given up", () => {
    const kept = new GroupFacts(ONE_OWNER).takes("c1", 3, [0, 1]).takes("c2", 3, [2, 3]);
    kept.state("CompletingRebalance", 4, "PreparingRebalance");
    const late = new GroupFacts(ONE_OWNER).joined("m1", "i").takes("c1", 3, [0, 1]);
    late.takes("c2", 3, [2, 3]).state("CompletingRebalance", 4, "PreparingRebalance");
    const shares = { m1: [0], m2: [1, 2, 3] };

    expect(kept.assigned(4, shares).found()).toEqual([
      "given-while-owned queue-1: Generation 4 of workers gives queue-1 to m2, and c1 has it still.",
    ]);
    expect(late.assigned(4, shares).found()).toEqual([]);
    expect(kept.givesUp("c1", 4, [1]).assigned(5, shares).found()).toHaveLength(1);
  });

  test("are given no records of what they do not own", () => {
    const facts = new GroupFacts(ONE_OWNER).takes("c1", 1, [0, 1]).reads("c1", 1, 5);

    expect(facts.givesUp("c1", 1, [1]).reads("c1", 1, 9).found()).toEqual([
      "unowned-read queue-1: c1 is given records of queue-1, which it does not own in workers.",
    ]);
  });

  test("who come to an epoch with what it does not give them are found", () => {
    const facts = new GroupFacts(ONE_OWNER).assigned(4, { m1: [0], m2: [1] });

    expect(facts.given("m1", 4, [0, 2]).found()).toEqual([
      "not-in-target queue-2: m1 is in epoch 4 of workers with queue-2, which that does not give it.",
    ]);
  });

  test("are excused if the coordinator's log may have lost its end", () => {
    const facts = new GroupFacts(ONE_OWNER).takes("c1", 4, [1]);
    facts.note({ kind: "log-directory-failed", broker: 2, directory: "data", reason: "" });

    expect(facts.takes("c2", 4, [1]).found()[0]).toContain("| the coordinator's log may have lost");
  });
});

describe("epochs", () => {
  test("that do not rise are found", () => {
    const facts = new GroupFacts(GROUP_EPOCHS_RISE).assigned(4, { m1: [0] });

    expect(facts.assigned(4, { m1: [0] }).found()).toEqual([
      "generation-fell: workers is assigned in generation 4; its last assignment was that of generation 4.",
    ]);
  });

  test("of a member that fall are found, unless it has been out", () => {
    const fell = new GroupFacts(GROUP_EPOCHS_RISE).given("m1", 4, [0]).given("m1", 3, [0]);
    const back = new GroupFacts(GROUP_EPOCHS_RISE).given("m1", 4, [0]).left("m1").joined("m1");

    expect(fell.found()).toEqual([
      "member-epoch-fell: m1 of workers is in epoch 3; it was in epoch 4.",
    ]);
    expect(back.given("m1", 1, [0]).found()).toEqual([]);
  });

  test("begin anew in a group of which nothing was left, or of another protocol", () => {
    const gone = new GroupFacts(GROUP_EPOCHS_RISE).state("PreparingRebalance", 0);
    const other = new GroupFacts(GROUP_EPOCHS_RISE).state("PreparingRebalance", 0);
    gone
      .assigned(4, { m1: [0] })
      .state("Empty", 4, "Stable")
      .state("PreparingRebalance", 0);
    other
      .assigned(4, { m1: [0] })
      .commits("m1", 4, 0, 9)
      .state("Empty", 4, "Stable");
    other.state("Stable", 1, "");

    expect(gone.assigned(1, { m1: [0] }).found()).toEqual([]);
    expect(other.assigned(1, { m1: [0] }).found()).toEqual([]);
  });

  test("do not when it is of another protocol with its members", () => {
    const upgraded = (): GroupFacts =>
      new GroupFacts(GROUP_EPOCHS_RISE)
        .state("PreparingRebalance", 3)
        .assigned(4, { m1: [0] })
        .state("Assigning", 4, "Stable")
        .migrated("consumer", 4);

    expect(
      upgraded()
        .assigned(5, { m1: [0] })
        .found(),
    ).toEqual([]);
    expect(
      upgraded()
        .assigned(1, { m1: [0] })
        .found(),
    ).toHaveLength(1);
  });
});

describe("commits", () => {
  test("of a generation that is over are found", () => {
    const facts = new GroupFacts(COMMITS_BY_MEMBERS).assigned(4, { m1: [0], m2: [1] });

    expect(facts.commits("m1", 3, 0, 9).found()).toEqual([
      "late-commit queue-0: Offset 9 of queue-0 is committed for workers by m1 in generation 3; generation 4 is assigned.",
    ]);
  });

  test("of an older epoch are permitted for what a KIP-848 member has had since then", () => {
    const own = new GroupFacts(COMMITS_BY_MEMBERS).given("m1", 4, [0]).given("m2", 4, [1]);
    const others = new GroupFacts(COMMITS_BY_MEMBERS).given("m1", 4, [0]).given("m2", 4, [1]);

    expect(own.commits("m1", 3, 0, 9).found()).toEqual([]);
    expect(others.commits("m1", 3, 1, 9).found()).toEqual([
      expect.stringContaining("late-commit queue-1"),
    ]);
  });

  test("for what another owns are told of, though Kafka does not ask", () => {
    const facts = new GroupFacts(COMMITS_BY_MEMBERS).assigned(4, { m1: [0], m2: [1] });

    expect(facts.commits("m1", 4, 1, 9).found()).toEqual([
      expect.stringContaining("| a coordinator does not ask a member whether"),
    ]);
  });

  test("of a static member under its new id are its own", () => {
    const facts = new GroupFacts(COMMITS_BY_MEMBERS).joined("m1", "i");
    facts
      .assigned(4, { m1: [0], m2: [1] })
      .joined("m1b", "i")
      .left("m1", "i", "replaced");

    expect(facts.commits("m1b", 4, 0, 9).found()).toEqual([]);
  });

  test("past the members of a group are found", () => {
    const facts = new GroupFacts(COMMITS_BY_MEMBERS).state("Stable", 4);

    expect(facts.commits("", -1, 0, 9).found()).toEqual([
      expect.stringContaining("commit-past-members queue-0"),
    ]);
  });

  test("of what was not read are found", () => {
    const facts = new GroupFacts(COMMITS_WHAT_WAS_READ).takes("c1", 1, [0]).reads("c1", 0, 5);
    facts.commits("m1", 1, 0, 5);

    expect(facts.commits("m1", 1, 0, 6).found()).toEqual([
      "unread-committed queue-0: c1 has committed offset 6 of queue-0 for workers; what it was given ends at 5.",
    ]);
  });

  test("that no coordinator knows are found", () => {
    const facts = new GroupFacts(COMMITS_KEPT).commits("m1", 1, 0, 5).hearsOfCommit("c1", 0, 5);

    expect(facts.hearsOfCommit("c1", 0, 6).found()).toEqual([
      expect.stringContaining("commit-not-stored queue-0"),
    ]);
  });

  test("that whoever comes next is not told of are found", () => {
    const facts = new GroupFacts(COMMITS_KEPT).commits("m1", 1, 0, 5).commits("m1", 1, 0, 9);
    facts.commits("m1", 1, 1, 5).takes("c2", 2, [0, 1, 2]);

    facts.begins("c2", 0, 5).begins("c2", 1, 0, "initial").begins("c2", 2, 0, "initial");

    expect(facts.found()).toEqual([
      expect.stringMatching(
        /^commit-lost queue-0: c2 begins at offset 5 of queue-0; workers has committed 9 at/,
      ),
      expect.stringMatching(
        /^commit-lost queue-1: c2 begins anew in queue-1; workers has committed 5 at/,
      ),
    ]);
  });

  test("that were in force when it asked, or have expired, are as they should be", () => {
    const facts = new GroupFacts(COMMITS_KEPT).commits("m1", 1, 0, 5).commits("m1", 1, 1, 5);
    facts.note({ kind: "offsets-removed", broker: 1, group: "workers", partitions: ["queue-1"] });
    facts.takes("c2", 2, [0, 1]).commits("m1", 1, 0, 9);

    expect(facts.begins("c2", 0, 5).begins("c2", 1, 0, "initial").found()).toEqual([]);
    expect(facts.verdict).toBe("held");
  });
});

describe("what has expired", () => {
  const removed = (facts: GroupFacts): GroupFacts =>
    facts.note({ kind: "offsets-removed", broker: 1, group: "workers", partitions: ["queue-1"] });

  test("of a group that has long been at rest is found", () => {
    const facts = new GroupFacts(COMMITS_KEPT).assigned(4, { m1: [0, 1, 2, 3] });
    facts.state("Stable", 4).commits("m1", 4, 1, 5);
    facts.history.now += 60_000_000;

    expect(removed(facts).found()).toEqual([
      expect.stringMatching(
        /^expired-in-use queue-1: The offset of queue-1 has expired for workers/,
      ),
    ]);
  });

  test("of a group without members is gone by right", () => {
    const facts = new GroupFacts(COMMITS_KEPT).assigned(4, { m1: [0, 1, 2, 3] });
    facts.state("Empty", 4, "PreparingRebalance");
    facts.history.now += 60_000_000;

    expect(removed(facts).found()).toEqual([]);
  });
});

describe("a group in a cluster that has settled", () => {
  /** In generation 4, of which c1 knows. */
  function settled(more: (facts: GroupFacts) => unknown): GroupFacts {
    const facts = new GroupFacts(GROUP_SETTLES).coordinated();
    facts.state("PreparingRebalance", 3).assigned(4, { m1: [0, 1], m2: [2, 3] });
    facts.takes("c1", 4, [0, 1]);
    more(facts);
    return facts.settles(LONG);
  }

  test("that never becomes stable is found", () => {
    const facts = settled((group) => group.state("CompletingRebalance", 4));

    expect(facts.found()).toEqual([expect.stringContaining("group-restless: workers is Complet")]);
  });

  test("with a member that has no place in it is found, and what that does not read", () => {
    const facts = settled((group) => group.state("Stable", 4));

    expect(facts.found().map((text) => text.split(":", 1)[0])).toEqual([
      "member-left-out",
      "partition-unowned queue-2",
      "partition-unowned queue-3",
    ]);
  });

  test("has a place for a KIP-848 member that came when its coordinator failed, which told of nothing", () => {
    const joins = (epoch: number): GroupFacts =>
      settled((group) =>
        group
          .given("m1", 4, [0, 1])
          .state("Assigning", 4)
          .joined("m2")
          .loaded()
          .takes("c2", epoch, [2, 3])
          .state("Stable", 4),
      );

    expect(joins(4).found()).toEqual([]);
    expect(joins(3).found()).toEqual([expect.stringContaining("and c2 has no place in it")]);
  });

  test("may leave a partition to nobody that a static member was to give up, and came back instead", () => {
    const withheld = (group: GroupFacts): GroupFacts =>
      group
        .assigned(5, { m1: [0, 1], m2: [2] })
        .takes("c1", 5, [])
        .takes("c2", 5, [2]);
    const back = settled((group) => withheld(group).state("Stable", 5).left("m2", "i", "replaced"));
    const forgotten = settled((group) => withheld(group).state("Stable", 5));

    expect(back.found()).toEqual([
      expect.stringMatching(
        /^partition-unowned queue-3: .* \| i came back at .* as a static member,/,
      ),
    ]);
    expect(forgotten.found()).toEqual([expect.not.stringContaining("|")]);
  });

  test("in which each partition has an owner is as it should be", () => {
    const facts = settled((group) => group.takes("c2", 4, [2, 3]).state("Stable", 4));

    expect(facts.found()).toEqual([]);
    expect(facts.verdict).toBe("held");
  });

  test("is not judged before it can have come to rest", () => {
    const facts = new GroupFacts(GROUP_SETTLES).coordinated().state("PreparingRebalance", 3);

    expect(facts.settles(50).found()).toEqual([]);
  });

  test("whose commits stay behind is found", () => {
    const facts = new GroupFacts(GROUPS_CATCH_UP).takes("c1", 4, [0]).reads("c1", 0, 5);
    for (const number of [0, 1, 2, 3]) {
      facts.note({
        kind: "became-leader",
        broker: 1,
        partition: `queue-${number}`,
        leaderEpoch: 0,
        partitionEpoch: 0,
        logEndOffset: 0,
        highWatermark: 0,
        isr: [1, 2, 3],
      });
    }

    facts.commits("m1", 4, 0, 3).settles(LONG);

    expect(facts.found()).toEqual([
      "commit-behind queue-0: c1 has come to 5 in queue-0; workers has committed 3 of it.",
    ]);
  });
});

describe("a group whose registries are in ZooKeeper", () => {
  const REGISTRIES = "zookeeper-2011";

  test("has one owner for each partition, whoever has a session", () => {
    const facts = new GroupFacts(ONE_OWNER, REGISTRIES).takes("c1", -1, [0, 1]);

    expect(facts.takes("c2", -1, [1, 2]).found()).toEqual([
      expect.stringContaining("c2 takes queue-1 of workers, and c1 has had it since"),
    ]);
  });

  test("may have two while one of them does not know that its session is over", () => {
    const facts = new GroupFacts(ONE_OWNER, REGISTRIES).takes("c1", -1, [0, 1]).expires("c1");

    expect(facts.takes("c2", -1, [1]).found()).toEqual([
      expect.stringMatching(/\| c1 had lost its session with ZooKeeper at .*, and did not know$/),
    ]);
  });

  test("may have none for a partition only while a member waits that has tried often enough", () => {
    const unowned = new GroupFacts(GROUP_SETTLES, REGISTRIES).takes("c1", -1, [0, 1]);
    const waiting = new GroupFacts(GROUP_SETTLES, REGISTRIES).takes("c1", -1, [0, 1]);

    unowned.takes("c2", -1, [2]).settles(LONG);
    waiting.takes("c2", -1, [2]).failsToTake("c2", [3]).settles(LONG);

    expect(unowned.found()).toEqual([
      "partition-unowned queue-3: queue-3 has no owner in workers, which is at rest; of its members c1 and c2 run.",
    ]);
    expect(waiting.found()).toEqual([
      expect.stringContaining("| c2 has tried rebalance.max.retries times, and waits for the next"),
    ]);
  });

  test("is told of no commits beyond what its members were given", () => {
    const facts = new GroupFacts(COMMITS_WHAT_WAS_READ, REGISTRIES).takes("c1", -1, [0]);

    facts.reads("c1", 0, 5).hearsOfCommit("c1", 0, 5).hearsOfCommit("c1", 0, 6);

    expect(facts.found()).toEqual([expect.stringContaining("unread-committed queue-0")]);
  });
});
