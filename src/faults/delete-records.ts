import type { FaultKind } from "./fault-kind.ts";
import { momentary } from "./fault-kind.ts";

/**
 * An operator makes room, or forgets something (KIP-107): the records of a partition below an offset are
 * gone for its readers as soon as the leader has been told, and from the disks as segments go.
 */
export const DELETE_RECORDS: FaultKind = {
  name: "delete-records",
  meaning: "Has the oldest records of a partition deleted, as `kafka-delete-records.sh` does.",
  subject: { name: "delete-records", type: "partition", meaning: "Whose records." },
  parameters: [
    {
      name: "before",
      type: "bound",
      required: true,
      meaning: "Those below this offset; `high-watermark`: all that are committed.",
    },
  ],
  heals: false,
  lasts: false,
  prepare: (told) => {
    const partition = told.text("delete-records");
    const before = told.number("before");
    const below = before < 0 ? "the high watermark" : String(before);
    return momentary(`${partition}, below ${below}`, ({ hands }) => {
      hands.deleteRecords(partition, before);
    });
  },
};
