import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/**
 * A machine has power again, and its process starts with what the disk still has. What has power
 * already keeps it.
 */
export const POWER_ON: FaultKind = {
  name: "power-on",
  meaning: "Gives power back and starts the process.",
  subject: { name: "power-on", type: "servers", meaning: "Which machine gets power." },
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
    new NodeFault(told, "power-on", (stage, node) =>
      stage.after(told.stagger("stagger"), () => stage.hands.powerOn(node)),
    ),
};
