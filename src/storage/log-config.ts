import type { TopicConfigs } from "../kafka/config/topic-configs.ts";
import { TOPIC_CONFIGS } from "../kafka/config/topic-configs.ts";

/** What a partition's log heeds of its topic's configs, by Kafka's names; times are milliseconds. */
export type LogConfig = Pick<
  TopicConfigs,
  | "segment.bytes"
  | "segment.ms"
  | "segment.jitter.ms"
  | "segment.index.bytes"
  | "index.interval.bytes"
  | "max.message.bytes"
  | "flush.messages"
  | "flush.ms"
  | "cleanup.policy"
  | "retention.ms"
  | "retention.bytes"
  | "file.delete.delay.ms"
  | "min.cleanable.dirty.ratio"
  | "min.compaction.lag.ms"
  | "max.compaction.lag.ms"
  | "delete.retention.ms"
  | "compression.type"
  | "compression.gzip.level"
  | "message.timestamp.type"
  | "message.timestamp.before.max.ms"
  | "message.timestamp.after.max.ms"
>;

/** Kafka 4.3's defaults. */
export const DEFAULT_LOG_CONFIG: LogConfig = {
  "segment.bytes": TOPIC_CONFIGS["segment.bytes"].default,
  "segment.ms": TOPIC_CONFIGS["segment.ms"].default,
  "segment.jitter.ms": TOPIC_CONFIGS["segment.jitter.ms"].default,
  "segment.index.bytes": TOPIC_CONFIGS["segment.index.bytes"].default,
  "index.interval.bytes": TOPIC_CONFIGS["index.interval.bytes"].default,
  "max.message.bytes": TOPIC_CONFIGS["max.message.bytes"].default,
  "flush.messages": TOPIC_CONFIGS["flush.messages"].default,
  "flush.ms": TOPIC_CONFIGS["flush.ms"].default,
  "cleanup.policy": TOPIC_CONFIGS["cleanup.policy"].default,
  "retention.ms": TOPIC_CONFIGS["retention.ms"].default,
  "retention.bytes": TOPIC_CONFIGS["retention.bytes"].default,
  "file.delete.delay.ms": TOPIC_CONFIGS["file.delete.delay.ms"].default,
  "min.cleanable.dirty.ratio": TOPIC_CONFIGS["min.cleanable.dirty.ratio"].default,
  "min.compaction.lag.ms": TOPIC_CONFIGS["min.compaction.lag.ms"].default,
  "max.compaction.lag.ms": TOPIC_CONFIGS["max.compaction.lag.ms"].default,
  "delete.retention.ms": TOPIC_CONFIGS["delete.retention.ms"].default,
  "compression.type": TOPIC_CONFIGS["compression.type"].default,
  "compression.gzip.level": TOPIC_CONFIGS["compression.gzip.level"].default,
  "message.timestamp.type": TOPIC_CONFIGS["message.timestamp.type"].default,
  "message.timestamp.before.max.ms": TOPIC_CONFIGS["message.timestamp.before.max.ms"].default,
  "message.timestamp.after.max.ms": TOPIC_CONFIGS["message.timestamp.after.max.ms"].default,
};
