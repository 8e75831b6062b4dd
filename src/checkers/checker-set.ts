import type { Instant } from "../base/time.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import { AckedRecords } from "./acked-records.ts";
import { BrokerStates } from "./broker-states.ts";
import type { CheckSetup } from "./check-setup.ts";
import { ClientHistory } from "./client-history.ts";
import { ClockSkews } from "./clock-skews.ts";
import { ConsumerReads } from "./consumer-reads.ts";
import { DiskHarms } from "./disk-harms.ts";
import { Expiry } from "./expiry.ts";
import { GroupStates } from "./group-states.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { IdleProducers } from "./idle-producers.ts";
import { LeaderViews } from "./leader-views.ts";
import { Liveness } from "./liveness.ts";
import type { MetadataLoss } from "./metadata-logs.ts";
import { MetadataLogs } from "./metadata-logs.ts";
import { ProducerRetries } from "./producer-retries.ts";
import { GUARANTEES } from "./registry.ts";
import { ReplicaLogs } from "./replica-logs.ts";
import { transactionsOf } from "./transactions.ts";

/** How one guarantee fared in one run. */
export interface GuaranteeSummary {
  readonly name: string;
  /** Untested: no evaluation could have failed, so that it says nothing. */
  readonly state: "held" | "violated" | "untested";
  readonly evaluations: number;
  readonly interesting: number;
}

/** All guarantees at work in one run. */
export interface CheckerSet {
  /** The state they share; the report draws logs from it. */
  readonly logs: ReplicaLogs;
  /** By event, then deeds first, then in the order of the registry; dependants point at the first of their cause. */
  violations(): readonly Violation[];
  /** In the order of the registry. */
  summaries(): readonly GuaranteeSummary[];
  /** To be called once, after the last fact. */
  atEnd(at: Instant, event: number): void;
}

/** Sets the guarantees to watch these facts from now on: before the first is noted. */
export function createCheckers(
  facts: FactRecorder,
  setup: CheckSetup,
  guarantees: readonly Guarantee[] = GUARANTEES,
): CheckerSet {
  // In this order: who subscribes later sees what the earlier ones made of a fact.
  const logs = new ReplicaLogs(facts, setup);
  const retries = new ProducerRetries(facts);
  const idle = new IdleProducers(facts, setup);
  const brokers = new BrokerStates(facts);
  const views = new LeaderViews(facts, logs);
  const metadata = new MetadataLogs(facts);
  const disks = new DiskHarms(facts);
  const skews = new ClockSkews(facts);
  const expiry = new Expiry(logs, setup, skews);
  const acked = new AckedRecords(facts, logs, expiry, setup);
  const reads = new ConsumerReads(facts, logs);
  const history = new ClientHistory(facts, logs, reads, setup);
  const liveness = new Liveness(facts, logs, setup);
  const groups = new GroupStates(facts, setup);
  const transactions = transactionsOf(facts, logs, setup);
  const context: CheckContext = {
    facts,
    logs,
    brokers,
    views,
    metadata,
    disks,
    expiry,
    acked,
    reads,
    history,
    retries,
    idle,
    skews,
    liveness,
    groups,
    transactions,
    setup,
  };
  const checkers = guarantees.map((guarantee): [Guarantee, Checker] => [
    guarantee,
    guarantee.create(context),
  ]);
  const deedsFirst = [
    ...checkers.filter(([{ tellsDeed }]) => tellsDeed === true),
    ...checkers.filter(([{ tellsDeed }]) => tellsDeed !== true),
  ];
  return {
    logs,
    violations: () =>
      folded(
        deedsFirst.flatMap(([guarantee, { violations }]) =>
          // What a caller demands of his own, Kafka's excuses do not touch.
          GUARANTEES.includes(guarantee)
            ? violations.map((violation) => excused(violation, metadata.loss))
            : violations,
        ),
      ),
    summaries: () => checkers.map(([guarantee, checker]) => summarize(guarantee, checker)),
    atEnd: (at, event) => {
      for (const [, checker] of checkers) checker.atEnd?.(at, event);
    },
  };
}

function summarize(guarantee: Guarantee, checker: Checker): GuaranteeSummary {
  const { evaluations, interesting } = checker;
  const quiet = interesting > 0 ? "held" : "untested";
  const state = checker.violations.length > 0 ? "violated" : quiet;
  return { name: guarantee.name, state, evaluations, interesting };
}

/** Brokers, leaders and ISRs go back with the metadata that a quorum may have lost, and logs follow them. */
function excused(violation: Violation, loss: MetadataLoss | undefined): Violation {
  const { event, permitted } = violation;
  if (loss === undefined || event < loss.event || permitted !== undefined) return violation;
  return { ...violation, permitted: `committed metadata is lost: ${loss.excuse}` };
}

/** Sorted by event (the sort is stable, so the order given decides the rest), and dependants marked. */
function folded(violations: readonly Violation[]): Violation[] {
  const sorted = [...violations].sort((left, right) => left.event - right.event);
  const firsts = new Map<string, number>();
  return sorted.map((violation, index) => {
    const key = `${violation.cause} ${violation.partition}`;
    const follows = firsts.get(key);
    if (follows === undefined) firsts.set(key, index);
    return { ...violation, follows };
  });
}
