import { areaOf, DIRECTORY, DiskFault, describeArea } from "./disk-fault.ts";
import type { FaultKind } from "./fault-kind.ts";

/**
 * A disk has no room left (ENOSPC), or only so much. Files that are removed or cut make room again.
 */
export const DISK_FULL: FaultKind = {
  name: "disk-full",
  meaning: "Fills a disk up (ENOSPC). With `for` there is room again.",
  subject: { name: "disk-full", type: "servers", meaning: "Whose disk it is." },
  parameters: [
    { name: "free", type: "size", meaning: "Bytes that are left. Default 0." },
    DIRECTORY,
  ],
  heals: true,
  lasts: true,
  costs: "process",
  prepare: (told) => {
    const area = areaOf(told);
    const free = told.has("free") ? told.number("free") : 0;
    const left = told.has("free") ? `, ${told.text("free")} left` : "";
    return new DiskFault(told, "disk-full", `${describeArea(area)}${left}`, (hands, node) =>
      hands.fillDisk(node, area, free),
    );
  },
};
