import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { electionKind } from "../../../../src/kafka/metadata/election.ts";
import type { PartitionChange } from "../../../../src/kafka/metadata/partition-change.ts";
import { buildPartitionChange } from "../../../../src/kafka/metadata/partition-change.ts";
import type { PartitionRegistration } from "../../../../src/kafka/metadata/partition-registration.ts";
import { mergeChange } from "../../../../src/kafka/metadata/partition-registration.ts";
import { partitionOf, TOPIC_ID } from "../../../support/metadata-fixture.ts";

interface Situation extends Partial<Omit<PartitionChange, "partition" | "isAcceptableLeader">> {
  readonly partition?: Partial<PartitionRegistration>;
  readonly alive: readonly number[];
}

function changeOf(situation: Situation): PartitionChange {
  const { partition, alive, ...rest } = situation;
  return {
    topicId: TOPIC_ID,
    partitionId: 0,
    partition: partitionOf(partition),
    isAcceptableLeader: (broker) => alive.includes(broker),
    minInsyncReplicas: 2,
    isElrEnabled: true,
    election: "online",
    ...rest,
  };
}

/** The partition after the change, with what changed it. */
function resultOf(situation: Situation): PartitionRegistration & { election: string } {
  const change = changeOf(situation);
  const record = buildPartitionChange(change);
  const result = record === undefined ? change.partition : mergeChange(change.partition, record);
  return { ...result, election: electionKind(change.partition, result) };
}

describe("an election", () => {
  test("keeps the leader that is in the ISR and alive", () => {
    const result = resultOf({ partition: { leader: 2 }, alive: [1, 2, 3] });
    expect(result).toMatchObject({ leader: 2, election: "none", partitionEpoch: 9 });
  });

  test("for the preferred leader moves leadership back to the first replica", () => {
    const back = resultOf({ partition: { leader: 2 }, alive: [1, 2, 3], election: "preferred" });
    expect(back).toMatchObject({ leader: 1, leaderEpoch: 6, election: "clean" });
    const absent = resultOf({ partition: { leader: 2 }, alive: [2, 3], election: "preferred" });
    expect(absent).toMatchObject({ leader: 2, leaderEpoch: 5 });
    const outside = { isr: [2, 3], leader: 2 };
    const lagging = resultOf({ partition: outside, alive: [1, 2, 3], election: "preferred" });
    expect(lagging).toMatchObject({ leader: 2, leaderEpoch: 5 });
  });

  test("takes the first replica in the order of assignment that is in the ISR and alive", () => {
    const partition = { replicas: [3, 1, 2], isr: [1, 2, 3], leader: 3 };
    const result = resultOf({ partition, targetIsr: [1, 2], alive: [1, 2] });
    expect(result).toMatchObject({ leader: 1, isr: [1, 2], election: "clean", leaderEpoch: 6 });
    const silent = resultOf({ partition, targetIsr: [1, 2], alive: [2] });
    expect(silent).toMatchObject({ leader: 2, election: "clean" });
  });

  test("takes a member of the ELR when the ISR is empty, which is not unclean", () => {
    const partition = { isr: [], elr: [2, 3], leader: -1, lastKnownElr: [1] };
    const result = resultOf({ partition, alive: [3] });
    expect(result).toMatchObject({
      leader: 3,
      isr: [3],
      elr: [2],
      lastKnownElr: [],
      leaderRecoveryState: 0,
      election: "elr",
      leaderEpoch: 6,
    });
  });

  test("does not take a member of the ELR while the ISR has any", () => {
    const partition = { isr: [1], elr: [2], leader: 1 };
    expect(resultOf({ partition, alive: [2] })).toMatchObject({ leader: -1, isr: [1], elr: [2] });
  });

  test("takes the last known leader when ISR and ELR are gone, if it is alive (KAFKA-19522)", () => {
    const partition = { isr: [], elr: [], leader: -1, lastKnownElr: [2] };
    expect(resultOf({ partition, alive: [1, 2, 3] })).toMatchObject({
      leader: 2,
      isr: [2],
      leaderRecoveryState: 1,
      lastKnownElr: [],
      election: "last-known",
    });
    expect(resultOf({ partition, alive: [1, 3] })).toMatchObject({ leader: -1, isr: [] });
    expect(resultOf({ partition, alive: [2], isElrEnabled: false })).toMatchObject({ leader: -1 });
  });

  test("takes anyone alive if that is allowed, and says that records may be lost", () => {
    const partition = { isr: [1], leader: 1 };
    const gone = { partition, targetIsr: [], alive: [3], isElrEnabled: false };
    expect(resultOf(gone)).toMatchObject({ leader: -1, isr: [1], election: "none" });
    expect(resultOf({ ...gone, election: "unclean" })).toMatchObject({
      leader: 3,
      isr: [3],
      leaderRecoveryState: 1,
      election: "unclean",
    });
  });

  test("forgets the ELR when it is unclean", () => {
    const partition = { isr: [], elr: [1], lastKnownElr: [], leader: -1 };
    const result = resultOf({ partition, alive: [3], election: "unclean" });
    expect(result).toMatchObject({ leader: 3, isr: [3], elr: [], election: "unclean" });
  });
});

describe("epochs", () => {
  test("a change of the ISR alone begins no leader epoch (KAFKA-15021)", () => {
    const result = resultOf({ targetIsr: [1, 2], alive: [1, 2, 3] });
    expect(result).toMatchObject({ isr: [1, 2], leaderEpoch: 5, partitionEpoch: 10 });
  });

  test("losing the leader begins one, and so does finding one", () => {
    const lost = resultOf({ partition: { isr: [1] }, targetIsr: [], alive: [] });
    expect(lost).toMatchObject({ leader: -1, leaderEpoch: 6, partitionEpoch: 10 });
  });

  test("nothing to change makes no record", () => {
    expect(buildPartitionChange(changeOf({ alive: [1, 2, 3] }))).toBeUndefined();
  });
});

