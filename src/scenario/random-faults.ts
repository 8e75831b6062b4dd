import type { Duration } from "../base/time.ts";
import type { DurationSpec } from "./draw.ts";
import type { BooleanExpression } from "./expression.ts";
import type { Written } from "./expression-form.ts";
import type { Place } from "./place.ts";
import type { FaultAction } from "./scenario.ts";

/** What `random-faults:` leaves to chance: each seed draws it into steps like those of `faults:`. */
export interface RandomFaultsSpec {
  /** What strikes; empty: every shape of the catalogue that Kafka promises to survive. */
  readonly generators: readonly GeneratorSpec[];
  /** Does each seed draw which of them there are, and how fierce they are? */
  readonly swarm: boolean;
  /** Does each seed also draw configs, of those that the scenario does not set, near their edges? */
  readonly edges: boolean;
  /** From then on nothing strikes; undefined: the story's `duration`, or a minute. */
  readonly quietAfter: Duration | undefined;
  /** Guards each step: see `keep` of a step. */
  readonly keep: Written<BooleanExpression> | undefined;
  /** May more befall the cluster than Kafka promises to survive? */
  readonly unlimited: boolean;
  readonly place: Place;
}

/** Something that strikes again and again. */
export type GeneratorSpec = {
  /** From one strike to the next; undefined: as usual for the shape. */
  readonly every: DurationSpec | undefined;
  readonly place: Place;
} & (
  | {
      readonly kind: "shape";
      readonly shape: ShapeName;
      /** How long each lasts; undefined: as usual for the shape. */
      readonly for: DurationSpec | undefined;
    }
  | { readonly kind: "fault"; readonly action: FaultAction }
);

/** What random faults look like, beyond single ones: each has its word in the language. */
export type ShapeName =
  | "crash"
  | "crash-while-writing"
  | "power-cut"
  | "shutdown"
  | "pause"
  | "isolate"
  | "partition"
  | "swizzle"
  | "fail-overs"
  | "stale-leader"
  | "elections"
  | "uneven-logs"
  | "slow-network"
  | "reset"
  | "slow-disk"
  | "clock-skew"
  | "burst"
  | "loose-messages"
  | "damage";

/** A shape's word. */
export interface ShapeWord {
  readonly meaning: string;
  /** `named`: not part of the catalogue unless it is named; `unlimited`: not without `unlimited: true`. */
  readonly scope: "always" | "named" | "unlimited";
}

/** The catalogue. */
export const SHAPES: Readonly<Record<ShapeName, ShapeWord>> = {
  crash: { scope: "always", meaning: "A process is killed and started again." },
  "crash-while-writing": {
    scope: "always",
    meaning: "The same, in the event in which a broker has appended records.",
  },
  "power-cut": {
    scope: "always",
    meaning: "A machine loses power and, where that is survivable, what it had not flushed.",
  },
  shutdown: { scope: "always", meaning: "A server is stopped in order and started again." },
  pause: {
    scope: "always",
    meaning:
      "A process freezes, often for nearly or just over `replica.lag.time.max.ms` or " +
      "`broker.session.timeout.ms`.",
  },
  isolate: { scope: "always", meaning: "A node is cut off from all others, both ways or one way." },
  partition: {
    scope: "always",
    meaning: "The network falls in two: by size, node by node, or with one node alone.",
  },
  swizzle: {
    scope: "always",
    meaning: "Some nodes are cut off one after another, and come back in another order.",
  },
  "fail-overs": {
    scope: "always",
    meaning: "One leader falls after the other, and those that fell come back meanwhile.",
  },
  "stale-leader": {
    scope: "always",
    meaning: "A leader is cut off from the controllers, and not from its clients.",
  },
  elections: {
    scope: "always",
    meaning: "Controllers fall, some together, while they elect, and come back before it is over.",
  },
  "uneven-logs": {
    scope: "always",
    meaning: "A leader falls when one follower has more of its log than another.",
  },
  "slow-network": { scope: "always", meaning: "Links get slow, or lose most of their bandwidth." },
  reset: { scope: "always", meaning: "A node's connections break." },
  "slow-disk": { scope: "always", meaning: "A disk gets slow, now and then, or stalls." },
  "clock-skew": { scope: "always", meaning: "A server's clock jumps or drifts." },
  burst: {
    scope: "always",
    meaning: "What a producer sends is held back, and then comes all at once.",
  },
  "loose-messages": {
    scope: "named",
    meaning: "Single messages are lost, doubled or overtaken, as TCP never does.",
  },
  damage: {
    scope: "unlimited",
    meaning: "Disks lie, rot, misdirect or are lost.",
  },
};
