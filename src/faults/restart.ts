import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/**
 * A process that is down is started again, as a new incarnation. What is up already stays so: the
 * fault is the end of another one, and the other one may have missed its node.
 */
export const RESTART: FaultKind = {
  name: "restart",
  meaning: "Starts the process, if it is down.",
  subject: { name: "restart", type: "nodes", meaning: "Whose process is started." },
  parameters: [
    {
      name: "stagger",
      type: "stagger",
      meaning: "How much later than the fault each node starts, drawn for each.",
    },
  ],
  heals: false,
  lasts: false,
  prepare: (told) =>
    new NodeFault(told, "restart", (stage, node) =>
      stage.after(told.stagger("stagger"), () => stage.hands.restart(node)),
    ),
};
