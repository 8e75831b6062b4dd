import type { Instant } from "../base/time.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { AckedRecords } from "./acked-records.ts";
import type { BrokerStates } from "./broker-states.ts";
import type { CheckSetup } from "./check-setup.ts";
import type { ClientHistory } from "./client-history.ts";
import type { ClockSkews } from "./clock-skews.ts";
import type { ConsumerReads } from "./consumer-reads.ts";
import type { DiskHarms } from "./disk-harms.ts";
import type { Expiry } from "./expiry.ts";
import type { GroupStates } from "./group-states.ts";
import type { IdleProducers } from "./idle-producers.ts";
import type { LeaderViews } from "./leader-views.ts";
import type { Liveness } from "./liveness.ts";
import type { MetadataLogs } from "./metadata-logs.ts";
import type { ProducerRetries } from "./producer-retries.ts";
import type { ReplicaLogs } from "./replica-logs.ts";
import type { Transactions } from "./transactions.ts";

/** A guarantee that did not hold, once: what one cause did to one partition. */
export interface Violation {
  /** `no-acked-loss` */
  readonly guarantee: string;
  /** `acked-record-lost` */
  readonly kind: string;
  readonly partition: PartitionName | "";
  /** The client concerned; empty if it is none, or several. */
  readonly client: string | "";
  readonly at: Instant;
  readonly event: number;
  /** Sentences for people. */
  readonly text: readonly string[];
  /** The lowest and the highest offset concerned. */
  readonly offsets: readonly [first: Offset, last: Offset] | undefined;
  /** Records; or whatever else the text counts. */
  readonly count: number;
  /** The cause that makes it no bug, as part of a sentence; undefined is a bug. */
  readonly permitted: string | undefined;
  /** The number of the event that is to blame. */
  readonly cause: number;
  /**
   * The index, in `CheckerSet.violations()`, of an earlier violation that the same cause brought
   * about in the same partition: this one is to be folded under it. Undefined for the first, and
   * outside that list.
   */
  readonly follows: number | undefined;
}

/** A sentence about Kafka that must hold, and how it is watched. */
export interface Guarantee {
  readonly name: string;
  readonly sentence: string;
  /** Where the rule is written down, and its number in the design paper. */
  readonly source: string;
  readonly kinds: readonly string[];
  /** When it is demanded, and what makes a violation no bug. */
  readonly condition: string;
  /** What an evaluation that counts as interesting is: without any, the guarantee is untested. */
  readonly testedBy: string;
  /**
   * Does it tell what was done wrong, and not what came of it? Then it is named before others that the
   * same event breaks.
   */
  readonly tellsDeed?: boolean;
  /** Do others judge what follows from its violations as it did? Who watches any of them watches it as well. */
  readonly judges?: boolean;
  /** A violation as it is printed. */
  readonly example: readonly string[];
  create(context: CheckContext): Checker;
}

/** One guarantee at work in one run. */
export interface Checker {
  readonly evaluations: number;
  /** Evaluations that could have failed. */
  readonly interesting: number;
  readonly violations: readonly Violation[];
  /** To be called once, after the last fact. */
  atEnd?(at: Instant, event: number): void;
}

/** What checkers work with: facts, the state shared by all, and what was configured. */
export interface CheckContext {
  readonly facts: FactRecorder;
  readonly logs: ReplicaLogs;
  readonly brokers: BrokerStates;
  readonly views: LeaderViews;
  readonly metadata: MetadataLogs;
  readonly disks: DiskHarms;
  readonly expiry: Expiry;
  readonly acked: AckedRecords;
  readonly reads: ConsumerReads;
  readonly history: ClientHistory;
  readonly retries: ProducerRetries;
  readonly idle: IdleProducers;
  readonly skews: ClockSkews;
  readonly liveness: Liveness;
  readonly groups: GroupStates;
  /** Undefined if no producer has a `transactional.id`. */
  readonly transactions: Transactions | undefined;
  readonly setup: CheckSetup;
}
