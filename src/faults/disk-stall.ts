import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/**
 * A disk stands still: a controller resets, a volume moves to another host. What is asked of it waits, and is
 * done in the end.
 */
export const DISK_STALL: FaultKind = {
  name: "disk-stall",
  meaning: "Lets a disk answer nothing for a while: `time`, not `for`, says how long.",
  subject: { name: "disk-stall", type: "servers", meaning: "Whose disk it is." },
  parameters: [
    {
      name: "time",
      type: "stagger",
      required: true,
      meaning: "For how long, drawn for each node.",
    },
    {
      name: "operations",
      type: "word",
      words: ["all", "fsync"],
      meaning: "What waits: `all`, or `fsync` only, while the page cache still takes writes.",
    },
  ],
  heals: false,
  lasts: false,
  prepare: (told) => {
    const what = told.word("operations") === "fsync" ? "fsync" : "all";
    const more = `, ${what === "all" ? "all operations" : "fsyncs"} for ${told.text("time")}`;
    return new NodeFault(
      told,
      "disk-stall",
      ({ hands }, node) => hands.stallDisk(node, told.stagger("time"), what),
      () => {},
      more,
    );
  },
};
