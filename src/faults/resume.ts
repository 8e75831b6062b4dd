import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/**
 * A process that was paused goes on (SIGCONT). What is not paused goes on as it did.
 */
export const RESUME: FaultKind = {
  name: "resume",
  meaning: "Lets a paused process go on.",
  subject: { name: "resume", type: "nodes", meaning: "Whose process goes on." },
  parameters: [],
  heals: false,
  lasts: false,
  prepare: (told) => new NodeFault(told, "resume", ({ hands }, node) => hands.resume(node)),
};
