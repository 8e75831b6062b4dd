import { unreachable } from "../base/invariant.ts";
import { byNumber } from "../base/order.ts";
import { BROKER_CONFIGS } from "../kafka/config/broker-configs.ts";
import { logDirectories } from "../kafka/config/log-directories.ts";
import type { PartitionName } from "../kafka/ids.ts";
import { METADATA_TOPIC } from "../kafka/ids.ts";
import type { ClientParts } from "./client-form.ts";
import type { Consumed } from "./consume-form.ts";
import type { IntegerSpec } from "./draw.ts";
import { formatInteger, largest, smallest } from "./draw.ts";
import type { Named, Placed } from "./form.ts";
import type { KnownNames, StepNames } from "./known-names.ts";
import type { Place } from "./place.ts";
import type { Reading } from "./reading.ts";
import { shortened } from "./reading.ts";
import type { NodeRole } from "./roster.ts";
import type { BrokerSpec, ClientSpec, ClusterSpec, TopicSpec } from "./scenario.ts";
import { partitionNames } from "./scenario.ts";
import type { TopicParts } from "./topic-form.ts";
import { RESERVED_WORDS } from "./vocabulary.ts";

/** Kafka's `Topic.LEGAL_CHARS` and length. */
export const TOPIC_NAME: RegExp = /^[a-zA-Z0-9._-]{1,249}$/;
/** The name of the node where groups keep their registries, if they do. */
export const ZOOKEEPER = "zookeeper";
export const CLIENT_NAME: RegExp = /^[a-zA-Z][a-zA-Z0-9_-]{0,99}$/;

/** Brokers as a scenario has them, if all choices were made as `choose` does. */
export function brokerIds(
  brokers: IntegerSpec | readonly BrokerSpec[],
  choose: (spec: IntegerSpec) => number,
): number[] {
  if ("kind" in brokers) return Array.from({ length: choose(brokers) }, (_, i) => i + 1);
  return brokers.map(({ id }) => id);
}

/** Topics that the cluster can have, after complaining about those that it cannot. */
export function checkTopics(
  topics: readonly Named<TopicParts>[],
  cluster: ClusterSpec | undefined,
  reading: Reading,
): readonly TopicSpec[] {
  return topics.map((topic) => {
    complainAboutTopicName(topic, topics, reading);
    const { name, value } = topic;
    if (cluster !== undefined) complainAboutReplicas(topic, cluster, reading);
    const count = value.replicas?.value.length;
    const partitions: IntegerSpec =
      count === undefined
        ? (value.partitions?.value ?? { kind: "fixed", value: defaultPartitions(cluster) })
        : { kind: "fixed", value: count };
    return {
      name,
      partitions,
      replicationFactor: value.replicationFactor?.value,
      replicas: value.replicas?.value.map((placed) => placed.value),
      config: value.config,
      place: topic.namePlace,
    };
  });
}

function defaultPartitions(cluster: ClusterSpec | undefined): number {
  const given = cluster?.config.values["num.partitions"];
  return typeof given === "number" ? given : 1;
}

function complainAboutTopicName(
  { name, namePlace }: Named<TopicParts>,
  topics: readonly Named<TopicParts>[],
  reading: Reading,
): void {
  if (RESERVED_WORDS.has(name)) {
    reading.complain(namePlace, `\`${name}\` is a word of the language and cannot name a topic`);
  } else if (name === METADATA_TOPIC || name === "." || name === "..") {
    reading.complain(namePlace, `Kafka lets no topic have the name \`${name}\``);
  }
  const owner = topics.find(({ name: other, value }) => {
    const most = value.partitions === undefined ? 1 : largest(value.partitions.value);
    return other !== name && partitionNames(other, most).includes(name);
  });
  if (owner !== undefined) {
    reading.complain(namePlace, `\`${name}\` already means a partition of \`${owner.name}\``);
  }
}

