import { complaintAboutIdempotence } from "../kafka/client/idempotence.ts";
import { BROKER_CONFIGS } from "../kafka/config/broker-configs.ts";
import type { ConfigTable, ConfigValue } from "../kafka/config/config-table.ts";
import { resolveConfigs } from "../kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../kafka/config/consumer-configs.ts";
import { complainAboutLogDirectories } from "../kafka/config/log-directories.ts";
import { PRODUCER_CONFIGS } from "../kafka/config/producer-configs.ts";
import { brokerIds, groupOf, isTransactional } from "./check-topology.ts";
import { largest } from "./draw.ts";
import type { Place } from "./place.ts";
import type { Reading } from "./reading.ts";
import type {
  ClientSpec,
  ClusterSpec,
  ConfigSpec,
  ConsumerSpec,
  ProcessorSpec,
  ProducerSpec,
} from "./scenario.ts";

/** Configs that idempotence makes demands on. */
const IDEMPOTENCE_NEEDS = ["acks", "retries", "max.in.flight.requests.per.connection"];

/**
 * Combinations with which a producer refuses to start (`ProducerConfig.postProcessParsedConfig`).
 * Idempotence that was not asked for is no conflict: it is switched off silently.
 */
export function checkProducerConfig(client: ProducerSpec, reading: Reading): void {
  const { config, place } = client;
  const { values } = config;
  const where = (name: string): Place => config.places.get(name) ?? place;
  checkProducerDemands(config, {}, place, reading);
  const isTransactional = isTransactionalId(values["transactional.id"]);
  if (isTransactional !== (client.transaction !== undefined)) {
    reading.complain(
      isTransactional ? where("transactional.id") : place,
      isTransactional
        ? "a producer with a `transactional.id` needs `transaction`, which says when its transactions end"
        : "`transaction` needs a `transactional.id` in `config`",
    );
  }
}

/** The same of an application that reads and writes, and what its promise makes of its configs. */
export function checkProcessorConfig(client: ProcessorSpec, reading: Reading): void {
  const { config, consumerConfig, guarantee, place } = client;
  const isExactlyOnce = guarantee === "exactly-once";
  const own = isExactlyOnce ? { "transactional.id": client.name } : {};
  checkProducerDemands(config, own, place, reading);
  const id = config.values["transactional.id"];
  if (id !== undefined && isTransactionalId(id) !== isExactlyOnce) {
    const message = isExactlyOnce
      ? "exactly-once needs a `transactional.id`"
      : `a \`transactional.id\` is for exactly-once, not for ${guarantee}`;
    reading.complain(config.places.get("transactional.id") ?? place, message);
  }
  checkConsumerConfig({ config: consumerConfig, place }, reading);
  if (consumerConfig.values["enable.auto.commit"] === true) {
    const where = consumerConfig.places.get("enable.auto.commit") ?? place;
    reading.complain(where, "it commits as its `guarantee` says, and not automatically");
  }
}

/** `own`: what it has set where its configs say nothing. */
function checkProducerDemands(
  config: ConfigSpec,
  own: Readonly<Record<string, ConfigValue>>,
  place: Place,
  reading: Reading,
): void {
  const { values } = config;
  const where = (name: string): Place => config.places.get(name) ?? place;
  const asked = values["enable.idempotence"] !== undefined;
  const resolved = resolveConfigs(PRODUCER_CONFIGS, own, values);
  const conflict = complaintAboutIdempotence(resolved, asked);
  if (conflict !== undefined) {
    const culprit = IDEMPOTENCE_NEEDS.find(
      (name) => values[name] !== undefined && conflict.includes(name),
    );
    reading.complain(where(culprit ?? "enable.idempotence"), conflict);
  }
  const delivery = values["delivery.timeout.ms"];
  const linger = numberOf("linger.ms", config, PRODUCER_CONFIGS);
  const request = numberOf("request.timeout.ms", config, PRODUCER_CONFIGS);
  if (typeof delivery === "number" && delivery < linger + request) {
    const least = `linger.ms + request.timeout.ms, which is ${linger + request}`;
    reading.complain(where("delivery.timeout.ms"), `delivery.timeout.ms must be at least ${least}`);
  }
}

function isTransactionalId(value: unknown): boolean {
  return value !== undefined && value !== "";
}

/** What a consumer refuses to be told, by the protocol that it speaks (`ConsumerConfig.checkUnsupportedConfigs`). */
const NOT_WITH: ReadonlyMap<string, readonly string[]> = new Map([
  ["classic", ["group.remote.assignor"]],
  ["consumer", ["partition.assignment.strategy", "heartbeat.interval.ms", "session.timeout.ms"]],
]);

/** Combinations with which a consumer refuses to start. */
export function checkConsumerConfig(
  { config, place }: Pick<ConsumerSpec, "config" | "place">,
  reading: Reading,
): void {
  const { values, places } = config;
  const protocol = String(values["group.protocol"] ?? CONSUMER_CONFIGS["group.protocol"].default);
  for (const name of NOT_WITH.get(protocol) ?? []) {
    if (values[name] === undefined || values[name] === "") continue;
    const message = `${name} cannot be set when group.protocol=${protocol}`;
    reading.complain(places.get(name) ?? place, message);
  }
}

