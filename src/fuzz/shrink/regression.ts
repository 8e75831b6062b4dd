import type { Violation } from "../../checkers/guarantee.ts";
import { writeYaml } from "../../scenario/parse-yaml.ts";
import type { Scenario } from "../../scenario/scenario.ts";
import type { Shrunk } from "./shrink.ts";

/** The smallest run as a scenario's text that says what happens in it, its keys in the usual order; `seed`: of the run it comes from. */
export function regression(
  shrunk: Shrunk,
  { kind }: Pick<Violation, "kind">,
  { name }: Pick<Scenario, "name">,
  seed: string,
): string {
  const summary = `What is left of ${name}, seed ${seed}: ${kind}.`;
  const own = { name: regressionName(name, seed), summary, seed: Number(shrunk.seed) };
  const whole = { ...shrunk.plain, ...own, expect: [{ violation: kind }] };
  const keys = [...ORDER, ...Object.keys(whole).filter((key) => !ORDER.includes(key))];
  const values = new Map(Object.entries(whole));
  const entries = keys.flatMap((key) => (values.has(key) ? [[key, values.get(key)]] : []));
  return writeYaml(Object.fromEntries(entries));
}

/** What it is called, in the scenario and, usually, as a file. */
export function regressionName(name: string, seed: string): string {
  return `${name}-${seed}-min`;
}

const ORDER: readonly string[] = [
  "version",
  "name",
  "summary",
  "seed",
  "kafka",
  "cluster",
  "topics",
  "clients",
  "faults",
  "duration",
  "settle",
];
