import { writeYaml } from "../scenario/parse-yaml.ts";
import { plainScenario } from "../scenario/plain.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { asMap } from "./plain-path.ts";

/** The scenario that a hunt draws its runs from. */
export interface HuntingGround {
  readonly text: string;
  readonly variant: string | undefined;
  /** Is it another scenario than the file's, so that the file and a seed do not make its runs? */
  readonly isChanged: boolean;
}

/**
 * The scenario itself if it has random faults; else with the whole catalogue added, and without
 * expectations that were written for another story: the guarantees are watched anyway. With
 * `isUnlimited` more may befall it than Kafka promises to survive.
 */
export function huntingGround(
  text: string,
  scenario: Scenario,
  isUnlimited: boolean,
): HuntingGround {
  const { variant, randomFaults } = scenario;
  if (randomFaults !== undefined && (randomFaults.unlimited || !isUnlimited)) {
    return { text, variant, isChanged: false };
  }
  const plain = plainScenario(text, variant);
  const random = asMap(plain["random-faults"]) ?? {};
  plain["random-faults"] = isUnlimited
    ? { ...random, unlimited: true }
    : { swarm: true, ...random };
  if (randomFaults === undefined) delete plain["expect"];
  delete plain["variants"];
  return { text: writeYaml(plain), variant: undefined, isChanged: true };
}
