/** What a story has beside three brokers, three controllers and a partition that broker-1 leads. */
interface Story {
  readonly faults: readonly string[];
  readonly brokerConfigs?: string;
  readonly topicConfigs?: string;
  readonly producerConfigs?: string;
  readonly producer?: string;
  readonly consumer?: string;
  readonly cluster?: string;
  readonly minIsr?: number;
  /** By partition; one by default. */
  readonly replicas?: string;
  readonly topics?: readonly string[];
  readonly clients?: readonly string[];
  readonly duration?: string;
  readonly settle?: string;
}

const COMPACTED = `cleanup.policy: compact
      min.cleanable.dirty.ratio: 0.01
      delete.retention.ms: 5000
      segment.ms: 1000`;
const OFTEN = `log.retention.check.interval.ms: 500
    log.initial.task.delay.ms: 500`;

const TRANSACTIONAL = {
  brokerConfigs: `transaction.state.log.num.partitions: 1
    offsets.topic.num.partitions: 1
    transaction.abort.timed.out.transaction.cleanup.interval.ms: 500`,
  producer: "rate: 100/s, transaction: { records: 10, abort: 30% }, ",
  producerConfigs: "transactional.id: one, transaction.timeout.ms: 3000, request.timeout.ms: 2000",
  consumer: "auto.offset.reset: earliest, isolation.level: read_committed",
  replicas: "{ 0: [1, 2, 3], 1: [2, 3, 1] }",
  settle: "20s",
};
const RIVAL =
  "p2: { produce: orders, rate: 100/s, transaction: { records: 10 }, config: { transactional.id: one, transaction.timeout.ms: 3000 } }";
const OTHER =
  "p3: { produce: orders, rate: 50/s, transaction: { records: 10 }, config: { transactional.id: two } }";
const BILLING =
  "process: { from: orders, to: bills, group: billing, guarantee: exactly-once, work: uniform(2ms..6ms) }, consumer-config: { max.poll.records: 20, session.timeout.ms: 6000 }, producer-config: { transaction.timeout.ms: 9000, delivery.timeout.ms: 2000, request.timeout.ms: 1500 }";

const GROUPED = {
  brokerConfigs: `offsets.topic.num.partitions: 1
    group.initial.rebalance.delay.ms: 200
    group.consumer.session.timeout.ms: 6000
    group.consumer.heartbeat.interval.ms: 500`,
  producer: "rate: 20/s, ",
  replicas: "{ 0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2], 3: [1, 2, 3] }",
};
const CLASSIC = "session.timeout.ms: 6000, heartbeat.interval.ms: 500";

/** Three members of a group, each with these configs besides, `@` its own name. */
function workers(configs: string, work = "work: 5ms, "): readonly string[] {
  const always = "auto.offset.reset: earliest, max.poll.interval.ms: 4000";
  return ["w1", "w2", "w3"].map((name) => {
    const own = configs.replace("@", name);
    return `${name}: { consume: orders, group: workers, ${work}commit: sync, config: { ${always}, ${own} } }`;
  });
}

/** One comes late; their coordinator dies, and one of them with it. */
const GROUP_FAULTS = [
  "{ at: 0s, crash: w3, for: uniform(3s..4s) }",
  "{ name: fails, at: uniform(6s..7s), crash: group-coordinator(workers), for: 3s }",
  "{ after: fails, delay: uniform(0s..100ms), crash: w1, for: 1s }",
];
/** One is gone for good, and nobody has anything to do any more. */
const ONE_IS_GONE = {
  ...GROUPED,
  faults: ["{ at: uniform(3s..4s), crash: w1 }"],
  duration: "5s",
  settle: "100s",
};

