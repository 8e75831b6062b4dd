import { spawnSync } from "node:child_process";
import { SECOND } from "../src/base/time.ts";
import { createCheckers } from "../src/checkers/checker-set.ts";
import { checkSetupOf } from "../src/cluster/check-setup-of.ts";
import { Cluster } from "../src/cluster/cluster.ts";
import type { ClusterSpec, ProducerSpec } from "../src/cluster/cluster-spec.ts";
import { resolveConfigs } from "../src/kafka/config/config-table.ts";
import { PRODUCER_CONFIGS } from "../src/kafka/config/producer-configs.ts";
import { consumer, sampleSpec } from "../test/support/sample-spec.ts";
import { collectGarbage, formatTable, threadTime } from "./measure.ts";

/** A cluster of 3 brokers and 3 controllers, 6 partitions, acks=all, one producer, one consumer. */
export interface Load {
  readonly title: string;
  /** Records a second. */
  readonly rate: number;
  readonly lingerMs: number;
  readonly guarantees: boolean;
  /** Simulated seconds before the clock runs, and while it does. */
  readonly warmUp: number;
  readonly seconds: number;
  /** Simulated seconds a second: the least that is accepted, and what is hoped for. */
  readonly floor?: number;
  readonly goal?: number;
}

/** What one run of a load cost. */
interface Sample {
  readonly nanoseconds: number;
  readonly events: number;
  readonly records: number;
  /** Bytes: the most that was in use at a time, and how much of it stayed. */
  readonly peak: number;
  readonly kept: number;
  /** Bytes that went into the logs of all replicas. */
  readonly logged: number;
}

export const LOADS: readonly Load[] = [
  ...bothWays({
    title: "1,000 rec/s, unbatched",
    rate: 1000,
    lingerMs: 0,
    warmUp: 10,
    seconds: 100,
    floor: 65,
    goal: 200,
  }),
  ...bothWays({
    title: "1,000 rec/s, linger 5 ms",
    rate: 1000,
    lingerMs: 5,
    warmUp: 10,
    seconds: 100,
    floor: 80,
    goal: 250,
  }),
  ...bothWays({
    title: "20,000 rec/s, linger 5 ms",
    rate: 20_000,
    lingerMs: 5,
    warmUp: 2,
    seconds: 10,
  }),
  ...bothWays({
    title: "idle, 10 rec/s",
    rate: 10,
    lingerMs: 0,
    warmUp: 400,
    seconds: 3000,
    floor: 5000,
    goal: 12_000,
  }),
];

/**
 * Runs each load, with and without guarantees in turn, and says what it cost. Each run has a process of its
 * own, as a run of `sim` has: code that the engine has made for one cluster is slower with the next. In
 * time of the main thread: a run has no other, and on a machine with a core to spare what the engine
 * compiles and collects beside it costs no time.
 */
export function benchCluster(wanted: string, rounds: number): string {
  const loads = LOADS.filter(({ title }) => title.includes(wanted));
  const samples = new Map<Load, Sample[]>(loads.map((load) => [load, []]));
  for (const rate of new Set(loads.map(({ rate, lingerMs }) => `${rate} ${lingerMs}`))) {
    const pair = loads.filter((load) => `${load.rate} ${load.lingerMs}` === rate);
    for (let round = 0; round < rounds; round++) {
      for (const load of pair) samples.get(load)?.push(runApart(load));
    }
  }
  const heading = [
    `3 brokers, acks=all; ${rounds} rounds`,
    "simulated s/s",
    "floor",
    "goal",
    "events/s",
    "an event",
  ];
  heading.push("events/record", "peak", "kept/record", "logged/record");
  const rows = loads.map((load) => describe(load, samples.get(load) ?? []));
  return formatTable([heading, ...rows]);
}

