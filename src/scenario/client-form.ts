import { SECOND } from "../base/time.ts";
import { PAYLOAD_MIN_BYTES } from "../kafka/client/payload.ts";
import type { Ratio } from "../ports/random.ts";
import { configs, NO_CONFIG } from "./config-form.ts";
import type { Consumed } from "./consume-form.ts";
import { CONSUMED } from "./consume-form.ts";
import type { IntegerSpec, RateSpec } from "./draw.ts";
import type { Form, Key, Placed, Section } from "./form.ts";
import {
  complainAboutKeys,
  expectMap,
  list,
  mapping,
  mappingSchema,
  placed,
  readKeys,
} from "./form.ts";
import type { Place } from "./place.ts";
import type { Processed } from "./process-form.ts";
import { PROCESS, PROCESS_DEFAULTS, PROCESS_KEYS, STORE_KEYS } from "./process-form.ts";
import type { Reading } from "./reading.ts";
import {
  DRAWN_DURATION,
  drawnInteger,
  integer,
  PROBABILITY,
  RATE,
  size,
  TEXT,
  word,
} from "./scalar-form.ts";
import type { ConfigSpec, MembershipSpec, TransactionSpec } from "./scenario.ts";
import type { YamlMap } from "./yaml-node.ts";
import { entryOf } from "./yaml-node.ts";

/** A client as read; its name stands outside, and its topic is yet to be found. */
export type ClientParts =
  | {
      readonly kind: "producer";
      readonly topic: Placed<string>;
      readonly rate: RateSpec;
      readonly records: IntegerSpec | undefined;
      readonly keys: number | undefined;
      readonly tombstones: Ratio | undefined;
      readonly recordSize: number;
      readonly transaction: TransactionSpec | undefined;
      readonly config: ConfigSpec;
      readonly place: Place;
    }
  | {
      readonly kind: "consumer";
      readonly consumed: Consumed;
      readonly partitions: Placed<readonly number[]> | undefined;
      readonly membership: MembershipSpec | undefined;
      readonly config: ConfigSpec;
      readonly place: Place;
    }
  | ProcessorParts;

/** One that consumes and produces. */
export interface ProcessorParts {
  readonly kind: "processor";
  readonly process: Processed;
  readonly recordSize: number;
  readonly config: ConfigSpec;
  readonly consumerConfig: ConfigSpec;
  readonly place: Place;
}

const DEFAULT_RATE: RateSpec = { kind: "steady", count: 100, per: SECOND };
const DEFAULT_RECORD_SIZE = 100;

const TRANSACTION_KEYS = {
  records: {
    form: drawnInteger(1, 1_000_000_000),
    meaning: "After so many records it ends; drawn once.",
  },
  time: {
    form: DRAWN_DURATION,
    meaning: "After so long it ends, drawn for each: 500ms, uniform(1s..5s).",
  },
  abort: { form: PROBABILITY, meaning: "How many are aborted, 10%. Default: none." },
} satisfies Readonly<Record<string, Key<unknown>>>;

const TRANSACTION_FIELDS = mapping("a transaction", TRANSACTION_KEYS);

/** How a producer's records are bound together. */
const TRANSACTION: Form<TransactionSpec> = {
  ...TRANSACTION_FIELDS,
  read(node, reading, label) {
    const fields = TRANSACTION_FIELDS.read(node, reading, label);
    if (fields === undefined) return undefined;
    const { records, time, abort } = fields.values;
    if (records === undefined && time === undefined) {
      return reading.complain(fields.place, "a transaction needs the key `records` or `time`");
    }
    return { records, time, abort };
  },
};

const PRODUCER_KEYS = {
  produce: { form: placed(TEXT), required: true, meaning: "The topic that it writes to." },
  rate: { form: RATE, meaning: "How fast: 100/s (the default), exponential(50/s)." },
  records: {
    form: drawnInteger(1, 1_000_000_000),
    meaning: "How many it sends. Default: until the cluster settles.",
  },
  keys: {
    form: integer(1, 1_000_000_000),
    meaning: "How many different keys its records have, in turn. Default: no keys.",
  },
  tombstones: {
    form: placed(PROBABILITY),
    meaning: "How many of its records, 5%, have no value: they delete their key. Needs `keys`.",
  },
  "record-size": {
    form: size(PAYLOAD_MIN_BYTES, 1024 * 1024 * 1024),
    meaning: `Bytes of a record's value. Default ${DEFAULT_RECORD_SIZE}.`,
  },
  transaction: {
    form: TRANSACTION,
    meaning:
      "Its records are sent in transactions, one after the other. Needs `transactional.id` in `config`.",
  },
  config: { form: configs("producer"), meaning: "Its ProducerConfig." },
} satisfies Readonly<Record<string, Key<unknown>>>;

