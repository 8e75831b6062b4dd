import type { Place } from "./place.ts";
import type { Reading } from "./reading.ts";
import { shortened } from "./reading.ts";
import type { YamlEntry, YamlMap, YamlNode } from "./yaml-node.ts";
import { entryOf } from "./yaml-node.ts";

/** Deeper paths lead nowhere. */
const LONGEST_PATH = 16;

/**
 * A scenario's text with a variant's changes: `set` replaces or adds single values, by paths such as
 * `topics/orders/config/min.insync.replicas` or `cluster/brokers/1/rack`, and `expect` replaces the
 * scenario's. The result is read like any scenario. Undefined after complaining about a path.
 */
export function applyVariant(
  scenario: YamlMap,
  set: YamlMap | undefined,
  expect: YamlNode | undefined,
  reading: Reading,
): YamlMap | undefined {
  let changed = withoutKey(scenario, "variants");
  let isComplete = true;
  for (const change of set?.entries ?? []) {
    const path = change.key.split("/");
    if (path.length > LONGEST_PATH || path.some((segment) => segment === "")) {
      reading.complain(change.keyPlace, `\`${shortened(change.key)}\` is no path`);
      isComplete = false;
      continue;
    }
    const next = replaced(changed, path, change, reading);
    if (next?.kind === "map") changed = next;
    else isComplete = false;
  }
  if (expect !== undefined) {
    const key: YamlEntry = { key: "expect", keyPlace: expect.place, value: expect };
    changed = withEntry(changed, key);
  }
  return isComplete ? changed : undefined;
}

function replaced(
  node: YamlNode,
  path: readonly string[],
  change: YamlEntry,
  reading: Reading,
): YamlNode | undefined {
  const [segment, ...rest] = path;
  if (segment === undefined) return change.value;
  if (node.kind === "list") {
    const index = /^[0-9]+$/.test(segment) ? Number(segment) : -1;
    const item = node.items[index];
    if (item === undefined) {
      const count = node.items.length;
      const message = `\`${segment}\` is no index of a list of ${count}; the first is 0`;
      return reading.complain(change.keyPlace, message);
    }
    const value = replaced(item, rest, change, reading);
    if (value === undefined) return undefined;
    return { ...node, items: node.items.map((one, i) => (i === index ? value : one)) };
  }
  if (node.kind === "scalar" && node.value !== undefined) {
    const message = `\`${change.key}\` leads into \`${shortened(node.text)}\`, which has no parts`;
    return reading.complain(change.keyPlace, message);
  }
  const { keyPlace } = change;
  const map: YamlMap =
    node.kind === "map" ? node : { kind: "map", entries: [], place: change.keyPlace };
  const known = entryOf(map, segment);
  const before = known?.value ?? emptyAt(keyPlace);
  const value = replaced(before, rest, change, reading);
  if (value === undefined) return undefined;
  return withEntry(map, { key: segment, keyPlace: known?.keyPlace ?? keyPlace, value });
}

function withEntry(map: YamlMap, entry: YamlEntry): YamlMap {
  const isThere = map.entries.some(({ key }) => key === entry.key);
  const entries = isThere
    ? map.entries.map((one) => (one.key === entry.key ? entry : one))
    : [...map.entries, entry];
  return { ...map, entries };
}

function withoutKey(map: YamlMap, name: string): YamlMap {
  return { ...map, entries: map.entries.filter(({ key }) => key !== name) };
}

function emptyAt(place: Place): YamlNode {
  return {
    kind: "scalar",
    value: undefined,
    text: "",
    quoted: false,
    place,
    textColumn: undefined,
  };
}
