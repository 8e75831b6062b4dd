import type { Instant } from "../../base/time.ts";
import { MILLISECOND, SECOND } from "../../base/time.ts";
import { formatDuration, Mistake, parseDuration } from "../../scenario/duration.ts";
import type { Plain, PlainMap } from "../../scenario/plain.ts";
import type { Path } from "../plain-path.ts";
import { asMap, at, changed, keysAt } from "../plain-path.ts";
import { ddmin } from "./ddmin.ts";
import type { Fallen } from "./fall.ts";

/** The smallest run so far, and the way to a smaller one. */
export interface Shrinking {
  readonly plain: PlainMap;
  readonly fallen: Fallen;
  /** Takes a candidate over if it still fails in the same way; says whether it did. */
  tries(candidate: PlainMap): boolean;
}

/** One way to make a run smaller. */
export interface Reduction {
  readonly name: string;
  apply(shrinking: Shrinking): void;
}

/** In this order, again and again while anything gets smaller: what makes runs quick goes first. */
export const REDUCTIONS: readonly Reduction[] = [
  { name: "time", apply: endSooner },
  { name: "faults", apply: dropFaults },
  { name: "clients", apply: dropParts("clients") },
  { name: "topics", apply: dropParts("topics") },
  { name: "cluster", apply: shrinkCluster },
  { name: "records", apply: shrinkRecords },
  { name: "configs", apply: dropConfigs },
  { name: "targets", apply: nameTargets },
  { name: "modifiers", apply: dropModifiers },
  { name: "durations", apply: shrinkDurations },
];

/** A little after what went wrong, so that whoever looks sees that it was that. */
const AFTERWARDS: Instant = SECOND;

function endSooner(shrinking: Shrinking): void {
  shrinking.tries(changed(shrinking.plain, ["settle"], "1s"));
  const end = Math.ceil((shrinking.fallen.at + AFTERWARDS) / SECOND) * SECOND;
  const now = durationAt(shrinking.plain, ["duration"]);
  if (now !== undefined && now <= end) return;
  const sooner = changed(shrinking.plain, ["duration"], formatDuration(end));
  // Steps that are due later would never fire, and are a mistake.
  const faults = stepsOf(sooner).filter((step) => (durationAt(step, ["at"]) ?? 0) <= end);
  shrinking.tries(changed(sooner, ["faults"], faults));
}

function dropFaults(shrinking: Shrinking): void {
  const steps = stepsOf(shrinking.plain);
  ddmin(steps, (kept) =>
    shrinking.tries(changed(shrinking.plain, ["faults"], kept.length > 0 ? [...kept] : undefined)),
  );
}

function dropParts(section: string): (shrinking: Shrinking) => void {
  return (shrinking) => {
    for (const name of keysAt(shrinking.plain, [section])) {
      const without = changed(shrinking.plain, [section, name], undefined);
      const isLast = keysAt(without, [section]).length === 0;
      shrinking.tries(
        isLast && section === "clients" ? changed(without, [section], undefined) : without,
      );
    }
  };
}

function shrinkCluster(shrinking: Shrinking): void {
  lower(shrinking, ["cluster", "controllers"], [1, 3]);
  for (const topic of keysAt(shrinking.plain, ["topics"])) {
    lower(shrinking, ["topics", topic, "partitions"], [1, 2, 3]);
    lower(shrinking, ["topics", topic, "replication.factor"], [1, 2, 3]);
  }
  lower(shrinking, ["cluster", "brokers"], [1, 2, 3, 4]);
}

function shrinkRecords(shrinking: Shrinking): void {
  for (const client of keysAt(shrinking.plain, ["clients"])) {
    lower(shrinking, ["clients", client, "records"], [1, 3, 10, 30, 100, 300, 1000]);
    for (const rate of ["1/s", "5/s", "20/s", "50/s"]) {
      const now = at(shrinking.plain, ["clients", client, "rate"]);
      if (now === undefined || now === rate) break;
      if (shrinking.tries(changed(shrinking.plain, ["clients", client, "rate"], rate))) break;
    }
    for (const key of ["keys", "record-size", "tombstones"]) {
      drop(shrinking, ["clients", client, key]);
    }
  }
}

