import {
  AREA,
  CHANCE,
  COUNT,
  DiskFault,
  describeFailure,
  failureOf,
  PAGE_CACHE,
} from "./disk-fault.ts";
import type { FaultKind } from "./fault-kind.ts";

/**
 * Reads of a disk fail with EIO, as of sectors that have gone bad. What the page cache has is read as ever.
 */
export const DISK_READ_ERROR: FaultKind = {
  name: "disk-read-error",
  meaning: "Lets reads of a disk fail (EIO). With `for` it ends.",
  subject: { name: "disk-read-error", type: "servers", meaning: "Whose disk it is." },
  parameters: [...AREA, CHANCE, COUNT, PAGE_CACHE],
  heals: true,
  lasts: true,
  costs: "process",
  prepare: (told) => {
    const failure = failureOf(told, "read-error");
    const more = describeFailure(failure, told);
    return new DiskFault(told, "disk-read-error", more, (hands, node) =>
      hands.failDisk(node, failure),
    );
  },
};
