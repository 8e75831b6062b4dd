import { COMPRESSION_LEVELS } from "./compression-configs.ts";
import type { Configs } from "./config-table.ts";
import { boolean, fraction, number, resolveConfigs, text } from "./config-table.ts";

/** The topic configs that are modelled, with Kafka 4.3's defaults (`TopicConfig`, `LogConfig`). */
export const TOPIC_CONFIGS = {
  "min.insync.replicas": number(1, 1),
  "unclean.leader.election.enable": boolean(false),
  "max.message.bytes": number(1_048_588, 0),
  "segment.bytes": number(1_073_741_824, 1_048_576),
  "segment.ms": number(604_800_000, 1),
  "segment.jitter.ms": number(0, 0),
  "segment.index.bytes": number(10_485_760, 4),
  "index.interval.bytes": number(4096, 0),
  "flush.messages": number(Number.MAX_SAFE_INTEGER, 1),
  "flush.ms": number(Number.MAX_SAFE_INTEGER, 0),
  "cleanup.policy": text("delete", ["delete", "compact", "delete,compact", "compact,delete"]),
  // -1 is without a bound.
  "retention.ms": number(604_800_000, -1),
  "retention.bytes": number(-1, -1),
  "file.delete.delay.ms": number(60_000, 0),
  "min.cleanable.dirty.ratio": fraction(0.5),
  "min.compaction.lag.ms": number(0, 0),
  "max.compaction.lag.ms": number(Number.MAX_SAFE_INTEGER, 1),
  "delete.retention.ms": number(86_400_000, 0),
  "compression.type": text("producer", [
    "producer",
    "uncompressed",
    "gzip",
    "snappy",
    "lz4",
    "zstd",
  ]),
  ...COMPRESSION_LEVELS,
  "message.timestamp.type": text("CreateTime", ["CreateTime", "LogAppendTime"]),
  "message.timestamp.before.max.ms": number(Number.MAX_SAFE_INTEGER, 0),
  "message.timestamp.after.max.ms": number(3_600_000, 0),
} as const;

export type TopicConfigs = Configs<typeof TOPIC_CONFIGS>;

/**
 * The broker config that gives a topic config its default where the topic has none of its own
 * (`ServerTopicConfigSynonyms`), for names that are not simply `log.` + the topic's.
 */
export const BROKER_SYNONYMS: Readonly<Record<keyof TopicConfigs, string>> = {
  "min.insync.replicas": "min.insync.replicas",
  "unclean.leader.election.enable": "unclean.leader.election.enable",
  "max.message.bytes": "message.max.bytes",
  "segment.bytes": "log.segment.bytes",
  "segment.ms": "log.roll.ms",
  "segment.jitter.ms": "log.roll.jitter.ms",
  "segment.index.bytes": "log.index.size.max.bytes",
  "index.interval.bytes": "log.index.interval.bytes",
  "flush.messages": "log.flush.interval.messages",
  "flush.ms": "log.flush.interval.ms",
  "cleanup.policy": "log.cleanup.policy",
  "retention.ms": "log.retention.ms",
  "retention.bytes": "log.retention.bytes",
  "file.delete.delay.ms": "log.segment.delete.delay.ms",
  "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
  "min.compaction.lag.ms": "log.cleaner.min.compaction.lag.ms",
  "max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms",
  "delete.retention.ms": "log.cleaner.delete.retention.ms",
  "compression.type": "compression.type",
  "compression.gzip.level": "compression.gzip.level",
  "compression.lz4.level": "compression.lz4.level",
  "compression.zstd.level": "compression.zstd.level",
  "message.timestamp.type": "log.message.timestamp.type",
  "message.timestamp.before.max.ms": "log.message.timestamp.before.max.ms",
  "message.timestamp.after.max.ms": "log.message.timestamp.after.max.ms",
};

/** Is the topic's `cleanup.policy` one by which old segments are deleted? */
export function deletesOldSegments(configs: Pick<TopicConfigs, "cleanup.policy">): boolean {
  return configs["cleanup.policy"].includes("delete");
}

/** Is the topic's `cleanup.policy` one by which the log is compacted? */
export function isCompacted(configs: Pick<TopicConfigs, "cleanup.policy">): boolean {
  const policy = configs["cleanup.policy"];
  // Asked for each batch that a client sends.
  return policy !== "delete" && policy.includes("compact");
}

/** A topic's configs: its own, else what the broker sets for all topics, else Kafka's defaults. */
export function topicConfigsOf(
  own: Readonly<Record<string, unknown>>,
  broker: Readonly<Record<string, unknown>>,
): TopicConfigs {
  const inherited: Record<string, unknown> = {};
  for (const [name, synonym] of Object.entries(BROKER_SYNONYMS)) inherited[name] = broker[synonym];
  return resolveConfigs(TOPIC_CONFIGS, inherited, own);
}
