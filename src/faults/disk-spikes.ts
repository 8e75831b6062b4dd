import { DiskFault } from "./disk-fault.ts";
import type { FaultKind } from "./fault-kind.ts";

/**
 * Now and then an operation takes much longer, as on a device that collects garbage or is shared.
 */
export const DISK_SPIKES: FaultKind = {
  name: "disk-spikes",
  meaning: "Lets some operations of a disk take longer. With `for` it ends.",
  subject: { name: "disk-spikes", type: "servers", meaning: "Whose disk it is." },
  parameters: [
    {
      name: "chance",
      type: "probability",
      required: true,
      meaning: "With which probability an operation takes longer.",
    },
    { name: "latency", type: "latency", required: true, meaning: "How much longer." },
  ],
  heals: true,
  lasts: true,
  prepare: (told) => {
    const chance = told.probability("chance");
    const latency = told.latency("latency");
    const more = `, ${told.text("chance")} of operations ${told.text("latency")} more`;
    return new DiskFault(told, "disk-spikes", more, (hands, node) =>
      hands.spikeDisk(node, chance, latency),
    );
  },
};
