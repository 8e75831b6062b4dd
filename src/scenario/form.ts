import type { Place } from "./place.ts";
import type { Reading } from "./reading.ts";
import { shortened } from "./reading.ts";
import type { YamlMap, YamlNode, YamlScalar } from "./yaml-node.ts";
import { entryOf } from "./yaml-node.ts";

/** A piece of a JSON Schema, draft-07. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * One shape that a part of a scenario can have. It reads the part, and it describes it for editors
 * and for people: what is written down here once drives all three.
 */
export interface Form<Value> {
  /** What it takes, as the end of "takes ...": `a duration such as 250ms`. */
  readonly takes: string;
  readonly schema: JsonSchema;
  /** The value, or undefined after complaining. `label` names the part: its key. */
  read(node: YamlNode, reading: Reading, label: string): Value | undefined;
}

/** One key of a mapping. */
export interface Key<Value> {
  readonly form: Form<Value>;
  /** One sentence for the reference and for editors. */
  readonly meaning: string;
  readonly required?: boolean;
}

export type KeyTable = Readonly<Record<string, Key<unknown>>>;

/** A mapping of the language, for the reference: where it stands, and its keys. */
export interface Section {
  readonly title: string;
  readonly keys: KeyTable;
}

/** The values of a mapping's keys, absent where the scenario has none or they could not be read. */
export type Values<Keys extends KeyTable> = {
  readonly [Name in keyof Keys]: Keys[Name] extends Key<infer Value> ? Value | undefined : never;
};

/** A mapping as read, with the places of its parts. */
export class Fields<Keys extends KeyTable> {
  readonly values: Values<Keys>;
  readonly #map: YamlMap;

  constructor(values: Values<Keys>, map: YamlMap) {
    this.values = values;
    this.#map = map;
  }

  get place(): Place {
    return this.#map.place;
  }

  has(name: keyof Keys & string): boolean {
    return entryOf(this.#map, name) !== undefined;
  }

  /** Where the key stands, or the mapping if it has no such key. */
  keyPlace(name: keyof Keys & string): Place {
    return entryOf(this.#map, name)?.keyPlace ?? this.#map.place;
  }

  /** Where the key's value stands, or the mapping if it has no such key. */
  valuePlace(name: keyof Keys & string): Place {
    return entryOf(this.#map, name)?.value.place ?? this.#map.place;
  }
}

/** A mapping with fixed keys. They are read in the order of the table, whatever the scenario's is. */
export function mapping<Keys extends KeyTable>(what: string, keys: Keys): Form<Fields<Keys>> {
  return {
    takes: "a mapping",
    schema: mappingSchema(keys),
    read(node, reading, label) {
      const map = expectMap(node, reading, label);
      if (map === undefined) return undefined;
      complainAboutKeys(map, keys, what, reading);
      return new Fields(readKeys(map, keys, reading), map);
    },
  };
}

/** Complains about keys that the table lacks, and about required ones that the mapping lacks. */
export function complainAboutKeys(
  map: YamlMap,
  keys: KeyTable,
  what: string,
  reading: Reading,
): void {
  for (const { key, keyPlace } of map.entries) {
    if (!Object.hasOwn(keys, key)) {
      reading.unknown(keyPlace, `key of ${what}`, key, Object.keys(keys));
    }
  }
  for (const [name, { required }] of Object.entries(keys)) {
    if (required === true && entryOf(map, name) === undefined) {
      reading.complain(map.place, `${what} needs the key \`${name}\``);
    }
  }
}

/** Reads the keys that a mapping has, in the order of the table. */
export function readKeys<Keys extends KeyTable>(
  map: YamlMap,
  keys: Keys,
  reading: Reading,
): Values<Keys> {
  const values: Record<string, unknown> = {};
  for (const [name, { form }] of Object.entries(keys)) {
    const entry = entryOf(map, name);
    if (entry === undefined) continue;
    const value = form.read(entry.value, reading, name);
    if (value !== undefined) values[name] = value;
  }
  // Each value was read by the form of its own key.
  return values as Values<Keys>;
}

export function mappingSchema(keys: KeyTable): JsonSchema {
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const [name, key] of Object.entries(keys)) {
    properties[name] = { description: key.meaning, ...key.form.schema };
    if (key.required === true) required.push(name);
  }
  return {
    type: "object",
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
    properties,
  };
}

/** One named part of a scenario, with its place. */
export interface Named<Value> {
  readonly name: string;
  readonly namePlace: Place;
  readonly value: Value;
}

/** A mapping from names that the scenario chooses to parts that are all alike. */
export function namedParts<Value>(
  what: string,
  pattern: RegExp,
  form: Form<Value>,
): Form<readonly Named<Value>[]> {
  return {
    takes: "a mapping",
    schema: {
      type: "object",
      propertyNames: { pattern: pattern.source },
      additionalProperties: form.schema,
    },
    read(node, reading, label) {
      const map = expectMap(node, reading, label);
      if (map === undefined) return undefined;
      const parts: Named<Value>[] = [];
      for (const { key, keyPlace, value } of map.entries) {
        if (!pattern.test(key)) {
          const found = shortened(key);
          reading.complain(keyPlace, `\`${found}\` cannot be the name of ${what}`);
        }
        const read = form.read(value, reading, key);
        if (read !== undefined) parts.push({ name: key, namePlace: keyPlace, value: read });
      }
      return parts;
    },
  };
}

/** A list. What cannot be read is left out, after the complaint. */
export function list<Value>(form: Form<Value>): Form<readonly Value[]> {
  return {
    takes: "a list",
    schema: { type: "array", items: form.schema },
    read(node, reading, label) {
      const list = expectList(node, reading, label);
      if (list === undefined) return undefined;
      const values: Value[] = [];
      for (const item of list) {
        const value = form.read(item, reading, label);
        if (value !== undefined) values.push(value);
      }
      return values;
    },
  };
}

/** The value together with its place. */
export function placed<Value>(form: Form<Value>): Form<Placed<Value>> {
  return {
    takes: form.takes,
    schema: form.schema,
    read(node, reading, label) {
      const value = form.read(node, reading, label);
      return value === undefined ? undefined : { value, place: node.place };
    },
  };
}

export interface Placed<Value> {
  readonly value: Value;
  readonly place: Place;
}

export function expectMap(node: YamlNode, reading: Reading, label: string): YamlMap | undefined {
  if (node.kind === "map") return node;
  return reading.complain(node.place, `\`${label}\` takes a mapping, not ${nameOf(node)}`);
}

export function expectList(
  node: YamlNode,
  reading: Reading,
  label: string,
): readonly YamlNode[] | undefined {
  if (node.kind === "list") return node.items;
  return reading.complain(node.place, `\`${label}\` takes a list, not ${nameOf(node)}`);
}

/** The scalar, or undefined after complaining that `label` takes something else. */
export function expectScalar(
  node: YamlNode,
  reading: Reading,
  label: string,
  takes: string,
): (YamlScalar & { readonly value: string | number | boolean }) | undefined {
  if (node.kind !== "scalar" || node.value === undefined) {
    return reading.complain(node.place, `\`${label}\` takes ${takes}, not ${nameOf(node)}`);
  }
  return { ...node, value: node.value };
}

/** What stands there, for messages. */
export function nameOf(node: YamlNode): string {
  if (node.kind === "map") return "a mapping";
  if (node.kind === "list") return "a list";
  if (node.value === undefined) return "nothing";
  return `\`${shortened(node.text)}\``;
}