function describe(load: Load, samples: readonly Sample[]): string[] {
  const sorted = [...samples].sort((left, right) => left.nanoseconds - right.nanoseconds);
  const middle = sorted[sorted.length >> 1];
  const best = sorted[0];
  const worst = sorted.at(-1);
  if (middle === undefined || best === undefined || worst === undefined) return [load.title];
  const speed = (sample: Sample): number => (load.seconds * 1e9) / sample.nanoseconds;
  const reached = speed(middle);
  const { floor, goal } = load;
  const missed = floor !== undefined && reached < floor ? " MISSED" : "";
  const { events, nanoseconds, records, peak, kept, logged } = middle;
  return [
    load.title,
    `${reached.toFixed(0)} [${speed(worst).toFixed(0)}-${speed(best).toFixed(0)}]`,
    floor === undefined ? "" : `${floor}${missed}`,
    goal === undefined ? "" : `${goal}`,
    `${((events / nanoseconds) * 1e3).toFixed(2)} M`,
    `${(nanoseconds / events).toFixed(0)} ns`,
    (events / records).toFixed(2),
    `${(peak / 1e6).toFixed(0)} MB`,
    `${(kept / records).toFixed(0)} B`,
    `${(logged / records).toFixed(0)} B`,
  ];
}

/** Runs a load in a process of its own, which is this program with `clusterSample` as its task. */
function runApart(load: Load): Sample {
  const words = [...process.execArgv, process.argv[1] ?? "", SAMPLE, String(LOADS.indexOf(load))];
  const { stdout, status } = spawnSync(process.execPath, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`the run of "${load.title}" ended with ${status}`);
  return JSON.parse(stdout) as Sample;
}

/** The word by which the program is asked for one run of the load with the number that follows. */
export const SAMPLE = "cluster-sample";

/** What that run cost, for the process that asked. */
export function clusterSample(number: number): string {
  const load = LOADS[number];
  if (load === undefined) throw new Error(`there is no load ${number}`);
  return JSON.stringify(run(load));
}

function run(load: Load): Sample {
  const before = inUse();
  const cluster = clusterFor(load);
  let logged = 0;
  let records = 0;
  cluster.facts.on("appended", ({ batch, asLeader }) => {
    logged += batch.sizeInBytes;
    if (asLeader) records += batch.recordCount;
  });
  warmUp(cluster, load);

  const start = inUse();
  let peak = start;
  let nanoseconds = 0;
  const { event } = cluster.scheduler;
  const beforehand = { logged, records };
  for (let slice = 0; slice < SLICES; slice++) {
    const begin = threadTime();
    advance(cluster, load.seconds / SLICES);
    nanoseconds += threadTime() - begin;
    peak = Math.max(peak, inUseNow());
  }
  return {
    nanoseconds,
    events: cluster.scheduler.event - event,
    records: records - beforehand.records,
    peak: peak - before,
    kept: inUse() - start,
    logged: logged - beforehand.logged,
  };
}

/** A cluster with the load's clients, watched by all guarantees if the load says so. */
export function clusterFor(load: Load): Cluster {
  const cluster = new Cluster(specOf(load));
  if (load.guarantees) createCheckers(cluster.facts, checkSetupOf(cluster));
  return cluster;
}

/** Starts the cluster, then its clients, and lets them go on until the code is compiled. */
export function warmUp(cluster: Cluster, { warmUp }: Load): void {
  cluster.start();
  advance(cluster, 8);
  cluster.startClients();
  advance(cluster, warmUp);
}

/** How often in a run it is looked how much memory is in use. */
const SLICES = 10;

export function advance({ scheduler }: Cluster, seconds: number): void {
  const end = scheduler.now + seconds * SECOND;
  while (scheduler.now < end) scheduler.step();
}

/** Bytes in use, once the garbage is gone. */
function inUse(): number {
  collectGarbage();
  return inUseNow();
}

function inUseNow(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function specOf({ rate, lingerMs }: Load): ClusterSpec {
  const producer: ProducerSpec = {
    kind: "producer",
    name: "p1",
    topic: "orders",
    arrival: SECOND / rate,
    records: undefined,
    keys: { kind: "cycle", count: 1000 },
    recordSize: 100,
    tombstones: undefined,
    transaction: undefined,
    configs: resolveConfigs(PRODUCER_CONFIGS, { "linger.ms": lingerMs }),
    idempotence: true,
  };
  const sample = sampleSpec();
  return {
    ...sample,
    topics: sample.topics.map((topic) => ({ ...topic, numPartitions: 6 })),
    clients: [producer, consumer("c1")],
  };
}

function bothWays(load: Omit<Load, "guarantees">): Load[] {
  const { floor: _floor, goal: _goal, ...bare } = load;
  return [
    { ...load, guarantees: true },
    { ...bare, title: `${load.title}, no guarantees`, guarantees: false },
  ];
}
