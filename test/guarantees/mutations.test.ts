import { expect, test } from "vitest";
import type { ReplicationRules } from "../../src/kafka/replication/replication-rules.ts";
import { engine } from "../support/engine.ts";
import { run, shipped } from "../support/run-scenario.ts";

const SEEDS = 10;

/** Guarantees that call a run of these scenarios a bug, over a few seeds. */
function caught(
  scenario: ReturnType<typeof shipped>,
  rules: (rules: ReplicationRules) => ReplicationRules,
): string[] {
  const names = new Set<string>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    for (const { guarantee, permitted } of run(scenario, seed, { rules }).violations) {
      if (permitted === undefined) names.add(guarantee);
    }
  }
  return [...names];
}

test("nothing is caught while the rules are Kafka's", () => {
  expect(caught(shipped("leader-failover"), (rules) => rules)).toEqual([]);
  expect(caught(shipped("cut-off-leader", "acks-all"), (rules) => rules)).toEqual([]);
});

test("a high watermark computed without the ISR is caught", () => {
  const names = caught(shipped("leader-failover"), (rules) => ({
    ...rules,
    leaderHighWatermark: (leader) => leader.logEndOffset,
  }));

  expect(names).toContain("hw-within-isr");
});

test("acks=all answered after the local append is caught", () => {
  const names = caught(shipped("cut-off-leader", "acks-all"), (rules) => ({
    ...rules,
    produceOutcome: () => engine.ERRORS.NONE,
  }));

  expect(names).toContain("no-acked-loss");
});

test("a follower that keeps its divergent tail is caught", () => {
  const names = caught(shipped("acks-1-gap"), (rules) => ({
    ...rules,
    historiesPart: () => false,
  }));

  expect(names).toContain("no-divergence");
});
