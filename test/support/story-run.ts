import { fromMillis, SECOND } from "../../src/base/time.ts";
import { brokerName } from "../../src/cluster/cluster.ts";
import type { RunResult } from "../../src/cluster/run-result.ts";
import { Simulation } from "../../src/cluster/simulation.ts";
import type { ReplicationRules } from "../../src/kafka/replication/replication-rules.ts";
import type { Fact } from "../../src/trace/fact.ts";
import type { StoryClass } from "./random-story.ts";
import { randomStory } from "./random-story.ts";
import { scenarioOf } from "./scenario-text.ts";

/** What is worth counting of a run: a campaign in which these stay 0 has tested nothing. */
export interface StoryCounts {
  leaderChanges: number;
  uncleanElections: number;
  truncations: number;
  isrsOfOne: number;
  controllerChanges: number;
  powerLosses: number;
  fencings: number;
  failedRequests: number;
}

/** How one random story went. */
export interface StoryRun {
  readonly kind: StoryClass;
  readonly seed: number;
  /** Undefined if the run ended with an exception. */
  readonly result: RunResult | undefined;
  readonly exception: string | undefined;
  /** What had not converged when the healed cluster had had its time, in words. */
  readonly unsettled: readonly string[];
  readonly counts: StoryCounts;
  readonly eventsPerSecond: number;
  /** The most events within one simulated second. */
  readonly busiestSecond: number;
}

/** More events than any honest story takes: a run that gets there is a storm. */
const EVENT_LIMIT = 4_000_000;

/** Draws the story of a seed and plays it to its end. */
export function playStory(
  kind: StoryClass,
  seed: number,
  rules?: (rules: ReplicationRules) => ReplicationRules,
): StoryRun {
  const scenario = scenarioOf(randomStory(kind, seed));
  const simulation = new Simulation(scenario, {
    seed: String(seed),
    ...(rules === undefined ? {} : { rules }),
  });
  const counts: StoryCounts = {
    leaderChanges: 0,
    uncleanElections: 0,
    truncations: 0,
    isrsOfOne: 0,
    controllerChanges: 0,
    powerLosses: 0,
    fencings: 0,
    failedRequests: 0,
  };
  const fenced = new Set<number>();
  const controllers = new Map<number, number>();
  const rivals: string[] = [];
  const waiting = new WaitingSends();
  simulation.onFact((fact) => {
    count(counts, fact);
    waiting.note(fact, simulation.now);
    if (fact.kind === "node-stopped" && fact.reason.startsWith("the metadata log is lost")) {
      rivals.push(`${fact.node} ended: ${fact.reason}`);
    }
    if (fact.kind === "controller-elected") {
      const { quorumEpoch, controller } = fact;
      if (controllers.has(quorumEpoch)) rivals.push(`two controllers in epoch ${quorumEpoch}`);
      controllers.set(quorumEpoch, controller);
    }
    if (fact.kind === "broker-unfenced") fenced.delete(fact.broker);
    else if (fact.kind === "broker-fenced" || fact.kind === "broker-registered") {
      fenced.add(fact.broker);
    }
  });
  let busiestSecond = 0;
  let exception: string | undefined;
  let result: RunResult | undefined;
  try {
    let second = 0;
    let before = 0;
    while (simulation.advance(200)) {
      const now = Math.floor(simulation.now / SECOND);
      if (now !== second) {
        busiestSecond = Math.max(busiestSecond, simulation.events - before);
        second = now;
        before = simulation.events;
      }
      if (simulation.events > EVENT_LIMIT) throw new Error(`a storm of events at ${now}s`);
    }
    result = simulation.finish(undefined);
  } catch (problem) {
    exception = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem);
  }
  return {
    kind,
    seed,
    result,
    exception,
    unsettled:
      exception === undefined ? [...rivals, ...unsettled(simulation, fenced, waiting)] : [],
    counts,
    eventsPerSecond:
      result === undefined ? 0 : Math.round(result.events / (result.simulated / SECOND)),
    busiestSecond,
  };
}

