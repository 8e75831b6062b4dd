import { unreachable } from "../base/invariant.ts";
import type { Duration } from "../base/time.ts";
import { MICROSECOND } from "../base/time.ts";
import type { DiskOptions } from "../disk/disk-options.ts";
import { DEFAULT_DISK } from "../disk/disk-options.ts";
import { isIdempotent } from "../kafka/client/idempotence.ts";
import { BROKER_CONFIGS } from "../kafka/config/broker-configs.ts";
import { resolveConfigs } from "../kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../kafka/config/consumer-configs.ts";
import { PRODUCER_CONFIGS } from "../kafka/config/producer-configs.ts";
import type { CreatableTopic } from "../kafka/protocol/create-topics.ts";
import { PRESENT_FEATURES, PRESENT_RULES } from "../kafka/protocol-switches.ts";
import { replicationRules } from "../kafka/replication/replication-rules.ts";
import type { LinkQuality } from "../net/link.ts";
import type { Subscription } from "../nodes/consumer/group/group-options.ts";
import type { TransactionPlan } from "../nodes/producer/producer-options.ts";
import type { OffsetRange } from "../ports/disk-failure.ts";
import type { DurationSource, Ratio } from "../ports/random.ts";
import { brokerIds } from "../scenario/check-topology.ts";
import type { NodesExpression } from "../scenario/expression.ts";
import { Roster } from "../scenario/roster.ts";
import type {
  ArgumentSpec,
  ClientSpec as ClientStory,
  ClockSpec,
  ConsumerSpec as ConsumerStory,
  FaultSpec,
  ProcessorSpec as ProcessorStory,
  RunLimit,
  Scenario,
  Settle,
  TopicSpec,
  TransactionSpec,
} from "../scenario/scenario.ts";
import { partitionNames } from "../scenario/scenario.ts";
import { Distribution } from "../sim/distribution.ts";
import { Rng } from "../sim/rng.ts";
import type { Choice } from "./choices.ts";
import { Choices, intervalOf } from "./choices.ts";
import type { NodeTable } from "./cluster.ts";
import type {
  BrokerSpec,
  ClientSpec,
  ClusterSpec,
  ConsumerSpec,
  MembershipPlan,
  ProcessorSpec,
} from "./cluster-spec.ts";
import { planChaos, planEdges } from "./plan-chaos.ts";

/** A scenario with a seed: every choice is made that is not the world's own. */
export interface Plan {
  /** With what was drawn of `random-faults` among its faults, so that with the same seed it is the same run. */
  readonly scenario: Scenario;
  readonly seed: string;
  readonly cluster: ClusterSpec;
  /** Clocks that are wrong from time zero on, by the node's name. */
  readonly clocks: ReadonlyMap<string, ClockSpec>;
  /** In the order of the scenario. */
  readonly faults: readonly PlannedFault[];
  /** How many copies of each record they must spare; undefined: none. */
  readonly goodCopies: number | undefined;
  readonly duration: Duration | undefined;
  readonly settle: Settle;
  readonly limit: RunLimit;
  /** The character of random faults, in one line; undefined if the scenario has none. */
  readonly chaos: string | undefined;
  /** What was drawn, for the report. */
  readonly choices: readonly Choice[];
}

/** One step of the story, with its times drawn. */
export interface PlannedFault {
  readonly spec: FaultSpec;
  /** For `at`: when, from time zero. For `after`: how long after. Otherwise 0. */
  readonly delay: Duration;
  readonly for: Duration | undefined;
  readonly arguments: ReadonlyMap<string, PlannedArgument>;
}

/** What a fault is told, but for the nodes, which are found when it fires. */
export type PlannedArgument = { readonly text: string } & (
  | { readonly kind: "nodes"; readonly target: NodesExpression }
  | { readonly kind: "groups"; readonly groups: readonly NodesExpression[] }
  | { readonly kind: "duration"; readonly source: DurationSource }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "offsets"; readonly offsets: OffsetRange }
  | { readonly kind: "probability"; readonly ratio: Ratio }
  | { readonly kind: "word"; readonly word: string }
  | { readonly kind: "text" }
);

/**
 * Machines of one data centre: a quarter of a millisecond one way, rarely more than one, over
 * network cards of 10 Gbit/s.
 */
const DEFAULT_LINK: LinkQuality = {
  latency: Distribution.lognormal(250 * MICROSECOND, 1_000 * MICROSECOND),
  bytesPerSecond: 1_250_000_000,
};

