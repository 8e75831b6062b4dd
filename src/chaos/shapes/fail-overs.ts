import type { Duration } from "../../base/time.ts";
import { MILLISECOND, SECOND } from "../../base/time.ts";
import { formatDuration } from "../../scenario/duration.ts";
import type { StepWords } from "../../scenario/read-steps.ts";
import type { DrawnStep, Shape, Strike } from "../shape.ts";
import { stepAt } from "../shape.ts";
import { AROUND } from "./around.ts";

/**
 * One leader falls after the other, often before the next has been followed by anybody, and those that fell come back
 * while it goes on: what KIP-279 calls fast leader fail-over. Now and then a follower is away for all of it, so that
 * only two replicas hand the lead to and fro.
 */
export const FAIL_OVERS: Shape = {
  every: 15 * SECOND,
  strike(strike) {
    const { at, terrain, dice } = strike;
    if (terrain.partitions.length === 0) return [];
    const partition = dice.of(terrain.partitions);
    const falls = dice.random.between(2, 4);
    const steps: DrawnStep[] = [];
    let next = at;
    for (let n = 0; n < falls; n++) {
      const away = absence(strike);
      steps.push(stepAt(next, { ...fall(strike, `leader(${partition})`), for: away }));
      next += gap(strike);
    }
    if (dice.percent(50)) {
      const bystander = { isolate: dice.of(terrain.brokers), for: formatDuration(next - at) };
      steps.push(stepAt(Math.max(0, at - dice.random.below(3 * SECOND)), bystander));
    }
    return steps;
  },
};

/** In all of these ways a leader is replaced; in most of them it lives on and believes that it leads. */
function fall({ dice, terrain }: Strike, leader: string): StepWords {
  const others = `controllers${terrain.brokers.length > 1 ? ` + brokers - ${leader}` : ""}`;
  return dice.of<StepWords>([
    { crash: leader },
    { pause: leader },
    { isolate: leader, direction: dice.of(["both", "from"]) },
    { partition: { from: leader, to: "controllers" } },
    { partition: { from: leader, to: others } },
  ]);
}

function absence(strike: Strike): string {
  const { sessionTimeout } = strike.terrain;
  const around = AROUND.map((percent) => Math.round((sessionTimeout * percent) / 100));
  return formatDuration(strike.length([...around, 500 * MILLISECOND, 3 * sessionTimeout]));
}

/** From before anybody has noticed to well after the next has taken over. */
function gap({ dice, terrain: { sessionTimeout } }: Strike): Duration {
  const noticed = Math.round((sessionTimeout * dice.of(AROUND)) / 100);
  return dice.of([50 * MILLISECOND, 500 * MILLISECOND, noticed, noticed, 2 * sessionTimeout]);
}
