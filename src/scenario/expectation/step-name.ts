import type { Form } from "../form.ts";
import { expectScalar } from "../form.ts";

/** The name of a step under `faults:`. */
export const STEP_NAME: Form<string> = {
  takes: "the name of a step",
  schema: { type: "string" },
  read(node, reading, label) {
    const scalar = expectScalar(node, reading, label, this.takes);
    if (scalar === undefined) return undefined;
    const { steps } = reading.names;
    if (steps.has(scalar.text)) return scalar.text;
    return reading.unknown(scalar.place, "step", scalar.text, steps);
  },
};
