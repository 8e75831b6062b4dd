import { Rng } from "../../src/sim/rng.ts";

/**
 * What a random story may contain, and so what must hold of it.
 *
 * - `safe`: nothing in it goes beyond what Kafka promises to survive: all clients as safe as by default;
 *   either processes die but no page cache does, or one broker loses its page cache and no other dies
 *   (min.insync.replicas - 1 unclean stops, KIP-966). Nothing may be lost.
 * - `hostile-network`: the same over links that lose, double and reorder single messages.
 * - `lossy`: powers fail anywhere, so that acknowledged records can be lost; there must be a cause.
 * - `careless`: clients and topics as careless as Kafka lets them be: acks of 0 and 1, no idempotence,
 *   one replica enough, unclean elections, no eligible leader replicas.
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
const STORY_SECONDS = 60;
/** The time in which the healed cluster must converge, in seconds. */
export const SETTLE_SECONDS = 60;

/** A scenario's YAML, drawn from a seed: the same seed, the same story. */
export function randomStory(kind: StoryClass, seed: number): string {
  const draw = drawFrom(new Rng(`${kind}/${seed}`));
  const careless = kind === "careless";
  const brokers = draw.of([3, 3, 3, 4, 5]);
  const controllers = draw.of([1, 3, 3]);
  const partitions = draw.between(1, 3);
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
    `    replica.lag.time.max.ms: ${draw.of([2000, 5000, 10000, 30000])}`,
    ...(draw.chance(30) ? ["    leader.imbalance.check.interval.seconds: 15"] : []),
    ...(draw.chance(20)
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
    "clients:",
    ...clients(draw, careless, careless || kind === "hostile-network"),
    "faults:",
    ...faults(draw, kind, brokers, controllers),
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
      `    rate: ${draw.of(["20/s", "50/s", "100/s", "exponential(60/s)", "exponential(300/s)"])}`,
      ...(draw.chance(50) ? [`    keys: ${draw.between(1, 20)}`] : []),
      `    record-size: ${draw.of([100, 100, 1000, 5000])}`,
      "    config:",
      `      acks: ${acks}`,
      `      enable.idempotence: ${idempotent}`,
      // Where single messages vanish a producer may hope until its time is up; it must be up in time.
      ...(isHostile || draw.chance(30)
        ? ["      delivery.timeout.ms: 20000", "      request.timeout.ms: 5000"]
        : []),
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

function faults(draw: Draw, kind: StoryClass, brokers: number, controllers: number): string[] {
  const lines: string[] = [];
  const count = draw.of([2, 3, 4, 5, 6, 7, 8, 15]);
  const isSafe = kind === "safe" || kind === "hostile-network";
  const deaths = isSafe ? draw.of(["unflushed", "processes"] as const) : "any";
  let mayLose = deaths !== "processes";
  for (let n = 0; n < count; n++) {
    const at = draw.between(0, (STORY_SECONDS - 10) * 1000);
    const duration = draw.of([500, 2000, 4000, 8000, 12000, 20000, 40000]);
    const one = fault(draw, kind, { brokers, controllers, deaths, mayLose });
    if (one.loses && isSafe) mayLose = false;
    lines.push(`  - at: ${at}ms`, "    optional: true", ...one.lines.map((line) => `    ${line}`));
    if (one.heals) lines.push(`    for: ${duration}ms`);
  }
  return lines;
}

interface DrawnFault {
  readonly lines: readonly string[];
  readonly heals: boolean;
  readonly loses: boolean;
}

interface Bounds {
  readonly brokers: number;
  readonly controllers: number;
  /** What may die of brokers: one's page cache, any processes, or anything. */
  readonly deaths: "unflushed" | "processes" | "any";
  /** May one more page cache be lost? */
  readonly mayLose: boolean;
}

function fault(draw: Draw, kind: StoryClass, bounds: Bounds): DrawnFault {
  const { brokers, controllers, deaths, mayLose } = bounds;
  const server = (): string => target(draw, brokers, controllers);
  const controller = (): string =>
    draw.of(["controller", "controllers", `controller-${draw.between(1, controllers)}`]);
  const healing = (...lines: string[]): DrawnFault => ({ lines, heals: true, loses: false });
  const direction = (): string => `direction: ${draw.of(["both", "to", "from"])}`;
  const kinds = [
    "crash",
    "crash",
    "shutdown",
    "pause",
    "power-off",
    "power-off",
    "isolate",
    "isolate",
    "partition",
    "delay-link",
    "slow-link",
    "reset",
    "slow-disk",
    "clock-skew",
    ...(kind === "hostile-network" || kind === "careless"
      ? (["drop", "duplicate", "reorder"] as const)
      : []),
    ...(kind === "hostile-network" ? (["drop", "duplicate", "reorder"] as const) : []),
  ] as const;
  const drawn = draw.of(kinds);
  switch (drawn) {
    case "crash":
      return healing(`crash: ${deaths === "unflushed" ? controller() : server()}`);
    case "shutdown":
    case "pause":
      return healing(`${drawn}: ${server()}`);
    case "power-off": {
      // Controllers flush what they say: they may lose the rest at any time.
      const isController = draw.chance(20) || (deaths === "unflushed" && !mayLose);
      const loses = isController || (mayLose && draw.chance(70));
      const unflushed = loses ? draw.of(["lost", "torn", "random-prefix"]) : "kept";
      const broker =
        deaths === "any" && draw.chance(30) ? "brokers" : loses ? "any(brokers)" : server();
      return {
        lines: [`power-off: ${isController ? controller() : broker}`, `unflushed: ${unflushed}`],
        heals: true,
        loses: loses && !isController,
      };
    }
    case "isolate":
      return healing(`isolate: ${server()}`, direction());
    case "partition":
      return healing(
        "partition:",
        `  from: ${server()}`,
        `  to: ${draw.of(["brokers", "controllers", "all", "clients", "any(brokers)"])}`,
        `  ${direction()}`,
      );
    case "delay-link":
      return healing(
        `delay-link: ${draw.of(["50ms", "uniform(0ms..200ms)", "uniform(500ms..3s)"])}`,
        ...links(draw, server),
      );
    case "slow-link":
      return healing(
        `slow-link: ${draw.of(["10kB/s", "100kB/s", "1MB/s"])}`,
        ...links(draw, server),
      );
    case "reset":
      return { lines: [`reset: ${server()}`], heals: false, loses: false };
    case "slow-disk":
      return healing(`slow-disk: ${server()}`, `factor: ${draw.of([2, 10, 100])}`);
    case "clock-skew":
      return healing(
        `clock-skew: ${server()}`,
        draw.chance(50)
          ? `offset: ${draw.of(["5s", "-5s", "1h", "-1h"])}`
          : `drift: ${draw.of(["500ppm", "-500ppm"])}`,
      );
    case "drop":
    case "duplicate":
    case "reorder":
      return healing(`${drawn}: ${draw.of(["1%", "5%", "20%"])}`, ...links(draw, server));
  }
}

function links(draw: Draw, server: () => string): string[] {
  if (draw.chance(40)) return ["links: all"];
  return [`from: ${server()}`, `to: ${draw.of(["all", "brokers", "controllers", "clients"])}`];
}

/** A server, by what it is rather than by its name as often as not. */
function target(draw: Draw, brokers: number, controllers: number): string {
  return draw.of([
    `broker-${draw.between(1, brokers)}`,
    `broker-${draw.between(1, brokers)}`,
    `controller-${draw.between(1, controllers)}`,
    "controller",
    "leader(orders-0)",
    "leader(orders-0)",
    "any(followers(orders-0))",
    "isr(orders-0)",
    "any(brokers)",
    "any 2 of brokers",
    "brokers",
    "controllers",
  ]);
}
