import { fail } from "../base/invariant.ts";
import { NO_NAMES } from "./known-names.ts";
import { parseYaml } from "./parse-yaml.ts";
import { Reading } from "./reading.ts";
import { applyVariant } from "./variant.ts";
import type { YamlMap, YamlNode } from "./yaml-node.ts";
import { entryOf } from "./yaml-node.ts";

/** YAML without places: what programs change and write again. */
export type Plain = string | number | boolean | null | PlainMap | Plain[];

export interface PlainMap {
  [key: string]: Plain;
}

/** A scenario that has no mistakes, or one of its variants, as plain values. */
export function plainScenario(text: string, variant: string | undefined): PlainMap {
  const reading = new Reading("", NO_NAMES);
  const root = parseYaml(text, reading);
  if (root?.kind !== "map") fail("a scenario that is none");
  if (variant === undefined) return plainMap(root);
  const variants = asMap(entryOf(root, "variants")?.value);
  const chosen = variants && asMap(entryOf(variants, variant)?.value);
  if (chosen === undefined) fail(`a scenario without the variant ${variant}`);
  const set = asMap(entryOf(chosen, "set")?.value);
  const changed = applyVariant(root, set, entryOf(chosen, "expect")?.value, reading);
  return plainMap(changed ?? fail(`the variant ${variant} cannot be applied`));
}

/** Any YAML text that a program has written, as plain values. */
export function plainYaml(text: string): Plain {
  const node = parseYaml(text, new Reading("", NO_NAMES));
  return plainOf(node ?? fail("a text that is no YAML"));
}

function plainOf(node: YamlNode): Plain {
  switch (node.kind) {
    case "map":
      return plainMap(node);
    case "list":
      return node.items.map(plainOf);
    default:
      return node.value ?? null;
  }
}

function plainMap({ entries }: YamlMap): PlainMap {
  return Object.fromEntries(entries.map(({ key, value }) => [key, plainOf(value)]));
}

function asMap(node: YamlNode | undefined): YamlMap | undefined {
  return node?.kind === "map" ? node : undefined;
}
