import { AREA, CHANCE, COUNT, DiskFault, describeFailure, failureOf } from "./disk-fault.ts";
import type { FaultKind } from "./fault-kind.ts";

/**
 * An fsync fails, and the kernel calls the pages clean that it could not write: the next fsync finds nothing
 * to do and reports success, and what was written is gone with the page cache ("fsyncgate", 2018).
 */
export const FSYNC_FAILS: FaultKind = {
  name: "fsync-fails",
  meaning: "Lets an fsync fail (EIO) and drops what it was to flush. With `for` it ends.",
  subject: { name: "fsync-fails", type: "servers", meaning: "Whose disk it is." },
  parameters: [...AREA, CHANCE, { ...COUNT, meaning: `${COUNT.meaning} Default 1.` }],
  heals: true,
  lasts: true,
  costs: "records",
  prepare: (told) => {
    const failure = failureOf(told, "fsync-error", 1);
    return new DiskFault(
      told,
      "fsync-fails",
      describeFailure(failure, told),
      (hands, node) => hands.failDisk(node, failure),
      { log: failure.area.log, offsets: undefined },
    );
  },
};
