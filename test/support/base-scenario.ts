/** A quick scenario in which nothing is wrong: what tests of mistakes begin with. */
export const BASE = `version: 1
name: base
summary: A leader dies.
seed: 1
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 1
  config:
    replica.lag.time.max.ms: 10000
topics:
  orders:
    partitions: 1
    replication.factor: 3
    config:
      min.insync.replicas: 2
clients:
  p1: { produce: orders, rate: 100/s, records: 100 }
faults:
  - name: kill
    at: 1s
    crash: leader(orders-0)
settle: 5s
expect:
  - no-divergence
variants:
  five-brokers: { set: { cluster/brokers: 5 } }
`;

/** The base with pieces of its text replaced, which must be there. */
export function baseWith(...changes: readonly (readonly [from: string, to: string])[]): string {
  let text = BASE;
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`the base has no ${from}`);
    text = text.replace(from, to);
  }
  return text;
}
