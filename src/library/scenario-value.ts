// Written by describeTypes (src/scenario). To renew: npx vitest run test/unit/scenario/scenario-schema.test.ts --update

type Unit = "us" | "ms" | "s" | "m" | "h";
type Length = `${number}${Unit}` | `${number}${Unit}${number}${Unit}`;

/** `250ms`, `1m30s`; only 0 has no unit. */
export type DurationValue = 0 | Length;

/** Of either sign: `-5s`. */
export type SignedDurationValue = DurationValue | `-${Length}`;

/** A duration, or how to draw one: `uniform(1s..5s)`, `exponential(5s)`, `lognormal(p50=2s p99=40s)`, `one-of(1s|5s)`. */
export type DrawnDurationValue =
  | DurationValue
  | `${"uniform" | "exponential" | "lognormal" | "one-of"}(${string})`;

/** A scenario as a value, in the shape of the YAML. */
export interface ScenarioValue {
  /** The version of this language: 1. */
  readonly version: 1;
  /** The file's name, without .yaml. */
  readonly name: string;
  /** The story in one or two sentences. */
  readonly summary?: string;
  /** The seed of all chance, unless another is asked for. */
  readonly seed?: number;
  /** Whose defaults apply: "4.3", quoted. */
  readonly kafka: "4.3";
  /** Brokers, controllers and their world. */
  readonly cluster: ClusterValue;
  /** Topics by name. */
  readonly topics: Readonly<Record<string, TopicValue>>;
  /** Producers and consumers by name. */
  readonly clients?: Readonly<Record<string, ProducerValue | ConsumerValue | ProcessorValue>>;
  /** What happens: each a fault and what sets it off. */
  readonly faults?: readonly StepValue[];
  /** Faults that each seed draws, added to these. */
  readonly "random-faults"?: RandomFaultsValue;
  /** How long the story lasts. Default: until all faults fired and all records are sent. */
  readonly duration?: DurationValue;
  /** How long the healed cluster has to converge, and what of it is healed. Default 30s. */
  readonly settle?:
    | DurationValue
    | { readonly time?: DurationValue; readonly core?: "all" | "majority" };
  /** What ends a run that does not end by itself. Default 1h. */
  readonly limit?: DurationValue | { readonly time?: DurationValue; readonly events?: number };
  /** What will be so. */
  readonly expect?: readonly ExpectationValue[];
  /** The same story with other values, each with what is then expected. */
  readonly variants?: Readonly<Record<string, VariantValue>>;
  /** A question to the learner. */
  readonly lesson?: LessonValue;
}

/** `cluster`. */
export interface ClusterValue {
  /** How many brokers (broker-1, broker-2, ...), or a list of { id, rack, config, clock }. */
  readonly brokers: number | `one-of(${string})` | `uniform(${string})` | readonly BrokerValue[];
  /** Voters of the metadata quorum: 1, 3 or 5. Default 3. */
  readonly controllers?: number | `one-of(${string})` | `uniform(${string})`;
  /** server.properties of brokers and controllers. */
  readonly config?: BrokerConfigValue;
  /** What the network is like. */
  readonly network?: NetworkValue;
  /** What each node's disk is like. */
  readonly disk?: DiskValue;
  /** Kafka's feature levels. */
  readonly features?: {
    readonly "eligible.leader.replicas.version"?: number;
    readonly "transaction.version"?: number;
  };
  /** Rules that Kafka once had, instead of the present ones. */
  readonly protocol?: ProtocolValue;
}

/** `cluster/brokers, each`. */
export interface BrokerValue {
  /** Its node.id: broker-ID. */
  readonly id: number;
  /** Its broker.rack; replicas are spread over racks. */
  readonly rack?: string;
  /** Its own server.properties. */
  readonly config?: BrokerConfigValue;
  /** What is wrong with its clock. */
  readonly clock?: { readonly offset?: SignedDurationValue; readonly drift?: string };
}

/** `cluster/network`. */
export interface NetworkValue {
  /** How long a message takes, drawn for each. */
  readonly latency?: DrawnDurationValue;
  /** What each link carries, in each direction. */
  readonly bandwidth?: string;
}

/** `cluster/disk`. */
export interface DiskValue {
  /** How long a write into the page cache takes. */
  readonly write?: DrawnDurationValue;
  /** How long a read from the page cache takes. */
  readonly read?: DrawnDurationValue;
  /** How long an fsync takes, its bytes not counted. */
  readonly fsync?: DrawnDurationValue;
  /** How fast flushed bytes are written. */
  readonly bandwidth?: string;
  /** The age at which the system writes back dirty pages. */
  readonly writeback?: DurationValue;
  /** What is written whole: pages are torn at multiples. */
  readonly sector?: number | string;
  /**
   * Whether a size or a name can be durable before its data, as zeros or garbage: `writeback`
   * (default), or not: `ordered`.
   */
  readonly journal?: "writeback" | "ordered";
  /**
   * So many replicas of each stretch of log stay unharmed: a fault that would damage the records of
   * more is skipped. Without it nothing is promised, and only safety can be asked for.
   */
  readonly "good-copies"?: number;
}

/** `cluster/protocol`. */
export interface ProtocolValue {
  readonly truncation?: "high-watermark" | "kip-101" | "kip-279" | "on-fetch";
  readonly "fetch.epoch-fencing"?: boolean;
  readonly "isr.expand-rule"?: "high-watermark" | "leader-epoch-start";
  readonly "leader.update-state-on-diverging-fetch"?: boolean;
  readonly "leader.hw-requires-min-isr"?: boolean;
  readonly "isr.hw-set"?: "committed" | "maximal";
  readonly "fetch.min-one-batch"?: boolean;
  readonly groups?: "coordinator" | "zookeeper-2011";
}

/** `topics, each`. */
export interface TopicValue {
  /** How many. Default 1. */
  readonly partitions?: number | `one-of(${string})` | `uniform(${string})`;
  /** How many replicas each has. Default: the brokers' default.replication.factor. */
  readonly "replication.factor"?: number | `one-of(${string})` | `uniform(${string})`;
  /** Which brokers have each partition, the preferred leader first, instead. */
  readonly replicas?: Readonly<Record<string, readonly number[]>>;
  /** The topic's own configs. */
  readonly config?: TopicConfigValue;
}

/** `clients, each/produce`. */
export interface ProducerValue {
  /** The topic that it writes to. */
  readonly produce: string;
  /** How fast: 100/s (the default), exponential(50/s). */
  readonly rate?: string;
  /** How many it sends. Default: until the cluster settles. */
  readonly records?: number | `one-of(${string})` | `uniform(${string})`;
  /** How many different keys its records have, in turn. Default: no keys. */
  readonly keys?: number;
  /** How many of its records, 5%, have no value: they delete their key. Needs `keys`. */
  readonly tombstones?: number | string;
  /** Bytes of a record's value. Default 100. */
  readonly "record-size"?: number | string;
  /**
   * Its records are sent in transactions, one after the other. Needs `transactional.id` in
   * `config`.
   */
  readonly transaction?: TransactionValue;
  /** Its ProducerConfig. */
  readonly config?: ProducerConfigValue;
}

/** `clients, each/produce/transaction`. */
export interface TransactionValue {
  /** After so many records it ends; drawn once. */
  readonly records?: number | `one-of(${string})` | `uniform(${string})`;
  /** After so long it ends, drawn for each: 500ms, uniform(1s..5s). */
  readonly time?: DrawnDurationValue;
  /** How many are aborted, 10%. Default: none. */
  readonly abort?: number | string;
}

