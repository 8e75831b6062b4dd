import type { Duration } from "../base/time.ts";
import { HOUR, SECOND } from "../base/time.ts";
import {
  checkBrokerConfigs,
  checkConsumerConfig,
  checkGroupsProtocol,
  checkInternalTopics,
  checkProcessorConfig,
  checkProducerConfig,
} from "./check-configs.ts";
import { checkGroupMembers } from "./check-group-members.ts";
import { CLIENT_NAME, checkClients, checkTopics, namesOf, TOPIC_NAME } from "./check-topology.ts";
import { CLIENT, CLIENT_SECTIONS } from "./client-form.ts";
import { CLUSTER, CLUSTER_SECTIONS } from "./cluster-form.ts";
import type { Complaint } from "./complaint.ts";
import { byPlace } from "./complaint.ts";
import { configDefinitions } from "./config-form.ts";
import { EXPECTATIONS, expectationDefinition } from "./expectation/expectation-form.ts";
import { EXPRESSION_TEXT } from "./expression-form.ts";
import { FAULTS, namesOfSteps } from "./fault-form.ts";
import type { Form, JsonSchema, Key, Section } from "./form.ts";
import {
  complainAboutKeys,
  expectMap,
  expectScalar,
  list,
  mapping,
  mappingSchema,
  namedParts,
  readKeys,
} from "./form.ts";
import { NO_NAMES } from "./known-names.ts";
import { parseYaml } from "./parse-yaml.ts";
import type { Place } from "./place.ts";
import { START_OF_FILE } from "./place.ts";
import type { RandomFaultsSpec } from "./random-faults.ts";
import { RANDOM_FAULTS } from "./random-faults-form.ts";
import { Reading, shortened } from "./reading.ts";
import { DURATION, integer, KEBAB_NAME, TEXT, word } from "./scalar-form.ts";
import type { FaultSpec, Lesson, RunLimit, Scenario, Settle } from "./scenario.ts";
import { TOPIC, TOPIC_SECTIONS } from "./topic-form.ts";
import { applyVariant } from "./variant.ts";
import type { YamlMap, YamlNode } from "./yaml-node.ts";
import { entryOf, nodeFromValue } from "./yaml-node.ts";

/** A scenario, or why there is none; and what is dubious about it. Both in the order of the file. */
export interface ReadResult {
  /** undefined if there are complaints. */
  readonly scenario: Scenario | undefined;
  readonly complaints: readonly Complaint[];
  readonly warnings: readonly Complaint[];
}

/** Reads a scenario from YAML text, and checks all that can be checked before it runs. Never throws. */
export function readScenario(text: string, file: string): ReadResult {
  const reading = new Reading(file, NO_NAMES);
  const node = parseYaml(text, reading);
  return readNode(node, reading);
}

/**
 * The same for a scenario that is written in TypeScript, in the shape of the YAML:
 * `defineScenario({ version: 1, name: "..." }, "my-test")`.
 */
export function defineScenario(value: unknown, file: string): ReadResult {
  return readNode(nodeFromValue(value), new Reading(file, NO_NAMES));
}

/** The shape of a scenario for editors: JSON Schema, draft-07. */
export function scenarioSchema(): JsonSchema {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "sim scenario v1",
    ...mappingSchema(SCENARIO_KEYS),
    definitions: { ...configDefinitions(), expectation: expectationDefinition() },
  };
}

const DEFAULT_SETTLE: Settle = { time: 30 * SECOND, core: "all" };
const DEFAULT_LIMIT: RunLimit = { time: HOUR, events: 100_000_000 };

/** The release that is modelled. */
const KAFKA = "4.3";

const VERSION: Form<number> = {
  takes: "1",
  schema: { const: 1 },
  read(node, reading, label) {
    const scalar = expectScalar(node, reading, label, "1");
    if (scalar === undefined || scalar.value === 1) return scalar && 1;
    const found = shortened(scalar.text);
    return reading.complain(scalar.place, `this is version 1 of the language, not \`${found}\``);
  },
};

const KAFKA_RELEASE: Form<string> = {
  takes: `"${KAFKA}"`,
  schema: { const: KAFKA },
  read(node, reading, label) {
    const scalar = expectScalar(node, reading, label, `"${KAFKA}"`);
    if (scalar === undefined) return undefined;
    if (typeof scalar.value === "number") {
      const message = `write \`kafka: "${KAFKA}"\` in quotes; without them it is a number`;
      return reading.complain(scalar.place, message);
    }
    if (scalar.value === KAFKA) return KAFKA;
    const found = shortened(scalar.text);
    return reading.complain(scalar.place, `only Kafka "${KAFKA}" is modelled, not \`${found}\``);
  },
};

