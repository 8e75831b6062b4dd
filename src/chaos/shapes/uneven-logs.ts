import { MILLISECOND, SECOND } from "../../base/time.ts";
import { formatDuration } from "../../scenario/duration.ts";
import type { StepWords } from "../../scenario/read-steps.ts";
import type { Shape } from "../shape.ts";
import { stepAt } from "../shape.ts";

/**
 * A leader falls while its followers have different amounts of what it wrote last: whoever leads next has less than
 * another replica, and all three have to agree on one end. It takes a link that is slow, but not so slow that anybody
 * leaves the ISR, and a moment that is waited for.
 */
export const UNEVEN_LOGS: Shape = {
  every: 12 * SECOND,
  strike(strike) {
    const { at, until, terrain, dice } = strike;
    const { brokers, partitions, producers } = terrain;
    if (brokers.length < 2 || partitions.length === 0 || producers.length === 0) return [];
    const partition = dice.of(partitions);
    const leader = `leader(${partition})`;
    const [ahead, behind] = dice.shuffled(brokers);
    const lag = dice.of(["60ms", "150ms", "300ms"]);
    const slow = { "delay-link": lag, from: leader, to: `${behind} - ${leader}` };
    const producer = dice.of(producers);
    const acked = Math.round((producer.recordsPerSecond * at) / SECOND);
    const atLeast = dice.of([0, 1, 5]);
    const differ = `leo(${partition} at ${ahead}) > leo(${partition} at ${behind}) + ${atLeast}`;
    const time = { for: formatDuration(strike.length(ABSENCES)) };
    return [
      stepAt(at, { ...slow, for: formatDuration(dice.of(SPELLS)) }),
      {
        at,
        words: {
          when: `acked(${producer.name}) >= ${acked} and ${differ}`,
          timeout: formatDuration(until),
          ...dice.of<StepWords>([
            { crash: leader },
            { crash: ahead ?? leader },
            { pause: leader },
            { isolate: leader },
          ]),
          ...time,
        },
      },
    ];
  },
};

const SPELLS = [5 * SECOND, 15 * SECOND];
const ABSENCES = [500 * MILLISECOND, 2 * SECOND, 4 * SECOND, 8 * SECOND, 12 * SECOND];
