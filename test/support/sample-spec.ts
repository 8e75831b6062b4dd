import type { ClientSpec, ClusterSpec } from "../../src/cluster/cluster-spec.ts";
import { DEFAULT_DISK } from "../../src/disk/disk-options.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../src/kafka/config/consumer-configs.ts";
import { PRODUCER_CONFIGS } from "../../src/kafka/config/producer-configs.ts";
import { PRESENT_FEATURES, PRESENT_RULES } from "../../src/kafka/protocol-switches.ts";
import { replicationRules } from "../../src/kafka/replication/replication-rules.ts";
import { Distribution } from "../../src/sim/distribution.ts";

/** Three brokers, three controllers, one topic `orders`, one producer and one consumer. */
export function sampleSpec(overrides: Partial<ClusterSpec> = {}): ClusterSpec {
  return {
    seed: "1",
    brokers: [1, 2, 3].map((id) => ({ id, rack: undefined, configs: {} })),
    controllers: 3,
    configs: {},
    features: PRESENT_FEATURES,
    topics: [
      {
        name: "orders",
        numPartitions: 1,
        replicationFactor: 3,
        assignments: [],
        configs: [{ name: "min.insync.replicas", value: "2" }],
      },
    ],
    clients: [producer("p1"), consumer("c1")],
    link: { latency: Distribution.uniform(300, 700) },
    disk: DEFAULT_DISK,
    rules: replicationRules(PRESENT_RULES),
    ...overrides,
  };
}

export function producer(name: string, configs: Record<string, unknown> = {}): ClientSpec {
  return {
    kind: "producer",
    name,
    topic: "orders",
    arrival: 10_000,
    records: undefined,
    keys: { kind: "none" },
    recordSize: 100,
    tombstones: undefined,
    transaction: undefined,
    configs: resolveConfigs(PRODUCER_CONFIGS, configs),
    idempotence: true,
  };
}

export function consumer(name: string): ClientSpec {
  return {
    kind: "consumer",
    name,
    topics: ["orders"],
    partitions: undefined,
    membership: undefined,
    configs: resolveConfigs(CONSUMER_CONFIGS, { "auto.offset.reset": "earliest" }),
  };
}
