import { areaOf, DIRECTORY, DiskFault, describeArea } from "./disk-fault.ts";
import type { FaultKind } from "./fault-kind.ts";

/**
 * The kernel has found its file system damaged and mounts it read-only: every change gets EROFS.
 */
export const DISK_READONLY: FaultKind = {
  name: "disk-readonly",
  meaning: "Makes a file system read-only (EROFS). With `for` it is writable again.",
  subject: { name: "disk-readonly", type: "servers", meaning: "Whose disk it is." },
  parameters: [DIRECTORY],
  heals: true,
  lasts: true,
  costs: "process",
  prepare: (told) => {
    const area = areaOf(told);
    return new DiskFault(told, "disk-readonly", describeArea(area), (hands, node) =>
      hands.lockDisk(node, area),
    );
  },
};