const LIMIT_KEYS = {
  time: { form: DURATION, meaning: "Simulated time. Default 1h." },
  events: { form: integer(1), meaning: "Events. Default 100000000." },
} satisfies Readonly<Record<string, Key<unknown>>>;
const LIMIT_FIELDS = mapping("`limit`", LIMIT_KEYS);

const LIMIT: Form<RunLimit> = {
  takes: "a duration, or { time, events }",
  schema: { anyOf: [DURATION.schema, LIMIT_FIELDS.schema] },
  read(node, reading, label) {
    if (node.kind !== "map") {
      const time = DURATION.read(node, reading, label);
      return time === undefined ? undefined : { ...DEFAULT_LIMIT, time };
    }
    const { time, events } = LIMIT_FIELDS.read(node, reading, label)?.values ?? {};
    return { time: time ?? DEFAULT_LIMIT.time, events: events ?? DEFAULT_LIMIT.events };
  },
};

const SETTLE_KEYS = {
  time: { form: DURATION, meaning: "How long the cluster has to converge. Default 30s." },
  core: {
    form: word<Settle["core"]>(["all", "majority"]),
    meaning:
      "What is healed: `all` (the default), or a core, drawn, that can serve: for the rest faults stay.",
  },
} satisfies Readonly<Record<string, Key<unknown>>>;
const SETTLE_FIELDS = mapping("`settle`", SETTLE_KEYS);

const SETTLE: Form<Settle> = {
  takes: "a duration, or { time, core }",
  schema: { anyOf: [DURATION.schema, SETTLE_FIELDS.schema] },
  read(node, reading, label) {
    if (node.kind !== "map") {
      const time = DURATION.read(node, reading, label);
      return time === undefined ? undefined : { ...DEFAULT_SETTLE, time };
    }
    const { time, core } = SETTLE_FIELDS.read(node, reading, label)?.values ?? {};
    return { time: time ?? DEFAULT_SETTLE.time, core: core ?? DEFAULT_SETTLE.core };
  },
};

const LESSON_KEYS = {
  ask: { form: TEXT, required: true, meaning: "What the learner is asked before the run." },
  choices: { form: list(TEXT), meaning: "Answers to choose from." },
  answer: { form: TEXT, required: true, meaning: "What is true, and why." },
  "look-at": { form: list(EXPRESSION_TEXT), meaning: "Expressions worth looking at." },
} satisfies Readonly<Record<string, Key<unknown>>>;
const LESSON_FIELDS = mapping("a lesson", LESSON_KEYS);

const LESSON: Form<Lesson> = {
  takes: "a mapping",
  schema: LESSON_FIELDS.schema,
  read(node, reading, label) {
    const fields = LESSON_FIELDS.read(node, reading, label);
    const { ask, choices, answer, "look-at": lookAt } = fields?.values ?? {};
    if (ask === undefined || answer === undefined) return undefined;
    return { ask, choices: choices ?? [], answer, lookAt: lookAt ?? [] };
  },
};

/** A mapping that is read later, when all names are known. */
const PATHS: Form<YamlMap> = {
  takes: "a mapping from paths to values",
  schema: { type: "object" },
  read: (node, reading, label) => expectMap(node, reading, label),
};

const LATER: Form<YamlNode> = {
  takes: "a list",
  schema: EXPECTATIONS.schema,
  read: (node) => node,
};

const VARIANT_KEYS = {
  set: {
    form: PATHS,
    meaning: "Values to replace, by path: topics/orders/config/flush.messages: 1.",
  },
  expect: { form: LATER, meaning: "What is expected instead." },
} satisfies Readonly<Record<string, Key<unknown>>>;

