import { areaOf, DIRECTORY, DiskFault, describeArea } from "./disk-fault.ts";
import type { FaultKind } from "./fault-kind.ts";

/**
 * Fsyncs report success while the data is in a volatile cache of the device, as with write caches that ignore
 * flushes. Only a power cut shows it.
 */
export const FSYNC_LIES: FaultKind = {
  name: "fsync-lies",
  meaning: "Lets fsyncs succeed though nothing becomes durable. With `for` it ends.",
  subject: { name: "fsync-lies", type: "servers", meaning: "Whose disk it is." },
  parameters: [DIRECTORY],
  heals: true,
  lasts: true,
  costs: "records",
  prepare: (told) => {
    const area = areaOf(told);
    return new DiskFault(
      told,
      "fsync-lies",
      describeArea(area),
      (hands, node) => hands.lieAboutSyncs(node, area),
      { log: undefined, offsets: undefined },
    );
  },
};
