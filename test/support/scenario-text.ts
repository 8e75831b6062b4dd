import { formatComplaint } from "../../src/scenario/complaint.ts";
import { readScenario } from "../../src/scenario/read-scenario.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";

/** A scenario in which nothing is wrong: what tests of mistakes begin with. */
export const GOOD_SCENARIO = `version: 1
name: leader-failover
summary: A leader dies while a producer writes.
seed: 42
kafka: "4.3"

cluster:
  brokers: 3
  controllers: 3
  config:
    replica.lag.time.max.ms: 10000

topics:
  orders:
    partitions: 2
    replication.factor: 3
    config:
      min.insync.replicas: 2

clients:
  p1:
    produce: orders
    rate: 100/s
    records: 1000
    config: { acks: all, enable.idempotence: true }
  c1:
    consume: orders

faults:
  - name: kill
    when: hw(orders-0) >= 100
    crash: leader(orders-0)
    as: old
  - after: kill
    delay: 20s
    restart: $old
  - at: 5s
    isolate: any(brokers)
    direction: to
    for: 10s

settle: 30s

expect:
  - no-acked-loss
  - leader-within: { partition: orders-0, time: 15s, after: kill }
  - at-end: isr(orders-0) == replicas(orders-0)

variants:
  acks-1:
    set:
      clients/p1/config/acks: 1
      clients/p1/config/enable.idempotence: false
    expect: [ { violation: acked-record-lost } ]
`;

/** The good scenario with one piece of its text replaced, which must be there. */
export function withText(from: string, to: string): string {
  if (!GOOD_SCENARIO.includes(from)) throw new Error(`the good scenario has no ${from}`);
  return GOOD_SCENARIO.replace(from, to);
}

/** The scenario that a text is; throws what is wrong with it. */
export function scenarioOf(text: string): Scenario {
  const { scenario, complaints } = readScenario(text, "test.yaml");
  if (scenario !== undefined) return scenario;
  throw new Error(complaints.map((complaint) => formatComplaint(complaint, text)).join("\n"));
}

/** Each complaint as `line:column:length message`. */
export function complaintsOf(text: string): string[] {
  return readScenario(text, "test.yaml").complaints.map(
    ({ line, column, length, message }) => `${line}:${column}:${length} ${message}`,
  );
}
