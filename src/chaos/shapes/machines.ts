import { SECOND } from "../../base/time.ts";
import { formatDuration } from "../../scenario/duration.ts";
import type { StepWords } from "../../scenario/read-steps.ts";
import type { Shape, Strike } from "../shape.ts";
import { stepAt } from "../shape.ts";
import { serversOf } from "../terrain.ts";

const SPELLS = [1, 3, 6, 12].map((seconds) => seconds * SECOND);

/** A disk that is slow for good, slow now and then, or stands still. */
export const SLOW_DISK_SHAPE: Shape = {
  every: 12 * SECOND,
  strike(strike) {
    const { at, terrain, limits, dice } = strike;
    const server = dice.of(serversOf(terrain));
    const time = formatDuration(strike.length(SPELLS));
    switch (dice.of(["slow", "spikes", "stall"] as const)) {
      case "slow": {
        // Slownesses that meet multiply, and what is asked of a disk then takes as long, whatever comes.
        const factors = limits.kind === "unlimited" ? ["2", "10", "100"] : ["2", "5", "20"];
        return [stepAt(at, { "slow-disk": server, factor: dice.of(factors), for: time })];
      }
      case "spikes": {
        const spikes = {
          chance: dice.of(["1%", "10%"]),
          latency: dice.of(["20ms", "200ms", "1s"]),
        };
        return [stepAt(at, { "disk-spikes": server, ...spikes, for: time })];
      }
      case "stall": {
        const operations = dice.of(["all", "fsync"]);
        return [stepAt(at, { "disk-stall": server, time, operations })];
      }
    }
  },
};

/**
 * A clock that is wrong all at once, or more and more. Where Kafka is to get over it a jump is a few seconds: brokers
 * wait by the wall clock before they fetch a partition again (`DelayedItem`), so that one whose clock is put back by
 * an hour can keep a replica behind for an hour.
 */
export const CLOCK_SKEW_SHAPE: Shape = {
  every: 12 * SECOND,
  strike(strike) {
    const { at, terrain, limits, dice } = strike;
    const jumps = limits.kind === "unlimited" ? ["5s", "-5s", "1h", "-1h"] : ["1s", "5s", "-5s"];
    const wrong: StepWords = dice.percent(50)
      ? { offset: dice.of(jumps) }
      : { drift: dice.of(["500ppm", "-500ppm"]) };
    const server = dice.of(serversOf(terrain));
    return [
      stepAt(at, { "clock-skew": server, ...wrong, for: formatDuration(strike.length(SPELLS)) }),
    ];
  },
};

/** Disks of which Kafka assumes that they are not like that. */
export const DAMAGE: Shape = {
  every: 12 * SECOND,
  strike(strike) {
    const time = { for: formatDuration(strike.length(SPELLS)) };
    return [stepAt(strike.at, { ...damage(strike), ...time })];
  },
};

function damage({ terrain, dice }: Strike): StepWords {
  const server = dice.of(serversOf(terrain));
  const chance = { chance: dice.of(["1%", "10%"]) };
  const pageCache = { "page-cache": dice.of(["dropped", "kept"]) };
  return dice.of<StepWords>([
    { "disk-lost": server },
    { "disk-full": server, free: dice.of(["0", "64KiB"]) },
    { "disk-readonly": server },
    { "disk-read-error": server, ...chance, ...pageCache },
    { "disk-write-error": server, ...chance },
    { "fsync-fails": server },
    { "fsync-lies": server },
    { "bit-rot": server, ...pageCache },
    { "misdirected-read": server, ...pageCache },
    { "misdirected-write": server },
  ]);
}
