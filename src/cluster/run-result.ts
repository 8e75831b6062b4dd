import type { Duration, Instant } from "../base/time.ts";
import type { GuaranteeSummary } from "../checkers/checker-set.ts";
import type { Violation } from "../checkers/guarantee.ts";
import type { BrokerId } from "../kafka/ids.ts";
import type { Checkpoint } from "../sim/digest.ts";
import type { Unowned } from "../trace/ownership-view.ts";
import type { TimelineEntry } from "../trace/timeline.ts";
import type { Choice } from "./choices.ts";

/** All that one run has to say: plain data, the same for the same scenario, seed and version. */
export interface RunResult {
  readonly scenario: string;
  readonly summary: string;
  /** As the person wrote it; empty for a scenario that is no file. */
  readonly file: string;
  readonly seed: string;
  readonly variant: string | undefined;
  readonly kafka: string;
  readonly brokers: number;
  readonly verdict: "pass" | "fail" | "inconclusive";
  /** Why the run says nothing; empty unless inconclusive. */
  readonly reasons: readonly string[];
  /** What the scenario left to chance and the seed decided before the run, random faults among it. */
  readonly drawn: readonly Choice[];
  readonly timeline: readonly TimelineEntry[];
  readonly partitions: readonly PartitionRow[];
  readonly clients: readonly ClientRow[];
  /** Of consumers, in the order in which they were first heard of. */
  readonly groups: readonly GroupRow[];
  readonly expectations: readonly ExpectationOutcome[];
  readonly guarantees: readonly GuaranteeSummary[];
  readonly violations: readonly Violation[];
  /** From the scenario's time zero to the end. */
  readonly simulated: Duration;
  /** Warm-up included. */
  readonly events: number;
  /** 16 hexadecimal digits. */
  readonly digest: string;
  readonly checkpoints: readonly Checkpoint[];
  /** The scheduler's instant of the scenario's zero: how long the warm-up took. */
  readonly warmUp: Instant;
}

export interface PartitionRow {
  readonly topic: string;
  readonly partition: number;
  /** -1: none. */
  readonly leader: BrokerId;
  readonly leaderEpoch: number;
  readonly highWatermark: number;
  readonly logEndOffset: number;
  readonly isr: readonly BrokerId[];
  readonly outOfSync: readonly BrokerId[];
}

export type ClientRow = ProducerRow | ConsumerRow | ProcessorRow;

export interface ProducerRow {
  readonly kind: "producer";
  readonly name: string;
  readonly sent: number;
  readonly acked: number;
  readonly failed: number;
  readonly unknown: number;
  readonly retries: number;
  readonly longestStall: Duration;
}

export interface ConsumerRow {
  readonly kind: "consumer";
  readonly name: string;
  readonly read: number;
  /** Read at offsets that it had read before. */
  readonly again: number;
  readonly lag: number;
  /** The worst of how long it had been behind what clients knew when it polled (Jepsen's realtime-lag). */
  readonly worstRealtimeLag: Duration;
  /** Calls of its application that have thrown: a seek in what is not assigned to it, offsets that nobody told in time. */
  readonly failedCalls: number;
}

export interface GroupRow {
  readonly name: string;
  /** Different records that its members have worked on, and how often one was worked on again. */
  readonly processed: number;
  readonly reprocessed: number;
  readonly rebalances: number;
  /** Of each partition that a member ever owned: for how long nobody did. */
  readonly unowned: readonly Unowned[];
}

/** Of an application that reads and writes. */
export interface ProcessorRow {
  readonly kind: "processor";
  readonly name: string;
  readonly read: number;
  /** Read at offsets that it had read before. */
  readonly again: number;
  readonly lag: number;
  /** 0 if it writes to no topic. */
  readonly acked: number;
  /** Its transactions, if it has any. */
  readonly committed: number;
  readonly aborted: number;
  /** Rows that it added to its store. */
  readonly rows: number;
  readonly failedCalls: number;
}

export interface ExpectationOutcome {
  /** As it is printed: `leader-within 15s (9.190s)`. */
  readonly text: string;
  /** Undefined: it was never reached, so that it says nothing. */
  readonly ok: boolean | undefined;
  /** In the scenario's file; 0 if it is none. */
  readonly line: number;
}
