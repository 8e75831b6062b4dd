import type { Duration } from "../base/time.ts";
import { fromMillis, SECOND } from "../base/time.ts";
import { drawFaults } from "../chaos/draw-faults.ts";
import { drawEdges } from "../chaos/edges.ts";
import type { Terrain } from "../chaos/terrain.ts";
import { BROKER_CONFIGS } from "../kafka/config/broker-configs.ts";
import { resolveConfigs } from "../kafka/config/config-table.ts";
import { topicConfigsOf } from "../kafka/config/topic-configs.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { partitionNames } from "../scenario/scenario.ts";
import { describeStep } from "../scenario/write-steps.ts";
import type { Choices } from "./choices.ts";
import { brokerName, controllerName, FIRST_CONTROLLER_ID } from "./cluster.ts";
import type { ClusterSpec } from "./cluster-spec.ts";

/** What a seed makes of a scenario with `random-faults`. */
export interface PlannedChaos {
  /** One line: see `DrawnFaults`. */
  readonly profile: string;
  /**
   * The scenario with every drawn step among its faults, and nothing left to draw: with the same seed it is the same
   * run. Unless the scenario says how long its story is, it ends when the faults do.
   */
  readonly story: Scenario;
}

/** The scenario with the configs that its seed draws, if `random-faults` says so; each is noted as a choice. */
export function planEdges(scenario: Scenario, choices: Choices): Scenario {
  if (scenario.randomFaults?.edges !== true) return scenario;
  const { scenario: edged, drawn } = drawEdges(scenario, choices.stream("edges"));
  for (const { path, value } of drawn) choices.note(path, String(value));
  return edged;
}

/** Draws the random faults of a scenario, if it has any; each is noted as a choice. */
export function planChaos(
  scenario: Scenario,
  cluster: ClusterSpec,
  choices: Choices,
): PlannedChaos | undefined {
  const { randomFaults, faults, duration } = scenario;
  if (randomFaults === undefined) return undefined;
  const path = "random-faults";
  const terrain = terrainOf(scenario, cluster);
  const drawn = drawFaults(scenario, randomFaults, terrain, choices.stream(path));
  choices.note(path, drawn.profile);
  for (const step of drawn.steps) choices.note(`${path}/${step.name}`, describeStep(step));
  const { profile, steps, until } = drawn;
  const story = { faults: [...faults, ...steps], randomFaults: undefined };
  return { profile, story: { ...scenario, ...story, duration: duration ?? until } };
}

/** The cluster as random faults see it. */
function terrainOf(scenario: Scenario, cluster: ClusterSpec): Terrain {
  const { brokers, controllers, topics } = cluster;
  const configs = resolveConfigs(BROKER_CONFIGS, cluster.configs);
  return {
    brokers: brokers.map(({ id }) => brokerName(id)),
    controllers: Array.from({ length: controllers }, (_, i) =>
      controllerName(FIRST_CONTROLLER_ID + i),
    ),
    clients: scenario.clients.map(({ name }) => name),
    producers: scenario.clients.flatMap((client) => {
      if (client.kind !== "producer") return [];
      const { count, per } = client.rate;
      return [{ name: client.name, recordsPerSecond: (count * SECOND) / per }];
    }),
    partitions: topics.flatMap(({ name, numPartitions, assignments }) =>
      partitionNames(name, assignments.length > 0 ? assignments.length : numPartitions),
    ),
    lagTime: fromMillis(configs["replica.lag.time.max.ms"]),
    sessionTimeout: fromMillis(configs["broker.session.timeout.ms"]),
    rhythms: rhythmsOf(cluster),
    minInSync: minInSyncOf(cluster),
  };
}

/** What comes round within a story, by the configs of the brokers and of topics. */
function rhythmsOf({ configs, topics }: ClusterSpec): Duration[] {
  const broker = resolveConfigs(BROKER_CONFIGS, configs);
  const all = new Set([broker["replica.high.watermark.checkpoint.interval.ms"]]);
  for (const { configs: own } of topics) {
    const given = Object.fromEntries(own.map(({ name, value }) => [name, value]));
    const topic = topicConfigsOf(given, broker);
    all.add(topic["segment.ms"]);
    all.add(topic["flush.ms"]);
  }
  return [...all].filter((time) => time > 0 && time <= LONGEST_RHYTHM).map(fromMillis);
}

/** In milliseconds. */
const LONGEST_RHYTHM = 20_000;

/** The least of any topic: as many brokers less one may stop uncleanly before something can be lost. */
function minInSyncOf({ configs, topics }: ClusterSpec): number {
  if (topics.length === 0) return 1;
  const byDefault = resolveConfigs(BROKER_CONFIGS, configs)["min.insync.replicas"];
  return Math.min(
    ...topics.map(({ configs: own, replicationFactor, assignments }) => {
      const given = own.find(({ name }) => name === "min.insync.replicas")?.value;
      const replicas = assignments.map(({ brokerIds }) => brokerIds.length);
      return Math.min(
        given === undefined ? byDefault : Number(given),
        ...(replicas.length > 0 ? replicas : [replicationFactor]),
      );
    }),
  );
}