const STORIES = {
  followerDies: { faults: ["{ at: uniform(2s..3s), crash: broker-3, for: 6s }"] },
  leaderDies: { faults: ["{ at: uniform(2s..3s), crash: broker-1, for: 6s }"] },
  followersDie: {
    faults: [
      "{ at: uniform(2s..3s), crash: broker-2, for: 8s }",
      "{ at: uniform(3s..4s), crash: broker-3, for: 8s }",
    ],
  },
  followersDieAcks1: {
    producerConfigs: "acks: 1",
    faults: [
      "{ at: uniform(2s..3s), crash: broker-2, for: 8s }",
      "{ at: uniform(3s..4s), crash: broker-3, for: 8s }",
    ],
  },
  /** The leader is seen by its producer only. */
  leaderCutOff: {
    faults: [
      "{ at: uniform(2s..3s), partition: { from: broker-1, to: brokers + controllers - broker-1 }, for: 7s }",
    ],
  },
  /** A leader that nobody but its clients can reach for a while leads again soon after. */
  leaderReturns: {
    clients: [
      "p2: { produce: orders, rate: 50/s, config: { acks: all, request.timeout.ms: 1500, delivery.timeout.ms: 20000 } }",
    ],
    brokerConfigs: "leader.imbalance.check.interval.seconds: 1",
    faults: [
      "{ at: uniform(2s..3s), partition: { from: broker-1, to: brokers + controllers - broker-1 }, for: 5s }",
    ],
  },
  /** A leader that does not know that it is replaced, and one follower that hears both. */
  twoLeaders: {
    producerConfigs: "acks: 1, linger.ms: 0",
    producer: "rate: 300/s, ",
    faults: [
      "{ at: uniform(2s..3s), partition: { from: broker-1, to: controllers + broker-2 }, for: 6s }",
    ],
  },
  /** Some of what the leader wrote last no follower has. */
  acks1Gap: {
    producerConfigs: "acks: 1, linger.ms: 0",
    cluster: "network: { latency: uniform(2ms..6ms) }",
    faults: [
      "{ name: kill, when: acked(p1) >= 400 and acked(p1) > leo(orders-0 at broker-2) and acked(p1) > leo(orders-0 at broker-3), crash: leader(orders-0), for: 8s }",
    ],
  },
  /** One follower has more than the other, which leads next, and will be slow to hear of it. */
  tailDiverges: {
    producerConfigs: "acks: 1, linger.ms: 0",
    producer: "rate: 300/s, ",
    faults: [
      "{ at: 1s, delay-link: 150ms, from: broker-1, to: broker-2 }",
      "{ at: 1s, delay-link: 300ms, from: broker-2, to: broker-3 }",
      "{ at: uniform(3s..4s), crash: broker-1, for: 6s }",
    ],
  },
  /** Leaders die one after the other, with what they alone have. */
  leadersDie: {
    producerConfigs: "acks: 1, linger.ms: 0",
    producer: "rate: 300/s, ",
    cluster: "network: { latency: uniform(2ms..6ms) }",
    faults: [
      "{ at: uniform(2s..3s), crash: leader(orders-0), for: 6s }",
      "{ at: uniform(5s..8s), crash: leader(orders-0), for: 6s }",
      "{ at: uniform(9s..14s), crash: leader(orders-0), for: 6s }",
    ],
    duration: "20s",
  },
  /** Followers come back and have much to copy, a little at a time. */
  catchingUp: {
    brokerConfigs: "replica.fetch.max.bytes: 6000",
    producerConfigs: "acks: 1",
    producer: "rate: 300/s, ",
    faults: [
      "{ at: 1s, delay-link: 60ms, from: broker-1, to: broker-3 }",
      "{ at: 1s, delay-link: 300ms, from: broker-1, to: broker-2 }",
      "{ at: uniform(2s..3s), crash: broker-3, for: 4s }",
    ],
  },
  /** A leader whose followers have come back late dies; its successor has an old high watermark. */
  oldHighWatermark: {
    producerConfigs: "acks: 1",
    faults: [
      "{ name: away, at: uniform(2s..3s), crash: broker-2 + broker-3 }",
      "{ after: away, delay: 4s, restart: broker-2 }",
      "{ name: dies, when: isr-size(orders-0) == 2 and leo(orders-0 at broker-2) > hw(orders-0 at broker-2) + 100, crash: broker-1 }",
      "{ after: dies, delay: 0s, restart: broker-3 }",
    ],
  },
  /** A follower that the leader alone cannot reach. */
  followerUnseen: {
    producerConfigs: "acks: 1",
    producer: "rate: 300/s, ",
    faults: ["{ at: uniform(2s..3s), partition: { from: broker-1, to: broker-3 }, for: 6s }"],
  },
  /** The same, while the controller is cut off from the others of the quorum. */
  controllerAlone: {
    producer: "rate: 300/s, ",
    faults: [
      "{ at: 2s, partition: { from: broker-1, to: broker-3 }, for: 6s }",
      "{ at: uniform(3s..4500ms), partition: { from: controller, to: controllers - controller }, for: 5s }",
    ],
  },
  /** One that is not in the ISR is alive when the leader dies. */
  outsiderLives: {
    faults: [
      "{ at: uniform(2s..3s), partition: { from: broker-2, to: broker-1 + broker-3 }, for: 8s }",
      "{ at: uniform(7s..8s), crash: broker-1, for: 4s }",
    ],
  },
  /** One that left the ISR long ago is alive when the last that were in it are gone. */
  onlyOutsiderLives: {
    faults: [
      "{ at: uniform(1s..2s), partition: { from: broker-3, to: broker-1 + broker-2 }, for: 14s }",
      "{ at: uniform(6s..7s), crash: broker-2, for: 8s }",
      "{ at: uniform(9s..10s), crash: broker-1, for: 5s }",
    ],
  },
  /** The last of the ISR comes back first, without what it had not flushed. */
  lastLosesPower: {
    faults: [
      "{ at: uniform(1s..2s), crash: broker-3, for: 14s }",
      "{ at: uniform(5s..6s), crash: broker-2, for: 12s }",
      "{ at: uniform(9s..10s), power-off: broker-1, unflushed: lost, for: 2s }",
    ],
    duration: "18s",
  },
  /** Which brokers live changes while requests for other ISRs are under way. */
  isrChurn: {
    faults: [
      "{ at: 1s, delay-link: uniform(0ms..1200ms), from: broker-1, to: controllers }",
      "{ at: uniform(2s..3s), partition: { from: broker-2, to: brokers + controllers - broker-2 }, for: uniform(2s..4s) }",
      "{ at: uniform(3s..5s), partition: { from: broker-3, to: brokers + controllers - broker-3 }, for: uniform(2s..4s) }",
      "{ at: uniform(7s..8s), partition: { from: broker-2, to: brokers + controllers - broker-2 }, for: uniform(2s..4s) }",
      "{ at: uniform(8s..10s), partition: { from: broker-3, to: brokers + controllers - broker-3 }, for: uniform(2s..4s) }",
      "{ at: uniform(11s..14s), partition: { from: broker-2, to: brokers + controllers - broker-2 }, for: uniform(2s..4s) }",
      "{ at: uniform(11s..14s), partition: { from: broker-3, to: brokers + controllers - broker-3 }, for: uniform(2s..4s) }",
    ],
    duration: "18s",
  },
  /** Answers of the controller are slow, and connections to it break. */
  isrAnswersLost: {
    faults: [
      "{ at: 1s, delay-link: 600ms, from: controllers, to: broker-1 }",
      "{ at: uniform(2s..3s), partition: { from: broker-1, to: broker-3 }, for: 3s }",
      "{ name: late, when: isr-size(orders-0) == 2, reset: broker-1, with: controllers }",
      "{ name: again, when: isr-size(orders-0) == 3 and leo(orders-0) > 700, reset: broker-1, with: controllers }",
    ],
  },
  /** A replica is to join the ISR, and starts anew before the controller hears of it. */
  joinerRestarts: {
    faults: [
      "{ at: 1s, delay-link: 900ms, from: broker-1, to: controllers }",
      "{ name: away, at: uniform(2s..3s), crash: broker-3, for: 3s }",
      "{ after: away, delay: uniform(3200ms..4s), shutdown: broker-3, for: 100ms }",
    ],
  },
  /** A leader comes back to a shorter log than it had, and one of its followers is far from it now. */
  leadsShorterLog: {
    brokerConfigs: "leader.imbalance.check.interval.seconds: 1",
    producerConfigs: "acks: 1, linger.ms: 0",
    producer: "rate: 300/s, ",
    faults: [
      "{ at: 2s, partition: { from: broker-1 + broker-2, to: controllers }, for: 3s }",
      "{ at: uniform(2500ms..3s), partition: { from: broker-3, to: broker-1 }, for: 2500ms }",
      "{ at: 5500ms, delay-link: 800ms, from: broker-2, to: broker-1 }",
    ],
  },
  /** Copies take so long that a producer loses patience and sends again. */
  slowReplication: {
    producerConfigs: "acks: all, request.timeout.ms: 800, delivery.timeout.ms: 30000",
    faults: ["{ at: 1s, delay-link: 1s, from: broker-1, to: brokers - broker-1, for: 8s }"],
  },
  /** A leader dies whose answers are slow: its successor is sent much that it has. */
  answersSlow: {
    faults: [
      "{ at: 1s, delay-link: 500ms, from: broker-1, to: p1 }",
      "{ at: uniform(3s..4s), crash: broker-1, for: 5s }",
    ],
  },
  /** A leader that is asked to stop leaves with what its followers have, but did not yet say so. */
  leaderStops: {
    producerConfigs: "acks: all, enable.idempotence: false, retries: 0",
    faults: [
      "{ at: 1s, delay-link: 300ms, from: brokers - broker-1, to: broker-1 }",
      "{ at: uniform(3s..4s), shutdown: broker-1, for: 5s }",
    ],
  },
  /** A producer gives up before it has its answers. */
  impatient: {
    producerConfigs:
      "acks: all, request.timeout.ms: 500, delivery.timeout.ms: 1000, retry.backoff.ms: 900, linger.ms: 0",
    faults: ["{ at: uniform(2s..3s), delay-link: 700ms, from: broker-1, to: p1, for: 6s }"],
  },
  /** A reader begins anew at the end, in the first moments of a leader. */
  lateReader: {
    consumer: "auto.offset.reset: latest",
    faults: [
      "{ at: 1s, delay-link: 800ms, from: brokers, to: brokers }",
      "{ name: dies, at: uniform(4s..5s), crash: broker-1, for: 6s }",
      "{ after: dies, delay: 0s, crash: c1, for: uniform(1s..4s) }",
    ],
  },
  /** A reader begins anew at the beginning. */
  readerRestarts: { faults: ["{ at: uniform(3s..5s), crash: c1, for: 3s }"] },
  /** Members of a group, one of them a pool of workers, die at their work and come back. */
  membersDie: {
    brokerConfigs: `group.initial.rebalance.delay.ms: 100
    offsets.topic.num.partitions: 1`,
    clients: [
      "w1: { consume: orders, group: pool, work: lognormal(p50=20ms p99=300ms), workers: 8, commit: smallest-unfinished, config: { auto.offset.reset: earliest, session.timeout.ms: 6000 } }",
      "w2: { consume: orders, group: solo, work: uniform(2ms..8ms), config: { auto.offset.reset: earliest, session.timeout.ms: 6000, auto.commit.interval.ms: 100 } }",
    ],
    faults: [
      "{ at: uniform(3s..5s), crash: w1, for: 500ms }",
      "{ at: uniform(3s..5s), crash: w2, for: 500ms }",
    ],
    duration: "25s",
  },
  /** Members rebalance, eagerly. */
  group: { ...GROUPED, clients: workers(CLASSIC), faults: GROUP_FAULTS },
  /** The same, and they have more to do than they can. */
  groupBusy: {
    ...GROUPED,
    producer: "rate: 100/s, ",
    clients: workers(`${CLASSIC}, max.poll.records: 2`, "work: 40ms, "),
    faults: GROUP_FAULTS,
  },
  /** The same, while brokers are slow to copy. */
  groupSlow: {
    ...GROUPED,
    clients: workers(CLASSIC),
    faults: ["{ at: 1s, delay-link: 150ms, from: brokers, to: brokers }", ...GROUP_FAULTS],
  },
  groupCooperates: {
    ...GROUPED,
    clients: workers(`${CLASSIC}, partition.assignment.strategy: cooperative-sticky`),
    faults: GROUP_FAULTS,
  },
  groupReconciles: {
    ...GROUPED,
    clients: workers("group.protocol: consumer"),
    faults: GROUP_FAULTS,
  },
  groupReconcilesAndRests: {
    ...ONE_IS_GONE,
    clients: workers("group.protocol: consumer"),
    faults: GROUP_FAULTS,
    duration: "10s",
  },
  memberGone: { ...ONE_IS_GONE, clients: workers(CLASSIC) },
  memberOfEpochGone: { ...ONE_IS_GONE, clients: workers("group.protocol: consumer") },
  /** Static members: one hangs while the group rebalances, as another is gone for long. */
  staticMembers: {
    ...GROUPED,
    clients: workers(`${CLASSIC}, group.instance.id: @`, ""),
    faults: ["{ at: 5s, crash: w3, for: 12s }", "{ at: 10100ms, pause: w2, for: 5300ms }"],
    duration: "20s",
  },
  staticMemberBack: {
    ...ONE_IS_GONE,
    clients: workers(`${CLASSIC}, group.instance.id: @`),
    faults: ["{ at: uniform(3s..4s), crash: w1, for: 1s }"],
  },
  /** Nothing is written for longer than offsets are kept of which nobody makes use. */
  groupIdle: {
    ...GROUPED,
    brokerConfigs: `${GROUPED.brokerConfigs}
    offsets.retention.minutes: 1
    offsets.retention.check.interval.ms: 5000`,
    clients: workers(CLASSIC),
    faults: ["{ at: uniform(3s..4s), crash: p1 + c1 }"],
    duration: "75s",
  },
  controllersDie: {
    producer: "rate: 10/s, ",
    faults: [
      "{ at: uniform(2s..3s), crash: controllers, for: 1s }",
      "{ at: uniform(5s..7s), crash: controllers, for: 1s }",
      "{ at: uniform(9s..11s), crash: controllers, for: 1s }",
    ],
  },
  controllersPart: {
    producer: "rate: 10/s, ",
    faults: [
      "{ at: uniform(2s..3s), isolate: controller, for: 6s }",
      "{ at: uniform(9s..10s), isolate: controller, for: 5s }",
    ],
  },
  /** Controllers hear late of each other, and die again and again. */
  controllersFlap: {
    producer: "rate: 10/s, ",
    faults: [
      "{ at: 1s, delay-link: uniform(0ms..400ms), from: controllers, to: controllers }",
      ...Array.from(
        { length: 12 },
        (_, i) =>
          `{ at: uniform(${i + 1}s..${i + 3}s), crash: any 2 of controllers, for: uniform(50ms..800ms) }`,
      ),
    ],
  },
  controllersLosePower: {
    producer: "rate: 10/s, ",
    faults: [
      "{ at: uniform(2s..3s), power-off: any 2 of controllers, unflushed: lost, for: 1s }",
      "{ at: uniform(6s..8s), power-off: any 2 of controllers, unflushed: lost, for: 1s }",
    ],
  },
  compacting: {
    brokerConfigs: "log.cleaner.backoff.ms: 500",
    topicConfigs: COMPACTED,
    producer: "rate: 100/s, keys: 40, tombstones: 10%, ",
    faults: ["{ at: uniform(2s..3s), crash: broker-3, for: 4s }"],
  },
  compactingAlone: {
    brokerConfigs: "log.cleaner.backoff.ms: 500",
    topicConfigs: COMPACTED,
    producer: "rate: 100/s, keys: 40, tombstones: 10%, ",
    producerConfigs: "acks: 1",
    faults: ["{ at: uniform(2s..3s), crash: brokers - broker-1, for: 8s }"],
  },
  expiring: {
    brokerConfigs: OFTEN,
    topicConfigs: "retention.ms: 4000\n      segment.ms: 1000",
    faults: ["{ at: uniform(2s..3s), crash: broker-3, for: 4s }"],
  },
  expiringAlone: {
    brokerConfigs: OFTEN,
    topicConfigs: "retention.ms: 4000\n      segment.ms: 1000",
    producerConfigs: "acks: 1",
    faults: ["{ at: uniform(2s..3s), crash: brokers - broker-1, for: 9s }"],
  },
  /** Its coordinator dies, and later a leader of its partitions. */
  transactions: {
    ...TRANSACTIONAL,
    faults: [
      "{ at: uniform(3s..4s), crash: transaction-coordinator(one), for: 4s }",
      "{ at: uniform(9s..10s), crash: broker-2, for: 3s }",
    ],
  },
  /** Its requests and their answers are slow now and then, or come after their time. */
  transactionsSlow: {
    ...TRANSACTIONAL,
    faults: [
      "{ at: uniform(3s..4s), pause: broker-1, for: 2500ms }",
      "{ at: uniform(7s..8s), pause: broker-2, for: 2500ms }",
      "{ at: uniform(11s..12s), pause: broker-3, for: 2500ms }",
    ],
  },
  /** Who reads committed records only has much to read at once. */
  lateReaderOfTransactions: {
    ...TRANSACTIONAL,
    faults: ["{ at: uniform(2s..3s), crash: c1, for: 6s }"],
  },
  /** A second producer comes with the transactional id of the first, which is mostly at rest; a third has its own. */
  takeOver: {
    ...TRANSACTIONAL,
    producer: "rate: 5/s, transaction: { records: 1 }, ",
    clients: [RIVAL, OTHER],
    faults: ["{ name: late, at: 0s, crash: p2, for: uniform(4s..5s) }"],
  },
  /** Two applications share the work: one freezes and is thrown out of the group, and bills cannot be written for a while. */
  pipeline: {
    ...TRANSACTIONAL,
    producer: "rate: 150/s, ",
    producerConfigs: "acks: all",
    topics: ["bills: { replicas: { 0: [3, 1, 2] }, config: { min.insync.replicas: 2 } }"],
    clients: [`a1: { ${BILLING} }`, `a2: { ${BILLING} }`],
    faults: [
      "{ when: processed(billing) >= 300 and read(a1) + read(a2) == processed(billing) + reprocessed(billing) + 9, pause: leader(bills-0), for: 4s }",
      "{ at: uniform(17s..18s), pause: a1, for: 8500ms }",
    ],
    duration: "30s",
  },
  expiringBySize: {
    brokerConfigs: OFTEN,
    topicConfigs: "retention.bytes: 100000\n      segment.ms: 1000",
    faults: [],
  },
} as const satisfies Readonly<Record<string, Story>>;

