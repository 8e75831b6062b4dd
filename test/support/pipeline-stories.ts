import { Simulation } from "../../src/cluster/simulation.ts";
import type { Fact } from "../../src/trace/fact.ts";
import type { Findings } from "./campaign-tally.ts";
import { findingsOf } from "./campaign-tally.ts";
import { scenarioOf } from "./scenario-text.ts";

/**
 * Two applications share the work on what a transactional producer and another write, exactly once; they crash,
 * freeze and are rebalanced, under random faults within what Kafka promises to survive. Requests come late: EndTxn
 * when the next transaction has begun, records when they have been given up, and the last of p3 when it has
 * aborted its last transaction.
 */
export const PIPELINE_STORY = `version: 1
name: pipelines
summary: Transactional pipelines under random faults.
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 1
  config:
    offsets.topic.num.partitions: 2
    transaction.state.log.num.partitions: 2
    transaction.abort.timed.out.transaction.cleanup.interval.ms: 2000
    replica.lag.time.max.ms: 4000
topics:
  orders: { partitions: 2, replication.factor: 3, config: { min.insync.replicas: 2 } }
  bills: { partitions: 2, replication.factor: 3, config: { min.insync.replicas: 2 } }
clients:
  p1:
    produce: orders
    rate: 30/s
    transaction: { records: 10, abort: 20% }
    config: { transactional.id: one, transaction.timeout.ms: 8000, delivery.timeout.ms: 20000, request.timeout.ms: 1500 }
  p2: { produce: orders, rate: 30/s }
  p3:
    produce: orders
    rate: 30/s
    records: 40
    transaction: { records: 10 }
    config: { transactional.id: three, delivery.timeout.ms: 3000, request.timeout.ms: 1500 }
  a1:
    process: { from: orders, to: bills, group: billing, guarantee: exactly-once, work: uniform(2ms..30ms) }
    consumer-config: { max.poll.records: 20, session.timeout.ms: 6000 }
    producer-config: { delivery.timeout.ms: 4000, request.timeout.ms: 1500 }
  a2:
    process: { from: orders, to: bills, group: billing, guarantee: exactly-once, work: uniform(2ms..30ms) }
    consumer-config: { max.poll.records: 20, session.timeout.ms: 6000 }
    producer-config: { delivery.timeout.ms: 4000, request.timeout.ms: 1500 }
  c1: { consume: bills, config: { isolation.level: read_committed, auto.offset.reset: earliest } }
faults:
  - { at: uniform(5s..12s), crash: a1, for: uniform(100ms..6s) }
  - { at: uniform(8s..16s), pause: a2, for: uniform(7s..15s) }
  - { at: uniform(1s..5s), delay-link: uniform(2s..4s), from: p1 + a1 + a2, to: transaction-coordinator(one), for: uniform(100ms..1s), optional: true }
  - { at: uniform(6s..10s), delay-link: uniform(2s..4s), from: p1 + a1 + a2, to: transaction-coordinator(one), for: uniform(100ms..1s), optional: true }
  - { at: uniform(11s..15s), delay-link: uniform(2s..4s), from: p1 + a1 + a2, to: transaction-coordinator(one), for: uniform(100ms..1s), optional: true }
  - { at: uniform(3s..14s), delay-link: uniform(4500ms..6s), from: a1 + a2, to: leader(bills-0), for: uniform(2s..4s), optional: true }
  - { when: sent(p3) >= 35, delay-link: uniform(3500ms..6s), from: p3, to: brokers - transaction-coordinator(three), for: 4s, optional: true }
random-faults: { quiet-after: 18s }
duration: 22s
settle: 45s
`;

/** The same before KIP-890's second part, and without its first. */
export const EARLIER_PIPELINE_STORY: string = PIPELINE_STORY.replace(
  "  brokers: 3\n",
  "  features: { transaction.version: 1 }\n  brokers: 3\n",
);
export const UNVERIFIED_PIPELINE_STORY: string = EARLIER_PIPELINE_STORY.replace(
  "  config:\n",
  "  config:\n    transaction.partition.verification.enable: false\n",
);

/** Things worth reaching: a campaign about them that never reaches one has tested nothing of it. */
export const PIPELINE_PROBES: Readonly<Record<string, (fact: Fact, before: Worked) => boolean>> = {
  "committed transaction of a pipeline": (fact) => isEnd(fact) && fact.outcome === "committed",
  "aborted transaction of a pipeline": (fact) => isEnd(fact) && fact.outcome === "aborted",
  "transaction refused to a zombie of the group": (fact) =>
    isEnd(fact) &&
    (fact.error === "UNKNOWN_MEMBER_ID" ||
      fact.error === "ILLEGAL_GENERATION" ||
      fact.error === "STALE_MEMBER_EPOCH"),
  "fenced pipeline": (fact) => fact.kind === "producer-fenced" && isPipeline(fact.client),
  "record worked on again": (fact, { inputs }) =>
    fact.kind === "records-processed" && inputs.has(`${fact.partition} ${fact.firstOffset}`),
  "partition that changed hands": (fact, { owners }) =>
    fact.kind === "partitions-assigned" &&
    fact.partitions.some((one) => (owners.get(one) ?? fact.client) !== fact.client),
};

/** What probes know of what came before. */
interface Worked {
  readonly inputs: Set<string>;
  readonly owners: Map<string, string>;
}

/** How one such story went. */
export interface PipelineRun extends Findings {
  readonly reached: ReadonlySet<string>;
}

export function playPipelines(story: string, seed: string): PipelineRun {
  const simulation = new Simulation(scenarioOf(story), { seed });
  const reached = new Set<string>();
  const before: Worked = { inputs: new Set(), owners: new Map() };
  simulation.onFact((fact) => {
    for (const [name, isReached] of Object.entries(PIPELINE_PROBES)) {
      if (!reached.has(name) && isReached(fact, before)) reached.add(name);
    }
    if (fact.kind === "records-processed") {
      before.inputs.add(`${fact.partition} ${fact.firstOffset}`);
    } else if (fact.kind === "partitions-assigned") {
      for (const one of fact.partitions) before.owners.set(one, fact.client);
    }
  });
  while (simulation.advance(100_000));
  return { reached, ...findingsOf(simulation.finish(undefined)) };
}

function isPipeline(client: string): boolean {
  return client === "a1" || client === "a2";
}

function isEnd(fact: Fact): fact is Extract<Fact, { kind: "transaction-ended" }> {
  return fact.kind === "transaction-ended" && isPipeline(fact.client);
}
