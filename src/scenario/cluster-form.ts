import type { FeatureLevels, ProtocolSwitches } from "../kafka/protocol-switches.ts";
import { MAX_FEATURES, SWITCH_OPTIONS } from "../kafka/protocol-switches.ts";
import { configs, NO_CONFIG } from "./config-form.ts";
import type { IntegerSpec } from "./draw.ts";
import { largest } from "./draw.ts";
import type { Form, Key, Section } from "./form.ts";
import { expectMap, list, mapping } from "./form.ts";
import type { Reading } from "./reading.ts";
import {
  BANDWIDTH,
  DRAWN_DURATION,
  DRIFT,
  DURATION,
  drawnInteger,
  integer,
  SECTOR,
  SIGNED_DURATION,
  TEXT,
  word,
} from "./scalar-form.ts";
import type { BrokerSpec, ClusterSpec } from "./scenario.ts";

/** More brokers than this no scenario needs. */
const MOST_BROKERS = 200;

/** Node ids of controllers begin above those of brokers. */
const LARGEST_BROKER_ID = 2999;

const CLOCK_KEYS = {
  offset: { form: SIGNED_DURATION, meaning: "How far its clock is ahead of true time." },
  drift: { form: DRIFT, meaning: "How fast it gains: 200ppm." },
} satisfies Readonly<Record<string, Key<unknown>>>;

const BROKER_KEYS = {
  id: { form: integer(1, LARGEST_BROKER_ID), required: true, meaning: "Its node.id: broker-ID." },
  rack: { form: TEXT, meaning: "Its broker.rack; replicas are spread over racks." },
  config: { form: configs("broker"), meaning: "Its own server.properties." },
  clock: { form: mapping("a clock", CLOCK_KEYS), meaning: "What is wrong with its clock." },
} satisfies Readonly<Record<string, Key<unknown>>>;

const BROKER_FIELDS = mapping("a broker", BROKER_KEYS);

const BROKER: Form<BrokerSpec> = {
  takes: BROKER_FIELDS.takes,
  schema: BROKER_FIELDS.schema,
  read(node, reading, label) {
    const fields = BROKER_FIELDS.read(node, reading, label);
    if (fields === undefined || fields.values.id === undefined) return undefined;
    const { id, rack, config, clock } = fields.values;
    return {
      id,
      rack: rack ?? "",
      config: config ?? NO_CONFIG,
      clock: { offset: clock?.values.offset ?? 0, driftPpm: clock?.values.drift ?? 0 },
      place: fields.has("id") ? fields.valuePlace("id") : fields.place,
    };
  },
};

const BROKER_COUNT = drawnInteger(1, MOST_BROKERS);
const BROKER_LIST = list(BROKER);

const BROKERS: Form<IntegerSpec | readonly BrokerSpec[]> = {
  takes: "how many brokers there are, or a list of them",
  schema: { anyOf: [BROKER_COUNT.schema, BROKER_LIST.schema] },
  read(node, reading, label) {
    if (node.kind !== "list") return BROKER_COUNT.read(node, reading, label);
    const brokers = BROKER_LIST.read(node, reading, label) ?? [];
    if (node.items.length === 0) return reading.complain(node.place, "a cluster needs a broker");
    if (node.items.length > MOST_BROKERS) {
      return reading.complain(node.place, `a cluster has ${MOST_BROKERS} brokers at most`);
    }
    complainAboutTwins(brokers, reading);
    // With one of them unreadable, nothing can be said about how many there are.
    return brokers.length === node.items.length ? brokers : undefined;
  },
};

function complainAboutTwins(brokers: readonly BrokerSpec[], reading: Reading): void {
  const known = new Set<number>();
  for (const { id, place } of brokers) {
    if (known.has(id)) reading.complain(place, `two brokers have the id ${id}`);
    known.add(id);
  }
}

const CONTROLLER_COUNT = drawnInteger(1, 5);

const CONTROLLERS: Form<IntegerSpec> = {
  takes: "1, 3 or 5",
  schema: CONTROLLER_COUNT.schema,
  read(node, reading, label) {
    const count = CONTROLLER_COUNT.read(node, reading, label);
    if (count === undefined) return undefined;
    const options =
      count.kind === "fixed" ? [count.value] : count.kind === "one-of" ? count.options : [2];
    if (options.every((option) => option % 2 === 1)) return count;
    const most = largest(count);
    return reading.complain(node.place, `a quorum has 1, 3 or 5 controllers, not ${most}`);
  },
};

const NETWORK_KEYS = {
  latency: { form: DRAWN_DURATION, meaning: "How long a message takes, drawn for each." },
  bandwidth: { form: BANDWIDTH, meaning: "What each link carries, in each direction." },
} satisfies Readonly<Record<string, Key<unknown>>>;

