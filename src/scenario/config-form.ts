import { BROKER_CONFIGS } from "../kafka/config/broker-configs.ts";
import type { ConfigTable, ConfigValue } from "../kafka/config/config-table.ts";
import { complainAboutConfig, parseConfig } from "../kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../kafka/config/consumer-configs.ts";
import { PRODUCER_CONFIGS } from "../kafka/config/producer-configs.ts";
import { TOPIC_CONFIGS } from "../kafka/config/topic-configs.ts";
import { UNMODELLED_CONFIGS } from "../kafka/config/unmodelled-configs.ts";
import type { Form, JsonSchema } from "./form.ts";
import { expectMap, expectScalar } from "./form.ts";
import type { Place } from "./place.ts";
import type { ConfigSpec } from "./scenario.ts";

/** Where Kafka configs are set. */
export type ConfigSide = "broker" | "topic" | "producer" | "consumer";

/** The configs that are modelled, by where they are set. */
export const MODELLED_CONFIGS: Readonly<Record<ConfigSide, ConfigTable>> = {
  broker: BROKER_CONFIGS,
  topic: TOPIC_CONFIGS,
  producer: PRODUCER_CONFIGS,
  consumer: CONSUMER_CONFIGS,
};

export const NO_CONFIG: ConfigSpec = { values: {}, places: new Map() };

/** Kafka's own names, each with a value that Kafka would take. */
export function configs(side: ConfigSide): Form<ConfigSpec> {
  const table = MODELLED_CONFIGS[side];
  const unmodelled = UNMODELLED_CONFIGS[side];
  return {
    takes: `a mapping of Kafka's ${side} configs`,
    schema: { $ref: `#/definitions/${side}-config` },
    read(node, reading, label) {
      const map = expectMap(node, reading, label);
      if (map === undefined) return undefined;
      const values: Record<string, ConfigValue> = {};
      const places = new Map<string, Place>();
      for (const { key, keyPlace, value } of map.entries) {
        const definition = Object.hasOwn(table, key) ? table[key] : undefined;
        if (definition === undefined) {
          if (unmodelled.has(key)) reading.warn(keyPlace, noEffect(key));
          else reading.unknown(keyPlace, `${side} config`, key, namesNear(table, unmodelled));
          continue;
        }
        const scalar = expectScalar(value, reading, key, `a ${definition.type}`);
        if (scalar === undefined) continue;
        const given = scalar.value;
        const parsed = parseConfig(definition, given);
        const complaint = complainAboutConfig(definition, given);
        if (complaint !== undefined) {
          reading.complain(scalar.place, `\`${key}\` ${complaint}, not \`${scalar.text}\``);
        } else if (parsed !== undefined) {
          values[key] = parsed;
          places.set(key, scalar.place);
        }
      }
      return { values, places };
    },
  };
}

/** The schemas that the forms of configs refer to. */
export function configDefinitions(): JsonSchema {
  const definitions: Record<string, unknown> = {};
  for (const side of ["broker", "topic", "producer", "consumer"] as const) {
    const schema = configSchema(MODELLED_CONFIGS[side], UNMODELLED_CONFIGS[side]);
    definitions[`${side}-config`] = schema;
  }
  return definitions;
}

function noEffect(name: string): string {
  return `\`${name}\` has no effect here: Kafka knows it, the simulator does not model it`;
}

function namesNear(table: ConfigTable, unmodelled: ReadonlySet<string>): string[] {
  return [...Object.keys(table), ...unmodelled];
}

function configSchema(table: ConfigTable, unmodelled: ReadonlySet<string>): JsonSchema {
  const properties: Record<string, unknown> = {};
  for (const [name, definition] of Object.entries(table)) {
    const { type, oneOf, orLike, min, max, except, isFraction } = definition;
    const limits = {
      ...(min === undefined ? {} : { minimum: min }),
      ...(max === undefined ? {} : { maximum: max }),
      ...(except === undefined ? {} : { not: { const: except } }),
    };
    properties[name] = {
      description: `Default: ${definition.default}.`,
      ...(oneOf !== undefined
        ? orLike === undefined
          ? { enum: oneOf.flatMap(spellings) }
          : { anyOf: [{ enum: oneOf }, { type: "string", pattern: orLike.pattern.source }] }
        : type === "number"
          ? { type: [isFraction === true ? "number" : "integer", "string"], ...limits }
          : { type: type === "boolean" ? ["boolean", "string"] : ["string", "number"] }),
    };
  }
  for (const name of unmodelled) properties[name] = { description: "Not modelled: no effect." };
  return { type: "object", additionalProperties: false, properties };
}

/** A number may also be written as one. */
function spellings(word: string): readonly (string | number)[] {
  return /^-?[0-9]+$/.test(word) ? [word, Number(word)] : [word];
}