/** What only who keeps his group's registries in ZooKeeper is told, and what he is not. */
const OF_ZOOKEEPER = [
  "zookeeper.session.timeout.ms",
  "rebalance.backoff.ms",
  "rebalance.max.retries",
];
const NOT_OF_ZOOKEEPER = [
  "group.protocol",
  "group.instance.id",
  "group.remote.assignor",
  "partition.assignment.strategy",
  "session.timeout.ms",
  "heartbeat.interval.ms",
  "max.poll.interval.ms",
];

/** What a client cannot be or set because of the protocol switch `groups`. */
export function checkGroupsProtocol(
  client: ClientSpec,
  { protocol: { groups } }: ClusterSpec,
  reading: Reading,
): void {
  if (client.kind === "producer") return;
  const isOld = groups === "zookeeper-2011";
  if (client.kind === "processor") {
    const message =
      "with `groups: zookeeper-2011` there are no transactions with offsets: no `process`";
    if (isOld) reading.complain(client.place, message);
    return;
  }
  const { config, membership, partitions, place } = client;
  if (isOld && membership !== undefined && partitions !== undefined) {
    const message = "with `groups: zookeeper-2011` who assigns himself partitions is in no group";
    reading.complain(place, message);
  }
  if (isOld && membership?.commit === "async") {
    const message =
      "with `groups: zookeeper-2011` commits are awaited: there is no `commit: async`";
    reading.complain(place, message);
  }
  const wrong = isOld && membership !== undefined ? NOT_OF_ZOOKEEPER : isOld ? [] : OF_ZOOKEEPER;
  for (const name of wrong) {
    if (config.values[name] === undefined) continue;
    const when = isOld ? "cannot be set" : "can only be set";
    const message = `${name} ${when} with \`groups: zookeeper-2011\` in \`cluster/protocol\``;
    reading.complain(config.places.get(name) ?? place, message);
  }
}

/** Combinations with which a broker refuses to start (`KafkaConfig.validateValues`). */
export function checkBrokerConfigs(cluster: ClusterSpec, reading: Reading): void {
  checkFetchWait(cluster.config, cluster.place, reading);
  checkLogDirectories(cluster.config, cluster.place, reading);
  if ("kind" in cluster.brokers) return;
  for (const { config, place } of cluster.brokers) {
    if (config.places.size === 0) continue;
    checkLogDirectories(config, place, reading);
    const values = { ...cluster.config.values, ...config.values };
    checkFetchWait({ values, places: config.places }, place, reading);
  }
}

/** Internal topics with more replicas than there are brokers: Kafka tries to create them for ever. */
export function checkInternalTopics(
  clients: readonly ClientSpec[],
  cluster: ClusterSpec,
  reading: Reading,
): void {
  const { brokers, config, protocol } = cluster;
  const count = brokerIds(brokers, largest).length;
  const warn = (name: string, what: string): void => {
    const factor = numberOf(name, config, BROKER_CONFIGS);
    if (factor <= count) return;
    const place = config.places.get(name) ?? cluster.place;
    const has = `${count} broker${count === 1 ? "" : "s"}`;
    reading.warn(
      place,
      `${name}=${factor} is more than ${has}: ${what} will ever find its coordinator`,
    );
  };
  const areRegistered = protocol.groups === "zookeeper-2011";
  if (!areRegistered && clients.some((client) => groupOf(client) !== undefined)) {
    warn("offsets.topic.replication.factor", "no group");
  }
  if (clients.some(isTransactional))
    warn("transaction.state.log.replication.factor", "no transaction");
}

function checkFetchWait(config: ConfigSpec, place: Place, reading: Reading): void {
  const wait = numberOf("replica.fetch.wait.max.ms", config, BROKER_CONFIGS);
  for (const name of ["replica.lag.time.max.ms", "replica.socket.timeout.ms"]) {
    const limit = numberOf(name, config, BROKER_CONFIGS);
    if (wait <= limit) continue;
    const { places } = config;
    const where = places.get(name) ?? places.get("replica.fetch.wait.max.ms") ?? place;
    const message = `${name}=${limit} must be at least replica.fetch.wait.max.ms, which is ${wait}`;
    reading.complain(where, message);
  }
}

/** As a broker has them: a directory that is none, or is named twice (`LogManager`). */
function checkLogDirectories(config: ConfigSpec, place: Place, reading: Reading): void {
  const value = config.values["log.dirs"];
  if (typeof value !== "string") return;
  const complaint = complainAboutLogDirectories(value);
  if (complaint === undefined) return;
  const where = config.places.get("log.dirs") ?? place;
  reading.complain(where, `\`log.dirs\` ${complaint}`);
}

/** The value given, or the default. */
function numberOf(name: string, { values }: ConfigSpec, table: ConfigTable): number {
  const value = values[name] ?? table[name]?.default;
  return typeof value === "number" ? value : 0;
}
