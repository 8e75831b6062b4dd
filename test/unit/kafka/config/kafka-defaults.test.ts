import { describe, expect, test } from "vitest";
import { BROKER_CONFIGS } from "../../../../src/kafka/config/broker-configs.ts";
import type { ConfigTable, ConfigValue } from "../../../../src/kafka/config/config-table.ts";
import { complainAboutConfig } from "../../../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../../../src/kafka/config/consumer-configs.ts";
import { PRODUCER_CONFIGS } from "../../../../src/kafka/config/producer-configs.ts";
import { BROKER_SYNONYMS, TOPIC_CONFIGS } from "../../../../src/kafka/config/topic-configs.ts";
import { UNMODELLED_CONFIGS } from "../../../../src/kafka/config/unmodelled-configs.ts";

const SECONDS = 1000;
const MINUTES = 60 * SECONDS;
const HOURS = 60 * MINUTES;
const DAYS = 24 * HOURS;
const KIB = 1024;
const MIB = 1024 * KIB;
/** Kafka's Long.MAX_VALUE: never, or without bound. */
const NEVER = Number.MAX_SAFE_INTEGER;

type Defaults = Readonly<Record<string, ConfigValue>>;

/** `TopicConfig`, `LogConfig`, `ServerLogConfigs`; what changed in 4.0 is marked. */
const TOPIC: Defaults = {
  "min.insync.replicas": 1,
  "unclean.leader.election.enable": false,
  // A mebibyte, and the 12 bytes before a batch's length counts.
  "max.message.bytes": MIB + 12,
  "segment.bytes": 1024 * MIB,
  "segment.ms": 7 * DAYS,
  "segment.jitter.ms": 0,
  "segment.index.bytes": 10 * MIB,
  "index.interval.bytes": 4 * KIB,
  "flush.messages": NEVER,
  "flush.ms": NEVER,
  "cleanup.policy": "delete",
  "retention.ms": 7 * DAYS,
  "retention.bytes": -1,
  "file.delete.delay.ms": MINUTES,
  "min.cleanable.dirty.ratio": 0.5,
  "min.compaction.lag.ms": 0,
  "max.compaction.lag.ms": NEVER,
  "delete.retention.ms": DAYS,
  "compression.type": "producer",
  "compression.gzip.level": -1,
  "compression.lz4.level": 9,
  "compression.zstd.level": 3,
  "message.timestamp.type": "CreateTime",
  "message.timestamp.before.max.ms": NEVER,
  // Without bound before 4.0 (KIP-1030).
  "message.timestamp.after.max.ms": HOURS,
};