/** `clients, each/consume`. */
export interface ConsumerValue {
  /**
   * The topic of which it reads all partitions; with `group` also several, `[orders, returns]`, or
   * all whose names match a pattern, `/orders-.*\/`.
   */
  readonly consume: string | readonly string[];
  /**
   * The group (`group.id`) as a member of which it subscribes. Default: none, it assigns itself.
   */
  readonly group?: string;
  /**
   * The partitions, [0, 2], that it assigns to itself (`assign`); with `group` it is no member, and
   * only commits for it. Default: all, or what the group gives it.
   */
  readonly partitions?: readonly number[];
  /**
   * How long its application works on each record before the next, drawn for each: 5ms,
   * uniform(1ms..20ms). Default: no time. Needs `group`.
   */
  readonly work?: DrawnDurationValue;
  /**
   * How many workers of its application share what a poll gave, so that what began later may be
   * done sooner; the next poll waits for all. Default 1. Needs `work`.
   */
  readonly workers?: number;
  /**
   * How it commits: auto (the default), as its config says; each poll's records by commitSync or
   * commitAsync; or by commitAsync whenever a record is done, the first of its partition that is
   * not done yet, or, wrongly if there are `workers`, the one behind it. Unless it is auto,
   * `enable.auto.commit` is false by default. Needs `group`.
   */
  readonly commit?: "auto" | "sync" | "async" | "smallest-unfinished" | "each-finished";
  /** Whether sync and async commit before or after the work (the default) on what is committed. */
  readonly "commit-when"?: "before" | "after";
  /** Its ConsumerConfig. */
  readonly config?: ConsumerConfigValue;
}

/** `clients, each/process`. */
export interface ProcessorValue {
  /** What it reads and writes, and what it promises: { from, to, group, guarantee }. */
  readonly process: {
    readonly from: string | readonly string[];
    readonly to?: string;
    readonly store?: { readonly name: string; readonly key: "unique" | "none" };
    readonly group: string;
    readonly guarantee: "at-most-once" | "at-least-once" | "exactly-once";
    readonly work?: DrawnDurationValue;
  };
  /** Bytes of a record's value. Default 100. */
  readonly "record-size"?: number | string;
  /**
   * Its ConsumerConfig. By default as Kafka Streams has it: `auto.offset.reset: earliest`, and with
   * exactly-once `isolation.level: read_committed`. `enable.auto.commit` is false.
   */
  readonly "consumer-config"?: ConsumerConfigValue;
  /**
   * Its ProducerConfig. With exactly-once by default `transactional.id` is the client's name, and
   * `transaction.timeout.ms` 10000, as Kafka Streams has it.
   */
  readonly "producer-config"?: ProducerConfigValue;
}

/** `faults, each`. */
export interface StepValue {
  /** Fires at this time after the cluster is ready. */
  readonly at?: DrawnDurationValue;
  /**
   * Fires after the first event after which a condition holds: hw(orders-0) >= 100, or with a
   * message: 3rd deliver(ProduceResponse -> p1).
   */
  readonly when?: string;
  /** Fires when the step of this name has. */
  readonly after?: string;
  /** How other steps and expectations call it. */
  readonly name?: string;
  /** With `after`: how long after. */
  readonly delay?: DrawnDurationValue;
  /** With `when`: how often it may fire. Default 1. */
  readonly times?: number;
  /** With `when`: how long it is waited for. Default 2m. */
  readonly timeout?: DurationValue;
  /** After so long it ends by itself. */
  readonly for?: DrawnDurationValue;
  /** Remembers its nodes, for $NAME in later targets. */
  readonly as?: string | Readonly<Record<string, string>>;
  /** It may never fire, or find that its target names no node. */
  readonly optional?: boolean;
  /** Skipped if this would not hold without the nodes that it stops: alive(brokers) >= 2. */
  readonly keep?: string;
  /** Kills the process; the page cache survives. With `for` it is started again. */
  readonly crash?: string;
  /** Starts the process, if it is down. */
  readonly restart?: string;
  /** How much later than the fault each node starts, drawn for each. */
  readonly stagger?: DrawnDurationValue;
  /** Stops the process in order (SIGTERM). With `for` it is started again. */
  readonly shutdown?: string;
  /** Freezes the process (SIGSTOP). With `for` it goes on. */
  readonly pause?: string;
  /** Lets a paused process go on. */
  readonly resume?: string;
  /** Cuts the power: what was not flushed is lost. With `for` the power comes back. */
  readonly "power-off"?: string;
  /** What becomes of unflushed pages. */
  readonly unflushed?:
    | "lost"
    | "kept"
    | "torn"
    | "random-prefix"
    | "zeros"
    | "garbage"
    | "any"
    | `one-of(${string})`;
  /** Gives power back and starts the process. */
  readonly "power-on"?: string;
  /** Cuts nodes off from all others. With `for` the network heals. */
  readonly isolate?: string;
  /** `to`: what they send to others is held; `from`: what others send to them. */
  readonly direction?: "both" | "to" | "from" | `one-of(${string})`;
  /** Cuts the network between nodes. With `for` it heals. */
  readonly partition?: {
    readonly from?: string;
    readonly to?: string;
    readonly direction?: "both" | "to" | "from" | `one-of(${string})`;
    readonly groups?: readonly (readonly string[] | string)[];
  };
  /** Adds latency to links. With `for` it ends. */
  readonly "delay-link"?: DrawnDurationValue;
  /** `all`: every link; instead of `from` and `to`. */
  readonly links?: "all" | `one-of(${string})`;
  /** One end of the links; all nodes if absent. */
  readonly from?: string;
  /** The other end of the links; all other nodes if absent. */
  readonly to?: string;
  /** Limits the bandwidth of links. With `for` it ends. */
  readonly "slow-link"?: string;
  /** Resets connections; what is in flight on them is lost. */
  readonly reset?: string;
  /** Only those with these nodes; with all if absent. */
  readonly with?: string;
  /** Loses single messages. With `for` it ends. */
  readonly drop?: number | string;
  /** Delivers single messages twice. With `for` it ends. */
  readonly duplicate?: number | string;
  /** Lets later messages overtake single ones. With `for` it ends. */
  readonly reorder?: number | string;
  /** Slows a node's disk down. With `for` it ends. */
  readonly "slow-disk"?: string;
  /** How many times as long it takes. */
  readonly factor?: number;
  /** Lets some operations of a disk take longer. With `for` it ends. */
  readonly "disk-spikes"?: string;
  /** With which probability an operation takes longer. */
  readonly chance?: number | string;
  /** How much longer. */
  readonly latency?: DrawnDurationValue;
  /** Lets a disk answer nothing for a while: `time`, not `for`, says how long. */
  readonly "disk-stall"?: string;
  /** For how long, drawn for each node. */
  readonly time?: DrawnDurationValue;
  /** What waits: `all`, or `fsync` only, while the page cache still takes writes. */
  readonly operations?: "all" | "fsync" | `one-of(${string})`;
  /** Lets reads of a disk fail (EIO). With `for` it ends. */
  readonly "disk-read-error"?: string;
  /** Only the log of this partition. */
  readonly log?: string;
  /** Only files of this kind. */
  readonly file?:
    | "any"
    | "log"
    | "index"
    | "timeindex"
    | "txnindex"
    | "snapshot"
    | "checkpoint"
    | `one-of(${string})`;
  /** Only this log directory, one of `log.dirs`: each is a disk of its own. */
  readonly directory?: string;
  /** After so many failures it is over. */
  readonly count?: number;
  /**
   * Only reads that miss the page cache meet the fault: with `dropped` it forgets first what is not
   * dirty, with `kept` it hides the fault until the power is off.
   */
  readonly "page-cache"?: "dropped" | "kept" | `one-of(${string})`;
  /** Lets writes to a disk fail (EIO). With `for` it ends. */
  readonly "disk-write-error"?: string;
  /** Fills a disk up (ENOSPC). With `for` there is room again. */
  readonly "disk-full"?: string;
  /** Bytes that are left. Default 0. */
  readonly free?: number | string;
  /** Makes a file system read-only (EROFS). With `for` it is writable again. */
  readonly "disk-readonly"?: string;
  /** Destroys a disk with all that is on it. With `for` it is replaced by an empty one. */
  readonly "disk-lost"?: string;
  /** Lets an fsync fail (EIO) and drops what it was to flush. With `for` it ends. */
  readonly "fsync-fails"?: string;
  /** Lets fsyncs succeed though nothing becomes durable. With `for` it ends. */
  readonly "fsync-lies"?: string;
  /** Flips bits of what lies on a disk. With `for` they are as they were. */
  readonly "bit-rot"?: string;
  /** How many, each anywhere. Default 1. */
  readonly bits?: number;
  /** Only in batches with these offsets: 100..200, of which the last is not one. */
  readonly offsets?: string;
  /** Lets a read return another page of these files. With `for` it ends. */
  readonly "misdirected-read"?: string;
  /** Lets a flush write a page over another one of these files. With `for` it ends. */
  readonly "misdirected-write"?: string;
  /** Sets a node's clock wrong. With `for` it is put right. */
  readonly "clock-skew"?: string;
  /** How far it jumps: 5s, or -5s. */
  readonly offset?: SignedDurationValue;
  /** How fast it then gains: 200ppm, or -200ppm. */
  readonly drift?: string;
  /** Ends a client in order. */
  readonly "stop-client"?: string;
  /**
   * Has a consumer's application pause partitions, and poll on (`KafkaConsumer.pause`). With `for`
   * it resumes them.
   */
  readonly "pause-reading"?: string;
  /** Which partition; Kafka throws if it is not assigned. Default: all that it has. */
  readonly of?: string;
  /**
   * Has a consumer's application read on elsewhere (`seek`, `seekToBeginning`, `seekToEnd`). What
   * is not assigned to it cannot be sought: Kafka throws, which is told, and the application goes
   * on.
   */
  readonly seek?: string;
  /** To which offset; or `beginning`, or `end`. */
  readonly position?: number | "beginning" | "end";
  /**
   * To the first record that has this timestamp, so long after the cluster was ready, or a later
   * one (`offsetsForTimes`); if negative, so long before now. If there is none, to the end.
   */
  readonly timestamp?: SignedDurationValue;
  /**
   * No fault: has a consumer's application ask where partitions begin or end (`beginningOffsets`,
   * `endOffsets`), or which record was the first of a time (`offsetsForTimes`), and wait for the
   * answer, which is told.
   */
  readonly "ask-offsets"?: string;
  /**
   * Where it ends (the default), to who reads committed records only its last stable offset; or
   * where it begins.
   */
  readonly which?: "end" | "beginning" | `one-of(${string})`;
  /** Gives a topic more partitions, as `kafka-topics.sh --alter --partitions` does. */
  readonly "add-partitions"?: string;
  /** How many it is to have then. */
  readonly total?: number;
  /** Has the oldest records of a partition deleted, as `kafka-delete-records.sh` does. */
  readonly "delete-records"?: string;
  /** Those below this offset; `high-watermark`: all that are committed. */
  readonly before?: number | "high-watermark";
  /**
   * Finds the hanging transactions of a partition and aborts them, as `kafka-transactions.sh
   * find-hanging` and `abort` do.
   */
  readonly "abort-hanging"?: string;
  /** Only those that have written nothing for longer than so. Default 15m. */
  readonly "max-transaction-timeout"?: DurationValue;
  /** No fault: a pin on the timeline, to be named in `after`. */
  readonly mark?: string;
}

