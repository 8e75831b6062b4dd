import fc from "fast-check";
import type { StepValue } from "../scenario-value.ts";
import { durationOf, RoundTime } from "./round-time.ts";

/** The misfortunes that plans are made of, the simplest first. All of them are over after a while. */
const KINDS = [
  "crash",
  "pause",
  "shutdown",
  "isolate",
  "partition",
  "power-off",
  "slow-network",
  "slow-disk",
  "reset",
] as const;
export type PlannedKind = (typeof KINDS)[number];

export interface FaultPlanLimits {
  /** Default: all, the simplest first. */
  readonly kinds?: readonly PlannedKind[];
  /** Steps, at most; default 5. */
  readonly steps?: number;
  /** Milliseconds in which they all begin; default 15000. */
  readonly within?: number;
  /** Milliseconds that one lasts, at most; default 10000. */
  readonly longest?: number;
  /** Do consumers die, freeze and get cut off, too? Default false. */
  readonly consumers?: boolean;
}

/** Whom a plan may strike. */
export interface PlanTargets {
  /** By name: `broker-1`. */
  readonly brokers: readonly string[];
  readonly controllers: readonly string[];
  /** Default: none. */
  readonly consumers?: readonly string[];
  /** The least `min.insync.replicas` of any topic: so many brokers less one may lose what they have not flushed. */
  readonly minInSync: number;
}

/**
 * Plans of faults within what Kafka promises to survive: either processes die and page caches survive, or
 * of the brokers only `minInSync` - 1 die, and lose their page caches, too. They shrink to fewer, earlier,
 * shorter and simpler steps at rounder times.
 */
export function faultPlanArbitrary(
  targets: PlanTargets,
  limits: FaultPlanLimits = {},
): fc.Arbitrary<readonly StepValue[]> {
  return rawPlanArbitrary(limits).map((raw) => stepsOf(raw, targets));
}

/** A plan before it is known whom there is to strike: numbers only, so that one that is smaller is so by itself. */
export interface RawPlan {
  readonly losesPageCaches: boolean;
  /** Who may lose them: the first, counted round. */
  readonly mortal: number;
  readonly strikes: readonly RawStrike[];
}

interface RawStrike {
  readonly kind: PlannedKind;
  readonly at: number;
  readonly length: number;
  readonly who: number;
  readonly how: number;
}

const LEAST_LENGTH = 100;

export function rawPlanArbitrary({
  kinds = KINDS,
  steps = 5,
  within = 15_000,
  longest = 10_000,
}: FaultPlanLimits = {}): fc.Arbitrary<RawPlan> {
  const strike = fc.record({
    kind: fc.constantFrom(...kinds),
    at: new RoundTime(0, within),
    length: new RoundTime(Math.min(LEAST_LENGTH, longest), longest),
    who: fc.nat({ max: 999 }),
    how: fc.nat({ max: 999 }),
  });
  return fc.record({
    losesPageCaches: fc.boolean(),
    mortal: fc.nat({ max: 99 }),
    strikes: fc.array(strike, { maxLength: steps }),
  });
}

/** The plan as steps, in order of time. */
export function stepsOf(raw: RawPlan, targets: PlanTargets): StepValue[] {
  const scene = sceneOf(raw, targets);
  return [...raw.strikes]
    .sort((left, right) => left.at - right.at)
    .flatMap((strike) => {
      const fault = faultOf(strike, scene);
      return fault === undefined ? [] : [{ at: durationOf(strike.at), ...fault }];
    });
}

interface Scene {
  readonly servers: readonly string[];
  /** Brokers and controllers that may be killed, and whether they lose what they have not flushed. */
  readonly mortals: readonly string[];
  readonly consumers: readonly string[];
  readonly losesPageCaches: boolean;
}

function sceneOf(
  { losesPageCaches, mortal }: RawPlan,
  { brokers, controllers, consumers = [], minInSync }: PlanTargets,
): Scene {
  const servers = [...brokers, ...controllers];
  const losses = Math.min(minInSync - 1, brokers.length);
  if (!losesPageCaches || losses < 1) {
    return { servers, mortals: servers, consumers, losesPageCaches: false };
  }
  const chosen = Array.from({ length: losses }, (_, i) => at(brokers, mortal + i));
  return { servers, mortals: [...chosen, ...controllers], consumers, losesPageCaches };
}

function faultOf(strike: RawStrike, scene: Scene): StepValue | undefined {
  const { kind, who, how } = strike;
  const time = durationOf(strike.length);
  const { servers, mortals, consumers } = scene;
  switch (kind) {
    case "crash":
      return { crash: either(mortals, consumers, who), for: time };
    case "shutdown":
      // In order, with all that it has flushed.
      return { shutdown: at(servers, who), for: time };
    case "power-off": {
      const unflushed = scene.losesPageCaches ? at(LOSSES, how) : "kept";
      return { "power-off": at(mortals, who), unflushed, for: time };
    }
    case "pause":
      return { pause: either(servers, consumers, who), for: time };
    case "isolate":
      return {
        isolate: either(servers, consumers, who),
        direction: at(DIRECTIONS, how),
        for: time,
      };
    case "partition": {
      const side = servers.filter((_, i) => (how >> i) % 2 === 1);
      const others = servers.filter((server) => !side.includes(server));
      if (side.length === 0 || others.length === 0) return undefined;
      return { partition: { groups: [side, others] }, for: time };
    }
    case "slow-network":
      return { "delay-link": at(DELAYS, how), links: "all", for: time };
    case "slow-disk":
      return { "slow-disk": at(servers, who), factor: at(FACTORS, how), for: time };
    case "reset":
      return { reset: at(servers, who) };
  }
}

const LOSSES = ["lost", "torn", "random-prefix"] as const;
const DIRECTIONS = ["both", "to", "from"] as const;
const DELAYS = ["50ms", "uniform(0ms..200ms)", "500ms"] as const;
const FACTORS = [10, 100] as const;

/** A server, or as often a consumer, if there are any to be struck: there are fewer of them. */
function either(servers: readonly string[], consumers: readonly string[], number: number): string {
  const half = Math.floor(number / 2);
  return consumers.length > 0 && number % 2 === 1 ? at(consumers, half) : at(servers, half);
}

/** The one of this number, counted round. */
function at<Item>(items: readonly [Item, ...Item[]] | readonly Item[], number: number): Item {
  const item = items[number % items.length];
  if (item === undefined) throw new RangeError("there is nobody whom faults could strike");
  return item;
}
