import { Simulation } from "../cluster/simulation.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { Fingerprint } from "./compare-runs.ts";
import { eventLine } from "./event-line.ts";

/** Runs to the end; what is watched makes no difference, so nothing is. */
export function fingerprintOf(scenario: Scenario, seed: string): Fingerprint {
  const simulation = new Simulation(scenario, { seed, guarantees: [] });
  runToEnd(simulation);
  const { digest, events, checkpoints } = simulation.finish(undefined);
  return { digest, events, checkpoints };
}

/** Runs to the end; the events numbered [from, to] in words. */
export function eventsOf(scenario: Scenario, seed: string, from: number, to: number): string[] {
  const simulation = new Simulation(scenario, { seed, guarantees: [] });
  const lines: string[] = [];
  simulation.listEvents(from, to, (record) => lines.push(eventLine(record)));
  runToEnd(simulation);
  return lines;
}

function runToEnd(simulation: Simulation): void {
  while (simulation.advance(100_000)) {}
}
