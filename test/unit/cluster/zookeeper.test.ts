import { expect, test } from "vitest";
import { complaintAbout, run, scenarioOf } from "../../support/run-scenario.ts";

const STORY = (fault: string): string => `version: 1
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
  - { after: trouble, delay: 12s, restart: zookeeper }
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