/** Makes every choice of a scenario: the same for the same seed. */
export function makePlan(written: Scenario, seed: string): Plan {
  const choices = new Choices(new Rng(seed).fork("plan"));
  const scenario = planEdges(written, choices);
  const { cluster } = scenario;
  const brokers = plannedBrokers(scenario, choices);
  const rules = replicationRules({ ...PRESENT_RULES, ...cluster.protocol });
  const clocks = new Map<string, ClockSpec>();
  for (const { id, clock } of "kind" in cluster.brokers ? [] : cluster.brokers) {
    if (clock.offset !== 0 || clock.driftPpm !== 0) clocks.set(`broker-${id}`, clock);
  }
  const spec: ClusterSpec = {
    seed,
    brokers,
    controllers: choices.integer("cluster/controllers", cluster.controllers),
    configs: cluster.config.values,
    features: { ...PRESENT_FEATURES, ...cluster.features },
    topics: scenario.topics.map((topic) => plannedTopic(topic, scenario, choices)),
    clients: scenario.clients.map((client) => plannedClient(client, choices)),
    link: plannedLink(scenario, choices),
    disk: plannedDisk(scenario, choices),
    rules,
  };
  const chaos = planChaos(scenario, spec, choices);
  const story = chaos?.story ?? scenario;
  return {
    scenario: story,
    seed,
    cluster: spec,
    clocks,
    faults: story.faults.map((fault) => plannedFault(fault, choices)),
    goodCopies: cluster.disk.goodCopies,
    duration: story.duration,
    settle: scenario.settle,
    limit: scenario.limit,
    chaos: chaos?.profile,
    choices: choices.made,
  };
}

/** Everything in the run that targets can name. */
export function rosterOf(plan: Plan, table: NodeTable): Roster {
  const racks = new Map(plan.cluster.brokers.map(({ id, rack }) => [id, rack ?? ""]));
  const named = (address: number): string => table.names[address] ?? "";
  return new Roster(
    [
      ...table.brokers.map(({ id, address }) => ({
        address,
        name: named(address),
        role: "broker" as const,
        id,
        rack: racks.get(id) ?? "",
      })),
      ...table.controllers.map(({ id, address }) => ({
        address,
        name: named(address),
        role: "controller" as const,
        id,
        rack: "",
      })),
      ...table.clients.map(({ name, address }) => ({
        address,
        name,
        role: "client" as const,
        id: -1,
        rack: "",
      })),
      ...(table.zookeeper === undefined
        ? []
        : [
            {
              address: table.zookeeper,
              name: named(table.zookeeper),
              role: "zookeeper" as const,
              id: -1,
              rack: "",
            },
          ]),
    ],
    plan.cluster.topics.flatMap(({ name, numPartitions, assignments }) =>
      partitionNames(name, assignments.length > 0 ? assignments.length : numPartitions),
    ),
  );
}

function plannedBrokers({ cluster }: Scenario, choices: Choices): readonly BrokerSpec[] {
  const { brokers } = cluster;
  if ("kind" in brokers) {
    const ids = brokerIds(brokers, (spec) => choices.integer("cluster/brokers", spec));
    return ids.map((id) => ({ id, rack: undefined, configs: {} }));
  }
  return brokers.map(({ id, rack, config }) => {
    const ownRack = rack === "" ? config.values["broker.rack"] : rack;
    return {
      id,
      rack: ownRack === undefined ? undefined : String(ownRack),
      configs: config.values,
    };
  });
}

function plannedTopic(topic: TopicSpec, { cluster }: Scenario, choices: Choices): CreatableTopic {
  const { name, config, replicas } = topic;
  const configs = Object.entries(config.values).map(([key, value]) => ({
    name: key,
    value: String(value),
  }));
  if (replicas !== undefined) {
    const assignments = replicas.map((ids, partitionIndex) => ({ partitionIndex, brokerIds: ids }));
    return { name, numPartitions: -1, replicationFactor: -1, assignments, configs };
  }
  const defaults = resolveConfigs(BROKER_CONFIGS, cluster.config.values);
  const factor = topic.replicationFactor;
  const path = `topics/${name}`;
  return {
    name,
    numPartitions: choices.integer(`${path}/partitions`, topic.partitions),
    replicationFactor:
      factor === undefined
        ? defaults["default.replication.factor"]
        : choices.integer(`${path}/replication.factor`, factor),
    assignments: [],
    configs,
  };
}

function plannedClient(client: ClientStory, choices: Choices): ClientSpec {
  const { name, config } = client;
  if (client.kind === "consumer") return plannedConsumer(client, choices);
  if (client.kind === "processor") return plannedProcessor(client, choices);
  const { topic } = client;
  const configs = resolveConfigs(PRODUCER_CONFIGS, config.values);
  const { records, keys, tombstones, rate, recordSize, transaction } = client;
  return {
    kind: "producer",
    name,
    topic,
    arrival: intervalOf(rate),
    records: records && choices.integer(`clients/${name}/records`, records),
    keys: keys === undefined ? { kind: "none" } : { kind: "cycle", count: keys },
    tombstones,
    recordSize,
    transaction:
      transaction && plannedTransaction(`clients/${name}/transaction`, transaction, choices),
    configs,
    idempotence: isIdempotent(configs, config.values["enable.idempotence"] !== undefined),
  };
}

