import { configs, NO_CONFIG } from "./config-form.ts";
import type { IntegerSpec } from "./draw.ts";
import type { Form, Key, Placed, Section } from "./form.ts";
import { expectMap, list, mapping, placed } from "./form.ts";
import type { Place } from "./place.ts";
import { drawnInteger, integer } from "./scalar-form.ts";
import type { ConfigSpec } from "./scenario.ts";

/** More partitions than this in one topic no scenario needs. */
const MOST_PARTITIONS = 1000;

/** A topic as read; its name stands outside. */
export interface TopicParts {
  readonly partitions: Placed<IntegerSpec> | undefined;
  readonly replicationFactor: Placed<IntegerSpec> | undefined;
  readonly replicas: Placed<readonly Placed<readonly number[]>[]> | undefined;
  readonly config: ConfigSpec;
  readonly place: Place;
}

const ASSIGNMENT = placed(list(integer(1)));

/** `{ 0: [1, 2, 3], 1: [2, 3, 1] }`: brokers by partition, from 0 without a gap. */
const REPLICAS: Form<readonly Placed<readonly number[]>[]> = {
  takes: "a mapping such as { 0: [1, 2, 3] }",
  schema: {
    type: "object",
    propertyNames: { pattern: "^[0-9]+$" },
    additionalProperties: ASSIGNMENT.schema,
  },
  read(node, reading, label) {
    const map = expectMap(node, reading, label);
    if (map === undefined) return undefined;
    const found = new Map<string, Placed<readonly number[]>>();
    for (const { key, value } of map.entries) {
      const brokers = ASSIGNMENT.read(value, reading, key);
      if (brokers === undefined) return undefined;
      found.set(key, brokers);
    }
    const assignments: Placed<readonly number[]>[] = [];
    for (let number = 0; number < found.size; number++) {
      const brokers = found.get(String(number));
      if (brokers === undefined) {
        return reading.complain(map.place, `\`replicas\` has no partition ${number}`);
      }
      if (brokers.value.length === 0 || new Set(brokers.value).size < brokers.value.length) {
        return reading.complain(brokers.place, "replicas are different brokers, at least one");
      }
      assignments.push(brokers);
    }
    if (assignments.length > 0) return assignments;
    return reading.complain(map.place, "`replicas` names no partition");
  },
};

const TOPIC_KEYS = {
  partitions: { form: placed(drawnInteger(1, MOST_PARTITIONS)), meaning: "How many. Default 1." },
  "replication.factor": {
    form: placed(drawnInteger(1, MOST_PARTITIONS)),
    meaning: "How many replicas each has. Default: the brokers' default.replication.factor.",
  },
  replicas: {
    form: placed(REPLICAS),
    meaning: "Which brokers have each partition, the preferred leader first, instead.",
  },
  config: { form: configs("topic"), meaning: "The topic's own configs." },
} satisfies Readonly<Record<string, Key<unknown>>>;

/** For the reference. */
export const TOPIC_SECTIONS: readonly Section[] = [{ title: "topics, each", keys: TOPIC_KEYS }];

const TOPIC_FIELDS = mapping("a topic", TOPIC_KEYS);

/** One topic under `topics:`. */
export const TOPIC: Form<TopicParts> = {
  takes: TOPIC_FIELDS.takes,
  schema: TOPIC_FIELDS.schema,
  read(node, reading, label) {
    const fields = TOPIC_FIELDS.read(node, reading, label);
    if (fields === undefined) return undefined;
    const { partitions, replicas, config } = fields.values;
    const replicationFactor = fields.values["replication.factor"];
    if (replicas !== undefined && fields.has("replication.factor")) {
      const place = fields.keyPlace("replication.factor");
      reading.complain(place, "`replicas` leaves nothing for `replication.factor` to say");
    }
    if (replicas !== undefined && fields.has("partitions")) {
      const place = fields.keyPlace("partitions");
      reading.complain(place, "`replicas` leaves nothing for `partitions` to say");
    }
    return {
      partitions,
      replicationFactor,
      replicas,
      config: config ?? NO_CONFIG,
      place: fields.place,
    };
  },
};
