import { AREA, CHANCE, COUNT, DiskFault, describeFailure, failureOf } from "./disk-fault.ts";
import type { FaultKind } from "./fault-kind.ts";

/**
 * A page that is flushed lands in another place: its own keeps what it held, and the other one loses it. The
 * page cache hides both.
 */
export const MISDIRECTED_WRITE: FaultKind = {
  name: "misdirected-write",
  meaning: "Lets a flush write a page over another one of these files. With `for` it ends.",
  subject: { name: "misdirected-write", type: "servers", meaning: "Whose disk it is." },
  parameters: [...AREA, CHANCE, { ...COUNT, meaning: `${COUNT.meaning} Default 1.` }],
  heals: true,
  lasts: true,
  costs: "records",
  prepare: (told) => {
    const failure = failureOf(told, "misdirected-write", 1);
    return new DiskFault(
      told,
      "misdirected-write",
      describeFailure(failure, told),
      (hands, node) => hands.failDisk(node, failure),
      { log: failure.area.log, offsets: undefined },
    );
  },
};