function complainAboutReplicas(
  { name, namePlace, value }: Named<TopicParts>,
  cluster: ClusterSpec,
  reading: Reading,
): void {
  const fewest = brokerIds(cluster.brokers, smallest);
  const has = `${fewest.length} broker${fewest.length === 1 ? "" : "s"}`;
  const drawn = "kind" in cluster.brokers && cluster.brokers.kind !== "fixed";
  const brokers = drawn ? `${has} (the fewest that can be drawn)` : has;
  for (const { value: assigned, place } of value.replicas?.value ?? []) {
    for (const id of assigned) {
      if (fewest.includes(id)) continue;
      reading.complain(place, `there is no broker ${id} to have a replica; there are ${brokers}`);
    }
  }
  const given = value.replicationFactor;
  const byDefault = cluster.config.values["default.replication.factor"];
  const factor: IntegerSpec = given?.value ?? {
    kind: "fixed",
    value: typeof byDefault === "number" ? byDefault : 1,
  };
  if (value.replicas === undefined && largest(factor) > fewest.length) {
    const place = given?.place ?? namePlace;
    const message = `a replication factor of ${formatInteger(factor)} is more than ${brokers}`;
    reading.complain(place, message);
  }
  const replicas =
    value.replicas === undefined
      ? smallest(factor)
      : Math.min(...value.replicas.value.map((placed) => placed.value.length));
  const own = value.config.values["min.insync.replicas"];
  const wanted = own ?? cluster.config.values["min.insync.replicas"];
  if (typeof wanted !== "number" || wanted <= replicas) return;
  const places = own === undefined ? cluster.config.places : value.config.places;
  const place = places.get("min.insync.replicas") ?? namePlace;
  const what = `min.insync.replicas=${wanted} is more than the ${replicas} of \`${shortened(name)}\``;
  const message = `${what}; Kafka then acts as if it were ${replicas}`;
  // A default for all topics may be too large for one of them; beside the topic's own replicas it is a slip.
  if (own === undefined) reading.warn(place, message);
  else reading.complain(place, message);
}

/** Clients of topics that exist, after complaining about others. */
export function checkClients(
  clients: readonly Named<ClientParts>[],
  topics: readonly TopicSpec[] | undefined,
  reading: Reading,
): readonly ClientSpec[] {
  const checked: ClientSpec[] = [];
  for (const { name, namePlace, value } of clients) {
    if (RESERVED_WORDS.has(name) || /^(zookeeper|(broker|controller)-[0-9]+)$/.test(name)) {
      reading.complain(namePlace, `\`${name}\` already means something; name the client otherwise`);
    }
    switch (value.kind) {
      case "producer": {
        const { topic } = value;
        checkTopicName(topic, topics, reading);
        checked.push({ ...value, name, topic: topic.value, place: namePlace });
        break;
      }
      case "consumer": {
        const { kind, membership, config, consumed, place } = value;
        const wanted = consumedTopics(consumed, place, topics, reading);
        const [topic] = consumed.topics;
        const partitions = ownPartitions(value.partitions, topic?.value, topics, reading);
        const consumer = { kind, name, topics: wanted, partitions, membership, config };
        checked.push({ ...consumer, place: namePlace });
        break;
      }
      case "processor": {
        const { process, place, ...rest } = value;
        const { from, to, ...others } = process;
        if (to !== undefined) checkTopicName(to, topics, reading);
        const wanted = consumedTopics(from, place, topics, reading);
        const { pattern } = from;
        const found = { topics: wanted, pattern, to: to?.value };
        checked.push({ ...rest, ...others, ...found, name, place: namePlace });
        break;
      }
      default:
        unreachable(value);
    }
  }
  complainAboutStores(checked, reading);
  return checked;
}

/** What a consumer assigns to itself, each once and in order. */
function ownPartitions(
  given: Placed<readonly number[]> | undefined,
  topic: string | undefined,
  topics: readonly TopicSpec[] | undefined,
  reading: Reading,
): readonly number[] | undefined {
  if (given === undefined) return undefined;
  const spec = topics?.find(({ name }) => name === topic);
  const fewest = spec === undefined ? Number.POSITIVE_INFINITY : smallest(spec.partitions);
  for (const partition of given.value) {
    if (partition < fewest) continue;
    reading.complain(given.place, `\`${topic}\` has no partition ${partition}; it has ${fewest}`);
  }
  return [...new Set(given.value)].sort(byNumber);
}

/** The topics that a consumer names, or that its pattern matches, after complaining about those that are none. */
function consumedTopics(
  { topics: named, pattern }: Consumed,
  place: Place,
  topics: readonly TopicSpec[] | undefined,
  reading: Reading,
): readonly string[] {
  for (const topic of named) checkTopicName(topic, topics, reading);
  const matching = matchingTopics(pattern, topics);
  if (matching?.length === 0) reading.complain(place, `no topic matches /${pattern}/`);
  return matching ?? named.map((topic) => topic.value);
}

