import { describe, expect, test } from "vitest";
import { WORKED_ON_ONCE } from "../../../src/checkers/worked-on-once.ts";
import type { HistoryOptions } from "../../support/fact-builders.ts";
import { History, ORDERS } from "../../support/fact-builders.ts";

/** What a group of consumers does with ten records, which are committed in the log. */
class Group {
  readonly history: History;

  constructor(options: HistoryOptions = {}) {
    this.history = new History({ guarantees: [WORKED_ON_ONCE], ...options });
    this.history.commit([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  }

  /** A member is given the partition, and begins at an offset. */
  begin(client: string, to: number, reason = "committed", generation = 1): this {
    const partitions = [ORDERS];
    const member = `${client}-id`;
    const assigned = { client, group: "g", member, generation, partitions };
    this.history.note({ kind: "partitions-assigned", ...assigned });
    const at = { client, partition: ORDERS, from: -1, to, reason };
    this.history.note({ kind: "position-reset", ...at });
    return this;
  }

  poll(client: string, firstOffset: number, lastOffset: number): this {
    const polled = { client, partition: ORDERS, firstOffset, lastOffset, batches: [] };
    this.history.note({ kind: "polled", ...polled });
    return this;
  }

  work(client: string, firstOffset: number, lastOffset: number): this {
    const processed = { client, group: "g", partition: ORDERS, firstOffset, lastOffset };
    this.history.note({ kind: "records-processed", ...processed });
    return this;
  }

  commit(offset: number): this {
    const offsets = [{ partition: ORDERS, offset }];
    const as = { broker: 1, group: "g", member: "", generation: 1, producerId: -1 };
    this.history.note({ kind: "offsets-committed", ...as, offsets });
    return this;
  }

  lose(client: string): this {
    const partitions = [ORDERS];
    const lost = { client, group: "g", member: "", generation: -1, partitions };
    this.history.note({ kind: "partitions-lost", ...lost });
    return this;
  }

  crash(client: string): this {
    this.history.note({ kind: "node-stopped", node: client, how: "crash", reason: "kill" });
    return this;
  }

  /** `BUG text`, or the text and what permits it. */
  told(): string[] {
    return this.history
      .violations()
      .map(({ text, permitted }) =>
        permitted === undefined ? `BUG ${text[0]}` : `${text[0]} ${permitted}`,
      );
  }
}

test("work that lies side by side is as it should be, whoever does it", () => {
  const group = new Group();
  group.begin("c1", 0, "initial").poll("c1", 0, 4).work("c1", 0, 4).commit(5).lose("c1");
  group.begin("c2", 5).poll("c2", 5, 9).work("c2", 5, 9).commit(10);

  expect(group.told()).toEqual([]);
  expect(group.history.checkers.summaries()[0]).toMatchObject({
    state: "held",
    evaluations: 10,
    interesting: 1,
  });
});

describe("a record is worked on again", () => {
  const half = (): Group => new Group().begin("c1", 0, "initial").poll("c1", 0, 4);

  test("because a member crashed before it had committed", () => {
    const group = half().work("c1", 0, 2).commit(1).crash("c1");
    group.begin("c2", 1).poll("c2", 1, 4).work("c2", 1, 4);

    expect(group.told()).toEqual([
      "c2 worked again on offsets 1..2, 2 records that c1 had worked on. c1 stopped (crash) at 19.000s before the group had committed them",
    ]);
  });

  test("because it lost the partition before, be it to itself", () => {
    const group = half().work("c1", 0, 4).lose("c1");
    group.begin("c1", 0, "initial").poll("c1", 0, 4).work("c1", 0, 4);

    expect(group.told()).toHaveLength(1);
    expect(group.told()[0]).toMatch(/^c1 worked again on offsets 0..4, .*nothing was committed/);
  });

  test("because the coordinator had put its owner out, of which that has not heard", () => {
    const group = half().commit(0).work("c1", 0, 4);
    const left = {
      broker: 1,
      group: "g",
      member: "c1-id",
      instance: "",
      reason: "session-expired",
    };
    group.history.note({ kind: "group-member-left", ...left });
    group.begin("c2", 0).poll("c2", 0, 4).work("c2", 0, 4);

    expect(group.told()).toEqual([
      expect.stringMatching(/c1 was put out of the group \(session-expired\) at 19.000s before/),
    ]);
  });

  test("because its owner had lost the partition while it was still at work", () => {
    const group = half().commit(0).lose("c1").work("c1", 0, 4);
    group.begin("c2", 0).poll("c2", 0, 4).work("c2", 0, 4);

    expect(group.told()).toEqual([expect.stringMatching(/c1 lost the partition at .* before/)]);
  });

  test("because two had been given it", () => {
    const group = half().commit(0);
    group.begin("c2", 0).poll("c2", 0, 4).work("c2", 0, 4).work("c1", 0, 4);

    expect(group.told()).toEqual([
      expect.stringMatching(/^c1 worked again .* c2 and c1 had both been given it/),
    ]);
  });

  test("because a later commit took the group's offset back", () => {
    const group = half().work("c1", 0, 4).commit(5).commit(3).crash("c1");
    group.begin("c2", 3).poll("c2", 3, 4).work("c2", 3, 4);

    expect(group.told()).toEqual([expect.stringMatching(/offset was 5 once, and was taken back/)]);
  });

  test("because what was committed was out of range", () => {
    const group = half().work("c1", 0, 4).commit(5).crash("c1");
    group.begin("c2", 5).begin("c2", 0, "out-of-range").poll("c2", 0, 4).work("c2", 0, 4);

    expect(group.told()).toEqual([expect.stringMatching(/out of range: auto.offset.reset/)]);
  });

  test("and nothing explains it: the group had committed more all the time", () => {
    const group = half().work("c1", 0, 4).commit(5).crash("c1");
    group.begin("c2", 3).poll("c2", 3, 4).work("c2", 3, 4);

    expect(group.told()).toEqual([
      "BUG c2 worked again on offsets 3..4, 2 records that c1 had worked on.",
    ]);
  });

  test("and nothing explains it: there was an offset, and the member reset its own", () => {
    const group = half().work("c1", 0, 4).commit(5).crash("c1");
    group.begin("c2", 0, "initial").poll("c2", 0, 4).work("c2", 0, 4);

    expect(group.told()).toEqual([expect.stringMatching(/^BUG c2 worked again on offsets 0..4/)]);
  });

  test("and nothing explains it: a member was given it twice on its way", () => {
    const group = half().work("c1", 0, 4).poll("c1", 4, 9).work("c1", 4, 9);

    expect(group.told()).toEqual([
      "BUG c1 worked again on offset 4, 1 record that it had worked on.",
    ]);
  });

  test("because its owner, out of reach, had not heard of the next generation", () => {
    const group = half().work("c1", 0, 4);
    group.begin("c2", 0, "committed", 2).poll("c2", 0, 4).work("c2", 0, 4);

    expect(group.told()).toEqual([
      expect.stringContaining("c1 had not heard yet that generation 1 was over"),
    ]);
  });

  test("and nothing explains it: its owner never left", () => {
    const group = half().work("c1", 0, 4);
    group.begin("c2", 0, "committed").poll("c2", 0, 4).work("c2", 0, 4);

    expect(group.told()).toEqual([expect.stringMatching(/^BUG c2 worked again/)]);
  });
});

describe("a record is left out", () => {
  const early: HistoryOptions = { commitsEarly: ["c1"] };
  const diesAtWork = (options: HistoryOptions = {}): Group =>
    new Group(options)
      .begin("c1", 0, "initial")
      .poll("c1", 0, 4)
      .commit(5)
      .work("c1", 0, 2)
      .crash("c1");

  test("because its application commits before it works, and died", () => {
    const group = diesAtWork(early).begin("c2", 5).poll("c2", 5, 9).work("c2", 5, 9).commit(10);

    expect(group.told()).toEqual([
      expect.stringMatching(
        /^Nobody of g has worked on offsets 3..4, 2 records, though it began at 0 and has committed 10. c1 commits before/,
      ),
    ]);
  });

  test("and nothing explains it: its application works first", () => {
    const group = diesAtWork().begin("c2", 5).poll("c2", 5, 9).work("c2", 5, 9).commit(10);

    expect(group.told()).toEqual([expect.stringMatching(/^BUG Nobody of g has worked on/)]);
  });

  test("because a rebalance of ZooKeeper's groups commits what is at work", () => {
    const group = diesAtWork({ switches: { groups: "zookeeper-2011" } });

    expect(group.told()).toEqual([
      expect.stringMatching(/c1 stopped \(crash\) at .*, and in ZooKeeper's groups a rebalance/),
    ]);
  });

  test("not while it may be worked on still", () => {
    const group = new Group(early).begin("c1", 0, "initial").poll("c1", 0, 4).commit(5);

    expect(group.told()).toEqual([]);
  });

  test("because a member began at the end", () => {
    const group = new Group().begin("c1", 0, "initial").poll("c1", 0, 4).work("c1", 0, 4);
    group.crash("c1").begin("c2", 8, "initial").poll("c2", 8, 9).work("c2", 8, 9).commit(10);

    expect(group.told()).toEqual([
      expect.stringMatching(/offsets 5..7, .* c2 began at offset 8 \(nothing was committed/),
    ]);
  });

  test("and nothing explains it: nobody was given it, and it is committed", () => {
    const group = new Group().begin("c1", 0, "initial").poll("c1", 0, 4).work("c1", 0, 4);
    group.commit(7).crash("c1").begin("c2", 7).poll("c2", 7, 9).work("c2", 7, 9);

    expect(group.told()).toEqual([
      "BUG Nobody of g has worked on offsets 5..6, 2 records, though it began at 0 and has committed 7.",
    ]);
  });
});