/** `random-faults`. */
export interface RandomFaultsValue {
  /** What strikes. Default: every shape that Kafka promises to survive. */
  readonly generators?: readonly (ShapeName | ShapeGeneratorValue | FaultGeneratorValue)[];
  /** Does each seed draw which of them there are, and how fierce? Default true. */
  readonly swarm?: boolean;
  /**
   * Does each seed also draw configs that the scenario does not set, where something changes with
   * them: segments of a second, fetches of one batch, sessions shorter than lags? Default false.
   */
  readonly edges?: boolean;
  /** From then on nothing strikes, and without `duration` the story ends. Default 1m. */
  readonly "quiet-after"?: DurationValue;
  /** A step is skipped if this would not hold then: alive(isr(orders-0)) >= 1. */
  readonly keep?: string;
  /** May more befall the cluster than Kafka promises to survive? Default false. */
  readonly unlimited?: boolean;
}

export type ShapeName =
  | "crash"
  | "crash-while-writing"
  | "power-cut"
  | "shutdown"
  | "pause"
  | "isolate"
  | "partition"
  | "swizzle"
  | "fail-overs"
  | "stale-leader"
  | "elections"
  | "uneven-logs"
  | "slow-network"
  | "reset"
  | "slow-disk"
  | "clock-skew"
  | "burst"
  | "loose-messages"
  | "damage";

/** `random-faults/generators, each/shape`. */
export interface ShapeGeneratorValue {
  /** One of the shapes below. */
  readonly shape:
    | "crash"
    | "crash-while-writing"
    | "power-cut"
    | "shutdown"
    | "pause"
    | "isolate"
    | "partition"
    | "swizzle"
    | "fail-overs"
    | "stale-leader"
    | "elections"
    | "uneven-logs"
    | "slow-network"
    | "reset"
    | "slow-disk"
    | "clock-skew"
    | "burst"
    | "loose-messages"
    | "damage";
  /**
   * How long it is from one strike to the next, drawn each time: exponential(20s). Default: as
   * usual for the shape.
   */
  readonly every?: DrawnDurationValue;
  /** How long each lasts, drawn each time. Default: as usual for the shape. */
  readonly for?: DrawnDurationValue;
}