const CONSUMER_KEYS = {
  consume: {
    form: CONSUMED,
    required: true,
    meaning:
      "The topic of which it reads all partitions; with `group` also several, `[orders, returns]`, or all whose names match a pattern, `/orders-.*/`.",
  },
  group: {
    form: TEXT,
    meaning:
      "The group (`group.id`) as a member of which it subscribes. Default: none, it assigns itself.",
  },
  partitions: {
    form: placed(list(integer(0, 999))),
    meaning:
      "The partitions, [0, 2], that it assigns to itself (`assign`); with `group` it is no member, and only commits for it. Default: all, or what the group gives it.",
  },
  work: {
    form: placed(DRAWN_DURATION),
    meaning:
      "How long its application works on each record before the next, drawn for each: 5ms, uniform(1ms..20ms). Default: no time. Needs `group`.",
  },
  workers: {
    form: placed(integer(1, 1000)),
    meaning:
      "How many workers of its application share what a poll gave, so that what began later may be done sooner; the next poll waits for all. Default 1. Needs `work`.",
  },
  commit: {
    form: placed(word(["auto", "sync", "async", "smallest-unfinished", "each-finished"] as const)),
    meaning:
      "How it commits: auto (the default), as its config says; each poll's records by commitSync or commitAsync; or by commitAsync whenever a record is done, the first of its partition that is not done yet, or, wrongly if there are `workers`, the one behind it. Unless it is auto, `enable.auto.commit` is false by default. Needs `group`.",
  },
  "commit-when": {
    form: placed(word(["before", "after"] as const)),
    meaning:
      "Whether sync and async commit before or after the work (the default) on what is committed.",
  },
  config: { form: configs("consumer"), meaning: "Its ConsumerConfig." },
} satisfies Readonly<Record<string, Key<unknown>>>;

const PROCESSOR_KEYS = {
  process: {
    form: PROCESS,
    required: true,
    meaning: "What it reads and writes, and what it promises: { from, to, group, guarantee }.",
  },
  "record-size": PRODUCER_KEYS["record-size"],
  "consumer-config": { form: configs("consumer"), meaning: PROCESS_DEFAULTS.consumer },
  "producer-config": { form: configs("producer"), meaning: PROCESS_DEFAULTS.producer },
} satisfies Readonly<Record<string, Key<unknown>>>;

/** For the reference. */
export const CLIENT_SECTIONS: readonly Section[] = [
  { title: "clients, each that produces", keys: PRODUCER_KEYS },
  { title: "transaction, of a client that produces", keys: TRANSACTION_KEYS },
  { title: "clients, each that consumes", keys: CONSUMER_KEYS },
  { title: "clients, each that consumes and produces", keys: PROCESSOR_KEYS },
  { title: "process, of such a client", keys: PROCESS_KEYS },
  { title: "store, of such a client", keys: STORE_KEYS },
];

