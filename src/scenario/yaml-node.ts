import type { Place } from "./place.ts";
import { START_OF_FILE } from "./place.ts";

/** A piece of a scenario as written, before it is understood: YAML without its surprises. */
export type YamlNode = YamlScalar | YamlMap | YamlList;

export interface YamlScalar {
  readonly kind: "scalar";
  /** `undefined` if nothing, `null` or `~` was written. */
  readonly value: string | number | boolean | undefined;
  /** As written, without quotes. */
  readonly text: string;
  readonly quoted: boolean;
  readonly place: Place;
  /** The column at which the text itself begins, if the text stands there letter by letter. */
  readonly textColumn: number | undefined;
}

export interface YamlMap {
  readonly kind: "map";
  readonly entries: readonly YamlEntry[];
  readonly place: Place;
}

export interface YamlEntry {
  readonly key: string;
  readonly keyPlace: Place;
  readonly value: YamlNode;
}

export interface YamlList {
  readonly kind: "list";
  readonly items: readonly YamlNode[];
  readonly place: Place;
}

export function entryOf(map: YamlMap, key: string): YamlEntry | undefined {
  return map.entries.find((entry) => entry.key === key);
}

/**
 * The same from a plain value, for scenarios that are written in TypeScript. What YAML cannot say
 * (functions, symbols) becomes an empty scalar, and is complained about as such.
 */
export function nodeFromValue(value: unknown): YamlNode {
  const place = START_OF_FILE;
  if (Array.isArray(value)) return { kind: "list", items: value.map(nodeFromValue), place };
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .map(([key, part]) => ({ key, keyPlace: place, value: nodeFromValue(part) }));
    return { kind: "map", entries, place };
  }
  const known =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return {
    kind: "scalar",
    value: known ? value : undefined,
    text: known ? String(value) : "",
    quoted: typeof value === "string",
    place,
    textColumn: undefined,
  };
}
