import type { Duration } from "../base/time.ts";
import type { FaultKind } from "../faults/fault-kind.ts";
import type { ConfigValue } from "../kafka/config/config-table.ts";
import type { PartitionName } from "../kafka/ids.ts";
import type { FeatureLevels, ProtocolSwitches } from "../kafka/protocol-switches.ts";
import type { OffsetRange } from "../ports/disk-failure.ts";
import type { Ratio } from "../ports/random.ts";
import type { DurationSpec, IntegerSpec, RateSpec, WordSpec } from "./draw.ts";
import type { Expectation } from "./expectation/expectation.ts";
import type { BooleanExpression, NodesExpression } from "./expression.ts";
import type { Written } from "./expression-form.ts";
import type { MessagePattern } from "./message-pattern.ts";
import type { Place } from "./place.ts";
import type { RandomFaultsSpec } from "./random-faults.ts";

/** A story to be simulated, read and checked: nothing in it can fail but at what happens in the run. */
export interface Scenario {
  /** As it was given to the reader: what complaints and results name. */
  readonly file: string;
  readonly name: string;
  /** The name of the variant that this is; undefined for the scenario itself. */
  readonly variant: string | undefined;
  readonly summary: string;
  readonly seed: number | undefined;
  /** The release whose defaults apply. */
  readonly kafka: string;
  readonly cluster: ClusterSpec;
  readonly topics: readonly TopicSpec[];
  readonly clients: readonly ClientSpec[];
  readonly faults: readonly FaultSpec[];
  /** Faults that each seed draws, to be added to the others; undefined: none. */
  readonly randomFaults: RandomFaultsSpec | undefined;
  /** How long the story goes on before the cluster may settle; undefined: until all is done. */
  readonly duration: Duration | undefined;
  readonly settle: Settle;
  readonly limit: RunLimit;
  readonly expect: readonly Expectation[];
  /** Each a scenario of its own; a variant has none. */
  readonly variants: readonly Scenario[];
  readonly lesson: Lesson | undefined;
  readonly place: Place;
}

/** How the cluster settles when the story is over. */
export interface Settle {
  /** How long it has to converge once it is healed. */
  readonly time: Duration;
  /**
   * What is healed: everything, or a core that is drawn: most of the controllers and brokers enough
   * that all partitions can be served. What is wrong outside then stays wrong for ever.
   */
  readonly core: "all" | "majority";
}

/** What ends a run that does not end by itself; the run is then inconclusive. */
export interface RunLimit {
  /** Simulated time, from time zero. */
  readonly time: Duration;
  readonly events: number;
}

/** Kafka configs as given: checked, with the place of each value. */
export interface ConfigSpec {
  readonly values: Readonly<Record<string, ConfigValue>>;
  readonly places: ReadonlyMap<string, Place>;
}

export interface ClusterSpec {
  /** How many, or each by itself. */
  readonly brokers: IntegerSpec | readonly BrokerSpec[];
  readonly controllers: IntegerSpec;
  /** `server.properties` of all brokers and controllers. */
  readonly config: ConfigSpec;
  readonly network: NetworkSpec;
  readonly disk: DiskSpec;
  readonly features: Partial<FeatureLevels>;
  readonly protocol: Partial<ProtocolSwitches>;
  readonly place: Place;
}

export interface BrokerSpec {
  readonly id: number;
  readonly rack: string;
  readonly config: ConfigSpec;
  readonly clock: ClockSpec;
  readonly place: Place;
}

/** A node's own clock: ahead of true time by `offset`, gaining `driftPpm` microseconds a second. */
export interface ClockSpec {
  readonly offset: Duration;
  readonly driftPpm: number;
}

/** What is undefined is as the simulated network is by default. */
export interface NetworkSpec {
  readonly latency: DurationSpec | undefined;
  readonly bytesPerSecond: number | undefined;
}

/** What is undefined is as the simulated disk is by default. */
export interface DiskSpec {
  readonly write: DurationSpec | undefined;
  readonly read: DurationSpec | undefined;
  readonly fsync: DurationSpec | undefined;
  readonly bytesPerSecond: number | undefined;
  readonly writeback: Duration | undefined;
  readonly sector: number | undefined;
  readonly journal: "ordered" | "writeback" | undefined;
  /** So many replicas of each stretch of log are spared by faults that damage records; undefined: none. */
  readonly goodCopies: number | undefined;
}

export interface TopicSpec {
  readonly name: string;
  readonly partitions: IntegerSpec;
  /** How many replicas each partition has; undefined if they are placed by hand, or by default. */
  readonly replicationFactor: IntegerSpec | undefined;
  /** Brokers by partition, the preferred leader first. */
  readonly replicas: readonly (readonly number[])[] | undefined;
  readonly config: ConfigSpec;
  readonly place: Place;
}

export type ClientSpec = ProducerSpec | ConsumerSpec | ProcessorSpec;

export interface ProducerSpec {
  readonly kind: "producer";
  readonly name: string;
  readonly topic: string;
  readonly rate: RateSpec;
  /** How many records it sends; undefined: until the cluster settles. */
  readonly records: IntegerSpec | undefined;
  /** How many different keys its records have, in turn; undefined: none has a key. */
  readonly keys: number | undefined;
  /** How many of its records have no value, by which they delete their key; undefined: none. */
  readonly tombstones: Ratio | undefined;
  /** Bytes of a record's value. */
  readonly recordSize: number;
  /** What binds its records together; undefined: nothing. */
  readonly transaction: TransactionSpec | undefined;
  readonly config: ConfigSpec;
  readonly place: Place;
}

