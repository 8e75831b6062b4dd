import { readFileSync } from "node:fs";
import { CANARIES } from "../../../src/fuzz/canaries.ts";
import { changed } from "../../../src/fuzz/plain-path.ts";
import { writeYaml } from "../../../src/scenario/parse-yaml.ts";
import { plainScenario } from "../../../src/scenario/plain.ts";
import type { Mutation } from "../mutations/mutation.ts";
import { MUTATIONS } from "../mutations/mutations.ts";

/** The general scenario in which all are looked for. */
export const SCENARIO = "scenarios/chaos.yaml";

/** A rule that does not hold, and who should say so. */
export interface PlantedBug {
  readonly name: string;
  readonly breaks: string;
  readonly caughtBy: readonly string[];
  /** The scenario to search: a switch is set in it. */
  readonly text: string;
  /** What is broken in the engine's source; undefined: nothing, it is a switch. */
  readonly mutation: Mutation | undefined;
}

/** Rules that Kafka once had, and rules of the implementation broken in its source. */
export function plantedBugs(): PlantedBug[] {
  const general = readFileSync(SCENARIO, "utf8");
  const switches = CANARIES.map(({ name, breaks, caughtBy, protocol }) => {
    const broken = changed(plainScenario(general, undefined), ["cluster", "protocol"], protocol);
    // What a switch breaks is permitted by it, and so is a failure only if it is expected to hold.
    const text = writeYaml({ ...broken, expect: [...caughtBy] });
    return { name, breaks, caughtBy, text, mutation: undefined };
  });
  const broken = MUTATIONS.map((mutation) => {
    const { name, breaks, elsewhere } = mutation;
    const caughtBy = [mutation.caughtBy, ...(elsewhere === undefined ? [] : [elsewhere])];
    return { name, breaks, caughtBy, text: general, mutation };
  });
  return [...switches, ...broken];
}
