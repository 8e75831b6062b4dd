import { readdirSync, readFileSync } from "node:fs";
import type { RunResult } from "../../src/cluster/run-result.ts";
import type { SimulationOptions } from "../../src/cluster/simulation.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { engine } from "./engine.ts";

const { Simulation, readScenario } = engine;

/** The scenario of a text that has no mistakes. */
export function scenarioOf(text: string, file = "test.yaml"): Scenario {
  const { scenario, complaints } = readScenario(text, file);
  if (scenario === undefined || complaints.length > 0) {
    const [first] = complaints;
    throw new Error(`${file}:${first?.line}:${first?.column} ${first?.message}`);
  }
  return scenario;
}

/** A shipped scenario, or one of its variants, by name. */
export function shipped(name: string, variant?: string): Scenario {
  const file = `scenarios/${name}.yaml`;
  const scenario = scenarioOf(readFileSync(file, "utf8"), file);
  if (variant === undefined) return scenario;
  const found = scenario.variants.find((one) => one.variant === variant);
  if (found === undefined) throw new Error(`${file} has no variant ${variant}`);
  return found;
}

export function shippedNames(): string[] {
  return readdirSync("scenarios")
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => name.slice(0, -".yaml".length))
    .sort();
}

/** Runs to the end. */
export function run(
  scenario: Scenario,
  seed: number | string,
  options: Omit<SimulationOptions, "seed"> = {},
): RunResult {
  const simulation = new Simulation(scenario, { ...options, seed: String(seed) });
  while (simulation.advance(100_000));
  return simulation.finish(undefined);
}

/** One line that says what is wrong with a run; empty if it passed. */
export function complaintAbout(result: RunResult): string {
  if (result.verdict === "pass") return "";
  const { scenario, variant, seed, reasons, expectations, violations } = result;
  const unmet = expectations.filter(({ ok }) => ok !== true).map(({ text }) => text);
  const bugs = violations
    .filter(({ permitted }) => permitted === undefined)
    .map(({ kind, text }) => `BUG ${kind}: ${text[0]}`);
  const name = variant === undefined ? scenario : `${scenario}/${variant}`;
  return [`${name} seed ${seed}: ${result.verdict}`, ...reasons, ...unmet, ...bugs].join("; ");
}
