import { SECOND } from "../src/base/time.ts";
import { SimulatedDisk } from "../src/disk/simulated-disk.ts";
import type { RecordBatch } from "../src/kafka/log/record-batch.ts";
import { buildBatch } from "../src/kafka/log/record-batch.ts";
import { Rng } from "../src/sim/rng.ts";
import { Scheduler } from "../src/sim/scheduler.ts";
import { DEFAULT_LOG_CONFIG } from "../src/storage/log-config.ts";
import { PartitionLog } from "../src/storage/partition-log.ts";
import { TicketBook } from "../src/storage/ticket-book.ts";
import type { Outcome } from "./measure.ts";
import { collectGarbage, formatTable, timed } from "./measure.ts";

const REPLICAS = 3;
const VALUE = new Uint8Array(100).fill(7);
/** Appended before they are read. */
const AT_ONCE = 100;
const LENGTHS = [10_000, 100_000, 1_000_000];
/** Records. */
const SHORTEST_RUN = 300_000;
/** What the issue asks: the largest log may cost so many times what the smallest does. */
const RATIO = 1.2;
const MEMORY_MB = 400;

/** Nanoseconds a record; of memory, bytes a record in all replicas together. */
interface Costs {
  readonly append: number;
  readonly appendAndRead: number;
  readonly scan: number;
  readonly memory: number;
}

/**
 * What a record of 100 bytes costs in three logs on three simulated disks, one record a batch: to be
 * appended to each; to be read as well by a reader that keeps up; to be read from the beginning.
 */
export function benchLog(rounds: number): string {
  const all = LENGTHS.map((length) => {
    const costs = Array.from({ length: rounds + 1 }, () => run(length)).slice(1);
    const median = (pick: (one: Costs) => number): number =>
      costs.map(pick).sort((left, right) => left - right)[costs.length >> 1] ?? Number.NaN;
    return {
      append: median(({ append }) => append),
      appendAndRead: median(({ appendAndRead }) => appendAndRead),
      scan: median(({ scan }) => scan),
      memory: median(({ memory }) => memory),
    };
  });
  const heading = ["records", "append", "append, read", "read from the start", "memory"];
  const rows = all.map(({ append, appendAndRead, scan, memory }, i) => [
    String(LENGTHS[i]),
    `${append.toFixed(0)} ns`,
    `${appendAndRead.toFixed(0)} ns`,
    `${scan.toFixed(0)} ns`,
    `${((memory * (LENGTHS[i] ?? 0)) / 2 ** 20).toFixed(0)} MB`,
  ]);
  return formatTable([heading, ...rows, goals(all)]);
}

function goals(all: readonly Costs[]): string[] {
  const [first, last] = [all[0], all.at(-1)];
  if (first === undefined || last === undefined) return [];
  const ratio = (pick: (one: Costs) => number): string => {
    const times = pick(last) / pick(first);
    return `${times.toFixed(2)}x${times > RATIO ? " MISSED" : ""}`;
  };
  const megabytes = (last.memory * (LENGTHS.at(-1) ?? 0)) / 2 ** 20;
  return [
    `at most ${RATIO}x`,
    ratio(({ append }) => append),
    ratio(({ appendAndRead }) => appendAndRead),
    ratio(({ scan }) => scan),
    `at most ${MEMORY_MB} MB${megabytes > MEMORY_MB ? " MISSED" : ""}`,
  ];
}

/** Short logs several times: to be compared they must not pay for the compiler. */
function run(length: number): Costs {
  const times = Math.max(1, Math.floor(SHORTEST_RUN / length));
  const runs = Array.from({ length: times }, () => runOnce(length));
  const mean = (pick: (one: Costs) => number): number =>
    runs.reduce((sum, one) => sum + pick(one), 0) / times;
  return {
    append: mean(({ append }) => append),
    appendAndRead: mean(({ appendAndRead }) => appendAndRead),
    scan: mean(({ scan }) => scan),
    memory: mean(({ memory }) => memory),
  };
}

function runOnce(length: number): Costs {
  const sent = Array.from({ length: AT_ONCE }, (_, i) =>
    buildBatch([{ timestamp: 1_700_000_000_000 + i, value: VALUE }]),
  );
  const before = memoryInUse();
  const logs = newLogs();
  const append = timed(length, () => {
    for (let left = length; left > 0; left -= AT_ONCE) appendEverywhere(logs, sent);
  });
  const memory = (memoryInUse() - before) / length;
  const scan = timed(length, () => readAll(logs.leader, 0, 1_048_576));

  const others = newLogs();
  const appendAndRead = timed(length, () => {
    let at = 0;
    for (let left = length; left > 0; left -= AT_ONCE) {
      appendEverywhere(others, sent);
      at = readAll(others.leader, at, 170);
    }
  });
  const cost = ({ operations, nanoseconds }: Outcome): number => nanoseconds / operations;
  return {
    append: cost(append),
    appendAndRead: cost(appendAndRead),
    scan: cost(scan),
    memory,
  };
}

interface Replicas {
  readonly leader: PartitionLog;
  readonly followers: readonly PartitionLog[];
}

function newLogs(): Replicas {
  return { leader: newLog(), followers: Array.from({ length: REPLICAS - 1 }, newLog) };
}

function appendEverywhere({ leader, followers }: Replicas, sent: readonly RecordBatch[]): void {
  for (const batch of sent) {
    const { appended } = leader.appendAsLeader([batch], 0);
    for (const follower of followers) follower.appendAsFollower(appended, 0);
  }
}

/** Reads up to the end of the log; returns where that is. */
function readAll(log: PartitionLog, from: number, maxBytes: number): number {
  let at = from;
  while (at < log.logEndOffset) {
    const { batches } = log.read(at, maxBytes, log.logEndOffset, true);
    for (const batch of batches) at = batch.nextOffset;
  }
  return at;
}

function newLog(): PartitionLog {
  const scheduler = new Scheduler();
  const always = (duration: number) => ({ draw: () => duration });
  const disk = new SimulatedDisk({
    host: { name: "broker-1", incarnation: 0, charge() {}, departure: () => 0, synced() {} },
    scheduler,
    random: new Rng("bench"),
    options: {
      write: always(5),
      read: always(5),
      fsync: always(2_000),
      bandwidth: 250_000_000,
      writeback: 30 * SECOND,
      sector: 512,
      journal: "writeback",
    },
    facts: { note() {} },
  });
  return PartitionLog.open({
    disk,
    clock: { now: () => 1_700_000_000_000_000, elapsed: () => 0 },
    tickets: new TicketBook(),
    directory: "orders-0",
    topic: "orders",
    partition: 0,
    config: DEFAULT_LOG_CONFIG,
    recoveryPoint: 0,
    logStartOffset: 0,
    cleanShutdown: true,
  });
}

function memoryInUse(): number {
  // Once is not enough to find the arrays whose owners went with the first time.
  collectGarbage();
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
