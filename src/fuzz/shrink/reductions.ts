import { MILLISECOND, SECOND } from "../../base/time.ts";
import { formatDuration } from "../../scenario/duration.ts";
import type { Plain, PlainMap } from "../../scenario/plain.ts";
import { asMap, at, changed, keysAt } from "../plain-path.ts";
import { ddmin } from "./ddmin.ts";
import { closeGaps, endSooner } from "./shorten.ts";
import type { Attempt, Reduction, Shrinking } from "./shrinking.ts";
import {
  drop,
  durationAt,
  lower,
  stepsOf,
  triesFewSeeds,
  triesOnce,
  triesSeeds,
} from "./shrinking.ts";

/** In this order, again and again while anything gets smaller: what makes runs quick goes first. */
export const REDUCTIONS: readonly Reduction[] = [
  // What was expected of the run names parts of it that are not needed.
  { name: "expectations", apply: (shrinking) => drop(shrinking, ["expect"]) },
  { name: "time", apply: endSooner },
  { name: "clients", apply: dropClients(triesOnce) },
  { name: "topics", apply: dropTopics },
  { name: "faults", apply: dropFaults },
  // With few faults another moment is likely to do as well: whoever only kept this one goes.
  { name: "idle clients", apply: dropClients(triesFewSeeds) },
  { name: "gaps", apply: closeGaps },
  { name: "cluster", apply: shrinkCluster },
  { name: "records", apply: shrinkRecords },
  { name: "configs", apply: dropConfigs },
  { name: "targets", apply: nameTargets },
  { name: "modifiers", apply: dropModifiers },
  { name: "conditions", apply: lowerConditions },
  { name: "durations", apply: shrinkDurations },
  { name: "seeds", apply: quietestSeed },
];

function dropFaults(shrinking: Shrinking): void {
  const steps = stepsOf(shrinking.plain);
  ddmin(steps, (kept) =>
    shrinking.tries(changed(shrinking.plain, ["faults"], kept.length > 0 ? [...kept] : undefined)),
  );
}

/** Without most of them a run is quick, and much of what befalls them does not happen either. */
function dropClients(attempt: Attempt): (shrinking: Shrinking) => void {
  return (shrinking) => {
    ddmin(keysAt(shrinking.plain, ["clients"]), (kept) => {
      const { plain } = shrinking;
      const all = Object.entries(asMap(plain["clients"]) ?? {});
      const left = all.filter(([name]) => kept.includes(name));
      const gone = all.map(([name]) => name).filter((name) => !kept.includes(name));
      const clients = left.length > 0 ? Object.fromEntries(left) : undefined;
      return attempt(shrinking, withoutNodes(changed(plain, ["clients"], clients), gone));
    });
  };
}

function dropTopics(shrinking: Shrinking): void {
  for (const name of keysAt(shrinking.plain, ["topics"])) {
    drop(shrinking, ["topics", name]);
  }
}

/** Steps no more speak of these nodes; what befell them alone does not happen. */
function withoutNodes(plain: PlainMap, gone: readonly string[]): PlainMap {
  const steps = stepsOf(plain)
    .map((step) => gone.reduce((rest, name) => asMap(withoutNode(rest, name)) ?? rest, step))
    .filter((step) => !gone.some((name) => speaksOf(step, name)));
  return changed(plain, ["faults"], steps.length > 0 ? steps : undefined);
}

/** Does a value in it name the node, perhaps within a target or an expression? */
function speaksOf(value: Plain, node: string): boolean {
  if (typeof value === "string") return new RegExp(`(?<![\\w-])${node}(?![\\w-])`).test(value);
  if (Array.isArray(value)) return value.some((one) => speaksOf(one, node));
  return Object.values(asMap(value) ?? {}).some((one) => speaksOf(one, node));
}

/** Whatever is said of several nodes, said of the others. */
function withoutNode(value: Plain, node: string): Plain {
  if (typeof value === "string") {
    const terms = value.split(" + ");
    const others = terms.filter((term) => term !== node);
    return others.length > 0 ? others.join(" + ") : value;
  }
  if (Array.isArray(value)) {
    return value.filter((one) => one !== node).map((one) => withoutNode(one, node));
  }
  const map = asMap(value);
  if (map === undefined) return value;
  return Object.fromEntries(Object.entries(map).map(([key, one]) => [key, withoutNode(one, node)]));
}

function shrinkCluster(shrinking: Shrinking): void {
  // A quorum of three talks more until it has a leader than all others do in a short run.
  for (const count of [1, 3]) if (triesServers(shrinking, "controller", count)) break;
  for (const topic of keysAt(shrinking.plain, ["topics"])) {
    lower(shrinking, ["topics", topic, "partitions"], [1, 2, 3]);
    lower(shrinking, ["topics", topic, "replication.factor"], [1, 2, 3], triesSeeds);
  }
  for (const count of [1, 2, 3, 4]) if (triesServers(shrinking, "broker", count)) break;
}

