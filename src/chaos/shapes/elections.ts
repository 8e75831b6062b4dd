import { MILLISECOND, SECOND } from "../../base/time.ts";
import { formatDuration } from "../../scenario/duration.ts";
import type { StepWords } from "../../scenario/read-steps.ts";
import type { DrawnStep, Shape, Strike } from "../shape.ts";
import { stepAt } from "../shape.ts";

/** From within a round of votes to well after one. */
const MOMENTS = [20, 100, 300, 1_000, 2_500].map((ms) => ms * MILLISECOND);

/**
 * Controllers fall while they elect: one after the other, some together, and they come back before it is over. Now and
 * then they hear late of each other, so that votes and the words of former leaders arrive when much has changed.
 */
export const ELECTIONS: Shape = {
  every: 12 * SECOND,
  strike(strike) {
    const { at, terrain, dice } = strike;
    if (terrain.controllers.length < 2) return [];
    const falls = dice.random.between(3, 8);
    const steps: DrawnStep[] = [];
    let next = at;
    for (let n = 0; n < falls; n++) {
      const away = strike.length(MOMENTS);
      steps.push(stepAt(next, { ...fall(strike), for: formatDuration(away) }));
      next += dice.of(MOMENTS);
    }
    if (dice.percent(60)) {
      const late = {
        "delay-link": dice.of(["50ms", "uniform(0ms..400ms)", "uniform(0ms..1500ms)"]),
        from: "controllers",
        to: "controllers",
        for: formatDuration(next - at),
      };
      steps.push(stepAt(at, late));
    }
    return steps;
  },
};

/** What a controller has said is flushed: it may lose all the rest. */
function fall({ terrain, dice }: Strike): StepWords {
  const { controllers } = terrain;
  const some = controllers.length > 2 ? "any 2 of controllers" : "controllers";
  const who = dice.of(["controller", dice.of(controllers), some, some, "controllers"]);
  return dice.of<StepWords>([
    { crash: who },
    { crash: who },
    { "power-off": who, unflushed: dice.of(["lost", "any"]) },
    { isolate: who },
    { pause: who },
  ]);
}
