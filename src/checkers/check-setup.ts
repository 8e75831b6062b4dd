import type { Instant } from "../base/time.ts";
import type { BrokerConfigs } from "../kafka/config/broker-configs.ts";
import type { ConsumerConfigs } from "../kafka/config/consumer-configs.ts";
import type { ProducerConfigs } from "../kafka/config/producer-configs.ts";
import type { PartitionName } from "../kafka/ids.ts";
import type { FeatureLevels, ProtocolSwitches } from "../kafka/protocol-switches.ts";

/** What was configured, so that a checker can tell what was promised. Facts tell the rest. */
export interface CheckSetup {
  /** Of each broker. */
  readonly brokers: readonly BrokerConfigs[];
  /** Producers, by name. */
  readonly clients: ReadonlyMap<string, ClientSetup>;
  /** Those that are in no group, by name: each reads its topic. */
  readonly consumers: ReadonlyMap<string, ConsumerSetup>;
  /** Consumers that subscribe as members of groups, by name. */
  readonly members: ReadonlyMap<string, MemberSetup>;
  /** Consumers whose application works on each record, by name: how far they come by when is not Kafka's affair. */
  readonly working: ReadonlySet<string>;
  /** Applications that read and write, by name; those with a producer are among `clients` as well. */
  readonly processors: ReadonlyMap<string, ProcessorSetup>;
  /** Consumers whose application commits what it has not worked on, by name: at most once is what they want, or all they get. */
  readonly commitsEarly: ReadonlySet<string>;
  /** By the topic's name. */
  readonly topics: ReadonlyMap<string, TopicSetup>;
  readonly switches: ProtocolSwitches;
  readonly features: FeatureLevels;
  /** What a right wall clock reads at instant 0 of the facts, which moves when the scenario begins: retention goes by that of the broker. */
  readonly clockStart: Instant;
}

export interface ClientSetup {
  /** What its payloads carry (kafka/client/payload). */
  readonly address: number;
  readonly acks: -1 | 0 | 1;
  readonly idempotent: boolean;
  readonly configs: ProducerConfigs;
}

export interface ConsumerSetup {
  readonly topic: string;
  /** Undefined: all that the topic has. */
  readonly partitions?: readonly number[];
  readonly configs: ConsumerConfigs;
}

export interface ProcessorSetup {
  readonly group: string;
  readonly guarantee: "at-most-once" | "at-least-once" | "exactly-once";
  /** The topic to which it writes; undefined: none. */
  readonly to: string | undefined;
  /** The table outside of Kafka to which it writes, and whether its rows have a key. */
  readonly store: { readonly name: string; readonly isKeyUnique: boolean } | undefined;
  readonly consumerConfigs: ConsumerConfigs;
}

export interface MemberSetup {
  readonly group: string;
  readonly topics: readonly string[];
  readonly configs: ConsumerConfigs;
}

export interface TopicSetup {
  /** flush.messages: 1 is "flushed before acknowledged". */
  readonly flushMessages: number;
  /** unclean.leader.election.enable. */
  readonly uncleanLeaderElection: boolean;
  /** cleanup.policy: does it say delete, and does it say compact? */
  readonly deletesOldSegments: boolean;
  readonly isCompacted: boolean;
  /** retention.ms; -1 is without a bound. */
  readonly retentionMs: number;
  /** retention.bytes; -1 is without a bound. */
  readonly retentionBytes: number;
  /** delete.retention.ms */
  readonly deleteRetentionMs: number;
}

/** Do groups keep their registries in ZooKeeper, without a coordinator? */
export function hasRegistries({ switches }: CheckSetup): boolean {
  return switches.groups === "zookeeper-2011";
}

/** Does it read the partition? */
export function reads({ topic, partitions }: ConsumerSetup, name: PartitionName): boolean {
  if (topicOf(name) !== topic) return false;
  return partitions?.includes(Number(name.slice(topic.length + 1))) ?? true;
}

/** Is the client given committed records only? */
export function readsCommitted(
  { consumers, members, processors }: CheckSetup,
  client: string,
): boolean {
  const configs =
    consumers.get(client)?.configs ??
    members.get(client)?.configs ??
    processors.get(client)?.consumerConfigs;
  return configs?.["isolation.level"] === "read_committed";
}

/** All who read, by name. */
export function readersOf({ consumers, members, processors }: CheckSetup): readonly string[] {
  return [...new Set([...consumers.keys(), ...members.keys(), ...processors.keys()])];
}

/** Is anybody given committed records only? */
export function isReadCommitted(setup: CheckSetup): boolean {
  return readersOf(setup).some((name) => readsCommitted(setup, name));
}

/** `orders` of `orders-0`. */
export function topicOf(partition: PartitionName): string {
  return partition.slice(0, partition.lastIndexOf("-"));
}
