import type { Plain, PlainMap } from "../scenario/plain.ts";

export type Path = readonly (string | number)[];

export function at(root: Plain | undefined, path: Path): Plain | undefined {
  let value = root;
  for (const step of path) value = inside(value, step);
  return value;
}

function inside(value: Plain | undefined, step: string | number): Plain | undefined {
  if (Array.isArray(value)) return typeof step === "number" ? value[step] : undefined;
  const map = asMap(value);
  return map !== undefined && Object.hasOwn(map, step) ? map[step] : undefined;
}

export function asMap(value: Plain | undefined): PlainMap | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

export function keysAt(root: Plain, path: Path): string[] {
  return Object.keys(asMap(at(root, path)) ?? {});
}

/** A copy in which the value at a path is another, or gone with its key if that is undefined. */
export function changed(root: PlainMap, path: Path, value: Plain | undefined): PlainMap {
  const [key, ...rest] = path;
  const copy: PlainMap = { ...root };
  if (typeof key !== "string") return copy;
  const next = rest.length === 0 ? value : deeper(root[key], rest, value);
  if (next === undefined) delete copy[key];
  else copy[key] = next;
  return copy;
}

function deeper(inner: Plain | undefined, path: Path, value: Plain | undefined): Plain | undefined {
  const [key, ...rest] = path;
  if (Array.isArray(inner)) {
    if (typeof key !== "number") return inner;
    if (rest.length === 0 && value === undefined) return inner.filter((_, i) => i !== key);
    return inner.map((item, i) => {
      if (i !== key) return item;
      return rest.length === 0 ? (value ?? null) : (deeper(item, rest, value) ?? null);
    });
  }
  // What leads there is made where there is nothing yet.
  const map = inner === undefined && value !== undefined ? {} : asMap(inner);
  return map === undefined ? inner : changed(map, path, value);
}
