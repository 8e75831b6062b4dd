import { MILLISECOND, SECOND } from "../../base/time.ts";
import { formatDuration } from "../../scenario/duration.ts";
import { mortalBrokers } from "../limits.ts";
import type { Shape, Strike } from "../shape.ts";
import { stepAt } from "../shape.ts";
import { serversOf } from "../terrain.ts";
import { AROUND } from "./around.ts";

/** From the time of a restart to longer than sessions and lags usually last. */
const ABSENCES = [500 * MILLISECOND, 2 * SECOND, 4 * SECOND, 8 * SECOND, 12 * SECOND, 20 * SECOND];

/** How often a controller is hit rather than a broker, in percent. */
const CONTROLLER_CHANCE = 25;

/** A process is killed: one, the one that leads, or several at once. */
export const CRASH_SHAPE: Shape = {
  every: 8 * SECOND,
  strike: (strike) => [
    stepAt(strike.at, { crash: victim(strike), for: formatDuration(strike.length(ABSENCES)) }),
  ],
};

/**
 * A broker is killed in the event in which it has appended: the record is in its page cache, and neither fetched nor
 * acknowledged. It waits until so many records are acknowledged that it is about time.
 */
export const CRASH_WHILE_WRITING: Shape = {
  every: 10 * SECOND,
  strike(strike) {
    const { at, until, terrain, limits, dice } = strike;
    const { producers, partitions } = terrain;
    const brokers = mortalBrokers(limits, terrain);
    if (producers.length === 0 || brokers.length === 0) return [];
    const producer = dice.of(producers);
    const acked = Math.round((producer.recordsPerSecond * at) / SECOND);
    const leads = limits.kind !== "page-caches" && partitions.length > 0 && dice.percent(60);
    const broker = leads ? `leader(${dice.of(partitions)})` : dice.of(brokers);
    const words = {
      when: `acked(${producer.name}) >= ${acked} and appending(${broker})`,
      timeout: formatDuration(until),
      crash: broker,
      for: formatDuration(strike.length(ABSENCES)),
    };
    return [{ at, words }];
  },
};

/** Processes that stop in order, as in a rolling upgrade. */
export const SHUTDOWN_SHAPE: Shape = {
  every: 12 * SECOND,
  strike: (strike) => [
    stepAt(strike.at, {
      shutdown: victim(strike),
      for: formatDuration(strike.length(ABSENCES)),
    }),
  ],
};

const CUT_MODES = ["lost", "torn", "random-prefix", "any"];

/** A machine without power: the page cache goes with it where the limits allow that. */
export const POWER_CUT: Shape = {
  every: 12 * SECOND,
  strike(strike) {
    const { at, limits, terrain, dice } = strike;
    const isController = dice.percent(CONTROLLER_CHANCE);
    const mayLose = isController || limits.kind !== "processes";
    const several = limits.kind === "unlimited" && dice.percent(30) ? "brokers" : undefined;
    const server = isController ? someController(strike) : victim(strike);
    if (mortalBrokers(limits, terrain).length === 0 && !isController) return [];
    return [
      stepAt(at, {
        "power-off": several ?? server,
        unflushed: mayLose ? dice.of(CUT_MODES) : "kept",
        for: formatDuration(strike.length(ABSENCES)),
      }),
    ];
  },
};

/** A process freezes, often for about as long as others have patience with it. */
export const PAUSE_SHAPE: Shape = {
  every: 8 * SECOND,
  strike(strike) {
    const { at, terrain, dice } = strike;
    const patience = dice.of([terrain.lagTime, terrain.sessionTimeout]);
    const edge = Math.round((patience * dice.of(AROUND)) / 100);
    const length = strike.length([300 * MILLISECOND, 2 * SECOND, edge, edge, edge]);
    const isClient = terrain.clients.length > 0 && dice.percent(10);
    const target = isClient ? dice.of(terrain.clients) : someServer(strike);
    return [stepAt(at, { pause: target, for: formatDuration(length) })];
  },
};

/** Whom a fault may kill: one, by what it is rather than by its name as often as not, or several. */
function victim(strike: Strike): string {
  const { limits, terrain, dice } = strike;
  if (dice.percent(CONTROLLER_CHANCE)) return someController(strike);
  return limits.kind === "page-caches"
    ? dice.of(limits.brokers)
    : someBroker(strike, terrain.brokers);
}

function someServer(strike: Strike): string {
  return strike.dice.percent(CONTROLLER_CHANCE)
    ? someController(strike)
    : someBroker(strike, strike.terrain.brokers);
}

function someController({ terrain, dice }: Strike): string {
  return dice.of(["controller", "controllers", ...terrain.controllers, ...terrain.controllers]);
}

function someBroker({ terrain, dice }: Strike, brokers: readonly string[]): string {
  const one = dice.of(brokers);
  if (dice.percent(50) || terrain.partitions.length === 0) return one;
  const partition = dice.of(terrain.partitions);
  return dice.of([
    `leader(${partition})`,
    `leader(${partition})`,
    `followers(${partition})`,
    `isr(${partition})`,
    `isr(${partition}) - leader(${partition})`,
    dice.some(2, brokers).join(" + "),
    serversOf(terrain).length > 1 ? dice.some(2, serversOf(terrain)).join(" + ") : one,
    "brokers",
  ]);
}
