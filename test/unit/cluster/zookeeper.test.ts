import { expect, test } from "vitest";
import { Simulation } from "../../../src/cluster/simulation.ts";
import { complaintAbout, run, scenarioOf } from "../../support/run-scenario.ts";

const STORY = (fault: string, end = "restart"): string => `version: 1
name: registries
kafka: "4.3"
cluster: { brokers: 1, controllers: 1, protocol: { groups: zookeeper-2011 } }
topics: { orders: { partitions: 2 } }
clients:
  p1: { produce: orders, rate: 20/s }
  c1: { consume: orders, group: workers, config: { auto.offset.reset: earliest } }
  c2: { consume: orders, group: workers, config: { auto.offset.reset: earliest } }
faults:
  - { name: trouble, at: 3s, ${fault} }
  - { after: trouble, delay: 12s, ${end}: zookeeper }
duration: 20s
settle: 5s
expect:
  - at-end: processed(workers) == acked(p1)
  - at-end: rebalances(workers) <= 3
  - at-end: skipped(workers) == 0
`;

test("while ZooKeeper is down members go on with what they own, and their sessions outlive it", () => {
  const result = run(scenarioOf(STORY("crash: zookeeper")), 1);

  expect(complaintAbout(result)).toBe("");
});

test("what stands for an ensemble is no server of Kafka's: it has no disk that faults could reach", () => {
  const complaint = STORY("disk-full: zookeeper");

  expect(() => scenarioOf(complaint)).toThrow("is for brokers and controllers");
});

test("whoever commits to ZooKeeper waits for it: there is no commitAsync", () => {
  const story = STORY("crash: zookeeper").replace(
    "group: workers,",
    "group: workers, commit: async,",
  );

  expect(() => scenarioOf(story)).toThrow("there is no `commit: async`");
});

test("a member's commits reach ZooKeeper one after the other, so that none is undone by one before it", () => {
  const pool = "group: workers, work: uniform(1ms..9ms), workers: 4, commit: smallest-unfinished,";
  const story = STORY("pause: zookeeper", "resume").replaceAll("group: workers,", pool);
  const simulation = new Simulation(scenarioOf(story), { seed: "1" });
  const committed = new Map<string, number>();
  const lowered: string[] = [];
  simulation.onFact((fact) => {
    if (fact.kind !== "offsets-committed") return;
    for (const { partition, offset } of fact.offsets) {
      const before = committed.get(partition) ?? 0;
      if (offset < before) lowered.push(`${partition} from ${before} to ${offset}`);
      committed.set(partition, offset);
    }
  });

  while (simulation.advance(100_000));

  expect([...committed.values()].every((offset) => offset > 50)).toBe(true);
  expect(lowered).toEqual([]);
});
