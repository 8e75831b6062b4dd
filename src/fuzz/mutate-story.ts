import type { Duration, Instant } from "../base/time.ts";
import { MILLISECOND, SECOND } from "../base/time.ts";
import type { FaultSpec } from "../scenario/scenario.ts";
import type { Rng } from "../sim/rng.ts";

/** How far a step is moved, at most. */
const SHIFTS: readonly Duration[] = [
  10 * MILLISECOND,
  100 * MILLISECOND,
  SECOND,
  5 * SECOND,
  15 * SECOND,
];

/**
 * A story like another: one to three of its steps are left out, moved, made longer or shorter, or
 * happen once more. Whom a step may strike stays as it was, so that a story within Kafka's promises has
 * only children that are.
 */
export function mutateStory(
  steps: readonly FaultSpec[],
  until: Instant,
  random: Rng,
): readonly FaultSpec[] {
  let story = [...steps];
  const changes = 1 + random.below(3);
  for (let n = 0; n < changes && story.length > 0; n++) story = changed(story, until, random);
  return story;
}

function changed(story: readonly FaultSpec[], until: Instant, random: Rng): FaultSpec[] {
  const at = random.below(story.length);
  const step = story[at] as FaultSpec;
  const others = story.filter((_, i) => i !== at);
  switch (random.below(4)) {
    case 0:
      // Steps that wait for this one would wait for ever.
      return others.some(({ trigger }) => trigger.kind === "after" && trigger.fault === step.name)
        ? [...story]
        : others;
    case 1:
      return story.map((one, i) => (i === at ? moved(one, until, random) : one));
    case 2:
      return story.map((one, i) => (i === at ? stretched(one, random) : one));
    default:
      return step.name === undefined || step.trigger.kind !== "at"
        ? [...story]
        : [...story, { ...moved(step, until, random), name: newName(step.name, story) }];
  }
}

function moved(step: FaultSpec, until: Instant, random: Rng): FaultSpec {
  const { trigger } = step;
  const most = SHIFTS[random.below(SHIFTS.length)] ?? SECOND;
  const shift = random.between(-most, most);
  if (trigger.kind === "at" && trigger.time.kind === "fixed") {
    const value = Math.min(Math.max(trigger.time.value + shift, 0), until);
    return { ...step, trigger: { ...trigger, time: { kind: "fixed", value } } };
  }
  if (trigger.kind === "after" && trigger.delay.kind === "fixed") {
    const value = Math.max(trigger.delay.value + shift, 0);
    return { ...step, trigger: { ...trigger, delay: { kind: "fixed", value } } };
  }
  return step;
}

/** From a quarter to four times as long. */
function stretched(step: FaultSpec, random: Rng): FaultSpec {
  const time = step.for;
  if (time?.kind !== "fixed") return step;
  const quarters = [1, 2, 3, 6, 8, 16][random.below(6)] ?? 4;
  const value = Math.max(MILLISECOND, Math.floor((time.value * quarters) / 4));
  return { ...step, for: { kind: "fixed", value } };
}

function newName(name: string, story: readonly FaultSpec[]): string {
  const taken = new Set(story.map((one) => one.name));
  const stem = name.replace(/-again[0-9]*$/, "");
  let n = 1;
  while (taken.has(`${stem}-again${n}`)) n++;
  return `${stem}-again${n}`;
}
