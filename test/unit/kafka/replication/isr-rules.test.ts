import { describe, expect, test } from "vitest";
import { SECOND } from "../../../../src/base/time.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { PRESENT_RULES } from "../../../../src/kafka/protocol-switches.ts";
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
const rules = replicationRules(PRESENT_RULES);
const before23 = replicationRules({ ...PRESENT_RULES, "isr.expand-rule": "high-watermark" });

describe("a produce with acks=all", () => {
  test("waits until all it wrote is below the high watermark", () => {
    const leader = new FakeLeader({ highWatermark: 9 });

    expect(rules.produceOutcome(leader, 10)).toBeUndefined();
  });

  test("is done once all it wrote is below the high watermark", () => {
    const leader = new FakeLeader({ highWatermark: 10 });

    expect(rules.produceOutcome(leader, 10)).toBe(ERRORS.NONE);
  });

  test("is told that too few replicas were left, although its records stay", () => {
    const isr = committedIsr([1]);
    const leader = new FakeLeader({ highWatermark: 10, isr, effectiveMinIsr: 2 });

    expect(rules.produceOutcome(leader, 10)).toBe(ERRORS.NOT_ENOUGH_REPLICAS_AFTER_APPEND);
  });

  test("counts a follower whose joining is on its way", () => {
    const isr = pendingExpand(committedIsr([1]), 2);
    const leader = new FakeLeader({ highWatermark: 10, isr, effectiveMinIsr: 2 });

    expect(rules.produceOutcome(leader, 10)).toBe(ERRORS.NONE);
  });
});

describe("a follower joins the ISR", () => {
  const outside = { isr: committedIsr([1, 3]), highWatermark: 6, epochStartOffset: 4 };

  test("once it has all below the high watermark", () => {
    const leader = new FakeLeader(outside);

    expect(rules.canJoinIsr(leader, leader.follower(2, 5))).toBe(false);
    expect(rules.canJoinIsr(leader, leader.follower(2, 6))).toBe(true);
  });

  test("only if it also has what the leader held when elected, which may be above the high watermark", () => {
    const leader = new FakeLeader({ ...outside, epochStartOffset: 8 });
    const follower = leader.follower(2, 7);

    expect(rules.canJoinIsr(leader, follower)).toBe(false);
    expect(before23.canJoinIsr(leader, follower)).toBe(true);
    expect(rules.canJoinIsr(leader, leader.follower(4, 8))).toBe(true);
  });

  test("not below the high watermark under the older rule either", () => {
    const leader = new FakeLeader(outside);

    expect(before23.canJoinIsr(leader, leader.follower(2, 5))).toBe(false);
  });

  test("not before it has fetched in this term", () => {
    const leader = new FakeLeader({ ...outside, highWatermark: 0, epochStartOffset: 0 });

    expect(rules.canJoinIsr(leader, leader.follower(2, UNKNOWN_OFFSET))).toBe(false);
  });

  test("not while it is fenced, leaving or of another life", () => {
    const leader = new FakeLeader(outside);
    leader.ineligible.add(2);

    expect(rules.canJoinIsr(leader, leader.follower(2, 10))).toBe(false);
  });

  test("not if it is a member", () => {
    const leader = new FakeLeader(outside);

    expect(rules.canJoinIsr(leader, leader.follower(3, 10))).toBe(false);
  });

  test("not while another change is on its way: one at a time", () => {
    const { isr } = outside;
    const expanding = new FakeLeader({ ...outside, isr: pendingExpand(isr, 4) });
    const shrinking = new FakeLeader({ ...outside, isr: pendingShrink(isr, [3]) });

    expect(rules.canJoinIsr(expanding, expanding.follower(2, 10))).toBe(false);
    expect(rules.canJoinIsr(shrinking, shrinking.follower(2, 10))).toBe(false);
  });
});

describe("a member must leave the ISR", () => {
  test("when it lacks something and was last caught up longer ago than replica.lag.time.max.ms", () => {
    const leader = new FakeLeader();
    const follower = leader.follower(2, 9, NOW - MAX_LAG - 1);

    expect(rules.mustLeaveIsr(leader, follower, NOW, MAX_LAG)).toBe(true);
  });

  test("not within replica.lag.time.max.ms, however far behind", () => {
    const leader = new FakeLeader();
    const follower = leader.follower(2, 0, NOW - MAX_LAG);

    expect(rules.mustLeaveIsr(leader, follower, NOW, MAX_LAG)).toBe(false);
  });

  test("not while it has all there is, however long it has been silent", () => {
    const leader = new FakeLeader();
    const follower = leader.follower(2, 10, 0);

    expect(rules.mustLeaveIsr(leader, follower, NOW, MAX_LAG)).toBe(false);
  });
});

describe("a change of the ISR that is on its way", () => {
  test("binds at once if it expands: the committed ISR stays, the maximal one grows", () => {
    const committed = committedIsr([1, 2]);

    const pending = pendingExpand(committed, 3);

    expect(pending).toMatchObject({
      isr: [1, 2],
      maximalIsr: [1, 2, 3],
      proposed: [1, 2, 3],
      committed,
    });
  });

  test("has no effect yet if it shrinks: both stay", () => {
    const committed = committedIsr([1, 2, 3]);

    const pending = pendingShrink(committed, [2, 3]);

    expect(pending).toMatchObject({
      isr: [1, 2, 3],
      maximalIsr: [1, 2, 3],
      proposed: [1],
      committed,
    });
  });
});