export type StoryName = keyof typeof STORIES;

/** The scenario's YAML. */
export function storyText(name: StoryName): string {
  const story: Story = STORIES[name];
  const { faults, duration = "15s", settle = "1s" } = story;
  const lines = [
    "version: 1",
    `name: ${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    "summary: What a planted bug is looked for in.",
    "seed: 1",
    'kafka: "4.3"',
    "cluster:",
    "  brokers: 3",
    "  controllers: 3",
    ...(story.cluster === undefined ? [] : [`  ${story.cluster}`]),
    "  config:",
    "    broker.session.timeout.ms: 2000",
    "    broker.heartbeat.interval.ms: 400",
    "    replica.lag.time.max.ms: 2000",
    "    replica.fetch.backoff.ms: 200",
    ...(story.brokerConfigs === undefined ? [] : [`    ${story.brokerConfigs}`]),
    "topics:",
    "  orders:",
    `    replicas: ${story.replicas ?? "{ 0: [1, 2, 3] }"}`,
    "    config:",
    `      min.insync.replicas: ${story.minIsr ?? 2}`,
    ...(story.topicConfigs === undefined ? [] : [`      ${story.topicConfigs}`]),
    ...(story.topics ?? []).map((topic) => `  ${topic}`),
    "clients:",
    `  p1: { produce: orders, ${story.producer ?? "rate: 100/s, "}config: { ${story.producerConfigs ?? "acks: all"} } }`,
    `  c1: { consume: orders, config: { ${story.consumer ?? "auto.offset.reset: earliest"} } }`,
    ...(story.clients ?? []).map((client) => `  ${client}`),
    ...(faults.length === 0 ? [] : ["faults:", ...faults.map((fault) => `  - ${fault}`)]),
    `duration: ${duration}`,
    `settle: ${settle}`,
  ];
  return `${lines.join("\n")}\n`;
}

export const STORY_NAMES = Object.keys(STORIES) as readonly StoryName[];
