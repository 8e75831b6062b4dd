import { AREA, areaOf, DiskFault, describeArea, evicts, PAGE_CACHE } from "./disk-fault.ts";
import type { FaultKind } from "./fault-kind.ts";

/**
 * Bits flip in what lies on a disk, and nobody knows until it is read. Only what is durable can rot, and only reads
 * that miss the page cache see it.
 */
export const BIT_ROT: FaultKind = {
  name: "bit-rot",
  meaning: "Flips bits of what lies on a disk. With `for` they are as they were.",
  subject: { name: "bit-rot", type: "servers", meaning: "Whose disk it is." },
  parameters: [
    ...AREA,
    { name: "bits", type: "count", meaning: "How many, each anywhere. Default 1." },
    {
      name: "offsets",
      type: "offsets",
      meaning: "Only in batches with these offsets: 100..200, of which the last is not one.",
    },
    PAGE_CACHE,
  ],
  heals: true,
  lasts: false,
  costs: "records",
  prepare: (told) => {
    const area = areaOf(told);
    const bits = told.has("bits") ? told.number("bits") : 1;
    const offsets = told.has("offsets") ? told.offsets("offsets") : undefined;
    const rot = { area, bits, offsets, evict: evicts(told) };
    const where = offsets === undefined ? "" : `, offsets ${told.text("offsets")}`;
    return new DiskFault(
      told,
      "bit-rot",
      `${describeArea(area)}${where}, ${bits === 1 ? "1 bit" : `${bits} bits`}`,
      (hands, node) => hands.rotDisk(node, rot),
      { log: area.log, offsets },
    );
  },
};
