import { SECOND } from "../../base/time.ts";
import { formatDuration } from "../../scenario/duration.ts";
import type { Shape } from "../shape.ts";
import { stepAt } from "../shape.ts";
import { AROUND } from "./around.ts";

/**
 * A leader that its clients can reach and the controllers cannot: it is replaced, and goes on serving. Sometimes its
 * followers are cut off from it too, or one of them, so that one is fed by the old leader and one by the new.
 */
export const STALE_LEADER: Shape = {
  every: 12 * SECOND,
  strike(strike) {
    const { at, terrain, dice } = strike;
    if (terrain.partitions.length === 0) return [];
    const leader = `leader(${dice.of(terrain.partitions)})`;
    const unreached = dice.of([
      "controllers",
      `controllers + brokers - ${leader}`,
      `controllers + ${dice.of(terrain.brokers)} - ${leader}`,
    ]);
    const direction = dice.of(["both", "both", "to", "from"]);
    const around = Math.round((terrain.sessionTimeout * dice.of(AROUND)) / 100);
    const length = strike.length([around, 2 * terrain.sessionTimeout, 4 * terrain.sessionTimeout]);
    const cut = { from: leader, to: unreached, direction };
    return [stepAt(at, { partition: cut, for: formatDuration(length) })];
  },
};
