import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/**
 * SIGTERM: the process stops in order. A broker hands over its leaderships first (controlled shutdown),
 * closes its logs and leaves the mark of a clean stop.
 */
export const SHUTDOWN: FaultKind = {
  name: "shutdown",
  meaning: "Stops the process in order (SIGTERM). With `for` it is started again.",
  subject: { name: "shutdown", type: "servers", meaning: "Which process is told to stop." },
  parameters: [],
  heals: true,
  lasts: false,
  // Who stops before it has registered (or is killed as it does not stop) counts as stopped uncleanly (KIP-966).
  costs: "process",
  stops: true,
  prepare: (told) =>
    new NodeFault(
      told,
      "shutdown",
      ({ hands }, node) => hands.shutdown(node),
      ({ hands }, node) => hands.restart(node),
    ),
};