/** Sends that have not ended, and what the producers last heard. */
class WaitingSends {
  readonly #sentAt = new Map<string, Map<number, number>>();
  readonly #lastError = new Map<string, string>();

  note(fact: Fact, now: number): void {
    if (fact.kind === "record-sent") this.#of(fact.client).set(fact.value, now);
    else if (fact.kind === "send-ended") {
      for (const value of fact.values) this.#of(fact.client).delete(value);
    } else if (fact.kind === "request-failed") this.#lastError.set(fact.client, fact.error);
  }

  /** Since when the oldest send waits; undefined if none does. */
  oldest(client: string): number | undefined {
    for (const at of this.#of(client).values()) return at;
    return undefined;
  }

  lastError(client: string): string {
    return this.#lastError.get(client) ?? "nothing";
  }

  #of(client: string): Map<number, number> {
    let sentAt = this.#sentAt.get(client);
    if (sentAt === undefined) {
      sentAt = new Map();
      this.#sentAt.set(client, sentAt);
    }
    return sentAt;
  }
}

function count(counts: StoryCounts, fact: Fact): void {
  switch (fact.kind) {
    case "partition-changed":
      if (fact.election !== "none" && fact.election !== "initial") counts.leaderChanges++;
      if (fact.election === "unclean") counts.uncleanElections++;
      if (fact.isr.length === 1) counts.isrsOfOne++;
      break;
    case "truncated":
      counts.truncations++;
      break;
    case "controller-elected":
      counts.controllerChanges++;
      break;
    case "unflushed-lost":
      counts.powerLosses++;
      break;
    case "broker-fenced":
      counts.fencings++;
      break;
    case "request-failed":
      counts.failedRequests++;
      break;
    default:
  }
}

/** What of the cluster is not as it must be a while after everything was healed. */
function unsettled(
  { cluster, now }: Simulation,
  fenced: ReadonlySet<number>,
  waiting: WaitingSends,
): string[] {
  const problems: string[] = [];
  const { view, spec } = cluster;
  for (const host of cluster.hosts) {
    if (host.name.startsWith("broker-") || host.name.startsWith("controller-")) {
      if (!host.isUp) problems.push(`${host.name} is down`);
      else if (host.isPaused) problems.push(`${host.name} is paused`);
    }
  }
  if (view.controller < 0) problems.push("no controller is active");
  for (const { id } of spec.brokers) {
    if (fenced.has(id)) problems.push(`${brokerName(id)} is fenced`);
  }
  for (const partition of view.partitions.values()) {
    const { name, leader, isr, replicas } = partition;
    if (leader < 0) problems.push(`${name} has no leader`);
    if (isr.length < replicas.length) problems.push(`${name} has the ISR [${isr.join(", ")}]`);
    for (const log of partition.logs) {
      if (!replicas.includes(log.broker)) continue;
      if (log.logEndOffset !== partition.logEndOffset) {
        problems.push(`${name} ends at ${log.logEndOffset} on broker-${log.broker}`);
      }
      if (log.highWatermark !== partition.logEndOffset) {
        problems.push(`${name} has the HW ${log.highWatermark} on broker-${log.broker}`);
      }
    }
  }
  for (const client of spec.clients) {
    const { lag, read } = view.client(client.name);
    if (client.kind === "producer") {
      const oldest = waiting.oldest(client.name);
      const patience = fromMillis(client.configs["delivery.timeout.ms"]) + SECOND;
      const error = waiting.lastError(client.name);
      // KAFKA-14359: if the first batch of all to a partition fails and the second does not, the first
      // can never be written, and the producer tries until delivery.timeout.ms is over.
      const isHopeless = error === "OUT_OF_ORDER_SEQUENCE_NUMBER";
      if (oldest !== undefined && (!isHopeless || now - oldest > patience)) {
        problems.push(`${client.name} waits since ${oldest / SECOND}s, having heard ${error}`);
      }
    }
    if (client.kind === "consumer" && lag > 0) problems.push(`${client.name} lags by ${lag}`);
    if (client.kind === "consumer" && read === 0) problems.push(`${client.name} has read nothing`);
  }
  return problems;
}