/** `ReplicationConfigs`, `ServerConfigs`, `SocketServerConfigs`, `KRaftConfigs`, `QuorumConfig`, ... */
const BROKER: Defaults = {
  "replica.lag.time.max.ms": 30 * SECONDS,
  "replica.fetch.wait.max.ms": 500,
  "replica.fetch.min.bytes": 1,
  "replica.fetch.max.bytes": MIB,
  "replica.fetch.response.max.bytes": 10 * MIB,
  "replica.fetch.backoff.ms": SECONDS,
  "replica.socket.timeout.ms": 30 * SECONDS,
  "replica.high.watermark.checkpoint.interval.ms": 5 * SECONDS,
  "log.flush.offset.checkpoint.interval.ms": MINUTES,
  "log.flush.start.offset.checkpoint.interval.ms": MINUTES,
  "log.flush.scheduler.interval.ms": NEVER,
  "log.retention.check.interval.ms": 5 * MINUTES,
  "log.initial.task.delay.ms": 30 * SECONDS,
  "log.cleaner.enable": true,
  "log.cleaner.backoff.ms": 15 * SECONDS,
  "log.cleaner.dedupe.buffer.size": 128 * MIB,
  "log.cleaner.io.buffer.load.factor": 0.9,
  "fetch.max.bytes": 55 * MIB,
  "max.incremental.fetch.session.cache.slots": 1000,
  "producer.id.expiration.ms": DAYS,
  "producer.id.expiration.check.interval.ms": 10 * MINUTES,
  // `GroupCoordinatorConfig`.
  "group.min.session.timeout.ms": 6 * SECONDS,
  "group.max.session.timeout.ms": 30 * MINUTES,
  "group.initial.rebalance.delay.ms": 3 * SECONDS,
  "group.max.size": 2 ** 31 - 1,
  "group.consumer.session.timeout.ms": 45 * SECONDS,
  "group.consumer.heartbeat.interval.ms": 5 * SECONDS,
  "group.consumer.max.size": 2 ** 31 - 1,
  "group.consumer.assignment.interval.ms": SECONDS,
  "group.consumer.migration.policy": "bidirectional",
  "offset.metadata.max.bytes": 4 * KIB,
  "offsets.commit.timeout.ms": 5 * SECONDS,
  "offsets.load.buffer.size": 5 * MIB,
  "offsets.retention.minutes": 7 * 24 * 60,
  "offsets.retention.check.interval.ms": 10 * MINUTES,
  "offsets.topic.compression.codec": 0,
  "offsets.topic.num.partitions": 50,
  "offsets.topic.replication.factor": 3,
  "offsets.topic.segment.bytes": 100 * MIB,
  // `TransactionLogConfig`.
  "transaction.state.log.load.buffer.size": 5 * MIB,
  "transaction.state.log.min.isr": 2,
  "transaction.state.log.num.partitions": 50,
  "transaction.state.log.replication.factor": 3,
  "transaction.state.log.segment.bytes": 100 * MIB,
  "transaction.partition.verification.enable": true,
  // `TransactionStateManagerConfig`.
  "transaction.max.timeout.ms": 15 * MINUTES,
  "transactional.id.expiration.ms": 7 * DAYS,
  "transaction.abort.timed.out.transaction.cleanup.interval.ms": 10 * SECONDS,
  "transaction.remove.expired.transaction.cleanup.interval.ms": 60 * MINUTES,
  "controlled.shutdown.enable": true,
  "add.partitions.to.txn.retry.backoff.ms": 20,
  "add.partitions.to.txn.retry.backoff.max.ms": 100,
  "auto.leader.rebalance.enable": true,
  "leader.imbalance.check.interval.seconds": 300,
  "leader.imbalance.per.broker.percentage": 10,
  "connections.max.idle.ms": 10 * MINUTES,
  "default.replication.factor": 1,
  "num.partitions": 1,
  "broker.heartbeat.interval.ms": 2 * SECONDS,
  "broker.session.timeout.ms": 9 * SECONDS,
  "initial.broker.registration.timeout.ms": MINUTES,
  // Null in Kafka.
  "broker.rack": "",
  // Of the default of `log.dir`, its last part.
  "log.dirs": "kafka-logs",
  "log.dir.failure.timeout.ms": 30 * SECONDS,
  "controller.quorum.election.timeout.ms": SECONDS,
  "controller.quorum.fetch.timeout.ms": 2 * SECONDS,
  "controller.quorum.election.backoff.max.ms": SECONDS,
  "controller.quorum.append.linger.ms": 25,
  "controller.quorum.request.timeout.ms": 2 * SECONDS,
  "controller.quorum.retry.backoff.ms": 20,
  "metadata.max.idle.interval.ms": 500,
  "min.insync.replicas": 1,
  "unclean.leader.election.enable": false,
  "message.max.bytes": MIB + 12,
  "log.segment.bytes": 1024 * MIB,
  // By way of log.roll.hours, 168.
  "log.roll.ms": 7 * DAYS,
  "log.roll.jitter.ms": 0,
  "log.index.size.max.bytes": 10 * MIB,
  "log.index.interval.bytes": 4 * KIB,
  "log.flush.interval.messages": NEVER,
  // By way of log.flush.scheduler.interval.ms.
  "log.flush.interval.ms": NEVER,
  "log.cleanup.policy": "delete",
  // By way of log.retention.hours, 168.
  "log.retention.ms": 7 * DAYS,
  "log.retention.bytes": -1,
  "log.segment.delete.delay.ms": MINUTES,
  "log.cleaner.min.cleanable.ratio": 0.5,
  "log.cleaner.min.compaction.lag.ms": 0,
  "log.cleaner.max.compaction.lag.ms": NEVER,
  "log.cleaner.delete.retention.ms": DAYS,
  "compression.type": "producer",
  "compression.gzip.level": -1,
  "compression.lz4.level": 9,
  "compression.zstd.level": 3,
  "log.message.timestamp.type": "CreateTime",
  "log.message.timestamp.before.max.ms": NEVER,
  "log.message.timestamp.after.max.ms": HOURS,
};

