import { AREA, CHANCE, COUNT, DiskFault, describeFailure, failureOf } from "./disk-fault.ts";
import type { FaultKind } from "./fault-kind.ts";

/**
 * Writes fail with EIO, and cuts and changes of names with them: the file system has given up on a device.
 */
export const DISK_WRITE_ERROR: FaultKind = {
  name: "disk-write-error",
  meaning: "Lets writes to a disk fail (EIO). With `for` it ends.",
  subject: { name: "disk-write-error", type: "servers", meaning: "Whose disk it is." },
  parameters: [...AREA, CHANCE, COUNT],
  heals: true,
  lasts: true,
  costs: "process",
  prepare: (told) => {
    const failure = failureOf(told, "write-error");
    const more = describeFailure(failure, told);
    return new DiskFault(told, "disk-write-error", more, (hands, node) =>
      hands.failDisk(node, failure),
    );
  },
};