/** So many brokers or controllers, if there are more; what befalls the others alone does not happen. */
function triesServers(shrinking: Shrinking, what: "broker" | "controller", count: number): boolean {
  const path = ["cluster", `${what}s`];
  const now = at(shrinking.plain, path);
  if (typeof now !== "number" || count >= now) return false;
  const gone = Array.from({ length: now - count }, (_, i) => `${what}-${count + 1 + i}`);
  const fewer = changed(shrinking.plain, path, count);
  const candidates = [fewer, withoutNodes(fewer, gone)];
  if (what === "broker") candidates.push(...candidates.map((one) => coordinatedBy(count, one)));
  return candidates.some((candidate) => triesSeeds(shrinking, candidate));
}

/** Topics of coordinators cannot be replicated more often than there are brokers. */
function coordinatedBy(brokers: number, plain: PlainMap): PlainMap {
  let small = plain;
  for (const config of [
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "transaction.state.log.min.isr",
    "min.insync.replicas",
  ]) {
    small = changed(small, ["cluster", "config", config], brokers);
  }
  return small;
}

function shrinkRecords(shrinking: Shrinking): void {
  for (const client of keysAt(shrinking.plain, ["clients"])) {
    const path = ["clients", client];
    lower(shrinking, [...path, "records"], COUNTS);
    if (at(shrinking.plain, [...path, "produce"]) !== undefined) {
      for (const count of COUNTS) {
        if (at(shrinking.plain, [...path, "records"]) !== undefined) break;
        const fewer = changed(shrinking.plain, [...path, "records"], count);
        if (shrinking.tries(fewer, { events: shrinking.fallen.events - 1 })) break;
      }
    }
    for (const rate of ["1/s", "5/s", "20/s", "50/s"]) {
      const now = at(shrinking.plain, [...path, "rate"]);
      if (now === undefined || now === rate) break;
      if (
        triesSeeds(shrinking, changed(shrinking.plain, [...path, "rate"], rate), shrinking.fallen)
      )
        break;
    }
    for (const key of [
      "keys",
      "record-size",
      "tombstones",
      "transaction",
      "work",
      "workers",
      "commit",
    ]) {
      drop(shrinking, [...path, key]);
    }
    drop(shrinking, [...path, "process", "work"]);
  }
}

const COUNTS: readonly number[] = [1, 3, 10, 30, 100, 300, 1000];

function dropConfigs(shrinking: Shrinking): void {
  const { plain } = shrinking;
  const inTopics = keysAt(plain, ["topics"]).map((name) => ["topics", name, "config"]);
  const inClients = keysAt(plain, ["clients"]).flatMap((name) =>
    ["config", "consumer-config", "producer-config"].map((key) => ["clients", name, key]),
  );
  const sections = [["cluster", "config"], ...inTopics, ...inClients];
  // A coordinator's topic back at its fifty partitions is not smaller, and slow.
  const { partitions } = shrinking.fallen;
  for (const path of sections) {
    if (drop(shrinking, path, { partitions })) continue;
    for (const key of keysAt(shrinking.plain, path)) {
      drop(shrinking, [...path, key], { partitions });
    }
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

/** What a step waits for, at lower numbers: `acked(p1) >= 400`. */
function lowerConditions(shrinking: Shrinking): void {
  for (const index of stepsOf(shrinking.plain).keys()) {
    const path = ["faults", index, "when"];
    for (let number = 0; ; number++) {
      const now = at(shrinking.plain, path);
      const found = typeof now === "string" ? [...now.matchAll(COMPARED)][number] : undefined;
      if (typeof now !== "string" || found === undefined) break;
      const value = Number(found[0]);
      for (const less of [0, 1, 3, 10, 30, 100, 300]) {
        if (less >= value) break;
        const text = `${now.slice(0, found.index)}${less}${now.slice(found.index + found[0].length)}`;
        const lowered = changed(shrinking.plain, path, text);
        const attempt = less === 0 ? triesSeeds : triesOnce;
        if (attempt(shrinking, lowered, shrinking.fallen)) break;
      }
    }
  }
}

/** Numbers behind `>=`, and no parts of names. */
const COMPARED = /(?<=>=? )[0-9]+/g;

/** Where only the seed differs, clusters form in more events or in fewer, and fail sooner or later. */
function quietestSeed(shrinking: Shrinking): void {
  for (let seed = 1; seed <= 16; seed++) {
    const events = Math.floor(shrinking.fallen.events * 0.95);
    shrinking.tries({ ...shrinking.plain, seed }, { events });
  }
}
