import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/**
 * The process is killed (SIGKILL). Its machine goes on: what the process wrote is in the page cache
 * and is there at the next start, but nothing was closed in order.
 */
export const CRASH: FaultKind = {
  name: "crash",
  meaning: "Kills the process; the page cache survives. With `for` it is started again.",
  subject: { name: "crash", type: "nodes", meaning: "Whose process is killed." },
  parameters: [],
  heals: true,
  lasts: false,
  costs: "process",
  stops: true,
  prepare: (told) =>
    new NodeFault(
      told,
      "crash",
      ({ hands }, node) => hands.crash(node, "crash"),
      ({ hands }, node) => hands.restart(node),
    ),
};
