import type { Configs } from "./config-table.ts";
import { boolean, fraction, number, text } from "./config-table.ts";
import { TOPIC_CONFIGS } from "./topic-configs.ts";

/** The broker and controller configs that are modelled, with Kafka 4.3's defaults (`KafkaConfig`). */
export const BROKER_CONFIGS = {
  // Replication.
  "replica.lag.time.max.ms": number(30_000, 1),
  "replica.fetch.wait.max.ms": number(500, 0),
  "replica.fetch.min.bytes": number(1, 0),
  "replica.fetch.max.bytes": number(1_048_576, 0),
  "replica.fetch.response.max.bytes": number(10_485_760, 0),
  "replica.fetch.backoff.ms": number(1_000, 0),
  "replica.socket.timeout.ms": number(30_000, 1),
  "replica.high.watermark.checkpoint.interval.ms": number(5_000, 1),
  "log.flush.offset.checkpoint.interval.ms": number(60_000, 1),
  "log.flush.start.offset.checkpoint.interval.ms": number(60_000, 1),
  "log.flush.scheduler.interval.ms": number(Number.MAX_SAFE_INTEGER, 1),
  "log.retention.check.interval.ms": number(300_000, 1),
  "log.initial.task.delay.ms": number(30_000, 0),
  // Compaction.
  "log.cleaner.enable": boolean(true),
  "log.cleaner.backoff.ms": number(15_000, 0),
  // More than 1 MiB for each of `log.cleaner.threads` (`KafkaConfig.validateValues`).
  "log.cleaner.dedupe.buffer.size": number(134_217_728, 1_048_577),
  "log.cleaner.io.buffer.load.factor": fraction(0.9),
  "fetch.max.bytes": number(57_671_680, 1024),
  "max.incremental.fetch.session.cache.slots": number(1_000, 0),
  "producer.id.expiration.ms": number(86_400_000, 1),
  "producer.id.expiration.check.interval.ms": number(600_000, 1),
  "controlled.shutdown.enable": boolean(true),
  "auto.leader.rebalance.enable": boolean(true),
  "leader.imbalance.check.interval.seconds": number(300, 1),
  // As in KRaft, nobody asks for it.
  "leader.imbalance.per.broker.percentage": number(10, 0),
  "connections.max.idle.ms": number(600_000, -1),
  "default.replication.factor": number(1, 1),
  "num.partitions": number(1, 1),
  // Broker lifecycle (KIP-631).
  "broker.heartbeat.interval.ms": number(2_000, 1),
  "broker.session.timeout.ms": number(9_000, 1),
  "initial.broker.registration.timeout.ms": number(60_000, 1),
  "broker.rack": text(""),
  // Log directories (KIP-858). In Kafka it is a folder of that name below /tmp.
  "log.dirs": text("kafka-logs"),
  "log.dir.failure.timeout.ms": number(30_000, 1),
  // The metadata quorum (KIP-595).
  "controller.quorum.election.timeout.ms": number(1_000, 1),
  "controller.quorum.fetch.timeout.ms": number(2_000, 1),
  "controller.quorum.election.backoff.max.ms": number(1_000, 0),
  "controller.quorum.append.linger.ms": number(25, 0),
  "controller.quorum.request.timeout.ms": number(2_000, 1),
  "controller.quorum.retry.backoff.ms": number(20, 0),
  "metadata.max.idle.interval.ms": number(500, 0),
  // Defaults of topic configs.
  "min.insync.replicas": TOPIC_CONFIGS["min.insync.replicas"],
  "unclean.leader.election.enable": TOPIC_CONFIGS["unclean.leader.election.enable"],
  "message.max.bytes": TOPIC_CONFIGS["max.message.bytes"],
  "log.segment.bytes": TOPIC_CONFIGS["segment.bytes"],
  "log.roll.ms": TOPIC_CONFIGS["segment.ms"],
  "log.roll.jitter.ms": TOPIC_CONFIGS["segment.jitter.ms"],
  "log.index.size.max.bytes": TOPIC_CONFIGS["segment.index.bytes"],
  "log.index.interval.bytes": TOPIC_CONFIGS["index.interval.bytes"],
  "log.flush.interval.messages": TOPIC_CONFIGS["flush.messages"],
  "log.flush.interval.ms": TOPIC_CONFIGS["flush.ms"],
  "log.cleanup.policy": TOPIC_CONFIGS["cleanup.policy"],
  "log.retention.ms": TOPIC_CONFIGS["retention.ms"],
  "log.retention.bytes": TOPIC_CONFIGS["retention.bytes"],
  "log.segment.delete.delay.ms": TOPIC_CONFIGS["file.delete.delay.ms"],
  "log.cleaner.min.cleanable.ratio": TOPIC_CONFIGS["min.cleanable.dirty.ratio"],
  "log.cleaner.min.compaction.lag.ms": TOPIC_CONFIGS["min.compaction.lag.ms"],
  "log.cleaner.max.compaction.lag.ms": TOPIC_CONFIGS["max.compaction.lag.ms"],
  "log.cleaner.delete.retention.ms": TOPIC_CONFIGS["delete.retention.ms"],
  "compression.type": TOPIC_CONFIGS["compression.type"],
  "compression.gzip.level": TOPIC_CONFIGS["compression.gzip.level"],
  "compression.lz4.level": TOPIC_CONFIGS["compression.lz4.level"],
  "compression.zstd.level": TOPIC_CONFIGS["compression.zstd.level"],
  "log.message.timestamp.type": TOPIC_CONFIGS["message.timestamp.type"],
  "log.message.timestamp.before.max.ms": TOPIC_CONFIGS["message.timestamp.before.max.ms"],
  "log.message.timestamp.after.max.ms": TOPIC_CONFIGS["message.timestamp.after.max.ms"],
} as const;

export type BrokerConfigs = Configs<typeof BROKER_CONFIGS>;
