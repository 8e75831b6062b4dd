import { Simulation } from "../../src/cluster/simulation.ts";
import type { Fact } from "../../src/trace/fact.ts";
import type { Findings } from "./campaign-tally.ts";
import { findingsOf } from "./campaign-tally.ts";
import { scenarioOf } from "./scenario-text.ts";

/**
 * Two transactional producers, a third that takes over from one of them twice, one without transactions, and
 * readers of both kinds, under random faults within what Kafka promises to survive.
 */
export const TRANSACTION_STORY = `version: 1
name: transactions
summary: Transactional producers, one of whom has a rival, and random faults.
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 3
  config:
    transaction.state.log.num.partitions: 3
    transaction.abort.timed.out.transaction.cleanup.interval.ms: 2000
    replica.lag.time.max.ms: 4000
topics:
  orders: { partitions: 3, replication.factor: 3, config: { min.insync.replicas: 2 } }
clients:
  p1:
    produce: orders
    rate: 60/s
    transaction: { time: uniform(50ms..2s), abort: 20% }
    config: { transactional.id: one, transaction.timeout.ms: 8000, delivery.timeout.ms: 20000, request.timeout.ms: 5000 }
  p2:
    produce: orders
    rate: 60/s
    transaction: { records: 20, abort: 10% }
    config: { transactional.id: two, transaction.timeout.ms: 8000 }
  p3:
    produce: orders
    rate: 40/s
    transaction: { records: 20, abort: 10% }
    config: { transactional.id: two, transaction.timeout.ms: 8000 }
  p4: { produce: orders, rate: 20/s }
  c1:
    consume: orders
    config: { isolation.level: read_committed, auto.offset.reset: earliest }
  c2:
    consume: orders
    config: { auto.offset.reset: earliest }
faults:
  - { at: 0s, crash: p3, for: 8s }
  - { at: 14s, crash: p3, for: 1s }
random-faults: { quiet-after: 20s }
duration: 25s
settle: 45s
`;

/** Things worth reaching: a campaign about them that never reaches one has tested nothing of it. */
export const TRANSACTION_PROBES: Readonly<
  Record<string, (fact: Fact, before: Reached) => boolean>
> = {
  committed: (fact) => fact.kind === "transaction-ended" && fact.outcome === "committed",
  "aborted by its producer": (fact) =>
    fact.kind === "transaction-ended" && fact.error === "NONE" && fact.outcome === "aborted",
  "aborted by timeout": (fact) =>
    fact.kind === "transaction-state-changed" && fact.reason === "transaction.timeout.ms is over",
  "aborted for another producer": (fact) =>
    fact.kind === "transaction-state-changed" && fact.reason === "another producer has come",
  "fenced producer": (fact) => fact.kind === "producer-fenced",
  "unknown end": (fact) => fact.kind === "transaction-ended" && fact.outcome === "unknown",
  "open at a fail-over": (fact) => isLoaded(fact, "Ongoing"),
  "decided at a fail-over": (fact) => isLoaded(fact, "Prepare"),
  "marker after a fail-over": (fact, { takenOver }) =>
    fact.kind === "transaction-state-changed" &&
    fact.to.startsWith("Complete") &&
    fact.from !== "" &&
    takenOver.has(fact.transactionalId),
  "aborted records read past": (fact, { aborted }) =>
    fact.kind === "polled" &&
    fact.client === "c1" &&
    (aborted.get(fact.partition) ?? Number.POSITIVE_INFINITY) < fact.lastOffset,
  "held back reader": (fact) => fact.kind === "last-stable-offset-moved",
};

/** What probes know of what came before. */
export interface Reached {
  /** Ids of which a coordinator has read that their end is decided, and that have not ended since. */
  readonly takenOver: Set<string>;
  /** By partition: where the first marker stands that aborts something. */
  readonly aborted: Map<string, number>;
}

/** How one such story went. */
export interface TransactionRun extends Findings {
  readonly reached: ReadonlySet<string>;
}

export function playTransactions(story: string, seed: string): TransactionRun {
  const simulation = new Simulation(scenarioOf(story), { seed });
  const reached = new Set<string>();
  const before: Reached = { takenOver: new Set(), aborted: new Map() };
  simulation.onFact((fact) => {
    for (const [name, isReached] of Object.entries(TRANSACTION_PROBES)) {
      if (!reached.has(name) && isReached(fact, before)) reached.add(name);
    }
    note(fact, before);
  });
  while (simulation.advance(100_000));
  return { reached, ...findingsOf(simulation.finish(undefined)) };
}

function isLoaded(fact: Fact, state: string): boolean {
  return fact.kind === "transaction-state-changed" && fact.from === "" && fact.to.startsWith(state);
}

function note(fact: Fact, { takenOver, aborted }: Reached): void {
  if (fact.kind === "transaction-state-changed") {
    if (isLoaded(fact, "Prepare")) takenOver.add(fact.transactionalId);
    else if (fact.to.startsWith("Complete")) takenOver.delete(fact.transactionalId);
  }
  if (fact.kind !== "appended" || !fact.batch.isControl || !fact.batch.isTransactional) return;
  const [record] = fact.batch.records();
  const isAbort = record?.key?.[3] === 0;
  if (isAbort && !aborted.has(fact.partition)) aborted.set(fact.partition, fact.batch.baseOffset);
}
