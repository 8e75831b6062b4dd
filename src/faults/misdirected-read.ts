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
 * A read that misses the page cache returns another page of the disk than was asked for, once; the page cache
 * then has it so.
 */
export const MISDIRECTED_READ: FaultKind = {
  name: "misdirected-read",
  meaning: "Lets a read return another page of these files. With `for` it ends.",
  subject: { name: "misdirected-read", type: "servers", meaning: "Whose disk it is." },
  parameters: [...AREA, CHANCE, { ...COUNT, meaning: `${COUNT.meaning} Default 1.` }, PAGE_CACHE],
  heals: true,
  lasts: true,
  costs: "records",
  prepare: (told) => {
    const failure = failureOf(told, "misdirected-read", 1);
    return new DiskFault(
      told,
      "misdirected-read",
      describeFailure(failure, told),
      (hands, node) => hands.failDisk(node, failure),
      { log: failure.area.log, offsets: undefined },
    );
  },
};
