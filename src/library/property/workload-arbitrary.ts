import fc from "fast-check";
import type {
  ConsumerConfigValue,
  ConsumerValue,
  ProducerConfigValue,
  ProducerValue,
  TopicConfigValue,
  TopicValue,
} from "../scenario-value.ts";

/** What there is to do for a cluster. */
export interface Workload {
  readonly topics: Readonly<Record<string, TopicValue>>;
  readonly clients: Readonly<Record<string, ProducerValue | ConsumerValue>>;
}

export interface WorkloadLimits {
  /** At most; default 1. */
  readonly topics?: number;
  /** Of each topic, at most; default 3. */
  readonly partitions?: number;
  /** Default 3. */
  readonly replicationFactor?: number;
  /** Of every topic. Default `min.insync.replicas` 2. */
  readonly topicConfig?: TopicConfigValue;
  /** At least one; at most, default 2. */
  readonly producers?: number;
  readonly producerConfig?: ProducerConfigValue;
  /** Consumers that read a whole topic each, at most; default 1. */
  readonly consumers?: number;
  readonly consumerConfig?: ConsumerConfigValue;
  /** Members of the group `workers`, which reads all topics, at most; default 0. There is at least one, unless it is 0. */
  readonly members?: number;
}

const TOPICS = ["orders", "payments", "returns", "stock", "users"];
const RATES = ["10/s", "20/s", "50/s", "exponential(50/s)"];

/** Topics, producers and consumers. They shrink to fewer of each, to fewer partitions and to fewer records. */
export function workloadArbitrary({
  topics = 1,
  partitions = 3,
  replicationFactor = 3,
  topicConfig = { "min.insync.replicas": 2 },
  producers = 2,
  producerConfig,
  consumers = 1,
  consumerConfig = { "auto.offset.reset": "earliest" },
  members = 0,
}: WorkloadLimits = {}): fc.Arbitrary<Workload> {
  const topic = fc.integer({ min: 1, max: partitions }).map((count): TopicValue => {
    return { partitions: count, "replication.factor": replicationFactor, config: topicConfig };
  });
  return fc
    .record({
      topics: fc.array(topic, { minLength: 1, maxLength: Math.min(topics, TOPICS.length) }),
      producers: fc.array(PRODUCER, { minLength: 1, maxLength: producers }),
      consumers: fc.array(fc.nat({ max: 99 }), { maxLength: consumers }),
      members: fc.array(MEMBER, { minLength: Math.min(1, members), maxLength: members }),
    })
    .map((drawn) => {
      const names = TOPICS.slice(0, drawn.topics.length);
      const nameOf = (index: number): string => names[index % names.length] ?? "orders";
      const clients: Record<string, ProducerValue | ConsumerValue> = {};
      for (const [at, { topic: index, ...how }] of drawn.producers.entries()) {
        const config = producerConfig === undefined ? {} : { config: producerConfig };
        clients[`p${at + 1}`] = { produce: nameOf(index), ...how, ...config };
      }
      for (const [at, index] of drawn.consumers.entries()) {
        clients[`c${at + 1}`] = { consume: nameOf(index), config: consumerConfig };
      }
      for (const [at, how] of drawn.members.entries()) {
        const group = { consume: names, group: "workers", config: consumerConfig };
        clients[`w${at + 1}`] = { ...group, ...how };
      }
      return {
        topics: Object.fromEntries(names.map((name, at) => [name, drawn.topics[at] ?? {}])),
        clients,
      };
    });
}

/** The topic is taken modulo how many there are, so that one topic less changes nothing else. */
const PRODUCER = fc.record(
  {
    topic: fc.nat({ max: 99 }),
    rate: fc.constantFrom(...RATES),
    keys: fc.integer({ min: 1, max: 20 }),
    "record-size": fc.constantFrom(100, 1_000, 5_000),
  },
  { requiredKeys: ["topic", "rate"] },
);

const MEMBER = fc.record({
  commit: fc.constantFrom("auto" as const, "sync" as const, "async" as const),
  work: fc.constantFrom(0 as const, "2ms" as const, "10ms" as const),
});
