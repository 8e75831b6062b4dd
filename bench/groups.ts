import type { Instant } from "../src/base/time.ts";
import { SECOND } from "../src/base/time.ts";
import { Simulation } from "../src/cluster/simulation.ts";
import { readScenario } from "../src/scenario/read-scenario.ts";
import { collectGarbage, formatTable, threadTime } from "./measure.ts";

/** How a group rebalances. */
const WAYS = [
  { title: "eager, range", config: "partition.assignment.strategy: range" },
  { title: "cooperative-sticky", config: "partition.assignment.strategy: cooperative-sticky" },
  { title: "KIP-848, uniform", config: "group.protocol: consumer" },
] as const;

/** Members and partitions. */
const SIZES: readonly (readonly [members: number, partitions: number])[] = [
  [10, 100],
  [25, 250],
  [50, 500],
  [100, 1000],
  [10, 1000],
  [100, 100],
];

/** By then the group has come to rest; and so it has so long after each thing that happens to it. */
const REST: Instant = 60 * SECOND;
const SPAN: Instant = 15 * SECOND;

/** What happens to the group, one thing each span. */
const STEPS = ["stop-client: c1", "restart: c1", "stop-client: clients", "restart: clients"];

/** Of a processor, for the coordinator and all members together. */
interface Costs {
  /** The mean of a rebalance after one member has left, and one after it has come back, in nanoseconds. */
  readonly one: number;
  /** All members come at once. */
  readonly all: number;
  readonly events: number;
  /** Is every partition owned in the end? */
  readonly isWhole: boolean;
}

/**
 * What rebalances cost groups of several sizes, with the heartbeats and fetches of the quarter of a minute in which they
 * are over. All guarantees are on.
 */
export function benchGroups(rounds: number): string {
  const cases = WAYS.flatMap(({ title, config }) =>
    SIZES.map(([members, partitions]) => ({ title, config, members, partitions })),
  );
  const costs: Costs[][] = cases.map(() => []);
  for (let round = -1; round < rounds; round++) {
    for (const [at, { config, members, partitions }] of cases.entries()) {
      const cost = play(config, members, partitions);
      if (!cost.isWhole) throw new Error(`${members} members do not own ${partitions} partitions`);
      if (round >= 0) costs[at]?.push(cost);
    }
  }
  const rows = cases.map(({ title, members, partitions }, at) => {
    const played = costs[at] ?? [];
    const cells = [played.map(({ one }) => one), played.map(({ all }) => all)].flatMap((times) => {
      const [least = 0, median = 0, most = 0] = spreadOf(times);
      const each = `${(median / members / partitions).toFixed(0)} ns`;
      return [`${millis(median)} ms [${millis(least)}-${millis(most)}]`, each];
    });
    return [`${title}, ${members} x ${partitions}`, ...cells, String(played[0]?.events ?? 0)];
  });
  const each = "by member and partition";
  const what = `a rebalance; ${rounds} rounds`;
  return formatTable([[what, "one leaves or comes", each, "all come", each, "events"], ...rows]);
}

function spreadOf(values: readonly number[]): readonly (number | undefined)[] {
  const sorted = [...values].sort((left, right) => left - right);
  return [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)];
}

function millis(nanoseconds: number): string {
  return (nanoseconds / 1e6).toFixed(nanoseconds < 1e7 ? 1 : 0);
}

function play(config: string, members: number, partitions: number): Costs {
  const names = Array.from({ length: members }, (_, i) => `c${i + 1}`);
  // At rest a member does little but beat. With a quick disk the coordinator is loaded soon: members of a KIP-848 group
  // that join ask one that loads as fast as it answers, as Kafka's do.
  const quiet = "fetch.max.wait.ms: 20000, auto.commit.interval.ms: 3600000";
  const consumer = `{ consume: orders, group: g, config: { ${quiet}, ${config} } }`;
  const text = `version: 1
name: groups
summary: What a rebalance costs.
kafka: "4.3"
cluster:
  brokers: 1
  controllers: 1
  config: { offsets.topic.num.partitions: 1, offsets.topic.replication.factor: 1 }
  disk: { fsync: 10us }
topics: { orders: { partitions: ${partitions}, replication.factor: 1 } }
clients:
${names.map((name) => `  ${name}: ${consumer}`).join("\n")}
faults:
${STEPS.map((step, i) => `  - { at: ${(REST + i * SPAN) / SECOND}s, ${step} }`).join("\n")}
duration: ${(REST + STEPS.length * SPAN) / SECOND}s
settle: 1s
`;
  const { scenario } = readScenario(text, "groups.yaml");
  if (scenario === undefined) throw new Error("the benchmark's scenario has a mistake");
  const simulation = new Simulation(scenario, { seed: "1" });
  const to = (at: Instant): { readonly time: number; readonly events: number } => {
    collectGarbage();
    const [begin, first] = [threadTime(), simulation.events];
    while (simulation.advanceTo(at - 1, 100_000));
    return { time: threadTime() - begin, events: simulation.events - first };
  };
  to(REST);
  const [leave, back, , all] = STEPS.map((_, i) => to(REST + (i + 1) * SPAN));
  if (leave === undefined || back === undefined || all === undefined) throw new Error("no steps");
  const { now } = simulation;
  const owned = simulation.cluster.view.group("g").ownership;
  return {
    one: (leave.time + back.time) / 2,
    all: all.time,
    events: Math.round((leave.events + back.events) / 2),
    isWhole:
      owned.unowned(now).length === partitions &&
      owned.meanUnowned(now) === owned.meanUnowned(now + SECOND),
  };
}
