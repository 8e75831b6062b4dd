import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/**
 * The process stands still (SIGSTOP), as in a long garbage collection or a frozen virtual machine. Its
 * connections stay open; what arrives waits; its timers come due late, all at once.
 */
export const PAUSE: FaultKind = {
  name: "pause",
  meaning: "Freezes the process (SIGSTOP). With `for` it goes on.",
  subject: { name: "pause", type: "nodes", meaning: "Whose process is frozen." },
  parameters: [],
  heals: true,
  lasts: false,
  stops: true,
  prepare: (told) =>
    new NodeFault(
      told,
      "pause",
      ({ hands }, node) => hands.pause(node),
      ({ hands }, node) => hands.resume(node),
    ),
};
