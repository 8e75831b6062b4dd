import { fail } from "../base/invariant.ts";
import { FAULTS } from "./fault-form.ts";
import type { KnownNames } from "./known-names.ts";
import { Reading } from "./reading.ts";
import type { FaultSpec } from "./scenario.ts";
import { nodeFromValue } from "./yaml-node.ts";

/** A step in the words of the language, as it would stand under `faults:`. */
export interface StepWords {
  readonly [key: string]: string | boolean | StepWords | readonly (readonly string[])[];
}

/** Reads steps that a program has written; what is wrong with them is its mistake, not a person's. */
export function readSteps(steps: readonly StepWords[], names: KnownNames): readonly FaultSpec[] {
  const reading = new Reading("", names);
  const read = FAULTS.read(nodeFromValue(steps), reading, "faults");
  const [complaint] = reading.complaints;
  if (read === undefined || complaint !== undefined) {
    fail(`a step that cannot be read: ${complaint?.message}`);
  }
  return read;
}