const DISK_KEYS = {
  write: { form: DRAWN_DURATION, meaning: "How long a write into the page cache takes." },
  read: { form: DRAWN_DURATION, meaning: "How long a read from the page cache takes." },
  fsync: { form: DRAWN_DURATION, meaning: "How long an fsync takes, its bytes not counted." },
  bandwidth: { form: BANDWIDTH, meaning: "How fast flushed bytes are written." },
  writeback: { form: DURATION, meaning: "The age at which the system writes back dirty pages." },
  sector: { form: SECTOR, meaning: "What is written whole: pages are torn at multiples." },
  journal: {
    form: word<"writeback" | "ordered">(["writeback", "ordered"]),
    meaning:
      "Whether a size or a name can be durable before its data, as zeros or garbage: `writeback` " +
      "(default), or not: `ordered`.",
  },
  "good-copies": {
    form: integer(1, 100),
    meaning:
      "So many replicas of each stretch of log stay unharmed: a fault that would damage the records of " +
      "more is skipped. Without it nothing is promised, and only safety can be asked for.",
  },
} satisfies Readonly<Record<string, Key<unknown>>>;

/** Feature levels: a number for each of Kafka's names. */
const FEATURES: Form<Partial<FeatureLevels>> = {
  takes: "a mapping of feature levels",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(MAX_FEATURES).map(([name, maximum]) => [
        name,
        { type: "integer", minimum: 0, maximum },
      ]),
    ),
  },
  read(node, reading, label) {
    const map = expectMap(node, reading, label);
    if (map === undefined) return undefined;
    const levels: Record<string, number> = {};
    for (const { key, keyPlace, value } of map.entries) {
      const maximum = Object.entries(MAX_FEATURES).find(([name]) => name === key)?.[1];
      if (maximum === undefined) {
        reading.unknown(keyPlace, "feature", key, Object.keys(MAX_FEATURES));
        continue;
      }
      const level = integer(0, maximum).read(value, reading, key);
      if (level !== undefined) levels[key] = level;
    }
    return levels;
  },
};

/** Rules that Kafka had: one of a few options for each. */
const PROTOCOL: Form<Partial<ProtocolSwitches>> = {
  takes: "a mapping of protocol switches",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(SWITCH_OPTIONS).map(([name, options]) => [name, { enum: options }]),
    ),
  },
  read(node, reading, label) {
    const map = expectMap(node, reading, label);
    if (map === undefined) return undefined;
    const switches: Record<string, string | boolean> = {};
    const known = new Map<string, readonly (string | boolean)[]>(Object.entries(SWITCH_OPTIONS));
    for (const { key, keyPlace, value } of map.entries) {
      const options = known.get(key);
      if (options === undefined) {
        reading.unknown(keyPlace, "protocol switch", key, known.keys());
        continue;
      }
      const text = value.kind === "scalar" ? value.text : "";
      const option = options.find((one) => String(one) === text);
      if (option !== undefined) switches[key] = option;
      else reading.unfit(value.place, key, text, options.map(String));
    }
    // Each value is one of its own switch's options.
    return switches as Partial<ProtocolSwitches>;
  },
};

const CLUSTER_KEYS = {
  brokers: {
    form: BROKERS,
    required: true,
    meaning:
      "How many brokers (broker-1, broker-2, ...), or a list of { id, rack, config, clock }.",
  },
  controllers: {
    form: CONTROLLERS,
    meaning: "Voters of the metadata quorum: 1, 3 or 5. Default 3.",
  },
  config: { form: configs("broker"), meaning: "server.properties of brokers and controllers." },
  network: { form: mapping("a network", NETWORK_KEYS), meaning: "What the network is like." },
  disk: { form: mapping("a disk", DISK_KEYS), meaning: "What each node's disk is like." },
  features: { form: FEATURES, meaning: "Kafka's feature levels." },
  protocol: { form: PROTOCOL, meaning: "Rules that Kafka once had, instead of the present ones." },
} satisfies Readonly<Record<string, Key<unknown>>>;

/** For the reference. */
export const CLUSTER_SECTIONS: readonly Section[] = [
  { title: "cluster", keys: CLUSTER_KEYS },
  { title: "cluster/brokers, each", keys: BROKER_KEYS },
  { title: "cluster/brokers, each: clock", keys: CLOCK_KEYS },
  { title: "cluster/network", keys: NETWORK_KEYS },
  { title: "cluster/disk", keys: DISK_KEYS },
];

const CLUSTER_FIELDS = mapping("a cluster", CLUSTER_KEYS);

/** `cluster:`. Undefined if it cannot be known which nodes there are. */
export const CLUSTER: Form<ClusterSpec> = {
  takes: CLUSTER_FIELDS.takes,
  schema: CLUSTER_FIELDS.schema,
  read(node, reading, label) {
    const fields = CLUSTER_FIELDS.read(node, reading, label);
    if (fields === undefined) return undefined;
    const { brokers, controllers, config, network, disk, features, protocol } = fields.values;
    if (brokers === undefined || (controllers === undefined && fields.has("controllers"))) {
      return undefined;
    }
    return {
      brokers,
      controllers: controllers ?? { kind: "fixed", value: 3 },
      config: config ?? NO_CONFIG,
      network: {
        latency: network?.values.latency,
        bytesPerSecond: network?.values.bandwidth,
      },
      disk: {
        write: disk?.values.write,
        read: disk?.values.read,
        fsync: disk?.values.fsync,
        bytesPerSecond: disk?.values.bandwidth,
        writeback: disk?.values.writeback,
        sector: disk?.values.sector,
        journal: disk?.values.journal,
        goodCopies: disk?.values["good-copies"],
      },
      features: features ?? {},
      protocol: protocol ?? {},
      place: fields.keyPlace("brokers"),
    };
  },
};