function plannedConsumer(client: ConsumerStory, choices: Choices): ConsumerSpec {
  const { kind, name, topics, partitions, membership, config } = client;
  if (membership === undefined) {
    const configs = resolveConfigs(CONSUMER_CONFIGS, config.values);
    return { kind, name, topics, partitions, membership, configs };
  }
  const { group, pattern, work, workers, commit: mode, commitWhen } = membership;
  return {
    kind,
    name,
    topics,
    partitions,
    membership: {
      group,
      subscription: subscriptionOf(client, pattern),
      work: { pace: work && choices.distribution(`clients/${name}/work`, work), workers },
      commit: { mode, when: commitWhen },
    },
    // Who commits by himself does not want it done for him.
    configs: resolveConfigs(
      CONSUMER_CONFIGS,
      { "enable.auto.commit": mode === "auto" },
      config.values,
    ),
  };
}

function subscriptionOf(
  { topics, partitions }: ConsumerStory,
  pattern: string | undefined,
): MembershipPlan["subscription"] {
  const [topic = ""] = topics;
  if (partitions !== undefined) return { kind: "assigned", topic, partitions };
  return membersSubscription(topics, pattern);
}

function membersSubscription(topics: readonly string[], pattern: string | undefined): Subscription {
  return pattern === undefined ? { kind: "topics", topics } : { kind: "pattern", pattern };
}

function plannedProcessor(client: ProcessorStory, choices: Choices): ProcessorSpec {
  const { kind, name, config, consumerConfig, group, guarantee, pattern, topics } = client;
  const { recordSize, store, to, work } = client;
  const isExactlyOnce = guarantee === "exactly-once";
  const configs = resolveConfigs(
    PRODUCER_CONFIGS,
    isExactlyOnce ? { "transactional.id": name, "transaction.timeout.ms": 10_000 } : {},
    config.values,
  );
  return {
    kind,
    name,
    subscription: membersSubscription(topics, pattern),
    to,
    store,
    group,
    guarantee,
    work: work && choices.distribution(`clients/${name}/work`, work),
    recordSize,
    configs,
    idempotence: isIdempotent(configs, config.values["enable.idempotence"] !== undefined),
    consumerConfigs: resolveConfigs(
      CONSUMER_CONFIGS,
      {
        "auto.offset.reset": "earliest",
        "enable.auto.commit": false,
        ...(isExactlyOnce ? { "isolation.level": "read_committed" } : {}),
      },
      consumerConfig.values,
    ),
  };
}

function plannedTransaction(
  path: string,
  { records, time, abort }: TransactionSpec,
  choices: Choices,
): TransactionPlan {
  return {
    records: records && choices.integer(`${path}/records`, records),
    time: time && choices.distribution(`${path}/time`, time),
    abort,
  };
}

function plannedLink({ cluster }: Scenario, choices: Choices): LinkQuality {
  const { latency, bytesPerSecond } = cluster.network;
  return {
    ...DEFAULT_LINK,
    ...(latency && { latency: choices.distribution("cluster/network/latency", latency) }),
    ...(bytesPerSecond === undefined ? {} : { bytesPerSecond }),
  };
}

function plannedDisk({ cluster }: Scenario, choices: Choices): DiskOptions {
  const { write, read, fsync, bytesPerSecond, writeback, sector, journal } = cluster.disk;
  return {
    write: write ? choices.distribution("cluster/disk/write", write) : DEFAULT_DISK.write,
    read: read ? choices.distribution("cluster/disk/read", read) : DEFAULT_DISK.read,
    fsync: fsync ? choices.distribution("cluster/disk/fsync", fsync) : DEFAULT_DISK.fsync,
    bandwidth: bytesPerSecond ?? DEFAULT_DISK.bandwidth,
    writeback: writeback ?? DEFAULT_DISK.writeback,
    sector: sector ?? DEFAULT_DISK.sector,
    journal: journal ?? DEFAULT_DISK.journal,
  };
}

function plannedFault(spec: FaultSpec, choices: Choices): PlannedFault {
  // By name where there is one, so that a step more does not change what others draw.
  const path = `faults/${spec.name ?? spec.number}`;
  const { trigger } = spec;
  const planned = new Map<string, PlannedArgument>();
  for (const [name, argument] of spec.arguments) {
    planned.set(name, plannedArgument(`${path}/${name}`, argument, choices));
  }
  return {
    spec,
    delay:
      trigger.kind === "at"
        ? choices.duration(`${path}/at`, trigger.time)
        : trigger.kind === "after"
          ? choices.duration(`${path}/delay`, trigger.delay)
          : 0,
    for: spec.for && choices.duration(`${path}/for`, spec.for),
    arguments: planned,
  };
}

function plannedArgument(path: string, argument: ArgumentSpec, choices: Choices): PlannedArgument {
  const { text } = argument;
  switch (argument.kind) {
    case "duration":
      return { kind: "duration", source: choices.distribution(path, argument.duration), text };
    case "word":
      return { kind: "word", word: choices.word(path, argument.word), text };
    case "nodes":
    case "groups":
    case "number":
    case "offsets":
    case "probability":
    case "text":
      return argument;
    default:
      return unreachable(argument);
  }
}
