import type { Duration } from "../../base/time.ts";
import { MILLISECOND, SECOND } from "../../base/time.ts";
import { formatDuration } from "../../scenario/duration.ts";
import type { StepWords } from "../../scenario/read-steps.ts";
import type { Shape, Strike } from "../shape.ts";
import { stepAt } from "../shape.ts";
import { serversOf } from "../terrain.ts";

/** No cut is shorter than a second: shorter ones are over before anybody could decide anything. */
const CUTS: readonly Duration[] = [1, 3, 6, 10, 15, 20].map((seconds) => seconds * SECOND);
const SPELLS: readonly Duration[] = [1, 3, 6, 12].map((seconds) => seconds * SECOND);
const DIRECTIONS = ["both", "both", "to", "from"];

/** One node that nobody hears, or that hears nobody. */
export const ISOLATE_SHAPE: Shape = {
  every: 10 * SECOND,
  strike(strike) {
    const { at, terrain, dice } = strike;
    const named = terrain.partitions.length > 0 && dice.percent(40);
    const node = named
      ? `leader(${dice.of(terrain.partitions)})`
      : dice.of([...serversOf(terrain), "controller"]);
    return [
      stepAt(at, {
        isolate: node,
        direction: dice.of(DIRECTIONS),
        for: formatDuration(strike.length(CUTS)),
      }),
    ];
  },
};

/** Two sides, one of a drawn size, drawn node by node, or of one node; clients are on a side now and then. */
export const PARTITION_SHAPE: Shape = {
  every: 12 * SECOND,
  strike(strike) {
    const { at, terrain, dice } = strike;
    const nodes = [...serversOf(terrain), ...(dice.percent(30) ? terrain.clients : [])];
    const side = oneSide(nodes, strike);
    const others = nodes.filter((node) => !side.includes(node));
    if (side.length === 0 || others.length === 0) return [];
    const direction = dice.of(DIRECTIONS);
    const sides: StepWords =
      direction === "both"
        ? { groups: [side, others] }
        : { from: side.join(" + "), to: others.join(" + "), direction };
    return [stepAt(at, { partition: sides, for: formatDuration(strike.length(CUTS)) })];
  },
};

function oneSide(nodes: readonly string[], { dice }: Strike): string[] {
  switch (dice.of(["size", "size", "nodes", "one"] as const)) {
    case "size":
      return dice.some(dice.random.between(1, nodes.length - 1), nodes);
    case "nodes":
      return nodes.filter(() => dice.percent(50));
    case "one":
      return [dice.of(nodes)];
  }
}

/**
 * FoundationDB's swizzled clogging: nodes are cut off one after another, and come back in another order, so that each
 * pair of them is apart for another while.
 */
export const SWIZZLE: Shape = {
  every: 15 * SECOND,
  strike(strike) {
    const { at, terrain, dice } = strike;
    const servers = serversOf(terrain);
    const chosen = dice.shuffled(servers).slice(0, dice.random.between(2, servers.length));
    const half = Math.round(strike.length([2, 6, 12].map((seconds) => seconds * SECOND)) / 2);
    const moments = (): number[] => chosen.map(() => dice.random.below(half)).sort((a, b) => a - b);
    const begins = moments();
    const ends = moments().map((moment) => half + moment);
    const order = dice.shuffled(chosen);
    return chosen.map((node, i) => {
      const begin = begins[i] ?? 0;
      const end = ends[order.indexOf(node)] ?? half;
      return stepAt(at + begin, {
        isolate: node,
        direction: dice.of(DIRECTIONS),
        for: formatDuration(end - begin + MILLISECOND),
      });
    });
  },
};

/** Links that take longer, or through which little fits. */
export const SLOW_NETWORK: Shape = {
  every: 12 * SECOND,
  strike(strike) {
    const { at, dice } = strike;
    const fault: StepWords = dice.percent(60)
      ? { "delay-link": dice.of(["50ms", "uniform(0ms..200ms)", "uniform(500ms..3s)"]) }
      : { "slow-link": dice.of(["10kB/s", "100kB/s", "1MB/s"]) };
    return [stepAt(at, { ...fault, ...links(strike), for: formatDuration(strike.length(SPELLS)) })];
  },
};

export const RESET_SHAPE: Shape = {
  every: 8 * SECOND,
  strike: ({ at, terrain, dice }) => [
    stepAt(at, { reset: dice.of([...serversOf(terrain), ...terrain.clients]) }),
  ],
};

/**
 * What a producer sends is held back, and so comes all at once when it is let through: at any time, or when segments
 * are rolled, logs flushed or high watermarks written, as far as that can be told beforehand.
 */
export const BURST: Shape = {
  every: 8 * SECOND,
  strike(strike) {
    const { at, terrain, dice } = strike;
    if (terrain.producers.length === 0) return [];
    const { name } = dice.of(terrain.producers);
    const usual = [200 * MILLISECOND, SECOND, 3 * SECOND];
    const rhythm = terrain.rhythms.length > 0 && dice.percent(50) ? dice.of(terrain.rhythms) : 0;
    const length = strike.length(rhythm > 0 ? [rhythm - (at % rhythm) + MILLISECOND] : usual);
    return [stepAt(at, { isolate: name, direction: "to", for: formatDuration(length) })];
  },
};

/** Beyond TCP: what a connection never does to a message. */
export const LOOSE_MESSAGES: Shape = {
  every: 8 * SECOND,
  strike(strike) {
    const { at, dice } = strike;
    const fault = { [dice.of(["drop", "duplicate", "reorder"])]: dice.of(["1%", "5%", "20%"]) };
    return [stepAt(at, { ...fault, ...links(strike), for: formatDuration(strike.length(SPELLS)) })];
  },
};

function links({ terrain, dice }: Strike): StepWords {
  if (dice.percent(40)) return { links: "all" };
  const ends = [
    "all",
    "brokers",
    "controllers",
    ...(terrain.clients.length > 0 ? ["clients"] : []),
  ];
  return { from: dice.of(serversOf(terrain)), to: dice.of(ends) };
}