/** `random-faults/generators, each`. */
export interface FaultGeneratorValue {
  /** How long it is from one strike to the next, drawn each time: exponential(20s). */
  readonly every: DrawnDurationValue;
  /** How long each lasts, drawn each time. */
  readonly for?: DrawnDurationValue;
  /** Kills the process; the page cache survives. With `for` it is started again. */
  readonly crash?: string;
  /** Starts the process, if it is down. */
  readonly restart?: string;
  /** How much later than the fault each node starts, drawn for each. */
  readonly stagger?: DrawnDurationValue;
  /** Stops the process in order (SIGTERM). With `for` it is started again. */
  readonly shutdown?: string;
  /** Freezes the process (SIGSTOP). With `for` it goes on. */
  readonly pause?: string;
  /** Lets a paused process go on. */
  readonly resume?: string;
  /** Cuts the power: what was not flushed is lost. With `for` the power comes back. */
  readonly "power-off"?: string;
  /** What becomes of unflushed pages. */
  readonly unflushed?:
    | "lost"
    | "kept"
    | "torn"
    | "random-prefix"
    | "zeros"
    | "garbage"
    | "any"
    | `one-of(${string})`;
  /** Gives power back and starts the process. */
  readonly "power-on"?: string;
  /** Cuts nodes off from all others. With `for` the network heals. */
  readonly isolate?: string;
  /** `to`: what they send to others is held; `from`: what others send to them. */
  readonly direction?: "both" | "to" | "from" | `one-of(${string})`;
  /** Cuts the network between nodes. With `for` it heals. */
  readonly partition?: {
    readonly from?: string;
    readonly to?: string;
    readonly direction?: "both" | "to" | "from" | `one-of(${string})`;
    readonly groups?: readonly (readonly string[] | string)[];
  };
  /** Adds latency to links. With `for` it ends. */
  readonly "delay-link"?: DrawnDurationValue;
  /** `all`: every link; instead of `from` and `to`. */
  readonly links?: "all" | `one-of(${string})`;
  /** One end of the links; all nodes if absent. */
  readonly from?: string;
  /** The other end of the links; all other nodes if absent. */
  readonly to?: string;
  /** Limits the bandwidth of links. With `for` it ends. */
  readonly "slow-link"?: string;
  /** Resets connections; what is in flight on them is lost. */
  readonly reset?: string;
  /** Only those with these nodes; with all if absent. */
  readonly with?: string;
  /** Loses single messages. With `for` it ends. */
  readonly drop?: number | string;
  /** Delivers single messages twice. With `for` it ends. */
  readonly duplicate?: number | string;
  /** Lets later messages overtake single ones. With `for` it ends. */
  readonly reorder?: number | string;
  /** Slows a node's disk down. With `for` it ends. */
  readonly "slow-disk"?: string;
  /** How many times as long it takes. */
  readonly factor?: number;
  /** Lets some operations of a disk take longer. With `for` it ends. */
  readonly "disk-spikes"?: string;
  /** With which probability an operation takes longer. */
  readonly chance?: number | string;
  /** How much longer. */
  readonly latency?: DrawnDurationValue;
  /** Lets a disk answer nothing for a while: `time`, not `for`, says how long. */
  readonly "disk-stall"?: string;
  /** For how long, drawn for each node. */
  readonly time?: DrawnDurationValue;
  /** What waits: `all`, or `fsync` only, while the page cache still takes writes. */
  readonly operations?: "all" | "fsync" | `one-of(${string})`;
  /** Lets reads of a disk fail (EIO). With `for` it ends. */
  readonly "disk-read-error"?: string;
  /** Only the log of this partition. */
  readonly log?: string;
  /** Only files of this kind. */
  readonly file?:
    | "any"
    | "log"
    | "index"
    | "timeindex"
    | "txnindex"
    | "snapshot"
    | "checkpoint"
    | `one-of(${string})`;
  /** Only this log directory, one of `log.dirs`: each is a disk of its own. */
  readonly directory?: string;
  /** After so many failures it is over. */
  readonly count?: number;
  /**
   * Only reads that miss the page cache meet the fault: with `dropped` it forgets first what is not
   * dirty, with `kept` it hides the fault until the power is off.
   */
  readonly "page-cache"?: "dropped" | "kept" | `one-of(${string})`;
  /** Lets writes to a disk fail (EIO). With `for` it ends. */
  readonly "disk-write-error"?: string;
  /** Fills a disk up (ENOSPC). With `for` there is room again. */
  readonly "disk-full"?: string;
  /** Bytes that are left. Default 0. */
  readonly free?: number | string;
  /** Makes a file system read-only (EROFS). With `for` it is writable again. */
  readonly "disk-readonly"?: string;
  /** Destroys a disk with all that is on it. With `for` it is replaced by an empty one. */
  readonly "disk-lost"?: string;
  /** Lets an fsync fail (EIO) and drops what it was to flush. With `for` it ends. */
  readonly "fsync-fails"?: string;
  /** Lets fsyncs succeed though nothing becomes durable. With `for` it ends. */
  readonly "fsync-lies"?: string;
  /** Flips bits of what lies on a disk. With `for` they are as they were. */
  readonly "bit-rot"?: string;
  /** How many, each anywhere. Default 1. */
  readonly bits?: number;
  /** Only in batches with these offsets: 100..200, of which the last is not one. */
  readonly offsets?: string;
  /** Lets a read return another page of these files. With `for` it ends. */
  readonly "misdirected-read"?: string;
  /** Lets a flush write a page over another one of these files. With `for` it ends. */
  readonly "misdirected-write"?: string;
  /** Sets a node's clock wrong. With `for` it is put right. */
  readonly "clock-skew"?: string;
  /** How far it jumps: 5s, or -5s. */
  readonly offset?: SignedDurationValue;
  /** How fast it then gains: 200ppm, or -200ppm. */
  readonly drift?: string;
  /** Ends a client in order. */
  readonly "stop-client"?: string;
  /**
   * Has a consumer's application pause partitions, and poll on (`KafkaConsumer.pause`). With `for`
   * it resumes them.
   */
  readonly "pause-reading"?: string;
  /** Which partition; Kafka throws if it is not assigned. Default: all that it has. */
  readonly of?: string;
  /**
   * Has a consumer's application read on elsewhere (`seek`, `seekToBeginning`, `seekToEnd`). What
   * is not assigned to it cannot be sought: Kafka throws, which is told, and the application goes
   * on.
   */
  readonly seek?: string;
  /** To which offset; or `beginning`, or `end`. */
  readonly position?: number | "beginning" | "end";
  /**
   * To the first record that has this timestamp, so long after the cluster was ready, or a later
   * one (`offsetsForTimes`); if negative, so long before now. If there is none, to the end.
   */
  readonly timestamp?: SignedDurationValue;
  /**
   * No fault: has a consumer's application ask where partitions begin or end (`beginningOffsets`,
   * `endOffsets`), or which record was the first of a time (`offsetsForTimes`), and wait for the
   * answer, which is told.
   */
  readonly "ask-offsets"?: string;
  /**
   * Where it ends (the default), to who reads committed records only its last stable offset; or
   * where it begins.
   */
  readonly which?: "end" | "beginning" | `one-of(${string})`;
  /** Gives a topic more partitions, as `kafka-topics.sh --alter --partitions` does. */
  readonly "add-partitions"?: string;
  /** How many it is to have then. */
  readonly total?: number;
  /** Has the oldest records of a partition deleted, as `kafka-delete-records.sh` does. */
  readonly "delete-records"?: string;
  /** Those below this offset; `high-watermark`: all that are committed. */
  readonly before?: number | "high-watermark";
  /**
   * Finds the hanging transactions of a partition and aborts them, as `kafka-transactions.sh
   * find-hanging` and `abort` do.
   */
  readonly "abort-hanging"?: string;
  /** Only those that have written nothing for longer than so. Default 15m. */
  readonly "max-transaction-timeout"?: DurationValue;
  /** No fault: a pin on the timeline, to be named in `after`. */
  readonly mark?: string;
}

/** `variants, each`. */
export interface VariantValue {
  /** Values to replace, by path: topics/orders/config/flush.messages: 1. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** What is expected instead. */
  readonly expect?: readonly ExpectationValue[];
}

/** `lesson`. */
export interface LessonValue {
  /** What the learner is asked before the run. */
  readonly ask: string;
  /** Answers to choose from. */
  readonly choices?: readonly string[];
  /** What is true, and why. */
  readonly answer: string;
  /** Expressions worth looking at. */
  readonly "look-at"?: readonly string[];
}

