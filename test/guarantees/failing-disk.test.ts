import { afterEach, expect, test } from "vitest";
import { SECOND } from "../../src/base/time.ts";
import type { RunResult } from "../../src/cluster/run-result.ts";
import { Simulation } from "../../src/cluster/simulation.ts";
import { Rng } from "../../src/sim/rng.ts";
import { FailingCalls } from "../support/failing-calls.ts";
import { scenarioOf } from "../support/scenario-text.ts";

/** When the disk that failed is well again, and its broker is started anew. */
const REPAIRED = 20 * SECOND;

/**
 * Three brokers, the second of which has log directories of its own; logs roll and flush often. At the
 * end whatever has stopped is started again.
 */
const STORY = `version: 1
name: failing-disk
summary: One call of one disk fails.
seed: 1
kafka: "4.3"
cluster:
  brokers:
    - id: 1
    - { id: 2, config: { log.dirs: "two-a,two-b" } }
    - id: 3
  controllers: 3
  config:
    replica.lag.time.max.ms: 2000
    replica.high.watermark.checkpoint.interval.ms: 1000
    log.flush.offset.checkpoint.interval.ms: 2000
    log.flush.scheduler.interval.ms: 700
    broker.session.timeout.ms: 3000
    broker.heartbeat.interval.ms: 500
    leader.imbalance.check.interval.seconds: 5
topics:
  orders:
    partitions: 4
    replication.factor: 3
    config: { min.insync.replicas: 2, segment.ms: 1500, flush.ms: 1000, index.interval.bytes: 200 }
clients:
  p1:
    produce: orders
    rate: 50/s
    keys: 7
    config: { request.timeout.ms: 5000, delivery.timeout.ms: 40000 }
  c1:
    consume: orders
    config: { auto.offset.reset: earliest }
faults:
  - { at: 3s, isolate: broker-2, for: 4s }
  - { at: 10s, crash: broker-1 }
  - { at: 12s, restart: broker-1 }
  - { at: ${REPAIRED / SECOND}s, crash: broker-2 }
  - { at: ${REPAIRED / SECOND + 1}s, restart: all }
duration: 26s
settle: 40s
`;

interface Run {
  readonly calls: FailingCalls;
  readonly result: RunResult;
  /** Calls of each kind before time zero. */
  readonly warmUp: ReadonlyMap<string, number>;
}

let installed: FailingCalls | undefined;

afterEach(() => installed?.remove());

function play(calls: FailingCalls): Run {
  installed = calls;
  calls.install();
  const simulation = new Simulation(scenarioOf(STORY), { seed: "1" });
  let warmUp: ReadonlyMap<string, number> = new Map();
  while (simulation.advance(simulation.now === 0 ? 1 : 10)) {
    if (simulation.now === 0) warmUp = new Map(calls.counts);
    if (simulation.now >= REPAIRED) calls.remove();
  }
  const result = simulation.finish(undefined);
  calls.remove();
  return { calls, result, warmUp };
}

/** What is not as it should be. */
function complaints({ calls, result }: Run): string[] {
  const { failed, kind, failAt, mode } = calls;
  const complain = (what: string): string => `${kind} ${failAt} ${mode}, ${failed[0]}: ${what}`;
  const lines = result.reasons.map(complain);
  for (const { kind, partition, text, permitted } of result.violations) {
    lines.push(complain(`${kind} ${partition} ${text.join(" ")} (${permitted ?? "a bug"})`));
  }
  for (const client of result.clients) {
    if (client.kind !== "producer" || client.acked === client.sent) continue;
    lines.push(complain(`of ${client.sent} records only ${client.acked} were acknowledged`));
  }
  for (const { topic, partition, outOfSync } of result.partitions) {
    if (outOfSync.length > 0) lines.push(complain(`${topic}-${partition} lacks ${outOfSync}`));
  }
  return lines;
}

/** Where calls fail, and whether all of them may: the last is on six disks, one of which fails once. */
const PLACES: readonly (readonly [directory: string, canDie: boolean])[] = [
  ["two-a", true],
  ["two-b", true],
  ["kafka-logs/__cluster_metadata-0", false],
];

test.each(PLACES)(
  "whichever call fails in %s, nothing is lost or stuck, and no process fails but in Kafka's ways",
  (directory, canDie) => {
    const random = new Rng(`failing-disk/${directory}`);
    const whole = play(new FailingCalls(directory, "none", 0, "once"));
    expect(complaints(whole)).toEqual([]);
    const runs: Run[] = [];
    for (const [kind, count] of whole.calls.counts) {
      const before = whole.warmUp.get(kind) ?? 0;
      if (count === before) continue;
      const mode = canDie && runs.length % 2 === 0 ? "for-good" : "once";
      runs.push(play(new FailingCalls(directory, kind, random.between(before + 1, count), mode)));
    }

    expect(runs.flatMap(complaints)).toEqual([]);
    expect(runs.every(({ calls }) => calls.failed.length > 0)).toBe(true);
    expect(runs.length).toBeGreaterThan(6);
  },
);
