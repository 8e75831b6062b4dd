import { areaOf, DIRECTORY, DiskFault, describeArea } from "./disk-fault.ts";
import type { FaultKind } from "./fault-kind.ts";

/**
 * A disk dies with all that is on it. Whoever has files open there gets EIO, and so does whoever starts; when
 * it ends, a new and empty disk is in its place.
 */
export const DISK_LOST: FaultKind = {
  name: "disk-lost",
  meaning: "Destroys a disk with all that is on it. With `for` it is replaced by an empty one.",
  subject: { name: "disk-lost", type: "servers", meaning: "Whose disk it is." },
  parameters: [DIRECTORY],
  heals: true,
  lasts: true,
  costs: "records",
  prepare: (told) => {
    const area = areaOf(told);
    return new DiskFault(
      told,
      "disk-lost",
      describeArea(area),
      (hands, node) => hands.loseDisk(node, area),
      { log: undefined, offsets: undefined },
    );
  },
};
