import type { Scenario } from "../scenario/scenario.ts";
import { UsageError } from "./complain.ts";

/** The seed as given, else the scenario's own. Throws `UsageError`. */
export function seedOf(given: string | undefined, scenario: Scenario): string {
  if (given === undefined) return String(scenario.seed ?? 1);
  const seed = Number(given);
  if (!/^[0-9]+$/.test(given) || !Number.isSafeInteger(seed)) {
    const most = Number.MAX_SAFE_INTEGER;
    throw new UsageError(`--seed takes a whole number from 0 to ${most}, not \`${given}\``);
  }
  return String(seed);
}
