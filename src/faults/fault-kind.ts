import type { Duration } from "../base/time.ts";
import type { PartitionName } from "../kafka/ids.ts";
import type { OffsetRange } from "../ports/disk-failure.ts";
import type { Hands } from "../ports/hands.ts";
import type { NodeAddress } from "../ports/network.ts";
import type { DurationSource, Ratio } from "../ports/random.ts";

/** What a parameter of a fault takes; the scenario language has a form for each. */
export type ParameterType =
  /** A target of brokers, controllers or clients; of brokers and controllers; of clients; of those that consume. */
  | "nodes"
  | "servers"
  | "clients"
  | "consumers"
  /** A list of lists of targets. */
  | "groups"
  /** Drawn each time it is needed. */
  | "latency"
  /** Drawn once for each node. */
  | "stagger"
  /** Given once, as a number of microseconds. */
  | "duration"
  | "offset"
  | "drift"
  | "factor"
  /** How many: an integer from 1. */
  | "count"
  /** Bytes. */
  | "size"
  /** Offsets, the last one not included: `100..200`. */
  | "offsets"
  /** An offset, or `high-watermark`, which is told as -1. */
  | "bound"
  /** An offset, or `beginning` or `end`, which are told as -2 and -1. */
  | "position"
  /** A time after the cluster was ready; or, if negative, before now. */
  | "moment"
  /** The name of one topic, one partition, or one of `log.dirs`. */
  | "topic"
  | "partition"
  | "log-directory"
  | "probability"
  | "bandwidth"
  | "word"
  | "text";

/** One thing that a fault is told. */
export interface Parameter {
  /** Its key in the scenario. */
  readonly name: string;
  readonly type: ParameterType;
  readonly meaning: string;
  readonly required?: boolean;
  /** For words: those that are allowed, the default first. */
  readonly words?: readonly string[];
}

/** What a fault was told, everything drawn and resolved at the instant when it begins. */
export interface FaultArguments {
  has(parameter: string): boolean;
  /** The nodes of a target, in the order of addresses; empty if the parameter was not given. */
  nodes(parameter: string): readonly NodeAddress[];
  groups(parameter: string): readonly (readonly NodeAddress[])[];
  /** Every node of the run that is not among these. */
  others(nodes: readonly NodeAddress[]): readonly NodeAddress[];
  latency(parameter: string): DurationSource;
  /** A number: also a duration, a count, a size, a bound, a position, a clock's offset or drift. */
  number(parameter: string): number;
  offsets(parameter: string): OffsetRange;
  probability(parameter: string): Ratio;
  /** The word given, or the parameter's default. */
  word(parameter: string): string;
  text(parameter: string): string;
  /** A delay for one of the nodes, drawn; 0 if the parameter was not given. */
  stagger(parameter: string): Duration;
  /** `broker-2, leader of orders-0`: the nodes of a target, and what they were to it. */
  describe(parameter: string): string;
  /** `broker-1, broker-2`. */
  names(nodes: readonly NodeAddress[]): string;
}

/** Where a fault acts. */
export interface Stage {
  readonly hands: Hands;
  /** Does something later, unless the fault has ended by then. At once, if the delay is 0. */
  after(delay: Duration, act: () => void): void;
}

/** Records that a fault may damage or take away on one node, for good. */
export interface Harm {
  readonly node: NodeAddress;
  /** Of one partition; undefined: of any that the node has. */
  readonly log: PartitionName | undefined;
  /** Undefined: all. */
  readonly offsets: OffsetRange | undefined;
  /** Also what is durable, and not only what was not flushed? */
  readonly reachesDurable: boolean;
}

/** One misfortune, about to happen. */
export interface Fault {
  /** What it does to whom, for people: `broker-2, leader of orders-0`. */
  readonly text: string;
  /** Would it do nothing at all, as a cut between a node and itself does? Then it does not count. */
  readonly isIdle: boolean;
  /** What the `good-copies` of a disk promise is held against; nothing if absent. */
  readonly harm?: readonly Harm[];
  begin(stage: Stage): void;
  /** Makes good what lasts. Called once, and only for kinds that heal. */
  end(stage: Stage): void;
}

/** A kind of misfortune: everything that is to be known about it, in one place. */
export interface FaultKind {
  /** Its key in the scenario, and its word on the timeline. */
  readonly name: string;
  /** One sentence for the reference and for editors. */
  readonly meaning: string;
  /** What stands behind the key itself; undefined if that is a mapping of the parameters. */
  readonly subject: Parameter | undefined;
  /** What may stand beside the key, or inside its mapping. */
  readonly parameters: readonly Parameter[];
  /** Can it end by itself (`for`)? */
  readonly heals: boolean;
  /**
   * Does something of it last that only its own end takes back? Not so a crash: whoever starts the
   * process again has ended it.
   */
  readonly lasts: boolean;
  /**
   * What a server may lose by it for good: its process, while what it wrote stays; or records, too.
   * Nothing if absent. Random faults are held by it to what Kafka promises to survive.
   */
  readonly costs?: "process" | "records";
  /** Do the processes of its target end or freeze, so that what asks for living nodes is to be asked first? */
  readonly stops?: boolean;
  /** What is wrong with the combination of parameters that a scenario gives, if anything is. */
  complain?(given: ReadonlySet<string>): string | undefined;
  prepare(told: FaultArguments): Fault;
}

/** A fault that happens and is over: nothing of it lasts that could be taken back. */
export function momentary(text: string, begin: (stage: Stage) => void, isIdle = false): Fault {
  return { text, isIdle, begin, end: () => {} };
}
