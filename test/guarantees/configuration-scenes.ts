import type { Scenario } from "../../src/scenario/scenario.ts";
import { scenarioOf, shipped } from "../support/run-scenario.ts";
import type { Column } from "./configuration-matrix.ts";

/** What differs from the safe settings. */
interface Settings {
  readonly topic?: string;
  readonly producer?: string;
  /** The same of the second producer; as the first if absent. */
  readonly second?: string;
  readonly keys?: number;
  readonly isolation?: string;
}

function story(name: string, settings: Settings, rest: string): string {
  const { topic, producer = "acks: all", isolation = "read_committed" } = settings;
  const keys = settings.keys === undefined ? "" : `\n    keys: ${settings.keys}`;
  return `
version: 1
name: ${name}
summary: What can happen with these settings, and what cannot.
seed: 1
kafka: "4.3"
cluster:
  brokers: 3
  controllers: 3
  config: { replica.lag.time.max.ms: 3000, log.retention.check.interval.ms: 5000 }
topics:
  orders:
    replicas: { 0: [1, 2, 3] }
    config: { ${topic ?? "min.insync.replicas: 2"} }
clients:
  p1:
    produce: orders
    rate: 100/s${keys}
    config: { ${producer}, linger.ms: 0, request.timeout.ms: 1500, delivery.timeout.ms: 20000 }
  p2:
    produce: orders
    rate: 20/s${keys}
    config: { ${settings.second ?? producer} }
  c1:
    consume: orders
    config: { auto.offset.reset: earliest, isolation.level: ${isolation} }
${rest}
settle: 40s
`;
}

/** All of the columns that something can be never in. */
export const SETTINGS: Readonly<Partial<Record<Column, Settings>>> = {
  safe: {},
  "acks=1 or 0": { producer: "acks: 1", second: "acks: 0" },
  "min.insync.replicas=1": { topic: "min.insync.replicas: 1" },
  "no idempotence": { producer: "acks: all, enable.idempotence: false" },
  read_uncommitted: { isolation: "read_uncommitted" },
  retention: { topic: "min.insync.replicas: 2, segment.ms: 5000, retention.ms: 10000" },
  compaction: {
    topic:
      "min.insync.replicas: 2, segment.ms: 5000, cleanup.policy: compact, min.cleanable.dirty.ratio: 0.1",
    keys: 20,
  },
};

/** Faults within what Kafka promises to survive, drawn by each seed. */
export function underFaults(settings: Settings): Scenario {
  const faults = "random-faults: { quiet-after: 30s }\nduration: 30s";
  return scenarioOf(story("under-faults", settings, faults));
}

const ANSWERS_LOST = `
faults:
  - name: deaf                    # what it sends arrives, what is answered does not
    at: 3s
    partition: { from: brokers, to: p1, direction: to }
    for: 4s
duration: 12s`;

/** The last of the ISR loses what it acknowledged alone, and leads again. */
const SOLE_MEMBER = `
faults:
  - name: alone
    at: 3s
    partition: { from: broker-1, to: broker-2 + broker-3 }
    for: 25s
  - name: dark
    after: alone
    delay: 10s
    power-off: broker-1
    unflushed: lost
    for: 3s
duration: 40s`;

/** Consumers have it, its producer has not heard of it, and the log that had it is given up. */
const EXPOSED_THEN_CUT = `
faults:
  - name: alone
    at: 3s
    partition: { from: broker-1, to: broker-2 + broker-3 }
    for: 40s
  - name: deaf
    after: alone
    delay: 8s
    partition: { from: broker-1, to: p1, direction: to }
    for: 30s
  - name: die
    after: deaf
    delay: 1s
    crash: broker-1
  - after: die
    delay: 25s
    restart: broker-1
duration: 45s`;

/** Stories in which something goes wrong by way of the configuration. */
export const SCENES: Readonly<Record<string, () => Scenario>> = {
  "acks-1-gap": () => shipped("acks-1-gap"),
  "unclean-election": () => shipped("unclean-election"),
  retention: () => shipped("retention"),
  "answers-lost": () =>
    scenarioOf(story("answers-lost", SETTINGS["no idempotence"] ?? {}, ANSWERS_LOST)),
  "answers-lost-acks-1": () =>
    scenarioOf(story("answers-lost", SETTINGS["acks=1 or 0"] ?? {}, ANSWERS_LOST)),
  "sole-member": () =>
    scenarioOf(story("sole-member", SETTINGS["min.insync.replicas=1"] ?? {}, SOLE_MEMBER)),
  "exposed-then-cut": () => {
    const topic = "min.insync.replicas: 1, unclean.leader.election.enable: true";
    return scenarioOf(story("exposed-then-cut", { topic }, EXPOSED_THEN_CUT));
  },
};
