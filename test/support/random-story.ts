import { SHAPES } from "../../src/scenario/random-faults.ts";
import { Rng } from "../../src/sim/rng.ts";

/**
 * What a random story may contain, and so what must hold of it.
 *
 * - `safe`: nothing in it goes beyond what Kafka promises to survive (see `Limits` of src/chaos), and all clients
 *   are as safe as by default. Nothing may be lost.
 * - `hostile-network`: the same over links that lose, double and reorder single messages.
 * - `lossy`: powers fail anywhere, so that acknowledged records can be lost; there must be a cause.
 * - `careless`: clients and topics as careless as Kafka lets them be: acks of 0 and 1, no idempotence,
 *   one replica enough, unclean elections, no eligible leader replicas, records that soon expire.
 */
export const STORY_CLASSES = ["safe", "hostile-network", "lossy", "careless"] as const;
export type StoryClass = (typeof STORY_CLASSES)[number];

interface Draw {
  below(bound: number): number;
  between(low: number, high: number): number;
  of<Item>(items: readonly Item[]): Item;
  chance(percent: number): boolean;
}

/** How long a story goes on, in seconds, before everything is healed. */
const STORY_SECONDS = 25;
/** The time in which the healed cluster must converge, in seconds. */
export const SETTLE_SECONDS = 45;

/** A scenario's YAML, drawn from a seed: the same seed, the same story. */
export function randomStory(kind: StoryClass, seed: number): string {
  const draw = drawFrom(new Rng(`${kind}/${seed}`));
  const careless = kind === "careless";
  const brokers = draw.of([3, 3, 3, 4, 5]);
  const controllers = draw.of([1, 3, 3]);
  const partitions = draw.between(1, 3);
  // By a stream of its own: all else stays as it was before there was retention in these stories.
  const isRetained = careless && drawFrom(new Rng(`${kind}/${seed}/retention`)).chance(40);
  const minIsr = careless ? draw.of([1, 2]) : draw.of([2, 2, 2, 3]);
  const lines = [
    "version: 1",
    `name: ${kind}-${seed}`,
    "summary: Drawn by chance.",
    `seed: ${seed}`,
    'kafka: "4.3"',
    "cluster:",
    `  brokers: ${brokers}`,
    `  controllers: ${controllers}`,
    "  config:",
    `    replica.lag.time.max.ms: ${draw.of([2000, 2000, 5000, 10000])}`,
    ...(isRetained
      ? ["    log.retention.check.interval.ms: 300", "    log.initial.task.delay.ms: 500"]
      : []),
    ...(draw.chance(30) ? ["    leader.imbalance.check.interval.seconds: 15"] : []),
    ...(draw.chance(40)
      ? ["    broker.session.timeout.ms: 3000", "    broker.heartbeat.interval.ms: 500"]
      : []),
    ...(careless && draw.chance(30)
      ? ["  features:", "    eligible.leader.replicas.version: 0"]
      : []),
    "topics:",
    "  orders:",
    `    partitions: ${partitions}`,
    "    replication.factor: 3",
    "    config:",
    `      min.insync.replicas: ${minIsr}`,
    ...(careless && draw.chance(40) ? ["      unclean.leader.election.enable: true"] : []),
    ...(kind === "lossy" && draw.chance(20) ? ["      flush.messages: 1"] : []),
    ...(draw.chance(30) ? ["      segment.bytes: 1048576"] : []),
    ...(isRetained ? ["      retention.ms: 1500", "      segment.ms: 300"] : []),
    "clients:",
    ...clients(draw, careless, careless || kind === "hostile-network"),
    "random-faults:",
    `  unlimited: ${kind === "lossy" || careless}`,
    `  generators: [ ${generators(kind).join(", ")} ]`,
    `duration: ${STORY_SECONDS}s`,
    `settle: ${SETTLE_SECONDS}s`,
  ];
  return `${lines.join("\n")}\n`;
}

function drawFrom(random: Rng): Draw {
  const below = (bound: number): number => random.below(bound);
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    of: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("nothing to draw from");
      return item;
    },
    chance: (percent) => below(100) < percent,
  };
}

function clients(draw: Draw, careless: boolean, isHostile: boolean): string[] {
  const lines: string[] = [];
  const producers = draw.between(1, 2);
  for (let p = 1; p <= producers; p++) {
    const acks = careless ? draw.of(["all", "1", "0"]) : "all";
    const idempotent = acks === "all" && !(careless && draw.chance(40));
    lines.push(
      `  p${p}:`,
      "    produce: orders",
      `    rate: ${draw.of(["10/s", "20/s", "50/s", "exponential(60/s)", "exponential(100/s)"])}`,
      ...(draw.chance(50) ? [`    keys: ${draw.between(1, 20)}`] : []),
      `    record-size: ${draw.of([100, 100, 1000, 5000])}`,
      "    config:",
      `      acks: ${acks}`,
      `      enable.idempotence: ${idempotent}`,
      // Where single messages vanish a producer may hope until its time is up; it must be up in time.
      ...(isHostile ? ["      delivery.timeout.ms: 20000", "      request.timeout.ms: 5000"] : []),
      ...(draw.chance(20) ? ["      linger.ms: 50"] : []),
    );
  }
  for (let c = 1; c <= draw.between(1, 2); c++) {
    lines.push(
      `  c${c}:`,
      "    consume: orders",
      `    config: { auto.offset.reset: ${draw.of(["earliest", "earliest", "latest"])} }`,
    );
  }
  return lines;
}

/** Disks that are damaged have their own tests: what then holds depends on whose they are. */
function generators(kind: StoryClass): string[] {
  const isLoose = kind === "hostile-network" || kind === "careless";
  return Object.keys(SHAPES).filter(
    (shape) => shape !== "damage" && (isLoose || shape !== "loose-messages"),
  );
}
