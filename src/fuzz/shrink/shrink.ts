import { writeYaml } from "../../scenario/parse-yaml.ts";
import type { Plain, PlainMap } from "../../scenario/plain.ts";
import { asMap, at, keysAt } from "../plain-path.ts";
import type { Fall, Fallen } from "./fall.ts";
import { fallenIn } from "./fall.ts";
import { REDUCTIONS } from "./reductions.ts";
import type { Most, Shrinking } from "./shrinking.ts";

/** How large a run is, in the things that make a scenario hard to read. */
export interface RunSize {
  readonly faults: number;
  readonly brokers: number;
  readonly partitions: number;
  readonly clients: number;
  /** Simulated, from time zero to the end. */
  readonly time: number;
  readonly events: number;
}

export interface Shrunk {
  /** The smallest scenario found: it has no draw left, and its own seed. */
  readonly plain: PlainMap;
  readonly seed: string;
  readonly before: RunSize;
  readonly after: RunSize;
  /** Runs that it took. */
  readonly runs: number;
  /** Was it given up before every part had been tried? */
  readonly isUnfinished: boolean;
}

export interface ShrinkOptions {
  readonly seed: string;
  readonly fall: Fall;
  /** Asked before each run: true ends the search with the smallest run so far. */
  isEnough?(runs: number, events: number): boolean;
}

/**
 * Makes a failing run smaller while it fails in the same way, until nothing can be left out or lowered
 * alone. Whatever draws has a stream of its own, so that what is left of a run mostly goes on as before; where a
 * smaller cluster does not, other seeds of it are tried. Undefined if the scenario does not fail so.
 */
export function shrink(explicit: PlainMap, options: ShrinkOptions): Shrunk | undefined {
  const { fall, isEnough } = options;
  const first = fallenIn(writeYaml(explicit), options.seed, fall);
  if (first === undefined) return undefined;
  const tried = new Set<string>();
  let plain: PlainMap = { ...explicit, seed: Number(options.seed) };
  let fallen = first;
  let runs = 1;
  let round = 0;
  let isUnfinished = false;
  const shrinking: Shrinking = {
    get plain(): PlainMap {
      return plain;
    },
    get fallen(): Fallen {
      return fallen;
    },
    get round(): number {
      return round;
    },
    tries(candidate: PlainMap, most: Most = {}): boolean {
      const text = writeYaml(candidate);
      if (isUnfinished || tried.has(text)) return false;
      if (isEnough?.(runs, fallen.events) === true) {
        isUnfinished = true;
        return false;
      }
      tried.add(text);
      runs++;
      const found = fallenIn(text, seedOf(candidate), fall, most.events ?? patienceWith(fallen));
      if (found === undefined || found.partitions > (most.partitions ?? Number.POSITIVE_INFINITY)) {
        return false;
      }
      plain = candidate;
      fallen = found;
      return true;
    },
  };
  for (let before: PlainMap | undefined; before !== plain && !isUnfinished; ) {
    before = plain;
    round++;
    for (const reduction of REDUCTIONS) reduction.apply(shrinking);
  }
  return {
    plain,
    seed: seedOf(plain),
    before: sizeOf(explicit, first),
    after: sizeOf(plain, fallen),
    runs,
    isUnfinished,
  };
}

/** The events after which a candidate is given up: it has become another story. */
function patienceWith({ events }: Fallen): number {
  return 2 * events + 10_000;
}

function seedOf(plain: PlainMap): string {
  return String(plain["seed"]);
}

function sizeOf(plain: PlainMap, { simulated, events }: Fallen): RunSize {
  const brokers = at(plain, ["cluster", "brokers"]);
  const faults = plain["faults"];
  return {
    faults: Array.isArray(faults) ? faults.length : 0,
    brokers: Array.isArray(brokers) ? brokers.length : Number(brokers),
    partitions: keysAt(plain, ["topics"]).reduce(
      (sum, topic) => sum + partitionsOf(at(plain, ["topics", topic])),
      0,
    ),
    clients: keysAt(plain, ["clients"]).length,
    time: simulated,
    events,
  };
}

function partitionsOf(topic: Plain | undefined): number {
  const replicas = asMap(at(topic, ["replicas"]));
  if (replicas !== undefined) return Object.keys(replicas).length;
  const partitions = at(topic, ["partitions"]);
  return typeof partitions === "number" ? partitions : 1;
}
