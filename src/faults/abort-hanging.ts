import { MINUTE } from "../base/time.ts";
import type { FaultKind } from "./fault-kind.ts";
import { momentary } from "./fault-kind.ts";

/** The default of the tool, and of `transaction.max.timeout.ms`. */
const MAX_TRANSACTION_TIMEOUT = 15 * MINUTE;

/**
 * An operator looks for transactions that nobody will ever end, and ends them (KIP-664): those of a partition that
 * have been open for longer than any may take, and of which no coordinator knows.
 */
export const ABORT_HANGING: FaultKind = {
  name: "abort-hanging",
  meaning:
    "Finds the hanging transactions of a partition and aborts them, as `kafka-transactions.sh find-hanging` and `abort` do.",
  subject: { name: "abort-hanging", type: "partition", meaning: "In which partition." },
  parameters: [
    {
      name: "max-transaction-timeout",
      type: "duration",
      meaning: "Only those that have written nothing for longer than so. Default 15m.",
    },
  ],
  heals: false,
  lasts: false,
  prepare: (told) => {
    const partition = told.text("abort-hanging");
    const maxTimeout = told.has("max-transaction-timeout")
      ? told.number("max-transaction-timeout")
      : MAX_TRANSACTION_TIMEOUT;
    return momentary(partition, ({ hands }) => hands.abortHanging(partition, maxTimeout));
  },
};