describe("the ELR", () => {
  test("takes in who leaves an ISR that falls below the minimum", () => {
    const result = resultOf({ partition: { isr: [1, 2] }, targetIsr: [1], alive: [1] });
    expect(result).toMatchObject({ isr: [1], elr: [2], leader: 1 });
  });

  test("stays empty while the ISR is at the minimum", () => {
    expect(resultOf({ targetIsr: [1, 2], alive: [1, 2] })).toMatchObject({ isr: [1, 2], elr: [] });
  });

  test("lets the ISR become empty, and keeps its last member", () => {
    const partition = { isr: [1], elr: [2] };
    const result = resultOf({ partition, targetIsr: [], alive: [] });
    expect(result).toMatchObject({ isr: [], elr: [1, 2], leader: -1, lastKnownElr: [1] });
  });

  test("is left out of a partition whose feature is off, which keeps its last ISR member", () => {
    const situation = { partition: { isr: [1] }, targetIsr: [], alive: [], isElrEnabled: false };
    expect(resultOf(situation)).toMatchObject({ isr: [1], elr: [], leader: -1, lastKnownElr: [] });
  });

  test("is emptied when the ISR reaches the minimum again", () => {
    const partition = { isr: [1], elr: [2], lastKnownElr: [] };
    const result = resultOf({ partition, targetIsr: [1, 3], alive: [1, 3] });
    expect(result).toMatchObject({ isr: [1, 3], elr: [] });
  });

  test("loses a replica that did not stop cleanly, as does the ISR", () => {
    const gone = { uncleanShutdown: 2, alive: [1] };
    const inIsr = { ...gone, partition: { isr: [1, 2] }, targetIsr: [1] };
    expect(resultOf(inIsr)).toMatchObject({ isr: [1], elr: [] });
    const last = { ...gone, partition: { isr: [2], leader: 2 }, targetIsr: [] };
    expect(resultOf(last)).toMatchObject({ isr: [], elr: [], leader: -1, lastKnownElr: [2] });
    const inElr = { ...gone, partition: { isr: [1], elr: [2, 3] }, targetIsr: [1] };
    expect(resultOf(inElr)).toMatchObject({ isr: [1], elr: [3] });
  });

  test("does not lose the last leader that was noted when the next member goes", () => {
    const partition = { isr: [], elr: [1, 2], leader: -1, lastKnownElr: [1] };
    const result = resultOf({ partition, uncleanShutdown: 2, targetIsr: [], alive: [] });
    expect(result).toMatchObject({ elr: [1], lastKnownElr: [1], leader: -1 });
  });
});

describe("every change of a partition", () => {
  const subset = fc.subarray([1, 2, 3, 4]);
  const situations = fc
    .record({
      isr: subset,
      elr: subset,
      leader: fc.constantFrom(-1, 1, 2, 3, 4),
      lastKnownElr: fc.constantFrom([], [1], [2]),
      alive: subset,
      leaving: fc.constantFrom(undefined, 1, 2, 3, 4),
      isElrEnabled: fc.boolean(),
      minInsyncReplicas: fc.integer({ min: 1, max: 3 }),
      election: fc.constantFrom("online" as const, "unclean" as const, "preferred" as const),
    })
    .map(({ isr, elr, leader, lastKnownElr, leaving, alive, ...rest }): Situation => {
      // A state that the rules themselves can lead to.
      const hasLeader = isr.includes(leader);
      const isLow = rest.isElrEnabled && isr.length < rest.minInsyncReplicas;
      const partition = {
        replicas: [1, 2, 3, 4],
        isr: isr.length === 0 && !rest.isElrEnabled ? [1] : isr,
        elr: isLow ? elr.filter((broker) => !isr.includes(broker)) : [],
        leader: hasLeader ? leader : -1,
        lastKnownElr: hasLeader || !rest.isElrEnabled ? [] : lastKnownElr,
      };
      const targetIsr = partition.isr.filter((broker) => broker !== leaving);
      return { ...rest, partition, targetIsr, alive: alive.filter((id) => id !== leaving) };
    });

  test("keeps what must hold of ISR, ELR, leader and epochs", () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const before = partitionOf(situation.partition);
        const result = resultOf(situation);
        const { isr, elr, leader, election } = result;
        const minimum = situation.minInsyncReplicas ?? 0;
        expect(elr.filter((broker) => isr.includes(broker))).toEqual([]);
        // As in Kafka, who was elected from the ELR leaves the rest of it there until the next change.
        if (isr.length >= minimum && election !== "elr") expect(elr).toEqual([]);
        if (leader >= 0) expect(isr).toContain(leader);
        if (situation.isElrEnabled === false) expect(isr).not.toEqual([]);
        if (leader !== before.leader) expect(result.leaderEpoch).toBe(before.leaderEpoch + 1);
        if (result.leaderEpoch > before.leaderEpoch) {
          expect(result.partitionEpoch).toBeGreaterThan(before.partitionEpoch);
        }
        if (election === "clean") expect(before.isr).toContain(leader);
        if (election === "elr") expect(before.elr).toContain(leader);
        if (election === "unclean" || election === "last-known") {
          expect(result).toMatchObject({ isr: [leader], elr: [], leaderRecoveryState: 1 });
          expect(before.isr.filter((id) => situation.alive.includes(id))).toEqual([]);
        }
        if (election === "unclean") expect(situation.election).toBe("unclean");
      }),
      { seed: 42, numRuns: 3_000 },
    );
  });
});