/** When a producer ends its transactions, whichever comes first, and how many of them it aborts. */
export interface TransactionSpec {
  readonly records: IntegerSpec | undefined;
  /** Drawn for each. */
  readonly time: DurationSpec | undefined;
  readonly abort: Ratio | undefined;
}

export interface ConsumerSpec {
  readonly kind: "consumer";
  readonly name: string;
  /** It reads all partitions; as a member of a group, those that it is assigned. */
  readonly topics: readonly string[];
  /** Those of its topic that it assigns to itself, in their order; undefined: all, or what its group gives it. */
  readonly partitions: readonly number[] | undefined;
  /** Undefined: it is in no group. */
  readonly membership: MembershipSpec | undefined;
  readonly config: ConfigSpec;
  readonly place: Place;
}

/** When and what an application commits. */
export type CommitWord = "auto" | "sync" | "async" | "smallest-unfinished" | "each-finished";

/** How a consumer is a member of a group, and what its application does. */
export interface MembershipSpec {
  readonly group: string;
  /** A regular expression for whole names of topics, if it subscribes so. */
  readonly pattern: string | undefined;
  /** On each record; undefined: no time. */
  readonly work: DurationSpec | undefined;
  /** How many of its workers share what a poll gave. */
  readonly workers: number;
  readonly commit: CommitWord;
  /** Of sync and async. */
  readonly commitWhen: "before" | "after";
}

/** An application that reads as a member of a group, and writes what it makes of each record. */
export interface ProcessorSpec {
  readonly kind: "processor";
  readonly name: string;
  readonly topics: readonly string[];
  /** A regular expression for whole names of topics, if it subscribes so. */
  readonly pattern: string | undefined;
  /** Undefined: only `store` is written to. */
  readonly to: string | undefined;
  readonly store: StoreSpec | undefined;
  readonly group: string;
  readonly guarantee: "at-most-once" | "at-least-once" | "exactly-once";
  /** On each record; undefined: no time. */
  readonly work: DurationSpec | undefined;
  /** Bytes of the value of a record that it writes. */
  readonly recordSize: number;
  /** Of its producer; empty without `to`. */
  readonly config: ConfigSpec;
  readonly consumerConfig: ConfigSpec;
  readonly place: Place;
}

/** A table outside of Kafka. */
export interface StoreSpec {
  readonly name: string;
  readonly isKeyUnique: boolean;
}

/** A fault as a step has it, whatever sets it off. */
export interface FaultAction {
  readonly kind: FaultKind;
  readonly arguments: ReadonlyMap<string, ArgumentSpec>;
  /** After so long it ends by itself; undefined: not before the cluster settles. */
  readonly for: DurationSpec | undefined;
  readonly bindings: readonly Binding[];
  /** It is no error if its target names no node, or if it never fires. */
  readonly optional: boolean;
  /** It is skipped if this would not hold once the nodes that it stops are gone. */
  readonly keep: Written<BooleanExpression> | undefined;
  /** As written: `crash: leader(orders-0)`. */
  readonly text: string;
  readonly place: Place;
}

/** One step of the story: a fault, and what sets it off. */
export interface FaultSpec extends FaultAction {
  /** From 0, in the order of the file. */
  readonly number: number;
  readonly name: string | undefined;
  readonly trigger: Trigger;
}

/** Remembers the nodes of one parameter of a fault under a name. */
export interface Binding {
  readonly parameter: string;
  readonly name: string;
}

/** What a fault is told, as given. Each keeps its words, for output. */
export type ArgumentSpec = { readonly text: string; readonly place: Place } & (
  | { readonly kind: "nodes"; readonly target: NodesExpression }
  | { readonly kind: "groups"; readonly groups: readonly NodesExpression[] }
  | { readonly kind: "duration"; readonly duration: DurationSpec }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "offsets"; readonly offsets: OffsetRange }
  | { readonly kind: "probability"; readonly ratio: Ratio }
  | { readonly kind: "word"; readonly word: WordSpec }
  | { readonly kind: "text" }
);

export type Trigger =
  | { readonly kind: "at"; readonly time: DurationSpec }
  | {
      readonly kind: "when";
      readonly predicate: BooleanExpression;
      readonly text: string;
      /** How often it may fire, each time when the predicate becomes true anew. */
      readonly times: number;
      /** How long it is waited for. */
      readonly timeout: Duration;
    }
  | {
      readonly kind: "message";
      readonly pattern: MessagePattern;
      readonly text: string;
      readonly times: number;
      readonly timeout: Duration;
    }
  | { readonly kind: "after"; readonly fault: string; readonly delay: DurationSpec };

/** What a learner is asked before the run, and told after it. */
export interface Lesson {
  readonly ask: string;
  readonly choices: readonly string[];
  readonly answer: string;
  /** Expressions worth looking at: `epoch(orders-0)`. */
  readonly lookAt: readonly string[];
}

/** `orders-0`, `orders-1`, ...: the partitions that a topic has at most. */
export function partitionNames(topic: string, count: number): PartitionName[] {
  return Array.from({ length: count }, (_, number) => `${topic}-${number}`);
}