const PRODUCER: Defaults = {
  acks: "all",
  "batch.size": 16 * KIB,
  // 0 before 4.0 (KIP-1030).
  "linger.ms": 5,
  "compression.type": "none",
  "compression.gzip.level": -1,
  "compression.lz4.level": 9,
  "compression.zstd.level": 3,
  "max.in.flight.requests.per.connection": 5,
  "enable.idempotence": true,
  retries: 2 ** 31 - 1,
  "retry.backoff.ms": 100,
  "retry.backoff.max.ms": SECONDS,
  "delivery.timeout.ms": 2 * MINUTES,
  "request.timeout.ms": 30 * SECONDS,
  "buffer.memory": 32 * MIB,
  "max.block.ms": MINUTES,
  "max.request.size": MIB,
  "metadata.max.age.ms": 5 * MINUTES,
  "reconnect.backoff.ms": 50,
  "reconnect.backoff.max.ms": SECONDS,
  "partitioner.ignore.keys": false,
  // In Kafka null.
  "transactional.id": "",
  "transaction.timeout.ms": MINUTES,
};

const CONSUMER: Defaults = {
  "auto.offset.reset": "latest",
  "fetch.min.bytes": 1,
  "fetch.max.wait.ms": 500,
  "fetch.max.bytes": 50 * MIB,
  "max.partition.fetch.bytes": MIB,
  "max.poll.records": 500,
  "request.timeout.ms": 30 * SECONDS,
  "retry.backoff.ms": 100,
  "retry.backoff.max.ms": SECONDS,
  "metadata.max.age.ms": 5 * MINUTES,
  "reconnect.backoff.ms": 50,
  "reconnect.backoff.max.ms": SECONDS,
  "default.api.timeout.ms": MINUTES,
  // In Kafka null.
  "group.instance.id": "",
  "group.protocol": "classic",
  // In Kafka null.
  "group.remote.assignor": "",
  "session.timeout.ms": 45 * SECONDS,
  "heartbeat.interval.ms": 3 * SECONDS,
  "max.poll.interval.ms": 5 * MINUTES,
  "partition.assignment.strategy":
    "org.apache.kafka.clients.consumer.RangeAssignor,org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
  "enable.auto.commit": true,
  "auto.commit.interval.ms": 5 * SECONDS,
  "isolation.level": "read_uncommitted",
  // Of Kafka 0.8's consumer (ConsumerConfig.scala, ZKConfig), for groups: zookeeper-2011.
  "zookeeper.session.timeout.ms": 6 * SECONDS,
  "rebalance.backoff.ms": 2 * SECONDS,
  "rebalance.max.retries": 4,
};

const TABLES: readonly (readonly [string, ConfigTable, Defaults, ReadonlySet<string>])[] = [
  ["topic", TOPIC_CONFIGS, TOPIC, UNMODELLED_CONFIGS.topic],
  ["broker", BROKER_CONFIGS, BROKER, UNMODELLED_CONFIGS.broker],
  ["producer", PRODUCER_CONFIGS, PRODUCER, UNMODELLED_CONFIGS.producer],
  ["consumer", CONSUMER_CONFIGS, CONSUMER, UNMODELLED_CONFIGS.consumer],
];

describe.each(TABLES)("%s configs", (_, table, kafka, unmodelled) => {
  test("have the defaults of Kafka 4.3, each of them", () => {
    const defaults = Object.entries(table).map(([name, definition]) => [name, definition.default]);

    expect(Object.fromEntries(defaults)).toEqual(kafka);
  });

  test("allow their own defaults", () => {
    for (const definition of Object.values(table)) {
      expect(complainAboutConfig(definition, definition.default)).toBeUndefined();
    }
  });

  test("are modelled or not, never both", () => {
    expect(Object.keys(table).filter((name) => unmodelled.has(name))).toEqual([]);
  });
});

test("a topic config has the same bounds and default as the broker config that stands for it", () => {
  const brokerConfigs: ConfigTable = BROKER_CONFIGS;
  for (const [name, definition] of Object.entries(TOPIC_CONFIGS)) {
    const synonym = BROKER_SYNONYMS[name as keyof typeof TOPIC_CONFIGS];
    expect(brokerConfigs[synonym]).toEqual(definition);
  }
});
