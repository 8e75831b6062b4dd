import type { FaultKind } from "./fault-kind.ts";
import { momentary } from "./fault-kind.ts";

/** No fault: a pin on the timeline, at which later faults can be hung with `after`. */
export const MARK: FaultKind = {
  name: "mark",
  meaning: "No fault: a pin on the timeline, to be named in `after`.",
  subject: { name: "mark", type: "text", meaning: "What the pin says." },
  parameters: [],
  heals: false,
  lasts: false,
  prepare: (told) => momentary(told.text("mark"), () => {}),
};
