import { SECOND } from "../base/time.ts";
import type { DurationSpec } from "./draw.ts";
import { PREDICATE } from "./expression-form.ts";
import { actionSchema, readGenerator } from "./fault-form.ts";
import type { Form, Key, KeyTable } from "./form.ts";
import { expectList, mapping, nameOf, readKeys } from "./form.ts";
import type { GeneratorSpec, RandomFaultsSpec, ShapeName } from "./random-faults.ts";
import { SHAPES } from "./random-faults.ts";
import type { Reading } from "./reading.ts";
import { DRAWN_DURATION, DURATION, FLAG, word } from "./scalar-form.ts";
import type { YamlMap, YamlNode } from "./yaml-node.ts";
import { entryOf } from "./yaml-node.ts";

const SHAPE_NAMES = Object.keys(SHAPES) as readonly ShapeName[];

/** More strikes than this in a second are taken for a mistake, on average. */
const MOST_PER_SECOND = 20;

const EVERY: Key<DurationSpec> = {
  form: DRAWN_DURATION,
  meaning: "How long it is from one strike to the next, drawn each time: exponential(20s).",
};
const FOR: Key<DurationSpec> = {
  form: DRAWN_DURATION,
  meaning: "How long each lasts, drawn each time.",
};

const SHAPE_KEYS = {
  shape: { form: word(SHAPE_NAMES), required: true, meaning: "One of the shapes below." },
  every: { ...EVERY, meaning: `${EVERY.meaning} Default: as usual for the shape.` },
  for: { ...FOR, meaning: `${FOR.meaning} Default: as usual for the shape.` },
} satisfies Readonly<Record<string, Key<unknown>>>;

const FAULT_KEYS = {
  every: { ...EVERY, required: true },
  for: FOR,
} satisfies Readonly<Record<string, Key<unknown>>>;

const SHAPE_FIELDS = mapping("a generator", SHAPE_KEYS);

/** The keys of a generator, for the reference. */
export const GENERATOR_KEYS: KeyTable = SHAPE_KEYS;

const GENERATORS: Form<readonly GeneratorSpec[]> = {
  takes: "a list of shapes, or of faults each with `every`",
  schema: {
    type: "array",
    items: {
      anyOf: [
        { enum: SHAPE_NAMES },
        SHAPE_FIELDS.schema,
        { ...actionSchema(FAULT_KEYS), required: ["every"] },
      ],
    },
  },
  read(node, reading, label) {
    const generators: GeneratorSpec[] = [];
    for (const item of expectList(node, reading, label) ?? []) {
      const generator = readOne(item, reading);
      if (generator !== undefined) generators.push(generator);
    }
    return generators;
  },
};

const KEYS = {
  generators: {
    form: GENERATORS,
    meaning: "What strikes. Default: every shape that Kafka promises to survive.",
  },
  swarm: {
    form: FLAG,
    meaning: "Does each seed draw which of them there are, and how fierce? Default true.",
  },
  edges: {
    form: FLAG,
    meaning:
      "Does each seed also draw configs that the scenario does not set, where something changes with them: " +
      "segments of a second, fetches of one batch, sessions shorter than lags? Default false.",
  },
  "quiet-after": {
    form: DURATION,
    meaning: "From then on nothing strikes, and without `duration` the story ends. Default 1m.",
  },
  keep: {
    form: PREDICATE,
    meaning: "A step is skipped if this would not hold then: alive(isr(orders-0)) >= 1.",
  },
  unlimited: {
    form: FLAG,
    meaning: "May more befall the cluster than Kafka promises to survive? Default false.",
  },
} satisfies Readonly<Record<string, Key<unknown>>>;

const FIELDS = mapping("`random-faults`", KEYS);

/** The keys of `random-faults`, for the reference. */
export const RANDOM_FAULTS_KEYS: KeyTable = KEYS;

/** `random-faults:`. With `{}` all is as by default. */
export const RANDOM_FAULTS: Form<RandomFaultsSpec> = {
  takes: "a mapping",
  schema: FIELDS.schema,
  read(node, reading, label) {
    const fields = FIELDS.read(node, reading, label);
    if (fields === undefined) return undefined;
    const { generators, swarm, edges, "quiet-after": quietAfter, keep, unlimited } = fields.values;
    for (const generator of generators ?? []) {
      if (generator.kind !== "shape" || unlimited === true) continue;
      if (SHAPES[generator.shape].scope !== "unlimited") continue;
      const what = `\`${generator.shape}\` is more than Kafka promises to survive`;
      reading.complain(generator.place, `${what}; it needs \`unlimited: true\``);
    }
    return {
      generators: generators ?? [],
      swarm: swarm ?? true,
      edges: edges ?? false,
      quietAfter,
      keep,
      unlimited: unlimited ?? false,
      place: node.place,
    };
  },
};

function readOne(node: YamlNode, reading: Reading): GeneratorSpec | undefined {
  if (node.kind === "scalar") {
    const shape = SHAPE_KEYS.shape.form.read(node, reading, "generators");
    if (shape === undefined) return undefined;
    return { kind: "shape", shape, every: undefined, for: undefined, place: node.place };
  }
  if (node.kind === "list") {
    return reading.complain(node.place, `a generator is a shape or a fault, not ${nameOf(node)}`);
  }
  return entryOf(node, "shape") === undefined ? readFault(node, reading) : readShape(node, reading);
}

function readShape(map: YamlMap, reading: Reading): GeneratorSpec | undefined {
  const { shape, every, for: time } = SHAPE_FIELDS.read(map, reading, "generators")?.values ?? {};
  complainIfStorm(every, map, reading);
  return shape && { kind: "shape", shape, every, for: time, place: map.place };
}

function readFault(map: YamlMap, reading: Reading): GeneratorSpec | undefined {
  const action = readGenerator(map, FAULT_KEYS, reading);
  const { every } = readKeys(map, { every: EVERY }, reading);
  if (entryOf(map, "every") === undefined) {
    reading.complain(map.place, "a generator needs the key `every`");
  }
  complainIfStorm(every, map, reading);
  return action && { kind: "fault", action, every, place: map.place };
}

function complainIfStorm(every: DurationSpec | undefined, map: YamlMap, reading: Reading): void {
  if (every === undefined || shortest(every) * MOST_PER_SECOND >= SECOND) return;
  const place = entryOf(map, "every")?.value.place ?? map.place;
  reading.complain(place, `\`every\` is too often; ${MOST_PER_SECOND} times a second is the most`);
}

/** On average, where it has no bound. */
function shortest(every: DurationSpec): number {
  switch (every.kind) {
    case "fixed":
      return every.value;
    case "uniform":
      return (every.low + every.high) / 2;
    case "exponential":
      return every.mean;
    case "lognormal":
      return every.p50;
    case "one-of":
      return Math.min(...every.options);
  }
}