function dropConfigs(shrinking: Shrinking): void {
  const { plain } = shrinking;
  const inTopics = keysAt(plain, ["topics"]).map((name) => ["topics", name, "config"]);
  const inClients = keysAt(plain, ["clients"]).map((name) => ["clients", name, "config"]);
  const sections = [["cluster", "config"], ...inTopics, ...inClients];
  for (const path of sections) {
    if (drop(shrinking, path)) continue;
    for (const key of keysAt(shrinking.plain, path)) drop(shrinking, [...path, key]);
  }
  for (const key of ["network", "disk", "features", "protocol"]) {
    if (drop(shrinking, ["cluster", key])) continue;
    for (const part of keysAt(shrinking.plain, ["cluster", key])) {
      drop(shrinking, ["cluster", key, part]);
    }
  }
}

/** Whom `any(brokers)` and `leader(orders-0)` meant: the smallest run names them. */
function nameTargets(shrinking: Shrinking): void {
  for (const [index, step] of stepsOf(shrinking.plain).entries()) {
    const [kind, target] = Object.entries(step).find(([key]) => !MODIFIERS.has(key)) ?? [];
    const struck = [...new Set(shrinking.fallen.struck.get(index) ?? [])].join(" + ");
    if (kind === undefined || typeof target !== "string" || struck === "" || target === struck) {
      continue;
    }
    shrinking.tries(changed(shrinking.plain, ["faults", index, kind], struck));
  }
}

/** Keys of a step that are no fault and no argument of one. */
const MODIFIERS = new Set([
  "name",
  "at",
  "when",
  "after",
  "delay",
  "for",
  "as",
  "optional",
  "keep",
  "times",
  "timeout",
]);

function dropModifiers(shrinking: Shrinking): void {
  for (const [index, step] of stepsOf(shrinking.plain).entries()) {
    for (const key of Object.keys(step)) {
      if (NEEDLESS.has(key)) drop(shrinking, ["faults", index, key]);
    }
  }
}

/** What a step can do without. */
const NEEDLESS = new Set(["optional", "keep", "name", "as", "times", "for", "direction"]);

function shrinkDurations(shrinking: Shrinking): void {
  for (const index of stepsOf(shrinking.plain).keys()) {
    for (const key of ["at", "delay", "for"]) {
      const path = ["faults", index, key];
      const now = durationAt(shrinking.plain, path);
      if (now === undefined || now === 0) continue;
      for (const value of simplerThan(now)) {
        if (shrinking.tries(changed(shrinking.plain, path, formatDuration(value)))) break;
      }
    }
  }
}

/** Shorter, or rounder, the simplest first. */
function simplerThan(duration: number): number[] {
  const units = [10 * SECOND, 5 * SECOND, SECOND, 100 * MILLISECOND, MILLISECOND];
  const rounded = units.flatMap((unit) => [
    Math.floor(duration / unit) * unit,
    Math.ceil(duration / unit) * unit,
  ]);
  const smaller = [SECOND, 5 * SECOND, Math.floor(duration / (2 * SECOND)) * SECOND];
  return [...new Set([...smaller, ...rounded])].filter((value) => {
    const isRounder = formatDuration(value).length < formatDuration(duration).length;
    return value > 0 && (value < duration || isRounder);
  });
}

function stepsOf({ faults }: PlainMap): PlainMap[] {
  if (!Array.isArray(faults)) return [];
  return faults.map(asMap).filter((step) => step !== undefined);
}

function durationAt(plain: Plain, path: Path): number | undefined {
  const value = at(plain, path);
  if (typeof value !== "string") return undefined;
  const duration = parseDuration(value, "");
  return duration instanceof Mistake ? undefined : duration;
}

/** Tries lower values of a number, the lowest first. */
function lower(shrinking: Shrinking, path: Path, values: readonly number[]): void {
  for (const value of values) {
    const now = at(shrinking.plain, path);
    if (typeof now !== "number" || value >= now) return;
    if (shrinking.tries(changed(shrinking.plain, path, value))) return;
  }
}

function drop(shrinking: Shrinking, path: Path): boolean {
  if (at(shrinking.plain, path) === undefined) return false;
  return shrinking.tries(changed(shrinking.plain, path, undefined));
}
