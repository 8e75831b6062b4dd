import { BY_DURATION_PATTERN } from "../client/reset-policy.ts";
import { CLIENT_ASSIGNOR_NAMES, DEFAULT_ASSIGNORS } from "../group/assignors/client-assignors.ts";
import type { Configs } from "./config-table.ts";
import { boolean, list, number, text } from "./config-table.ts";

/** The consumer configs that are modelled, with Kafka 4.3's defaults (`ConsumerConfig`). */
export const CONSUMER_CONFIGS = {
  "auto.offset.reset": text("latest", ["latest", "earliest", "none"], {
    pattern: BY_DURATION_PATTERN,
    example: "by_duration:PT1H",
  }),
  "fetch.min.bytes": number(1, 0),
  "fetch.max.wait.ms": number(500, 0),
  "fetch.max.bytes": number(52_428_800, 0),
  "max.partition.fetch.bytes": number(1_048_576, 0),
  "max.poll.records": number(500, 1),
  "request.timeout.ms": number(30_000, 0),
  "retry.backoff.ms": number(100, 0),
  "retry.backoff.max.ms": number(1_000, 0),
  "metadata.max.age.ms": number(300_000, 0),
  "reconnect.backoff.ms": number(50, 0),
  "reconnect.backoff.max.ms": number(1_000, 0),
  "default.api.timeout.ms": number(60_000, 0),
  // Of members of groups.
  "group.instance.id": text(""),
  "group.protocol": text("classic", ["classic", "consumer"]),
  // Empty: the coordinator chooses.
  "group.remote.assignor": text(""),
  "session.timeout.ms": number(45_000, 0),
  "heartbeat.interval.ms": number(3_000, 0),
  "max.poll.interval.ms": number(300_000, 1),
  "partition.assignment.strategy": list(DEFAULT_ASSIGNORS, CLIENT_ASSIGNOR_NAMES),
  "enable.auto.commit": boolean(true),
  "auto.commit.interval.ms": number(5_000, 0),
  // Of members of groups whose registries are in ZooKeeper (the protocol switch groups: zookeeper-2011).
  "zookeeper.session.timeout.ms": number(6_000, 1),
  "rebalance.backoff.ms": number(2_000, 0),
  "rebalance.max.retries": number(4, 1),
  "isolation.level": text("read_uncommitted", ["read_uncommitted", "read_committed"]),
} as const;

export type ConsumerConfigs = Configs<typeof CONSUMER_CONFIGS>;