/** One table cannot both have unique keys and not. */
function complainAboutStores(clients: readonly ClientSpec[], reading: Reading): void {
  const stores = new Map<string, boolean>();
  for (const client of clients) {
    if (client.kind !== "processor" || client.store === undefined) continue;
    const { name, isKeyUnique } = client.store;
    const known = stores.get(name) ?? isKeyUnique;
    stores.set(name, known);
    if (known === isKeyUnique) continue;
    reading.complain(client.place, `another client gives the keys of \`${name}\` otherwise`);
  }
}

function checkTopicName(
  topic: Placed<string>,
  topics: readonly TopicSpec[] | undefined,
  reading: Reading,
): void {
  if (topics === undefined || topics.some((one) => one.name === topic.value)) return;
  const names = topics.map((one) => one.name);
  reading.unknown(topic.place, "topic", topic.value, names);
}

/** The group whose offsets it commits; undefined if it has none. */
export function groupOf(client: ClientSpec): string | undefined {
  switch (client.kind) {
    case "producer":
      return undefined;
    case "consumer":
      return client.membership?.group;
    case "processor":
      return client.group;
  }
}

/** Does it write in transactions? */
export function isTransactional(client: ClientSpec): boolean {
  if (client.kind === "processor") return client.guarantee === "exactly-once";
  return client.kind === "producer" && client.transaction !== undefined;
}

/** Undefined if there is no pattern, or the topics could not be read. */
function matchingTopics(
  pattern: string | undefined,
  topics: readonly TopicSpec[] | undefined,
): readonly string[] | undefined {
  if (pattern === undefined || topics === undefined) return undefined;
  const expression = new RegExp(`^(?:${pattern})$`);
  return topics.map(({ name }) => name).filter((name) => expression.test(name));
}

/** The names that expressions may use. Parts that are undefined could not be read. */
export function namesOf(
  cluster: ClusterSpec | undefined,
  topics: readonly TopicSpec[] | undefined,
  clients: readonly ClientSpec[] | undefined,
  { bindings, steps, grown }: StepNames,
): KnownNames {
  const nodes = new Map<string, NodeRole>();
  const racks = new Set<string>();
  if (cluster !== undefined) {
    if (cluster.protocol.groups === "zookeeper-2011") nodes.set(ZOOKEEPER, "zookeeper");
    for (const id of brokerIds(cluster.brokers, largest)) nodes.set(`broker-${id}`, "broker");
    for (let i = 1; i <= largest(cluster.controllers); i++)
      nodes.set(`controller-${i}`, "controller");
    if (!("kind" in cluster.brokers)) {
      for (const { rack } of cluster.brokers) if (rack !== "") racks.add(rack);
    }
  }
  const groups = new Set<string>();
  const uncallable = new Map<string, string>();
  for (const client of clients ?? []) {
    nodes.set(client.name, "client");
    const why = whyUncallable(client, cluster);
    if (why !== undefined) uncallable.set(client.name, why);
    const group = groupOf(client);
    if (group !== undefined) groups.add(group);
  }
  const partitions = new Map<string, readonly PartitionName[]>();
  for (const { name, partitions: count } of topics ?? []) {
    partitions.set(name, partitionNames(name, Math.max(largest(count), grown.get(name) ?? 0)));
  }
  return {
    nodes,
    areNodesKnown: cluster !== undefined && clients !== undefined,
    uncallable,
    groups,
    racks,
    areRacksKnown: cluster !== undefined,
    topics: partitions,
    areTopicsKnown: topics !== undefined,
    logDirectories: logDirectoriesOf(cluster),
    bindings,
    steps,
  };
}

/** Why nobody can pause it, or have it seek; undefined if it has a consumer for that. */
function whyUncallable(client: ClientSpec, cluster: ClusterSpec | undefined): string | undefined {
  if (client.kind === "producer") return `\`${client.name}\` is a producer`;
  if (client.kind !== "consumer" || client.membership === undefined) return undefined;
  if (cluster?.protocol.groups !== "zookeeper-2011") return undefined;
  return `with \`groups: zookeeper-2011\` \`${client.name}\` has streams, which can neither pause nor seek`;
}

function logDirectoriesOf(cluster: ClusterSpec | undefined): ReadonlySet<string> {
  const directories = new Set<string>();
  if (cluster === undefined) return directories;
  const own = "kind" in cluster.brokers ? [] : cluster.brokers;
  for (const { config } of [cluster, ...own]) {
    const value = config.values["log.dirs"] ?? BROKER_CONFIGS["log.dirs"].default;
    for (const directory of logDirectories({ "log.dirs": String(value) })) {
      directories.add(directory);
    }
  }
  return directories;
}
