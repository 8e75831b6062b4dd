import { readScenario } from "../scenario/read-scenario.ts";
import type { Scenario } from "../scenario/scenario.ts";

/** A scenario's text, and which of its variants is meant. */
export interface ScenarioSource {
  readonly text: string;
  readonly file: string;
  readonly variant: string | undefined;
}

/** The scenario or variant that is meant. Throws if there is none: whoever asks has checked the text. */
export function scenarioIn({ text, file, variant }: ScenarioSource): Scenario {
  const { scenario, complaints } = readScenario(text, file);
  if (scenario === undefined) throw new Error(`${file} cannot be read: ${complaints[0]?.message}`);
  if (variant === undefined) return scenario;
  const found = scenario.variants.find((one) => one.variant === variant);
  if (found === undefined) throw new Error(`${file} has no variant ${variant}`);
  return found;
}