/** Kafka's broker configs that are modelled, by Kafka's names. */
export interface BrokerConfigValue {
  /** Default: 30000. */
  readonly "replica.lag.time.max.ms"?: number | string;
  /** Default: 500. */
  readonly "replica.fetch.wait.max.ms"?: number | string;
  /** Default: 1. */
  readonly "replica.fetch.min.bytes"?: number | string;
  /** Default: 1048576. */
  readonly "replica.fetch.max.bytes"?: number | string;
  /** Default: 10485760. */
  readonly "replica.fetch.response.max.bytes"?: number | string;
  /** Default: 1000. */
  readonly "replica.fetch.backoff.ms"?: number | string;
  /** Default: 30000. */
  readonly "replica.socket.timeout.ms"?: number | string;
  /** Default: 5000. */
  readonly "replica.high.watermark.checkpoint.interval.ms"?: number | string;
  /** Default: 60000. */
  readonly "log.flush.offset.checkpoint.interval.ms"?: number | string;
  /** Default: 60000. */
  readonly "log.flush.start.offset.checkpoint.interval.ms"?: number | string;
  /** Default: 9007199254740991. */
  readonly "log.flush.scheduler.interval.ms"?: number | string;
  /** Default: 300000. */
  readonly "log.retention.check.interval.ms"?: number | string;
  /** Default: 30000. */
  readonly "log.initial.task.delay.ms"?: number | string;
  /** Default: true. */
  readonly "log.cleaner.enable"?: boolean | string;
  /** Default: 15000. */
  readonly "log.cleaner.backoff.ms"?: number | string;
  /** Default: 134217728. */
  readonly "log.cleaner.dedupe.buffer.size"?: number | string;
  /** Default: 0.9. */
  readonly "log.cleaner.io.buffer.load.factor"?: number | string;
  /** Default: 57671680. */
  readonly "fetch.max.bytes"?: number | string;
  /** Default: 1000. */
  readonly "max.incremental.fetch.session.cache.slots"?: number | string;
  /** Default: 86400000. */
  readonly "producer.id.expiration.ms"?: number | string;
  /** Default: 600000. */
  readonly "producer.id.expiration.check.interval.ms"?: number | string;
  /** Default: true. */
  readonly "transaction.partition.verification.enable"?: boolean | string;
  /** Default: 20. */
  readonly "add.partitions.to.txn.retry.backoff.ms"?: number | string;
  /** Default: 100. */
  readonly "add.partitions.to.txn.retry.backoff.max.ms"?: number | string;
  /** Default: 6000. */
  readonly "group.min.session.timeout.ms"?: number | string;
  /** Default: 1800000. */
  readonly "group.max.session.timeout.ms"?: number | string;
  /** Default: 3000. */
  readonly "group.initial.rebalance.delay.ms"?: number | string;
  /** Default: 2147483647. */
  readonly "group.max.size"?: number | string;
  /** Default: 45000. */
  readonly "group.consumer.session.timeout.ms"?: number | string;
  /** Default: 5000. */
  readonly "group.consumer.heartbeat.interval.ms"?: number | string;
  /** Default: 2147483647. */
  readonly "group.consumer.max.size"?: number | string;
  /** Default: 1000. */
  readonly "group.consumer.assignment.interval.ms"?: number | string;
  /** Default: bidirectional. */
  readonly "group.consumer.migration.policy"?:
    | "bidirectional"
    | "disabled"
    | "upgrade"
    | "downgrade";
  /** Default: 4096. */
  readonly "offset.metadata.max.bytes"?: number | string;
  /** Default: 5000. */
  readonly "offsets.commit.timeout.ms"?: number | string;
  /** Default: 5242880. */
  readonly "offsets.load.buffer.size"?: number | string;
  /** Default: 10080. */
  readonly "offsets.retention.minutes"?: number | string;
  /** Default: 600000. */
  readonly "offsets.retention.check.interval.ms"?: number | string;
  /** Default: 0. */
  readonly "offsets.topic.compression.codec"?: number | string;
  /** Default: 50. */
  readonly "offsets.topic.num.partitions"?: number | string;
  /** Default: 3. */
  readonly "offsets.topic.replication.factor"?: number | string;
  /** Default: 104857600. */
  readonly "offsets.topic.segment.bytes"?: number | string;
  /** Default: 5242880. */
  readonly "transaction.state.log.load.buffer.size"?: number | string;
  /** Default: 2. */
  readonly "transaction.state.log.min.isr"?: number | string;
  /** Default: 50. */
  readonly "transaction.state.log.num.partitions"?: number | string;
  /** Default: 3. */
  readonly "transaction.state.log.replication.factor"?: number | string;
  /** Default: 104857600. */
  readonly "transaction.state.log.segment.bytes"?: number | string;
  /** Default: 900000. */
  readonly "transaction.max.timeout.ms"?: number | string;
  /** Default: 604800000. */
  readonly "transactional.id.expiration.ms"?: number | string;
  /** Default: 10000. */
  readonly "transaction.abort.timed.out.transaction.cleanup.interval.ms"?: number | string;
  /** Default: 3600000. */
  readonly "transaction.remove.expired.transaction.cleanup.interval.ms"?: number | string;
  /** Default: true. */
  readonly "controlled.shutdown.enable"?: boolean | string;
  /** Default: true. */
  readonly "auto.leader.rebalance.enable"?: boolean | string;
  /** Default: 300. */
  readonly "leader.imbalance.check.interval.seconds"?: number | string;
  /** Default: 10. */
  readonly "leader.imbalance.per.broker.percentage"?: number | string;
  /** Default: 600000. */
  readonly "connections.max.idle.ms"?: number | string;
  /** Default: 1. */
  readonly "default.replication.factor"?: number | string;
  /** Default: 1. */
  readonly "num.partitions"?: number | string;
  /** Default: 2000. */
  readonly "broker.heartbeat.interval.ms"?: number | string;
  /** Default: 9000. */
  readonly "broker.session.timeout.ms"?: number | string;
  /** Default: 60000. */
  readonly "initial.broker.registration.timeout.ms"?: number | string;
  /** Default: . */
  readonly "broker.rack"?: string | number;
  /** Default: kafka-logs. */
  readonly "log.dirs"?: string | number;
  /** Default: 30000. */
  readonly "log.dir.failure.timeout.ms"?: number | string;
  /** Default: 1000. */
  readonly "controller.quorum.election.timeout.ms"?: number | string;
  /** Default: 2000. */
  readonly "controller.quorum.fetch.timeout.ms"?: number | string;
  /** Default: 1000. */
  readonly "controller.quorum.election.backoff.max.ms"?: number | string;
  /** Default: 25. */
  readonly "controller.quorum.append.linger.ms"?: number | string;
  /** Default: 2000. */
  readonly "controller.quorum.request.timeout.ms"?: number | string;
  /** Default: 20. */
  readonly "controller.quorum.retry.backoff.ms"?: number | string;
  /** Default: 500. */
  readonly "metadata.max.idle.interval.ms"?: number | string;
  /** Default: 1. */
  readonly "min.insync.replicas"?: number | string;
  /** Default: false. */
  readonly "unclean.leader.election.enable"?: boolean | string;
  /** Default: 1048588. */
  readonly "message.max.bytes"?: number | string;
  /** Default: 1073741824. */
  readonly "log.segment.bytes"?: number | string;
  /** Default: 604800000. */
  readonly "log.roll.ms"?: number | string;
  /** Default: 0. */
  readonly "log.roll.jitter.ms"?: number | string;
  /** Default: 10485760. */
  readonly "log.index.size.max.bytes"?: number | string;
  /** Default: 4096. */
  readonly "log.index.interval.bytes"?: number | string;
  /** Default: 9007199254740991. */
  readonly "log.flush.interval.messages"?: number | string;
  /** Default: 9007199254740991. */
  readonly "log.flush.interval.ms"?: number | string;
  /** Default: delete. */
  readonly "log.cleanup.policy"?: "delete" | "compact" | "delete,compact" | "compact,delete";
  /** Default: 604800000. */
  readonly "log.retention.ms"?: number | string;
  /** Default: -1. */
  readonly "log.retention.bytes"?: number | string;
  /** Default: 60000. */
  readonly "log.segment.delete.delay.ms"?: number | string;
  /** Default: 0.5. */
  readonly "log.cleaner.min.cleanable.ratio"?: number | string;
  /** Default: 0. */
  readonly "log.cleaner.min.compaction.lag.ms"?: number | string;
  /** Default: 9007199254740991. */
  readonly "log.cleaner.max.compaction.lag.ms"?: number | string;
  /** Default: 86400000. */
  readonly "log.cleaner.delete.retention.ms"?: number | string;
  /** Default: producer. */
  readonly "compression.type"?: "producer" | "uncompressed" | "gzip" | "snappy" | "lz4" | "zstd";
  /** Default: -1. */
  readonly "compression.gzip.level"?: number | string;
  /** Default: 9. */
  readonly "compression.lz4.level"?: number | string;
  /** Default: 3. */
  readonly "compression.zstd.level"?: number | string;
  /** Default: CreateTime. */
  readonly "log.message.timestamp.type"?: "CreateTime" | "LogAppendTime";
  /** Default: 9007199254740991. */
  readonly "log.message.timestamp.before.max.ms"?: number | string;
  /** Default: 3600000. */
  readonly "log.message.timestamp.after.max.ms"?: number | string;
}

