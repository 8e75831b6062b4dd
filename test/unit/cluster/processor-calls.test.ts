import { expect, test } from "vitest";
import { run, scenarioOf } from "../../support/run-scenario.ts";

/** Orders come all the time; what the application does not read now waits, and it stays in its group. */
const PAUSED = `version: 1
name: paused
kafka: "4.3"
cluster:
  brokers: 1
  controllers: 1
  config:
    offsets.topic.num.partitions: 1
    offsets.topic.replication.factor: 1
    transaction.state.log.num.partitions: 1
    transaction.state.log.replication.factor: 1
    transaction.state.log.min.isr: 1
topics: { orders: { partitions: 1 }, bills: { partitions: 1 } }
clients:
  p1: { produce: orders, rate: 100/s, records: 1200 }
  a1: { process: { from: orders, to: bills, group: billing, guarantee: exactly-once } }
faults:
  - at: 6s
    pause-reading: a1
    for: 4s
settle: 10s
expect:
  - sometimes: lag(a1) >= 390
  - at-end: processed(billing) == 1200 and reprocessed(billing) == 0 and rebalances(billing) == 1
`;

test("the consumer of an application that reads and writes is paused and resumed like others", () => {
  const { verdict, expectations } = run(scenarioOf(PAUSED), 1);

  expect(expectations.filter(({ ok }) => ok !== true)).toEqual([]);
  expect(verdict).toBe("pass");
});
