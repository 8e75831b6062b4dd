import type { Complaint } from "../scenario/complaint.ts";
import { formatComplaint } from "../scenario/complaint.ts";
import { writeYaml } from "../scenario/parse-yaml.ts";
import { readScenario } from "../scenario/read-scenario.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { ScenarioValue } from "./scenario-value.ts";

/** A scenario that has no mistakes. */
export interface DefinedScenario {
  readonly name: string;
  /** The scenario as a file: saved, `sim run` and all other commands take it. */
  readonly yaml: string;
  /** The names of its variants. */
  readonly variants: readonly string[];
  /** What is dubious about it, as `sim check` says it. */
  readonly warnings: readonly string[];
  /** As the engine has it. */
  readonly checked: Scenario;
}

/** All that is wrong with a scenario, each with its place in the scenario's text. */
export class ScenarioMistakes extends Error {
  override readonly name = "ScenarioMistakes";
  readonly complaints: readonly Complaint[];

  constructor(complaints: readonly Complaint[], text: string) {
    super(complaints.map((complaint) => formatComplaint(complaint, text)).join("\n\n"));
    this.complaints = complaints;
  }
}

/** Checks a scenario that is written in TypeScript. Throws `ScenarioMistakes` with all that is wrong with it. */
export function defineScenario(value: ScenarioValue): DefinedScenario {
  const { name }: { readonly name?: unknown } = value;
  return parseScenario(writeYaml(value), typeof name === "string" ? `${name}.yaml` : "scenario");
}

/**
 * Checks a scenario that is YAML text; `file` is what its mistakes are told with. Throws
 * `ScenarioMistakes` with all that is wrong with it.
 */
export function parseScenario(text: string, file: string = "scenario.yaml"): DefinedScenario {
  const { scenario, complaints, warnings } = readScenario(text, file);
  if (scenario === undefined) throw new ScenarioMistakes(complaints, text);
  return {
    name: scenario.name,
    yaml: text,
    variants: scenario.variants.flatMap(({ variant }) => (variant === undefined ? [] : [variant])),
    warnings: warnings.map((warning) => formatComplaint(warning, text, "warning")),
    checked: scenario,
  };
}