/** Kafka's topic configs that are modelled, by Kafka's names. */
export interface TopicConfigValue {
  /** Default: 1. */
  readonly "min.insync.replicas"?: number | string;
  /** Default: false. */
  readonly "unclean.leader.election.enable"?: boolean | string;
  /** Default: 1048588. */
  readonly "max.message.bytes"?: number | string;
  /** Default: 1073741824. */
  readonly "segment.bytes"?: number | string;
  /** Default: 604800000. */
  readonly "segment.ms"?: number | string;
  /** Default: 0. */
  readonly "segment.jitter.ms"?: number | string;
  /** Default: 10485760. */
  readonly "segment.index.bytes"?: number | string;
  /** Default: 4096. */
  readonly "index.interval.bytes"?: number | string;
  /** Default: 9007199254740991. */
  readonly "flush.messages"?: number | string;
  /** Default: 9007199254740991. */
  readonly "flush.ms"?: number | string;
  /** Default: delete. */
  readonly "cleanup.policy"?: "delete" | "compact" | "delete,compact" | "compact,delete";
  /** Default: 604800000. */
  readonly "retention.ms"?: number | string;
  /** Default: -1. */
  readonly "retention.bytes"?: number | string;
  /** Default: 60000. */
  readonly "file.delete.delay.ms"?: number | string;
  /** Default: 0.5. */
  readonly "min.cleanable.dirty.ratio"?: number | string;
  /** Default: 0. */
  readonly "min.compaction.lag.ms"?: number | string;
  /** Default: 9007199254740991. */
  readonly "max.compaction.lag.ms"?: number | string;
  /** Default: 86400000. */
  readonly "delete.retention.ms"?: number | string;
  /** Default: producer. */
  readonly "compression.type"?: "producer" | "uncompressed" | "gzip" | "snappy" | "lz4" | "zstd";
  /** Default: -1. */
  readonly "compression.gzip.level"?: number | string;
  /** Default: 9. */
  readonly "compression.lz4.level"?: number | string;
  /** Default: 3. */
  readonly "compression.zstd.level"?: number | string;
  /** Default: CreateTime. */
  readonly "message.timestamp.type"?: "CreateTime" | "LogAppendTime";
  /** Default: 9007199254740991. */
  readonly "message.timestamp.before.max.ms"?: number | string;
  /** Default: 3600000. */
  readonly "message.timestamp.after.max.ms"?: number | string;
}

/** Kafka's producer configs that are modelled, by Kafka's names. */
export interface ProducerConfigValue {
  /** Default: all. */
  readonly acks?: "all" | "-1" | -1 | "0" | 0 | "1" | 1;
  /** Default: 16384. */
  readonly "batch.size"?: number | string;
  /** Default: 5. */
  readonly "linger.ms"?: number | string;
  /** Default: none. */
  readonly "compression.type"?: "none" | "gzip" | "snappy" | "lz4" | "zstd";
  /** Default: -1. */
  readonly "compression.gzip.level"?: number | string;
  /** Default: 9. */
  readonly "compression.lz4.level"?: number | string;
  /** Default: 3. */
  readonly "compression.zstd.level"?: number | string;
  /** Default: 5. */
  readonly "max.in.flight.requests.per.connection"?: number | string;
  /** Default: true. */
  readonly "enable.idempotence"?: boolean | string;
  /** Default: 2147483647. */
  readonly retries?: number | string;
  /** Default: 100. */
  readonly "retry.backoff.ms"?: number | string;
  /** Default: 1000. */
  readonly "retry.backoff.max.ms"?: number | string;
  /** Default: 120000. */
  readonly "delivery.timeout.ms"?: number | string;
  /** Default: 30000. */
  readonly "request.timeout.ms"?: number | string;
  /** Default: 33554432. */
  readonly "buffer.memory"?: number | string;
  /** Default: 60000. */
  readonly "max.block.ms"?: number | string;
  /** Default: 1048576. */
  readonly "max.request.size"?: number | string;
  /** Default: 300000. */
  readonly "metadata.max.age.ms"?: number | string;
  /** Default: 50. */
  readonly "reconnect.backoff.ms"?: number | string;
  /** Default: 1000. */
  readonly "reconnect.backoff.max.ms"?: number | string;
  /** Default: false. */
  readonly "partitioner.ignore.keys"?: boolean | string;
  /** Default: . */
  readonly "transactional.id"?: string | number;
  /** Default: 60000. */
  readonly "transaction.timeout.ms"?: number | string;
}