/** One client under `clients:`. */
export const CLIENT: Form<ClientParts> = {
  takes: "a mapping",
  schema: { oneOf: [PRODUCER_KEYS, CONSUMER_KEYS, PROCESSOR_KEYS].map(mappingSchema) },
  read(node, reading, label) {
    const map = expectMap(node, reading, label);
    if (map === undefined) return undefined;
    const produces = entryOf(map, "produce") !== undefined;
    const consumes = entryOf(map, "consume") !== undefined;
    if (produces && consumes) {
      const message =
        "a client either produces or consumes; make two of it, or one that has `process`";
      return reading.complain(map.place, message);
    }
    if (!produces && !consumes && entryOf(map, "process") !== undefined) {
      complainAboutKeys(map, PROCESSOR_KEYS, "a client that consumes and produces", reading);
      return readProcessor(map, reading);
    }
    if (consumes) {
      complainAboutKeys(map, CONSUMER_KEYS, "a consumer", reading);
      return readConsumer(map, reading);
    }
    if (!produces) {
      const { consume } = CONSUMER_KEYS;
      const keys = { ...PRODUCER_KEYS, consume, process: PROCESSOR_KEYS.process };
      const known = Object.keys(keys);
      for (const { key, keyPlace } of map.entries) {
        if (!known.includes(key)) reading.unknown(keyPlace, "key of a client", key, known);
      }
      return reading.complain(
        map.place,
        "a client needs the key `produce`, `consume` or `process`",
      );
    }
    complainAboutKeys(map, PRODUCER_KEYS, "a producer", reading);
    const values = readKeys(map, PRODUCER_KEYS, reading);
    if (values.produce === undefined) return undefined;
    if (values.tombstones !== undefined && values.keys === undefined) {
      reading.complain(
        values.tombstones.place,
        "`tombstones` needs `keys`: a tombstone deletes one",
      );
    }
    return {
      kind: "producer",
      topic: values.produce,
      rate: values.rate ?? DEFAULT_RATE,
      records: values.records,
      keys: values.keys,
      tombstones: values.tombstones?.value,
      recordSize: values["record-size"] ?? DEFAULT_RECORD_SIZE,
      transaction: values.transaction,
      config: values.config ?? NO_CONFIG,
      place: map.place,
    };
  },
};

function readConsumer(map: YamlMap, reading: Reading): ClientParts | undefined {
  const values = readKeys(map, CONSUMER_KEYS, reading);
  const { consume, group, work, workers, commit, config = NO_CONFIG } = values;
  if (consume === undefined) return undefined;
  const when = values["commit-when"];
  const isByRecord = commit?.value === "smallest-unfinished" || commit?.value === "each-finished";
  if (work === undefined && workers !== undefined) {
    reading.complain(workers.place, "`workers` needs `work`");
  } else if (work === undefined && commit !== undefined && isByRecord) {
    reading.complain(commit.place, `\`commit: ${commit.value}\` needs \`work\``);
  }
  if (when !== undefined && (isByRecord || (commit?.value ?? "auto") === "auto")) {
    reading.complain(when.place, "`commit-when` needs `commit: sync` or `commit: async`");
  }
  if (group === undefined) {
    for (const [name, value] of Object.entries({ work, commit, "commit-when": when })) {
      if (value !== undefined) reading.complain(value.place, `\`${name}\` needs \`group\``);
    }
    if (consume.topics.length !== 1) {
      reading.complain(
        map.place,
        "only a member of a group reads several topics: it needs `group`",
      );
      return undefined;
    }
  }
  const { partitions } = values;
  if (partitions !== undefined && consume.topics.length !== 1) {
    reading.complain(partitions.place, "`partitions` are of one topic");
  } else if (partitions?.value.length === 0) {
    reading.complain(partitions.place, "`partitions` names none");
  }
  return {
    kind: "consumer",
    consumed: consume,
    partitions,
    membership:
      group === undefined
        ? undefined
        : {
            group,
            pattern: consume.pattern,
            work: work?.value,
            workers: workers?.value ?? 1,
            commit: commit?.value ?? "auto",
            commitWhen: when?.value ?? "after",
          },
    config,
    place: map.place,
  };
}

function readProcessor(map: YamlMap, reading: Reading): ClientParts | undefined {
  const values = readKeys(map, PROCESSOR_KEYS, reading);
  const { process } = values;
  if (process === undefined) return undefined;
  if (process.to === undefined) {
    for (const name of ["producer-config", "record-size"]) {
      const entry = entryOf(map, name);
      if (entry !== undefined) reading.complain(entry.keyPlace, `\`${name}\` needs \`to\``);
    }
  }
  return {
    kind: "processor",
    process,
    recordSize: values["record-size"] ?? DEFAULT_RECORD_SIZE,
    config: values["producer-config"] ?? NO_CONFIG,
    consumerConfig: values["consumer-config"] ?? NO_CONFIG,
    place: map.place,
  };
}