/** The keys of a scenario: with their forms, all there is to know about its language. */
const SCENARIO_KEYS = {
  version: { form: VERSION, required: true, meaning: "The version of this language: 1." },
  name: { form: KEBAB_NAME, required: true, meaning: "The file's name, without .yaml." },
  summary: { form: TEXT, meaning: "The story in one or two sentences." },
  seed: { form: integer(0), meaning: "The seed of all chance, unless another is asked for." },
  kafka: { form: KAFKA_RELEASE, required: true, meaning: 'Whose defaults apply: "4.3", quoted.' },
  cluster: { form: CLUSTER, required: true, meaning: "Brokers, controllers and their world." },
  topics: {
    form: namedParts("a topic", TOPIC_NAME, TOPIC),
    required: true,
    meaning: "Topics by name.",
  },
  clients: {
    form: namedParts("a client", CLIENT_NAME, CLIENT),
    meaning: "Producers and consumers by name.",
  },
  faults: { form: FAULTS, meaning: "What happens: each a fault and what sets it off." },
  "random-faults": { form: RANDOM_FAULTS, meaning: "Faults that each seed draws, added to these." },
  duration: {
    form: DURATION,
    meaning: "How long the story lasts. Default: until all faults fired and all records are sent.",
  },
  settle: {
    form: SETTLE,
    meaning: "How long the healed cluster has to converge, and what of it is healed. Default 30s.",
  },
  limit: { form: LIMIT, meaning: "What ends a run that does not end by itself. Default 1h." },
  expect: { form: EXPECTATIONS, meaning: "What will be so." },
  variants: {
    form: namedParts("a variant", /^[a-z0-9][a-z0-9-]*$/, mapping("a variant", VARIANT_KEYS)),
    meaning: "The same story with other values, each with what is then expected.",
  },
  lesson: { form: LESSON, meaning: "A question to the learner." },
} satisfies Readonly<Record<string, Key<unknown>>>;

/** Every mapping of the language but faults and expectations, for the reference. */
export function languageSections(): readonly Section[] {
  return [
    { title: "A scenario", keys: SCENARIO_KEYS },
    ...CLUSTER_SECTIONS,
    ...TOPIC_SECTIONS,
    ...CLIENT_SECTIONS,
    { title: "settle", keys: SETTLE_KEYS },
    { title: "limit", keys: LIMIT_KEYS },
    { title: "variants, each", keys: VARIANT_KEYS },
    { title: "lesson", keys: LESSON_KEYS },
  ];
}

function readNode(node: YamlNode | undefined, reading: Reading): ReadResult {
  if (node !== undefined && node.kind !== "map") {
    reading.complain(node.place, "a scenario is a mapping that begins with `version: 1`");
  }
  const map = node?.kind === "map" ? node : undefined;
  const scenario = map && readMap(map, undefined, reading);
  const complaints = [...reading.complaints].sort(byPlace);
  const last = complaints.at(-1);
  if (last !== undefined && reading.more > 0) {
    complaints.push({ ...last, message: `there are ${reading.more} more mistakes` });
  }
  return {
    scenario: complaints.length === 0 ? scenario : undefined,
    complaints,
    warnings: [...reading.warnings].sort(byPlace),
  };
}

function readMap(
  map: YamlMap,
  variant: string | undefined,
  reading: Reading,
): Scenario | undefined {
  complainAboutKeys(map, SCENARIO_KEYS, "a scenario", reading);
  const { cluster: clusterKey, topics: topicsKey, clients: clientsKey, ...others } = SCENARIO_KEYS;
  reading.names = NO_NAMES;
  const world = readKeys(
    map,
    { cluster: clusterKey, topics: topicsKey, clients: clientsKey },
    reading,
  );
  const { cluster } = world;
  const topics = world.topics && checkTopics(world.topics, cluster, reading);
  const clients = checkClients(world.clients ?? [], topics, reading);
  checkGroupMembers(clients, reading);
  const areClientsRead = world.clients !== undefined || entryOf(map, "clients") === undefined;
  const ofSteps = namesOfSteps(entryOf(map, "faults")?.value);
  reading.names = namesOf(cluster, topics, areClientsRead ? clients : undefined, ofSteps);
  if (cluster !== undefined) {
    checkBrokerConfigs(cluster, reading);
    checkInternalTopics(clients, cluster, reading);
  }
  for (const client of clients) {
    if (client.kind === "producer") checkProducerConfig(client, reading);
    else if (client.kind === "consumer") checkConsumerConfig(client, reading);
    else checkProcessorConfig(client, reading);
    if (cluster !== undefined) checkGroupsProtocol(client, cluster, reading);
  }

  const values = readKeys(map, others, reading);
  const faults = values.faults ?? [];
  complainAboutTime(map, values, faults, reading);
  if (values.duration === undefined && faults.length === 0) {
    complainIfEndless(map, clients, reading);
  }
  const variants = variant === undefined ? readVariants(map, values.variants ?? [], reading) : [];
  const { name, kafka } = values;
  if (name === undefined || kafka === undefined || cluster === undefined || topics === undefined) {
    return undefined;
  }
  return {
    file: reading.file,
    name,
    variant,
    summary: values.summary ?? "",
    seed: values.seed,
    kafka,
    cluster,
    topics,
    clients,
    faults,
    randomFaults: values["random-faults"],
    duration: values.duration,
    settle: values.settle ?? DEFAULT_SETTLE,
    limit: values.limit ?? DEFAULT_LIMIT,
    expect: values.expect ?? [],
    variants,
    lesson: values.lesson,
    place: START_OF_FILE,
  };
}