/** Kafka's consumer configs that are modelled, by Kafka's names. */
export interface ConsumerConfigValue {
  /** Default: latest. */
  readonly "auto.offset.reset"?: "latest" | "earliest" | "none" | `by_duration:${string}`;
  /** Default: 1. */
  readonly "fetch.min.bytes"?: number | string;
  /** Default: 500. */
  readonly "fetch.max.wait.ms"?: number | string;
  /** Default: 52428800. */
  readonly "fetch.max.bytes"?: number | string;
  /** Default: 1048576. */
  readonly "max.partition.fetch.bytes"?: number | string;
  /** Default: 500. */
  readonly "max.poll.records"?: number | string;
  /** Default: 30000. */
  readonly "request.timeout.ms"?: number | string;
  /** Default: 100. */
  readonly "retry.backoff.ms"?: number | string;
  /** Default: 1000. */
  readonly "retry.backoff.max.ms"?: number | string;
  /** Default: 300000. */
  readonly "metadata.max.age.ms"?: number | string;
  /** Default: 50. */
  readonly "reconnect.backoff.ms"?: number | string;
  /** Default: 1000. */
  readonly "reconnect.backoff.max.ms"?: number | string;
  /** Default: 60000. */
  readonly "default.api.timeout.ms"?: number | string;
  /** Default: . */
  readonly "group.instance.id"?: string | number;
  /** Default: classic. */
  readonly "group.protocol"?: "classic" | "consumer";
  /** Default: . */
  readonly "group.remote.assignor"?: string | number;
  /** Default: 45000. */
  readonly "session.timeout.ms"?: number | string;
  /** Default: 3000. */
  readonly "heartbeat.interval.ms"?: number | string;
  /** Default: 300000. */
  readonly "max.poll.interval.ms"?: number | string;
  /**
   * Default:
   * org.apache.kafka.clients.consumer.RangeAssignor,org.apache.kafka.clients.consumer.CooperativeStickyAssignor.
   */
  readonly "partition.assignment.strategy"?: string | number;
  /** Default: true. */
  readonly "enable.auto.commit"?: boolean | string;
  /** Default: 5000. */
  readonly "auto.commit.interval.ms"?: number | string;
  /** Default: 6000. */
  readonly "zookeeper.session.timeout.ms"?: number | string;
  /** Default: 2000. */
  readonly "rebalance.backoff.ms"?: number | string;
  /** Default: 4. */
  readonly "rebalance.max.retries"?: number | string;
  /** Default: read_uncommitted. */
  readonly "isolation.level"?: "read_uncommitted" | "read_committed";
}

/** What will be so: a guarantee, by its name, or one of these. */
export type ExpectationValue =
  | GuaranteeName
  | LeaderWithinExpectation
  | IsrRestoredWithinExpectation
  | AvailableExpectation
  | UnavailableExpectation
  | AlwaysExpectation
  | NeverExpectation
  | AtEndExpectation
  | EventuallyExpectation
  | SometimesExpectation
  | ErrorExpectation
  | EventExpectation
  | TruncationExpectation
  | ViolationExpectation;

/** The name of a guarantee: see docs/guarantees.md. */
export type GuaranteeName =
  | "no-acked-loss"
  | "no-duplicates"
  | "sequences-in-order"
  | "no-reorder"
  | "no-divergence"
  | "committed-prefix-kept"
  | "last-value-kept"
  | "expired-only-by-policy"
  | "cleaned-below-hw"
  | "markers-outlive-data"
  | "offsets-never-change"
  | "log-in-bounds"
  | "one-leader-per-epoch"
  | "leader-in-isr"
  | "clean-election"
  | "epochs-rise"
  | "isr-grows-by-request"
  | "isr-join-caught-up"
  | "isr-known-to-leader"
  | "hw-within-isr"
  | "hw-needs-min-isr"
  | "candidates-complete"
  | "ack-after-commit"
  | "copy-left"
  | "appends-in-role"
  | "promise-kept"
  | "no-dirty-read"
  | "coordinator-knows-log"
  | "decision-once"
  | "records-in-own-transaction"
  | "fenced-stays-fenced"
  | "one-producer-per-epoch"
  | "markers-follow-decision"
  | "told-as-decided"
  | "last-stable-offset"
  | "no-aborted-read"
  | "assignment-disjoint"
  | "one-owner"
  | "group-epochs-rise"
  | "commits-by-members"
  | "commits-what-was-read"
  | "commits-kept"
  | "consistent-read"
  | "end-not-behind"
  | "one-controller-per-epoch"
  | "metadata-agrees"
  | "metadata-kept"
  | "offsets-agree"
  | "seen-once"
  | "acked-gets-read"
  | "failed-never-read"
  | "polls-in-order"
  | "reads-complete"
  | "readers-agree"
  | "acks-in-order"
  | "appends-in-real-time"
  | "transactions-whole"
  | "processed-as-promised"
  | "worked-on-once"
  | "cluster-recovers"
  | "isr-requests-end"
  | "isr-refills"
  | "replicas-converge"
  | "acked-everywhere"
  | "work-goes-on"
  | "group-settles"
  | "groups-catch-up"
  | "transactions-end"
  | "sends-end";

/** A new leader is elected in time. */
export interface LeaderWithinExpectation {
  /** What is measured. */
  readonly "leader-within": {
    readonly partition: string;
    readonly time: DurationValue;
    readonly after?: string;
  };
}

/** All replicas are in sync again in time. */
export interface IsrRestoredWithinExpectation {
  /** What is measured. */
  readonly "isr-restored-within": {
    readonly partition: string;
    readonly time: DurationValue;
    readonly after: string;
  };
}

/** A partition never is without a running leader, or not for longer than so. */
export interface AvailableExpectation {
  /** Which partition. */
  readonly available: string;
  /** For longer than this. Default 0. */
  readonly "longer-than"?: DurationValue;
}

/** A partition is without a running leader, at least once for longer than so. */
export interface UnavailableExpectation {
  /** Which partition. */
  readonly unavailable: string;
  /** For longer than this. Default 0. */
  readonly "longer-than"?: DurationValue;
}

/** The condition holds after every event. */
export interface AlwaysExpectation {
  /** The condition. */
  readonly always: string;
}

/** The condition holds after no event. */
export interface NeverExpectation {
  /** The condition. */
  readonly never: string;
}

/** The condition holds when the cluster has settled. */
export interface AtEndExpectation {
  /** The condition. */
  readonly "at-end": string;
}

/** The condition holds at some time after everything was healed. */
export interface EventuallyExpectation {
  /** The condition. */
  readonly eventually: string;
}

/** The condition holds at some time: what the scenario is about does happen. */
export interface SometimesExpectation {
  /** The condition. */
  readonly sometimes: string;
}

/** A client meets an error. */
export interface ErrorExpectation {
  /** Kafka's name for the error. */
  readonly error:
    | "UNKNOWN_SERVER_ERROR"
    | "OFFSET_OUT_OF_RANGE"
    | "CORRUPT_MESSAGE"
    | "UNKNOWN_TOPIC_OR_PARTITION"
    | "LEADER_NOT_AVAILABLE"
    | "NOT_LEADER_OR_FOLLOWER"
    | "REQUEST_TIMED_OUT"
    | "REPLICA_NOT_AVAILABLE"
    | "MESSAGE_TOO_LARGE"
    | "OFFSET_METADATA_TOO_LARGE"
    | "NETWORK_EXCEPTION"
    | "COORDINATOR_LOAD_IN_PROGRESS"
    | "COORDINATOR_NOT_AVAILABLE"
    | "NOT_COORDINATOR"
    | "INVALID_TOPIC_EXCEPTION"
    | "RECORD_LIST_TOO_LARGE"
    | "NOT_ENOUGH_REPLICAS"
    | "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    | "INVALID_REQUIRED_ACKS"
    | "ILLEGAL_GENERATION"
    | "INCONSISTENT_GROUP_PROTOCOL"
    | "INVALID_GROUP_ID"
    | "UNKNOWN_MEMBER_ID"
    | "INVALID_SESSION_TIMEOUT"
    | "REBALANCE_IN_PROGRESS"
    | "INVALID_COMMIT_OFFSET_SIZE"
    | "INVALID_TIMESTAMP"
    | "UNSUPPORTED_VERSION"
    | "TOPIC_ALREADY_EXISTS"
    | "INVALID_PARTITIONS"
    | "INVALID_REPLICATION_FACTOR"
    | "INVALID_REPLICA_ASSIGNMENT"
    | "INVALID_CONFIG"
    | "NOT_CONTROLLER"
    | "INVALID_REQUEST"
    | "POLICY_VIOLATION"
    | "OUT_OF_ORDER_SEQUENCE_NUMBER"
    | "DUPLICATE_SEQUENCE_NUMBER"
    | "INVALID_PRODUCER_EPOCH"
    | "INVALID_TXN_STATE"
    | "INVALID_PRODUCER_ID_MAPPING"
    | "INVALID_TRANSACTION_TIMEOUT"
    | "CONCURRENT_TRANSACTIONS"
    | "TRANSACTION_COORDINATOR_FENCED"
    | "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
    | "OPERATION_NOT_ATTEMPTED"
    | "KAFKA_STORAGE_ERROR"
    | "UNKNOWN_PRODUCER_ID"
    | "NON_EMPTY_GROUP"
    | "GROUP_ID_NOT_FOUND"
    | "FETCH_SESSION_ID_NOT_FOUND"
    | "INVALID_FETCH_SESSION_EPOCH"
    | "FENCED_LEADER_EPOCH"
    | "UNKNOWN_LEADER_EPOCH"
    | "STALE_BROKER_EPOCH"
    | "OFFSET_NOT_AVAILABLE"
    | "MEMBER_ID_REQUIRED"
    | "GROUP_MAX_SIZE_REACHED"
    | "FENCED_INSTANCE_ID"
    | "ELIGIBLE_LEADERS_NOT_AVAILABLE"
    | "ELECTION_NOT_NEEDED"
    | "GROUP_SUBSCRIBED_TO_TOPIC"
    | "INVALID_RECORD"
    | "UNSTABLE_OFFSET_COMMIT"
    | "PRODUCER_FENCED"
    | "INVALID_UPDATE_VERSION"
    | "UNKNOWN_TOPIC_ID"
    | "DUPLICATE_BROKER_REGISTRATION"
    | "BROKER_ID_NOT_REGISTERED"
    | "INCONSISTENT_TOPIC_ID"
    | "INCONSISTENT_CLUSTER_ID"
    | "TRANSACTIONAL_ID_NOT_FOUND"
    | "INELIGIBLE_REPLICA"
    | "NEW_LEADER_ELECTED"
    | "FENCED_MEMBER_EPOCH"
    | "UNRELEASED_INSTANCE_ID"
    | "UNSUPPORTED_ASSIGNOR"
    | "STALE_MEMBER_EPOCH"
    | "TRANSACTION_ABORTABLE"
    | "INVALID_VOTER_KEY";
  /** Only to these clients. Default: to any. */
  readonly to?: string;
}

/** Something of this kind happens. */
export interface EventExpectation {
  /** The kind of fact. */
  readonly event:
    | "node-started"
    | "node-stopped"
    | "node-paused"
    | "node-resumed"
    | "unflushed-lost"
    | "disk-disturbed"
    | "controller-elected"
    | "controller-resigned"
    | "broker-registered"
    | "broker-fenced"
    | "broker-unfenced"
    | "partition-changed"
    | "log-loaded"
    | "truncated"
    | "log-start-moved"
    | "log-cleaned"
    | "log-directory-failed"
    | "became-leader"
    | "became-follower"
    | "isr-proposed"
    | "coordinator-loaded"
    | "coordinator-unloaded"
    | "group-state-changed"
    | "group-migrated"
    | "group-member-joined"
    | "group-member-left"
    | "group-assigned"
    | "offsets-committed"
    | "offsets-removed"
    | "zookeeper-session-ended"
    | "zookeeper-rebalance-ended"
    | "transaction-state-changed"
    | "transaction-begun"
    | "transaction-ended"
    | "producer-fenced"
    | "producer-id-rotated"
    | "hanging-transaction-found"
    | "position-reset"
    | "offset-told"
    | "call-failed"
    | "partitions-assigned"
    | "partitions-revoked"
    | "partitions-lost"
    | "commit-ended"
    | "log-recovery-truncated"
    | "unclean-election";
  /** Only at one of these nodes. */
  readonly broker?: string;
  /** Only in this partition. */
  readonly partition?: string;
}

/** A replica cuts off the end of its log. */
export interface TruncationExpectation {
  /** Where. */
  readonly truncation: { readonly broker?: string; readonly partition?: string };
}

/** A guarantee is violated: the loss is the lesson. */
export interface ViolationExpectation {
  /** The kind of violation. */
  readonly violation: ViolationKind;
  /** Only in this partition. */
  readonly partition?: string;
  /** How many records it concerns at least. Default 1. */
  readonly "at-least"?: number;
}

export type ViolationKind =
  | "acked-record-lost"
  | "duplicate-record"
  | "sequence-out-of-order"
  | "epoch-fallen"
  | "record-reordered"
  | "log-divergence"
  | "committed-record-truncated"
  | "last-value-lost"
  | "record-expired-early"
  | "uncommitted-record-cleaned"
  | "marker-cleaned-early"
  | "offset-changed"
  | "log-out-of-bounds"
  | "two-leaders-in-epoch"
  | "leader-not-in-isr"
  | "unclean-leader"
  | "epoch-not-risen"
  | "isr-grown-unasked"
  | "joined-behind"
  | "isr-unknown-to-leader"
  | "hw-beyond-isr"
  | "hw-without-min-isr"
  | "candidate-incomplete"
  | "ack-before-commit"
  | "last-copy-lost"
  | "append-out-of-role"
  | "promise-broken"
  | "uncommitted-record-read"
  | "state-not-in-log"
  | "state-not-loaded"
  | "decision-changed"
  | "illegal-transition"
  | "epoch-taken-back"
  | "record-outside-transaction"
  | "record-of-another"
  | "fenced-producer-wrote"
  | "epoch-held-twice"
  | "producer-id-held-twice"
  | "marker-without-decision"
  | "marker-of-another"
  | "marker-missing"
  | "told-otherwise"
  | "ended-otherwise"
  | "last-stable-offset-wrong"
  | "last-stable-offset-went-back"
  | "aborted-record-read"
  | "undecided-record-read"
  | "assigned-twice"
  | "assigned-unwanted"
  | "left-out"
  | "two-owners"
  | "given-while-owned"
  | "not-in-target"
  | "unowned-read"
  | "generation-fell"
  | "member-epoch-fell"
  | "late-commit"
  | "commit-of-others"
  | "commit-past-members"
  | "unread-committed"
  | "commit-not-stored"
  | "commit-lost"
  | "expired-in-use"
  | "consumed-record-lost"
  | "end-told-too-low"
  | "two-controllers-in-epoch"
  | "metadata-diverged"
  | "committed-metadata-lost"
  | "record-changed"
  | "record-seen-twice"
  | "acked-record-passed"
  | "acked-record-unseen"
  | "failed-record-read"
  | "poll-skipped"
  | "poll-went-back"
  | "record-passed-over"
  | "readers-differ"
  | "acks-out-of-order"
  | "append-behind-known"
  | "aborted-write-read"
  | "committed-write-passed"
  | "transaction-torn"
  | "read-before-commit"
  | "input-doubled"
  | "input-passed-over"
  | "input-ahead"
  | "row-doubled"
  | "row-missing"
  | "record-worked-on-again"
  | "record-left-out"
  | "server-down"
  | "no-controller"
  | "broker-fenced"
  | "metadata-behind"
  | "no-leader"
  | "isr-request-pending"
  | "isr-stays-small"
  | "replicas-differ"
  | "acked-record-not-everywhere"
  | "writes-stall"
  | "reads-stall"
  | "group-restless"
  | "member-left-out"
  | "partition-unowned"
  | "member-stalls"
  | "commit-behind"
  | "transaction-hangs"
  | "transaction-not-ended"
  | "send-unanswered";