/** A step that is due after the end would never fire. */
function complainAboutTime(
  map: YamlMap,
  values: {
    readonly duration?: Duration | undefined;
    readonly limit?: RunLimit | undefined;
    readonly "random-faults"?: RandomFaultsSpec | undefined;
  },
  faults: readonly FaultSpec[],
  reading: Reading,
): void {
  const { duration } = values;
  const limit = (values.limit ?? DEFAULT_LIMIT).time;
  if (duration !== undefined && duration >= limit) {
    const place = placeOfValue(map, "duration");
    reading.complain(place, "`duration` is not within `limit`; the run could not end");
  }
  const random = values["random-faults"];
  const quiet = random?.quietAfter;
  if (random !== undefined && quiet !== undefined && quiet > (duration ?? limit)) {
    const end = duration === undefined ? "`limit` of the run" : "`duration` of the scenario";
    reading.complain(random.place, `\`quiet-after\` comes after the ${end}`);
  }
  for (const { trigger, place } of faults) {
    if (trigger.kind !== "at") continue;
    const { time } = trigger;
    const earliest =
      time.kind === "fixed" ? time.value : time.kind === "uniform" ? time.low : undefined;
    if (earliest === undefined) continue;
    if (duration !== undefined && earliest > duration) {
      reading.complain(place, "this step is due after the `duration` of the scenario");
    } else if (earliest >= limit) {
      reading.complain(place, "this step is due after the `limit` of the run");
    }
  }
}

function complainIfEndless(
  map: YamlMap,
  clients: readonly { readonly kind: string; readonly records?: unknown }[],
  reading: Reading,
): void {
  const isBounded = clients.some((one) => one.kind === "producer" && one.records !== undefined);
  if (isBounded || ["faults", "random-faults"].some((key) => entryOf(map, key))) return;
  const message = "nothing says how long this lasts: give a `duration`, or `records` to a producer";
  reading.complain(map.place, message);
}

/** Each variant, read as the scenario that it makes. */
function readVariants(
  map: YamlMap,
  variants: readonly {
    readonly name: string;
    readonly namePlace: Place;
    readonly value: {
      readonly values: {
        readonly set?: YamlMap | undefined;
        readonly expect?: YamlNode | undefined;
      };
    };
  }[],
  reading: Reading,
): readonly Scenario[] {
  const scenarios: Scenario[] = [];
  for (const { name, namePlace, value } of variants) {
    const { set, expect } = value.values;
    const changed = applyVariant(map, set, expect, reading);
    if (changed === undefined) continue;
    const own = new Reading(reading.file, NO_NAMES);
    const scenario = readMap(changed, name, own);
    takeOver(own, reading, name, namePlace, [set, expect]);
    if (scenario !== undefined) scenarios.push(scenario);
  }
  return scenarios;
}

/**
 * Complaints that the scenario has anyway are dropped. What is new is the variant's doing, also where
 * the words stand elsewhere: then the variant's name is the place.
 */
function takeOver(
  own: Reading,
  reading: Reading,
  variant: string,
  place: Place,
  parts: readonly (YamlNode | undefined)[],
): void {
  if (reading.more === 0) reading.more = own.more;
  const range = parts.filter((part) => part !== undefined).flatMap(linesOf);
  const known = new Set([...reading.complaints, ...reading.warnings].map(identity));
  for (const [found, add] of [
    [own.complaints, reading.complain.bind(reading)],
    [own.warnings, reading.warn.bind(reading)],
  ] as const) {
    for (const complaint of found) {
      if (known.has(identity(complaint))) continue;
      const { line, message, suggestion } = complaint;
      const where = range.includes(line) ? complaint : place;
      const text = range.includes(line) ? message : `with variant \`${variant}\`: ${message}`;
      add(where, text, suggestion);
    }
  }
}

function linesOf(node: YamlNode): number[] {
  if (node.kind === "scalar") return [node.place.line];
  if (node.kind === "list") return [node.place.line, ...node.items.flatMap(linesOf)];
  return node.entries.flatMap(({ keyPlace, value }) => [keyPlace.line, ...linesOf(value)]);
}

function identity({ line, column, message }: Complaint): string {
  return `${line}:${column}:${message}`;
}

function placeOfValue(map: YamlMap, key: string): Place {
  return entryOf(map, key)?.value.place ?? map.place;
}
